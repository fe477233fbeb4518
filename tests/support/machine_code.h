// What a cubin's machine code says of a kernel's loops, read by nvdisasm.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace tmm::testing {

// A loop in which a kernel multiplies, by tensor cores where it uses them, else by FMAs; no smaller such loop stands in it.
struct MathLoop {
    int multiplications = 0;
    int instructions = 0;
    // Those among them that set or copy a uniform register.
    int uniform_copies = 0;
};

// The loops of nvdisasm's text, those with the most multiplications first.
std::vector<MathLoop> math_loops(const std::string& disassembly);

// nvdisasm in this directory of NVIDIA's wheel, or on the path; nothing where there is none.
std::optional<std::string> find_nvdisasm(const std::filesystem::path& wheel);

// What nvdisasm prints of a cubin; empty where it fails.
std::string disassemble(const std::string& nvdisasm, const std::vector<std::byte>& cubin);

}  // namespace tmm::testing
