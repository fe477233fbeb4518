// Whether bytes are what a loader takes.
#pragma once

#include <cstddef>
#include <vector>

namespace tmm {

// A whole 64-bit ELF shared object: its header is one's, and all that the header speaks of lies within it.
bool is_shared_object(const std::vector<std::byte>& image);

}  // namespace tmm
