// What TMM_MODE=record writes down: counts of calls, their text, and a file that processes share.
#include <doctest/doctest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory_resource>
#include <string>
#include <thread>
#include <vector>

#include "generator/text/shapes_file.h"
#include "runtime/dropin/record/call_counts.h"
#include "runtime/dropin/record/record_file.h"
#include "runtime/dropin/record/record_text.h"
#include "tests/support/temporary_directory.h"

using namespace tmm::dropin;
namespace fs = std::filesystem;

namespace {

Calls timed(double seconds) {
    return {.count = 1, .timed = 1, .nanoseconds = static_cast<std::int64_t>(seconds * 1e9)};
}
constexpr Calls kUntimed{.count = 1, .timed = 0, .nanoseconds = 0};

class Text {
public:
    bool read(std::string text) {
        // The record refers to what it has read.
        kept_.push_back(std::make_unique<std::string>(std::move(text)));
        return record_.read(*kept_.back());
    }
    void add(const std::string& shape, const Calls& calls) { record_.add(shape, calls); }
    std::string text() const { return std::string(record_.text()); }

private:
    std::vector<std::unique_ptr<std::string>> kept_;
    RecordText record_{*std::pmr::new_delete_resource()};
};

std::string content(const fs::path& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

}  // namespace

TEST_CASE("a record names shapes by the time that they took together") {
    Text record;
    record.add("1 2 3", timed(0.5));
    record.add("4 5 6", timed(0.3));
    record.add("4 5 6", timed(0.4));
    CHECK(record.text() ==
          "# 2 shapes, 1.200 s of products; the longest first\n"
          "4 5 6  # 2 calls, 0.7 s, 58.3% of the time\n"
          "1 2 3  # 1 calls, 0.5 s, 41.7% of the time\n");
}

TEST_CASE("a record without times names shapes by their work, that of all members of a batch") {
    Text record;
    record.add("1 2 3", kUntimed);
    record.add("4 5 6", kUntimed);
    record.add("1 2 3", kUntimed);
    record.add("1 2 3 ops=tn batch=100", kUntimed);
    CHECK(record.text() ==
          "# 3 shapes, 1.46e+03 FLOP; those of most work first\n"
          "1 2 3 ops=tn batch=100  # 1 calls, 82.0% of the work\n"
          "4 5 6  # 1 calls, 16.4% of the work\n"
          "1 2 3  # 2 calls, 1.6% of the work\n");
}

TEST_CASE("calls whose time is not known count as long as others of their shape, or of their work") {
    Text record;
    record.add("1 1 10", timed(0.5));
    record.add("1 1 10", kUntimed);
    record.add("1 1 10", kUntimed);
    record.add("1 1 90", timed(0.5));
    record.add("1 1 25", kUntimed);
    // 1.5 s, 0.5 s, and 25 multiply-adds where 100 take 1 s.
    CHECK(record.text() ==
          "# 3 shapes, 2.250 s of products; the longest first\n"
          "1 1 10  # 3 calls, 0.5 s in 1 of them, 66.7% of the time\n"
          "1 1 90  # 1 calls, 0.5 s, 22.2% of the time\n"
          "1 1 25  # 1 calls, 11.1% of the time\n");
}

TEST_CASE("a record that is read and written again says the same, and others add to it") {
    Text first;
    first.add("1 1 10", timed(0.5));
    first.add("1 1 10", kUntimed);
    first.add("1 1 25 layout=col", kUntimed);
    Text second;
    CHECK(second.read(first.text()));
    CHECK(second.text() == first.text());
    CHECK(second.read(first.text()));
    first.add("1 1 10", timed(0.5));
    first.add("1 1 10", kUntimed);
    first.add("1 1 25 layout=col", kUntimed);
    CHECK(second.text() == first.text());
}

TEST_CASE("lines that are no record's stay in it, and what is no list of shapes is refused") {
    Text record;
    CHECK(record.read("# my shapes\n\n  8 8 8 dtype=bf16\n16x16x16 # a note\r\n32:64:32 8 8\n"));
    CHECK(record.text() ==
          "# 0 shapes, 0 FLOP; those of most work first\n# my shapes\n  8 8 8 dtype=bf16\n16x16x16 # a note\r\n32:64:32 8 8\n");
    record.add("8 8 8 dtype=bf16", kUntimed);
    // Each shape stands there once.
    CHECK(record.text() ==
          "# 1 shapes, 1.02e+03 FLOP; those of most work first\n8 8 8 dtype=bf16  # 1 calls, 100.0% of the work\n"
          "# my shapes\n16x16x16 # a note\r\n32:64:32 8 8\n");
    for (const char* text : {"\\documentclass{article}\n", "8 8 8\nhello\n",
                             "\x7f"
                             "ELF",
                             "{\"tmm_export\": 1}"}) {
        CAPTURE(text);
        Text other;
        CHECK_FALSE(other.read(text));
        CHECK_FALSE(looks_like_shapes(text));
    }
    // Numbers that nobody wrote are none.
    for (const char* line : {"1 2 3  # -4 calls\n", "1 2 3  # 99999999999999999999 calls\n", "1 2 3  # calls\n"}) {
        CAPTURE(line);
        Text odd;
        CHECK(odd.read(line));
        CHECK(odd.text() == std::string("# 0 shapes, 0 FLOP; those of most work first\n") + line);
    }
}

TEST_CASE("counts of many threads are all taken once, and a fork's child begins with none") {
    CallCounts counts;
    std::vector<std::thread> threads;
    std::int64_t taken = 0;
    const auto take = [&](const CallCounts::Shape&, const Calls& calls) { taken += calls.count; };
    for (int thread = 0; thread < 4; ++thread)
        threads.emplace_back([&counts] {
            for (int call = 0; call < 2000; ++call) counts.add(std::to_string(call % 50), timed(0.001));
        });
    for (int round = 0; round < 100; ++round) counts.take_pending(take);
    for (std::thread& thread : threads) thread.join();
    counts.take_pending(take);
    CHECK(taken == 8000);
    CHECK_FALSE(counts.has_pending());
    CHECK(counts.count("7") == 160);
    CHECK(counts.count("50") == 0);
    CHECK_FALSE(counts.add("7", kUntimed));
    CHECK(counts.add("50", kUntimed));
    CHECK(counts.has_pending());
    counts.forget_pending();
    CHECK_FALSE(counts.has_pending());
    CHECK(counts.count("50") == 1);
}

TEST_CASE("processes that add to one file at once lose nothing") {
    const tmm::testing::TemporaryDirectory folder;
    const fs::path path = folder.path() / "shapes.txt";
    std::ofstream(path) << "8 8 8 ops=tt\n";
    chmod(path.c_str(), 0640);
    const RecordFile file(path.string());
    constexpr int kProcesses = 8;
    constexpr int kRounds = 20;
    for (int process = 0; process < kProcesses; ++process) {
        if (fork() != 0) continue;
        CallCounts counts;
        bool done = true;
        for (int round = 0; round < kRounds; ++round) {
            counts.add("4 4 4", timed(0.25));
            counts.add(std::to_string(100 + process) + " 4 4", kUntimed);
            done = file.add(counts) && done;
        }
        _exit(done ? 0 : 1);
    }
    for (int process = 0; process < kProcesses; ++process) {
        int status = 0;
        REQUIRE(wait(&status) > 0);
        CHECK(status == 0);
    }
    const std::string text = content(path);
    CHECK(text.find("4 4 4  # 160 calls, 40 s, ") != std::string::npos);
    for (int process = 0; process < kProcesses; ++process)
        CHECK(text.find(std::to_string(100 + process) + " 4 4  # 20 calls, ") != std::string::npos);
    CHECK(text.ends_with("\n8 8 8 ops=tt\n"));
    CHECK(tmm::read_shapes(path.string(), {}).size() == kProcesses + 2);
    // Nothing lies beside it, and others may read it still.
    CHECK(std::distance(fs::directory_iterator(folder.path()), {}) == 1);
    struct stat status;
    REQUIRE(stat(path.c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0640);
}

TEST_CASE("libraries of one process, and their threads, keep each other out of a record") {
    const tmm::testing::TemporaryDirectory folder;
    const RecordFile file((folder.path() / "shapes.txt").string());
    std::vector<std::thread> threads;
    for (int library = 0; library < 4; ++library)
        threads.emplace_back([&file] {
            CallCounts counts;
            for (int round = 0; round < 20; ++round) {
                counts.add("4 4 4", kUntimed);
                file.add(counts);
            }
        });
    for (std::thread& thread : threads) thread.join();
    CHECK(content(folder.path() / "shapes.txt").find("4 4 4  # 80 calls, ") != std::string::npos);
}

TEST_CASE("%p in a record's name is the process that writes") {
    const tmm::testing::TemporaryDirectory folder;
    const RecordFile file((folder.path() / "%p-%p%%").string());
    CallCounts counts;
    counts.add("1 2 3", kUntimed);
    CHECK(file.complaint().empty());
    CHECK(file.add(counts));
    const std::string process = std::to_string(getpid());
    CHECK(fs::exists(folder.path() / (process + "-" + process + "%%")));
}

TEST_CASE("a record that can't be written is complained of before anything is made, and keeps what it has") {
    const tmm::testing::TemporaryDirectory folder;
    CallCounts counts;
    counts.add("1 2 3", kUntimed);
    const auto complaint = [&](const fs::path& path) {
        const RecordFile file(path.string());
        const std::string said = file.complaint();
        CHECK_FALSE(file.add(counts));
        CHECK(counts.has_pending());
        CHECK((said.empty() || said.find(path.string() + " can't be written: ") != std::string::npos));
        return said;
    };
    CHECK(complaint(folder.path() / "no" / "where").ends_with("No such file or directory"));
    CHECK(complaint(folder.path()).ends_with("it is no plain file"));
    fs::create_symlink(folder.path() / "target", folder.path() / "link");
    CHECK(complaint(folder.path() / "link").ends_with("it is no plain file"));
    REQUIRE(mkfifo((folder.path() / "pipe").c_str(), 0600) == 0);
    CHECK(complaint(folder.path() / "pipe").ends_with("it is no plain file"));
    CHECK(complaint("/dev/null").ends_with("it is no plain file"));
    std::ofstream(folder.path() / "thesis") << "It was a dark and stormy night\n";
    CHECK(complaint(folder.path() / "thesis").ends_with("it holds something else than shapes, which stays; name another file"));
    CHECK(content(folder.path() / "thesis") == "It was a dark and stormy night\n");
    CHECK(std::distance(fs::directory_iterator(folder.path()), {}) == 3);
    // The directory is made later.
    const RecordFile later((folder.path() / "later" / "shapes").string());
    CHECK_FALSE(later.complaint().empty());
    CHECK_FALSE(later.add(counts));
    fs::create_directory(folder.path() / "later");
    CHECK(later.add(counts));
    CHECK_FALSE(counts.has_pending());
}
