// Damaged inputs at every door by which texts and calls come in: each is taken whole or refused with a reason. A slice runs by default, a
// hundred thousand inputs a door with TMM_TEST_FULL=1; TMM_TEST_SEED repeats a run, and what failed is printed with its number.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "base/log.h"
#include "tests/fuzz/fuzz_doors.h"
#include "tests/fuzz/fuzz_mutator.h"
#include "tests/support/kernels/correctness.h"
#include "tests/support/temporary_directory.h"

using namespace tmm::testing;

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kFullInputs = 100'000;
// Most seconds that one input may take: no machine is that slow.
constexpr unsigned kHangSeconds = 120;

std::vector<std::string> corpus_of(const std::string& door) {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(fs::path(TMM_SOURCE_DIR) / "tests/fuzz/corpus" / door)) files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    std::vector<std::string> corpus;
    for (const fs::path& file : files) {
        std::ifstream stream(file, std::ios::binary);
        std::ostringstream text;
        text << stream.rdbuf();
        corpus.push_back(text.str());
    }
    return corpus;
}

std::string escaped(const std::string& input) {
    std::string text;
    for (const char c : input)
        text += std::isprint(static_cast<unsigned char>(c)) && c != '\\' ? std::string(1, c)
                                                                         : fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    return text;
}

// The name of the input, which is printed where it hangs.
char current[200];
void name_input(const std::string& what) {
    std::strncpy(current, what.c_str(), sizeof current - 1);
}
void on_hang(int) {
    constexpr char kSays[] = "hangs: ";
    (void)!write(STDERR_FILENO, kSays, sizeof kSays - 1);
    (void)!write(STDERR_FILENO, current, std::strlen(current));
    (void)!write(STDERR_FILENO, "\n", 1);
    _exit(1);
}

Answer answer(const FuzzDoor& door, const std::string& input) {
    try {
        return door.answer(input);
    } catch (const std::exception& error) {
        return {.complaint = fmt::format("it throws: {}", error.what())};
    }
}

void fuzz(const FuzzDoor& door) {
    signal(SIGALRM, on_hang);
    tmm::set_log_sink([](const std::string&) {});
    const std::vector<std::string> corpus = corpus_of(door.name);
    const Mutator mutator(corpus);
    const std::uint64_t seed = test_seed();
    const std::uint64_t inputs = kFullInputs / (test_setting("FULL", 0) != 0 ? 1 : door.slices);
    const std::uint64_t first = inputs * static_cast<std::uint64_t>(test_setting("SLICE", 0));
    const auto check = [&](const std::string& name, const std::string& input) {
        INFO(name << ": " << escaped(input));
        name_input(name);
        alarm(kHangSeconds);
        const Answer given = answer(door, input);
        CHECK(given.complaint == "");
        return given.taken;
    };
    for (std::size_t i = 0; i < corpus.size(); ++i) check(fmt::format("{}, input {} of the corpus", door.name, i), corpus[i]);
    std::uint64_t taken = 0;
    for (std::uint64_t i = first; i < first + inputs; ++i)
        taken += check(fmt::format("{}, seed {}, number {}", door.name, seed, i), mutator.input(seed, i)) ? 1 : 0;
    alarm(0);
    tmm::set_log_sink({});
    fmt::print("{}: {} inputs, {} of them taken, and a corpus of {}; seed {}\n", door.name, inputs, taken, corpus.size(), seed);
    // Inputs that are all refused, or all taken, would say little.
    CHECK(taken > inputs / 50);
    CHECK(taken < inputs - inputs / 20);
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line.c_str());
    return lines;
}

// The exit status of a tool of the build folder that runs in the directory; less than 0 where a signal ended it, SIGALRM where it hung.
int status_of_tool(const fs::path& directory, const std::string& tool, const std::vector<std::string>& arguments) {
    const std::string program = std::string(TMM_BINARY_DIR) + "/" + tool;
    std::vector<char*> pointers{const_cast<char*>(program.c_str())};
    for (const std::string& argument : arguments) pointers.push_back(const_cast<char*>(argument.c_str()));
    pointers.push_back(nullptr);
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        signal(SIGALRM, SIG_DFL);
        alarm(kHangSeconds);
        for (const int stream : {0, 1, 2}) dup2(open("/dev/null", O_RDWR), stream);
        if (chdir(directory.c_str()) != 0) _exit(127);
        for (const char* variable : {"HOME", "TMM_CACHE_DIR", "TMPDIR"}) setenv(variable, directory.c_str(), 1);
        setenv("TMM_DB", "tmm.db", 1);
        execv(program.c_str(), pointers.data());
        _exit(127);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

const FuzzDoor& door_named(const std::string& name) {
    const auto& doors = fuzz_doors();
    const auto found = std::find_if(doors.begin(), doors.end(), [&](const FuzzDoor& door) { return door.name == name; });
    REQUIRE(found != doors.end());
    return *found;
}

}  // namespace

TEST_CASE("damaged shapes files are read as they come back, or refused with line and column") {
    fuzz(door_named("shapes"));
}

TEST_CASE("damaged lists of other programs are read as they come back, or refused with line and column, one line without the others") {
    fuzz(door_named("lists"));
}

TEST_CASE("damaged configs are read as they come back, or refused, and none is chosen that is not valid") {
    fuzz(door_named("config"));
}

TEST_CASE("damaged exports are read as they come back and stored, or refused with line and column") {
    fuzz(door_named("import"));
}

TEST_CASE("damaged command lines are understood or refused") {
    fuzz(door_named("arguments"));
}

TEST_CASE("damaged bundles are read as they come back, or refused, and nothing is chosen from them that is not valid") {
    fuzz(door_named("bundle"));
}

TEST_CASE("calls with random arguments are right where they are legal, and refused where they are not") {
    fuzz(door_named("call"));
}

TEST_CASE("the tools themselves end with a status of theirs, whatever their arguments") {
    const TemporaryDirectory directory;
    const fs::path corpus = fs::path(TMM_SOURCE_DIR) / "tests/fuzz/corpus";
    fs::copy_file(corpus / "shapes/plain.txt", directory.path() / "shapes.txt");
    fs::copy_file(corpus / "import/both.json", directory.path() / "export.json");
    for (const char* name : {"tmm.db", "a.db", "b.db"})
        REQUIRE(status_of_tool(directory.path(), "tools/tmm-db", {"import", "export.json", "--db", name}) == 0);
    const Mutator mutator(corpus_of("arguments"));
    const std::uint64_t seed = test_seed(), inputs = test_setting("FULL", 0) != 0 ? 5000 : 100;
    const std::uint64_t first = inputs * static_cast<std::uint64_t>(test_setting("SLICE", 0));
    for (std::uint64_t i = first; i < first + inputs; ++i) {
        std::vector<std::string> arguments = lines_of(mutator.input(seed, i));
        for (const char* tool : {"tools/tmm-gen", "tools/tmm-db", "tools/tmm-tune"}) {
            // Tuning takes its time, and what it is asked for has been looked at before.
            if (std::string(tool) == "tools/tmm-tune") arguments.emplace_back("--dry-run");
            INFO(tool << ", seed " << seed << ", number " << i << ": " << escaped(fmt::format("{}", fmt::join(arguments, " "))));
            const int status = status_of_tool(directory.path(), tool, arguments);
            CHECK(status >= 0);
            CHECK(status <= 6);
        }
    }
}
