// Helpers that the database's tests share: a directory that removes itself, and values to store.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "db/store/tuning_database.h"
#include "generator/text/shapes_file.h"
#include "tests/support/temporary_directory.h"

namespace tmm::testing {

inline Environment environment_of(const std::string& name, int capability = 90, int sm_count = 132) {
    Environment environment;
    environment.device.name = name;
    environment.device.compute_capability_major = capability / 10;
    environment.device.compute_capability_minor = capability % 10;
    environment.device.sm_count = sm_count;
    environment.device.memory_bytes = 1LL << 37;
    environment.device.power_limit = 700;
    environment.device.driver_version = 13000;
    environment.nvrtc_version = 12090;
    return environment;
}

inline GemmProblem problem_of(const std::string& shape) {
    return parse_shape(shape).problem;
}

inline KernelConfig tiled_config(int width) {
    return {.family = family::tiled, .block_m = width, .block_n = width, .block_k = width, .boundary = boundary::guarded};
}

inline Measurement measured(double us, const std::string& hash = "00000000000000aa") {
    return {.outcome = Outcome::ok,
            .median_us = us,
            .low_us = us * 0.99,
            .high_us = us * 1.25,
            .samples = 50,
            .error_ratio = 0.125,
            .registers = 40,
            .spill_bytes = 0,
            .shared_bytes = 2048,
            .workspace_bytes = 0,
            .sm_clock_mhz = 1980,
            .throttled = false,
            .kernel_name = "tmm_tiled_f32_nn",
            .kernel_hash = hash};
}

// As tmm-tune may measure them on the device of environment_of("NVIDIA H200").
inline MeasuredRates rates_of_h200() {
    return {.read_bytes = 4.6e6, .fmas = 32.9e6, .fmas_of_one_sm = 0.253e6, .mma_16 = 310e6, .mma_clock = 1900, .launch_gap = 0.5};
}

inline std::string read_file(const std::filesystem::path& file) {
    std::ifstream stream(file, std::ios::binary);
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
}

inline void write_file(const std::filesystem::path& file, const std::string& text) {
    std::ofstream(file, std::ios::binary) << text;
}

struct CommandResult {
    int status = -1;
    std::string out;
    std::string err;
};

// Runs a shell command line.
inline CommandResult run_command(const std::string& command) {
    const TemporaryDirectory scratch;
    const auto err = scratch / "err", out = scratch / "out";
    const int status = std::system(("{ " + command + "\n} >'" + out.string() + "' 2>'" + err.string() + "' </dev/null").c_str());
    return {.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1, .out = read_file(out), .err = read_file(err)};
}

}  // namespace tmm::testing
