// Names of GPUs: whole words of them, in every command, and an error where they name nothing.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "db/store/records.h"
#include "tests/support/database_fixture.h"
#include "tools/tmm_db/device_filter.h"

using namespace tmm;
using namespace tmm::testing;
using Mode = TuningDatabase::Mode;
namespace fs = std::filesystem;

namespace {

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

const std::vector<std::string>& cards() {
    static const auto& names = *new std::vector<std::string>{"NVIDIA H200",
                                                             "NVIDIA H20",
                                                             "NVIDIA H100 80GB HBM3",
                                                             "NVIDIA H100 PCIe",
                                                             "NVIDIA GH200 480GB",
                                                             "NVIDIA A100-SXM4-80GB",
                                                             "NVIDIA A10",
                                                             "NVIDIA A10G",
                                                             "NVIDIA L4",
                                                             "NVIDIA L40",
                                                             "NVIDIA L40S",
                                                             "Tesla T4",
                                                             "NVIDIA GeForce RTX 4090",
                                                             "NVIDIA GeForce RTX 4090 D",
                                                             "host"};
    return names;
}

// The cards that the name means, with commas.
std::string meant(const std::string& name) {
    std::string found;
    const DeviceFilter filter(name, cards());
    for (const std::string& card : cards())
        if (filter.takes(card)) found += (found.empty() ? "" : ", ") + card;
    return found;
}

void fill(const fs::path& file, const std::vector<std::string>& devices) {
    TuningDatabase database(file, Mode::read_write_create);
    for (const std::string& device : devices) {
        database.set_environment(environment_of(device));
        database.record(problem_of("64 64 64"), tiled_config(8), {}, measured(3));
        database.decide(problem_of("64 64 64"), {}, {.config = tiled_config(8), .median_us = 3, .candidates = 1, .reason = "the only one"});
    }
}

CommandResult tool(const fs::path& folder, const std::string& words) {
    return run_command(fmt::format("cd '{}' && TMM_DB=t.db TMM_CACHE_DIR={}/tests/tuner_cache {}/tools/tmm-db {}", folder.string(),
                                   TMM_BINARY_DIR, TMM_BINARY_DIR, words));
}

// Every command that takes --gpu.
constexpr const char* kCommands[] = {"ls",           "shipped",       "show 64x64x64", "candidates 64x64x64",  "diff t.db t.db",    "stale",
                                     "export --csv", "export --json", "ls --json",     "report --html r.html", "bundle --out b.tmm"};

}  // namespace

TEST_CASE("a name means the cards whose names hold its words, whole and in their order") {
    CHECK(meant("H200") == "NVIDIA H200");
    CHECK(meant("h20") == "NVIDIA H20");
    CHECK(meant("H100") == "NVIDIA H100 80GB HBM3, NVIDIA H100 PCIe");
    CHECK(meant("h100 pcie") == "NVIDIA H100 PCIe");
    CHECK(meant("A100") == "NVIDIA A100-SXM4-80GB");
    CHECK(meant("A100-SXM4") == "NVIDIA A100-SXM4-80GB");
    CHECK(meant("A10") == "NVIDIA A10");
    CHECK(meant("L4") == "NVIDIA L4");
    CHECK(meant("L40") == "NVIDIA L40");
    CHECK(meant("T4") == "Tesla T4");
    CHECK(meant("RTX 4090") == "NVIDIA GeForce RTX 4090, NVIDIA GeForce RTX 4090 D");
    CHECK(meant("NVIDIA GeForce RTX 4090") == "NVIDIA GeForce RTX 4090");
    CHECK(meant("4090 d") == "NVIDIA GeForce RTX 4090 D");
    CHECK(meant("HOST") == "host");
    CHECK(DeviceFilter().takes("whatever"));
    CHECK(DeviceFilter("", cards()).takes("whatever"));
}

TEST_CASE("a name that means no card is an error that lists what there is") {
    for (const char* name : {"H2OO", "H2", "200", "100", "A1", "RTX4090", "PCIe H100", "ost", "***", " "}) {
        CAPTURE(std::string(name));
        try {
            const DeviceFilter filter(name, cards());
            FAIL("it was taken");
        } catch (const Error& error) {
            CHECK(error.status() == ExitStatus::no_winner);
            CHECK(contains(error.what(), "there is nothing of a device named '"));
            CHECK(contains(error.what(), "NVIDIA A10, NVIDIA A100-SXM4-80GB"));
        }
    }
    CHECK_THROWS_WITH(DeviceFilter("H200", {}), doctest::Contains("holds no device yet"));
}

TEST_CASE("every command takes whole words, and ends with 6 where they name nothing; no file is written then") {
    const TemporaryDirectory directory;
    const fs::path folder = directory / "";
    fill(folder / "t.db", {"NVIDIA L40", "host"});
    write_file(folder / "r.html", "yesterday's");
    for (const char* command : kCommands)
        for (const char* name : {"H2OO", "L4", "H20", "hos"}) {
            CAPTURE(std::string(command));
            CAPTURE(std::string(name));
            const CommandResult result = tool(folder, fmt::format("{} --gpu {}", command, name));
            CHECK(result.status == 6);
            CHECK(result.out == "");
            CHECK_MESSAGE(contains(result.err, fmt::format("there is nothing of a device named '{}'", name)), result.err);
            CHECK_MESSAGE(contains(result.err, contains(command, "shipped") ? "NVIDIA H200" : "NVIDIA L40"), result.err);
        }
    CHECK(read_file(folder / "r.html") == "yesterday's");
    CHECK_FALSE(fs::exists(folder / "b.tmm"));
    for (const char* command :
         {"ls", "show 64x64x64", "candidates 64x64x64", "diff t.db t.db", "stale", "export --csv", "report --html r.html"}) {
        CAPTURE(std::string(command));
        const CommandResult result = tool(folder, fmt::format("{} --gpu l40", command));
        CHECK_MESSAGE(result.status == 0, result.err);
        CHECK_FALSE(contains(result.out, "host"));
    }
}

TEST_CASE("a bundle is for one card: its whole name, or words that only its name holds") {
    const TemporaryDirectory directory;
    const fs::path folder = directory / "";
    {
        TuningDatabase database(folder / "t.db", Mode::read_write_create);
        // Emulated devices of other machines have the same name.
        for (const int cores : {1, 4, 64}) {
            database.set_environment(environment_of("host", 80, cores));
            database.decide(problem_of("64 64 64"), {},
                            {.config = tiled_config(8), .median_us = 3, .candidates = 1, .reason = "the only one"});
        }
    }
    write_file(folder / "s.txt", "8 8 8\n");
    CommandResult result = tool(folder, "bundle --gpu HOST --shapes s.txt --out b.tmm");
    CHECK_MESSAGE(result.status == 0, result.err);
    CHECK(contains(result.out, "for host"));
    result = tool(folder, "bundle --gpu NVIDIA --out c.tmm");
    CHECK(result.status == 1);
    CHECK_MESSAGE(contains(result.err, "'NVIDIA' names several devices"), result.err);
    CHECK_FALSE(contains(result.err, "host"));
}

TEST_CASE("a device of a diff may be in one of the databases alone") {
    const TemporaryDirectory directory;
    const fs::path folder = directory / "";
    fill(folder / "t.db", {"NVIDIA L40"});
    fill(folder / "u.db", {"NVIDIA L4"});
    const CommandResult result = tool(folder, "diff t.db u.db --gpu L4");
    CHECK(result.status == 0);
    CHECK_MESSAGE(contains(result.out, "0 only in A, 1 only in B"), result.out);
}
