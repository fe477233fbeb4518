// Each g++ and clang that is here under a name with its version (g++-12, clang++-16) makes kernels of the emulated device that are right.
#include <doctest/doctest.h>
#include <fmt/core.h>
#include <stdlib.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/text/environment.h"
#include "generator/compile/compiler.h"
#include "generator/machine/assumed_device.h"
#include "runtime/device/sanitizer.h"
#include "runtime/emulation/host_device.h"
#include "tests/support/kernels/correctness.h"
#include "tests/support/kernels/epilogues.h"
#include "tests/support/slice.h"
#include "tests/support/writers.h"

using namespace tmm;
using namespace tmm::testing;

namespace {

namespace fs = std::filesystem;

// The names, in the order of the alphabet.
std::set<std::string> compilers_here() {
    std::set<std::string> names;
    std::istringstream directories(program_search_path());
    for (std::string directory; std::getline(directories, directory, ':');) {
        std::error_code missing;
        for (const auto& entry : fs::directory_iterator(directory, missing)) {
            const std::string name = entry.path().filename().string();
            if (std::regex_match(name, std::regex("(clang|g)\\+\\+-[0-9]+"))) names.insert(name);
        }
    }
    return names;
}

std::shared_ptr<const Compiler> compiler_called(const std::string& name) {
    static std::mutex mutex;
    const std::lock_guard lock(mutex);
    const std::string before = host_compiler_command();
    setenv("TMM_CXX", name.c_str(), 1);
    std::shared_ptr<const Compiler> compiler = make_host_compiler();
    setenv("TMM_CXX", before.c_str(), 1);
    return compiler;
}

// What went wrong, each on a line.
class Findings {
public:
    void run(std::vector<std::function<std::string()>> jobs) {
        std::atomic<std::size_t> next = 0;
        std::vector<std::thread> threads;
        for (unsigned i = 0; i < std::max(1U, std::thread::hardware_concurrency()); ++i)
            threads.emplace_back([&] {
                for (std::size_t job = next++; job < jobs.size(); job = next++) add(jobs[job]());
            });
        for (std::thread& thread : threads) thread.join();
    }
    const std::vector<std::string>& all() const { return all_; }

private:
    void add(std::string finding) {
        if (finding.empty()) return;
        const std::lock_guard lock(mutex_);
        all_.push_back(std::move(finding));
    }

    std::mutex mutex_;
    std::vector<std::string> all_;
};

std::string wrong_with(const std::string& name, const Writer& writer, Epilogued epilogue, EpiloguePlace place, int offset_of_bias) {
    epilogue.text = with_room(epilogue.text, writer);
    const DeviceInfo h200 = assumed_device("90");
    try {
        const std::string wrong =
            wrong_element(writer, epilogue, make_host_device_for(h200, "ascending"), h200, compiler_called(name), place, offset_of_bias);
        if (wrong.empty() || wrong.starts_with("invalid: ")) return "";
        return fmt::format("{}: {} {} {} {}: {}", name, writer.shape, writer.config, epilogue.text, epilogue.expression, wrong);
    } catch (const std::exception& error) {
        return fmt::format("{}: {} {} {} {}: {}", name, writer.shape, writer.config, epilogue.text, epilogue.expression, error.what());
    }
}

}  // namespace

// A sanitizer of one compiler does not go with the runtime of another.
TEST_CASE("kernels are right whichever compiler makes them" * doctest::skip(sanitizer::kActive)) {
    const std::set<std::string> names = compilers_here();
    if (names.empty()) {
        MESSAGE("skipped: no compiler with a version in its name is on the PATH (apt-get install g++-12 clang-16)");
        return;
    }
    std::vector<std::function<std::string()>> jobs;
    std::size_t index = 0;
    for (const std::string& name : names) {
        // g++ 14 once took a bias that begins anywhere for aligned.
        for (const int offset : {0, 1, 2, 3})
            jobs.push_back([=] {
                return wrong_with(name, {"17x20x23", "family=naive,block_m=4,block_n=8"}, {"epilogue=bias+swiglu"}, EpiloguePlace::step,
                                  offset);
            });
        for (const Writer& writer : writers())
            for (const Epilogued& epilogue : epilogues()) {
                // Each compiler has another slice.
                index += 7;
                if (!in_slice(index, 199)) continue;
                jobs.push_back([=] { return wrong_with(name, writer, epilogue, EpiloguePlace::kernel, static_cast<int>(index % 4)); });
            }
        index += 29;
    }
    Findings findings;
    findings.run(jobs);
    for (const std::string& finding : findings.all()) MESSAGE(finding);
    CHECK(findings.all().empty());
    MESSAGE(fmt::format("{} kernels by {} compilers", jobs.size(), names.size()));
}

TEST_CASE("what checks results is right whichever compiler makes it" * doctest::skip(sanitizer::kActive)) {
    for (const std::string& name : compilers_here()) {
        CAPTURE(name);
        const std::string before = host_compiler_command();
        setenv("TMM_CXX", name.c_str(), 1);
        const std::uint64_t seed = test_seed() + std::hash<std::string>()(name) % 1000;
        const std::vector<std::shared_ptr<Device>> devices = {make_host_device("ascending")};
        const DeviceInfo& info = devices.front()->info();
        check_samples(sample_configs({.seed = seed, .count = 1, .largest_block = 64}, info), devices, info, seed, "by " + name);
        setenv("TMM_CXX", before.c_str(), 1);
    }
}
