// The machine code that this process runs, and whether bytes are what its loader takes.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace tmm {

// The architecture of this process's own code, as uname names it: "x86_64", "aarch64".
std::string host_machine();

// A whole 64-bit ELF shared object for this machine: its header is one's, and all that the header speaks of lies within it.
bool is_shared_object(const std::vector<std::byte>& image);

}  // namespace tmm
