#include "tests/support/machine_code.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>

#include "tests/support/database_fixture.h"

namespace tmm::testing {
namespace {

struct Listing {
    std::vector<std::string> instructions;
    // Label -> index of the instruction behind it.
    std::map<std::string, std::size_t> labels;
};

Listing read_listing(const std::string& disassembly) {
    static const std::regex label(R"(^\s*(\.L_\w+):)");
    static const std::regex instruction(R"(^\s+/\*[0-9a-f]{4,6}\*/)");
    Listing listing;
    std::istringstream lines(disassembly);
    std::smatch match;
    for (std::string line; std::getline(lines, line);) {
        if (std::regex_search(line, match, label)) {
            listing.labels[match[1]] = listing.instructions.size();
        } else if (std::regex_search(line, instruction)) {
            listing.instructions.push_back(line);
        }
    }
    return listing;
}

struct Range {
    std::size_t begin;
    std::size_t end;
    bool holds(const Range& other) const { return begin <= other.begin && other.end <= end && end - begin > other.end - other.begin; }
};

}  // namespace

std::vector<MathLoop> math_loops(const std::string& disassembly) {
    static const std::regex branch(R"(\bBRA\b.*`\((\.L_\w+)\))");
    static const std::regex uniform_copy(R"(\bUMOV\b)");
    static const std::regex by_tensor_cores(R"(\b(HMMA|HGMMA|DMMA|IMMA|IGMMA|QGMMA)\b)");
    static const std::regex by_cuda_cores(R"(\b(FFMA2?|DFMA)\b)");
    const Listing listing = read_listing(disassembly);
    // FMAs beside tensor cores belong to an epilogue.
    const std::regex& multiplication = std::regex_search(disassembly, by_tensor_cores) ? by_tensor_cores : by_cuda_cores;
    const auto count = [&](const Range& range, const std::regex& instruction) {
        return static_cast<int>(std::count_if(listing.instructions.begin() + static_cast<std::ptrdiff_t>(range.begin),
                                              listing.instructions.begin() + static_cast<std::ptrdiff_t>(range.end),
                                              [&](const std::string& line) { return std::regex_search(line, instruction); }));
    };
    std::vector<Range> loops;
    std::smatch match;
    for (std::size_t i = 0; i < listing.instructions.size(); ++i) {
        if (!std::regex_search(listing.instructions[i], match, branch)) continue;
        const auto target = listing.labels.find(match[1]);
        if (target == listing.labels.end() || target->second > i) continue;
        if (const Range range{target->second, i + 1}; count(range, multiplication) > 0) loops.push_back(range);
    }
    std::vector<MathLoop> found;
    for (const Range& loop : loops) {
        if (std::any_of(loops.begin(), loops.end(), [&](const Range& other) { return loop.holds(other); })) continue;
        found.push_back({count(loop, multiplication), static_cast<int>(loop.end - loop.begin), count(loop, uniform_copy)});
    }
    std::sort(found.begin(), found.end(), [](const MathLoop& a, const MathLoop& b) { return a.multiplications > b.multiplications; });
    return found;
}

std::optional<std::string> find_nvdisasm(const std::filesystem::path& wheel) {
    for (const char* place : {"nvidia/cu13/bin/nvdisasm", "nvidia/cuda_nvdisasm/bin/nvdisasm"})
        if (std::filesystem::exists(wheel / place)) return (wheel / place).string();
    if (run_command("nvdisasm --version").status == 0) return "nvdisasm";
    return std::nullopt;
}

std::string disassemble(const std::string& nvdisasm, const std::vector<std::byte>& cubin) {
    const TemporaryDirectory scratch;
    const auto file = scratch / "kernel.cubin";
    std::ofstream(file, std::ios::binary).write(reinterpret_cast<const char*>(cubin.data()), static_cast<std::streamsize>(cubin.size()));
    // Without dataflow analysis, which labels indirect branches, it takes two thirds of the time.
    const CommandResult result = run_command("'" + nvdisasm + "' -c -ndf '" + file.string() + "'");
    return result.status == 0 ? result.out : "";
}

}  // namespace tmm::testing
