// Temporaries that a killed process left go with the next one; those of a living process stay.
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/files/locked_temporary.h"
#include "generator/compile/compiler.h"
#include "tests/support/temporary_directory.h"

using namespace tmm;
using Kind = LockedTemporary::Kind;
namespace fs = std::filesystem;

namespace {

std::set<std::string> names_in(const fs::path& directory) {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(directory)) names.insert(entry.path().filename().string());
    return names;
}

// A process that holds a directory, with a file in it, and a file, until it is killed.
class Holder {
public:
    explicit Holder(const fs::path& below) {
        int ready[2];
        REQUIRE(pipe(ready) == 0);
        child_ = fork();
        REQUIRE(child_ >= 0);
        if (child_ == 0) {
            const LockedTemporary directory(below, Kind::directory, "compile");
            const LockedTemporary file(below, Kind::file, "kernel");
            std::ofstream(directory.path() / "source.cpp") << "half";
            (void)!write(ready[1], "x", 1);
            while (true) pause();
        }
        char c = 0;
        REQUIRE(read(ready[0], &c, 1) == 1);
        close(ready[0]);
        close(ready[1]);
    }
    ~Holder() { end(); }
    Holder(const Holder&) = delete;
    Holder& operator=(const Holder&) = delete;

    void end() {
        if (child_ < 0) return;
        kill(child_, SIGKILL);
        waitpid(child_, nullptr, 0);
        child_ = -1;
    }

private:
    pid_t child_ = -1;
};

}  // namespace

TEST_CASE("a temporary is private, and goes with its owner") {
    const tmm::testing::TemporaryDirectory folder;
    for (const Kind kind : {Kind::directory, Kind::file}) {
        fs::path path;
        {
            const LockedTemporary temporary(folder.path(), kind, "use");
            path = temporary.path();
            CHECK(fs::is_directory(path) == (kind == Kind::directory));
            CHECK((fs::status(path).permissions() & (fs::perms::group_all | fs::perms::others_all)) == fs::perms::none);
            if (kind == Kind::directory) std::ofstream(path / "file") << "content";
            remove_abandoned_temporaries(folder.path());
            CHECK(fs::exists(path));
        }
        CHECK_FALSE(fs::exists(path));
    }
    CHECK_THROWS_AS(LockedTemporary(folder.path() / "missing", Kind::directory, "use"), std::system_error);
}

TEST_CASE("what a killed process left is removed, what a living one holds is not") {
    const tmm::testing::TemporaryDirectory folder;
    Holder living(folder.path());
    const std::set<std::string> held = names_in(folder.path());
    REQUIRE(held.size() == 2);
    {
        Holder killed(folder.path());
        REQUIRE(names_in(folder.path()).size() == 4);
        remove_abandoned_temporaries(folder.path());
        CHECK(names_in(folder.path()).size() == 4);
    }
    remove_abandoned_temporaries(folder.path());
    CHECK(names_in(folder.path()) == held);
    living.end();
    remove_abandoned_temporaries(folder.path());
    CHECK(names_in(folder.path()).empty());
}

TEST_CASE("nothing else is removed, however old; what 0.2 left is when it is a day old") {
    const tmm::testing::TemporaryDirectory folder;
    const auto make = [&](const std::string& name, int hours) {
        fs::create_directory(folder.path() / name);
        std::ofstream(folder.path() / name / "content") << "x";
        fs::last_write_time(folder.path() / name, fs::file_time_type::clock::now() - std::chrono::hours(hours));
    };
    make("tmm-compile-AbCdEf", 25);
    make("tmm-kernel-AbCdEf", 25);
    make("tmm-compile-GhIjKl", 23);
    make("tmm-mine", 1000);
    make("other", 1000);
    fs::create_directory(folder.path() / "target");
    fs::create_directory_symlink(folder.path() / "target", folder.path() / "tmm-tmp-compile-symlink");
    remove_abandoned_temporaries(folder.path());
    CHECK(names_in(folder.path()) == std::set<std::string>{"tmm-compile-GhIjKl", "tmm-mine", "other", "target", "tmm-tmp-compile-symlink"});
    remove_abandoned_temporaries(folder.path() / "missing");
}

TEST_CASE("a host compiler clears away what others left") {
    const tmm::testing::TemporaryDirectory folder;
    const char* before = std::getenv("TMPDIR");
    const std::string kept = before ? before : "";
    { const Holder killed(folder.path()); }
    REQUIRE(names_in(folder.path()).size() == 2);
    setenv("TMPDIR", folder.path().c_str(), 1);
    (void)make_host_compiler();
    if (before)
        setenv("TMPDIR", kept.c_str(), 1);
    else
        unsetenv("TMPDIR");
    CHECK(names_in(folder.path()).empty());
}

TEST_CASE("many make temporaries while others clear away: nobody loses what it holds") {
    const tmm::testing::TemporaryDirectory folder;
    std::vector<pid_t> children;
    for (int i = 0; i < 4; ++i) {
        const pid_t child = fork();
        REQUIRE(child >= 0);
        if (child == 0) {
            int lost = 0;
            for (int round = 0; round < 200; ++round) {
                remove_abandoned_temporaries(folder.path());
                const LockedTemporary temporary(folder.path(), Kind::directory, "compile");
                std::ofstream(temporary.path() / "file") << "content";
                std::this_thread::yield();
                if (!fs::exists(temporary.path() / "file")) ++lost;
            }
            _exit(lost == 0 ? 0 : 1);
        }
        children.push_back(child);
    }
    for (const pid_t child : children) {
        int status = 0;
        REQUIRE(waitpid(child, &status, 0) == child);
        CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
    }
    CHECK(names_in(folder.path()).empty());
}
