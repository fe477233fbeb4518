// Code is neither loaded from nor compiled in a place where others could replace it.
#include <dlfcn.h>
#include <doctest/doctest.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/error.h"
#include "base/files/locked_temporary.h"
#include "base/files/trusted_path.h"
#include "base/processes/shared_library.h"
#include "tests/support/temporary_directory.h"

using namespace tmm;
using tmm::testing::TemporaryDirectory;
namespace fs = std::filesystem;

namespace {

constexpr uid_t kSomebody = 12345;

// The tree root/above/folder/file, all of which belongs to this user alone.
class Tree {
public:
    Tree() {
        fs::create_directories(folder());
        std::ofstream(file()) << "content";
        for (const fs::path& path : {above(), folder()}) mode(path, 0700);
        mode(file(), 0600);
    }
    fs::path above() const { return root_.path() / "above"; }
    fs::path folder() const { return above() / "folder"; }
    fs::path file() const { return folder() / "file"; }
    static void mode(const fs::path& path, mode_t bits) { REQUIRE(chmod(path.c_str(), bits) == 0); }

private:
    TemporaryDirectory root_;
};

class WorkingDirectory {
public:
    explicit WorkingDirectory(const fs::path& path) : before_(fs::current_path()) { fs::current_path(path); }
    ~WorkingDirectory() { fs::current_path(before_); }
    WorkingDirectory(const WorkingDirectory&) = delete;
    WorkingDirectory& operator=(const WorkingDirectory&) = delete;

private:
    fs::path before_;
};

// Builds a library that a program of this process loads from there; it says on stdout that it was run.
void make_library(const fs::path& file) {
    const std::string command = fmt::format("printf 'int answer(void) {{ return 42; }}' | cc -shared -fPIC -x c -o '{}' -", file.string());
    REQUIRE(std::system(command.c_str()) == 0);
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("what belongs to this user or root and is nobody else's to write can't be replaced") {
    const Tree tree;
    for (const NamedBy by : {NamedBy::person, NamedBy::chance}) {
        CHECK(why_others_can_replace(tree.file(), by) == "");
        CHECK(why_others_can_replace("/", by) == "");
        CHECK(why_others_can_replace("/usr/bin", by) == "");
        // /tmp has the sticky bit.
        CHECK(why_others_can_replace("/tmp", by) == "");
    }
    CHECK(contains(why_others_can_replace(tree.folder() / "missing", NamedBy::person), "can't be looked at"));
    CHECK(who_named("/usr/lib") == NamedBy::person);
    CHECK(who_named("lib") == NamedBy::chance);
    CHECK(who_named("./lib") == NamedBy::chance);
}

TEST_CASE("every part of the path counts, whatever others may write to it by") {
    for (int part = 0; part < 3; ++part) {
        const Tree tree;
        const fs::path path = part == 0 ? tree.file() : part == 1 ? tree.folder() : tree.above();
        CAPTURE(path.string());
        Tree::mode(path, part == 0 ? 0602 : 0702);
        for (const NamedBy by : {NamedBy::person, NamedBy::chance})
            CHECK(why_others_can_replace(tree.file(), by) == path.string() + " can be written to by everybody");
        // The sticky bit means nothing for a file.
        Tree::mode(path, part == 0 ? 01602 : 01702);
        CHECK((why_others_can_replace(tree.file(), NamedBy::chance) == "") == (part != 0));

        if (geteuid() != 0) continue;
        REQUIRE(chown(path.c_str(), 0, kSomebody) == 0);
        Tree::mode(path, part == 0 ? 0620 : 0720);
        CHECK(why_others_can_replace(tree.file(), NamedBy::person) == "");
        CHECK(contains(why_others_can_replace(tree.file(), NamedBy::chance), "can be written to by the group 12345"));
        REQUIRE(chown(path.c_str(), kSomebody, 0) == 0);
        Tree::mode(path, part == 0 ? 0600 : 0700);
        CHECK(why_others_can_replace(tree.file(), NamedBy::person) == "");
        CHECK(contains(why_others_can_replace(tree.file(), NamedBy::chance), "belongs to the user 12345"));
    }
}

TEST_CASE("what lies in a folder with the sticky bit is trusted as its owner is, whoever names it") {
    if (geteuid() != 0) {
        MESSAGE("skipped: only root can give a file to another user");
        return;
    }
    const Tree tree;
    Tree::mode(tree.above(), 01777);
    CHECK(why_others_can_replace(tree.file(), NamedBy::person) == "");
    REQUIRE(chown(tree.folder().c_str(), kSomebody, 0) == 0);
    CHECK(contains(why_others_can_replace(tree.file(), NamedBy::person), "belongs to the user 12345"));
}

TEST_CASE("symbolic links are followed to what they mean") {
    const Tree tree;
    const Tree other;
    Tree::mode(other.folder(), 0777);
    fs::create_symlink(other.file(), tree.folder() / "link");
    fs::create_directory_symlink(other.above(), tree.folder() / "directory");
    CHECK(contains(why_others_can_replace(tree.folder() / "link", NamedBy::person), other.folder().string()));
    CHECK(contains(why_others_can_replace(tree.folder() / "directory/folder/file", NamedBy::person), other.folder().string()));
}

TEST_CASE("a library that others could replace is not loaded, and the message says why") {
    const Tree tree;
    const fs::path library = tree.folder() / "libanswer.so";
    make_library(library);
    Tree::mode(library, 0755);
    const auto loaded = [](const std::string& file) {
        const SharedLibrary opened = open_shared_library(file);
        if (!opened.handle) return opened.fault;
        const auto answer = reinterpret_cast<int (*)()>(dlsym(opened.handle, "answer"));
        const std::string text = answer && answer() == 42 ? "loaded" : "wrong";
        dlclose(opened.handle);
        return text;
    };
    CHECK(loaded(library) == "loaded");
    {
        const WorkingDirectory here(tree.folder());
        CHECK(loaded("./libanswer.so") == "loaded");
        // A bare name is the loader's to find, which does not look here.
        CHECK(contains(loaded("libanswer.so"), "cannot open shared object file"));
    }
    Tree::mode(tree.folder(), 0777);
    const std::string why = "not loaded, since " + tree.folder().string() + " can be written to by everybody";
    CHECK(loaded(library) == why);
    const WorkingDirectory here(tree.folder());
    CHECK(loaded("./libanswer.so") == why);
    if (geteuid() != 0) return;
    // Another user's folder: named from the root it is taken, found from the working directory it is not.
    Tree::mode(tree.folder(), 0755);
    REQUIRE(chown(tree.folder().c_str(), kSomebody, 0) == 0);
    CHECK(loaded(library) == "loaded");
    CHECK(contains(loaded("./libanswer.so"), "belongs to the user 12345"));
}

TEST_CASE("nothing is compiled in, loaded from or cleared away in a folder where others could replace it") {
    const Tree tree;
    Tree::mode(tree.folder(), 0777);
    fs::create_directory(tree.folder() / "tmm-tmp-compile-abandoned");
    for (const auto kind : {LockedTemporary::Kind::file, LockedTemporary::Kind::directory}) {
        try {
            const LockedTemporary temporary(tree.folder(), kind, "use");
            FAIL_CHECK("it was made");
        } catch (const Error& error) {
            CHECK(error.status() == ExitStatus::no_compiler);
            CHECK(contains(error.what(), tree.folder().string() + " can be written to by everybody; let TMPDIR name"));
        }
    }
    remove_abandoned_temporaries(tree.folder());
    CHECK(fs::exists(tree.folder() / "tmm-tmp-compile-abandoned"));
    Tree::mode(tree.folder(), 01777);
    const LockedTemporary temporary(tree.folder(), LockedTemporary::Kind::directory, "use");
    remove_abandoned_temporaries(tree.folder());
    CHECK_FALSE(fs::exists(tree.folder() / "tmm-tmp-compile-abandoned"));
}
