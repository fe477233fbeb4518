// tmm's side of a comparison: the library as a program uses it, through its C interface.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "bench/peers/contestant.h"

namespace tmm::bench {

struct TunedPlan {
    std::unique_ptr<Contestant> contestant;
    // These texts are as tmmPlanDescribe() gives them.
    std::string config;
    std::string match;
    std::string why;
};

// The library with one handle, which has the winners of one database on one device.
class TunedLibrary {
public:
    // device: the device of the ordinal. Plans need at most max_workspace bytes of workspace, where that is given. prepared: operands that
    // its contestants prepare once for all of their calls, "a", "b" or "ab"; their content must stay as it is then. Throws Error:
    // no_device, or no_compiler.
    TunedLibrary(int ordinal, std::shared_ptr<Device> device, const std::filesystem::path& database,
                 std::optional<std::int64_t> max_workspace = {}, const std::string& prepared = {});
    ~TunedLibrary();
    TunedLibrary(const TunedLibrary&) = delete;
    TunedLibrary& operator=(const TunedLibrary&) = delete;

    // expression: the epilogue of a problem with Epilogue::custom. Throws std::runtime_error with the library's own sentence where it has
    // no plan for the problem.
    TunedPlan plan(const GemmProblem& problem, const std::string& expression = {}) const;

    // From now on plans are measured while they are made (tmmSetTuning).
    void allow_tuning() const;

private:
    struct Handle;
    std::shared_ptr<Handle> handle_;
    std::optional<std::int64_t> max_workspace_;
};

}  // namespace tmm::bench
