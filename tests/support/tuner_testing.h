// Runs tmm-tune as a user would, on the emulated device, in a folder of its own.
#pragma once

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

extern char** environ;

namespace tuner_testing {

namespace fs = std::filesystem;

inline std::string read_text(const fs::path& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

inline void write_text(const fs::path& file, const std::string& text) {
    std::ofstream(file, std::ios::binary) << text;
}

struct Finished {
    // The exit status, or minus the signal's number where a signal ended the process.
    int status = 0;
    std::string out;
    std::string err;
};

// Lets what is started meanwhile find these signals ignored, as programs leave them to what they start.
class IgnoredSignals {
public:
    explicit IgnoredSignals(const std::vector<int>& signals) {
        for (const int signal : signals) before_.emplace_back(signal, ::signal(signal, SIG_IGN));
    }
    ~IgnoredSignals() {
        for (const auto& [signal, handler] : before_) ::signal(signal, handler);
    }
    IgnoredSignals(const IgnoredSignals&) = delete;
    IgnoredSignals& operator=(const IgnoredSignals&) = delete;

private:
    std::vector<std::pair<int, void (*)(int)>> before_;
};

// A folder with a shapes file, a database and what the tools print.
class TunerFolder {
public:
    explicit TunerFolder(const std::string& shapes = "4 4 4\n") {
        std::string name = (fs::temp_directory_path() / "tmm-test-tuner-XXXXXX").string();
        REQUIRE(mkdtemp(name.data()) != nullptr);
        path = name;
        stderr_file = path / "err";
        set_shapes(shapes);
        // Kernels are compiled once for all tests of the tuner, and once for all runs of them.
        environment["TMM_CACHE_DIR"] = std::string(TMM_BINARY_DIR) + "/tests/tuner_cache";
        environment["XDG_DATA_HOME"] = (path / "data").string();
    }
    ~TunerFolder() {
        std::error_code ignored;
        fs::remove_all(path, ignored);
    }
    TunerFolder(const TunerFolder&) = delete;
    TunerFolder& operator=(const TunerFolder&) = delete;

    void set_shapes(const std::string& text) { write_text(shapes(), text); }
    fs::path shapes() const { return path / "shapes.txt"; }
    fs::path database() const { return path / "tmm.db"; }

    // --gpu host, --shapes and --db of this folder, quick effort, and what else is said.
    std::vector<std::string> usual(const std::vector<std::string>& more = {}) const {
        std::vector<std::string> arguments{"--gpu",    "host", "--shapes", shapes().string(), "--db", database().string(),
                                           "--effort", "quick"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return arguments;
    }

    pid_t start(const std::vector<std::string>& arguments) const { return spawn(arguments, false); }
    // Leads a process group of its own, as what a shell starts.
    pid_t start_group(const std::vector<std::string>& arguments) const { return spawn(arguments, true); }
    // Waits until a run has said so on stderr, a minute at most.
    void wait_until_said(const std::string& text) const {
        for (int i = 0; i < 3000; ++i) {
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
            if (read_text(path / "err").find(text) != std::string::npos) return;
        }
    }

    Finished finish(pid_t pid) const {
        int status = 0;
        pid_t reaped = waitpid(pid, &status, 0);
        while (reaped < 0 && errno == EINTR) reaped = waitpid(pid, &status, 0);
        REQUIRE(reaped == pid);
        return Finished{.status = WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status),
                        .out = read_text(path / "out"),
                        .err = read_text(path / "err")};
    }

    Finished run(const std::vector<std::string>& arguments) const { return finish(start(arguments)); }
    Finished tune(const std::vector<std::string>& more = {}) const { return run(usual(more)); }

    // The first column of the first row, as text.
    std::string query(const std::string& sql) const {
        SQLite::Database db(database().string(), SQLite::OPEN_READWRITE);
        db.setBusyTimeout(10000);
        SQLite::Statement statement(db, sql);
        return statement.executeStep() ? statement.getColumn(0).getString() : std::string();
    }
    int count(const std::string& sql) const { return std::stoi(query(sql)); }

    static std::string program() { return std::string(TMM_BINARY_DIR) + "/tools/tmm-tune"; }

    fs::path path;
    // What is run.
    std::string tool = "tmm-tune";
    // Empty: runs find it closed.
    fs::path stderr_file;
    // Goes before what the test's own environment says.
    std::map<std::string, std::string> environment;
    // Runs find these signals ignored, and no others.
    std::vector<int> ignored_signals;

private:
    // A shell's background jobs find SIGQUIT ignored, what nohup starts SIGHUP: runs depend on none of what the test itself was given.
    void set_signals(posix_spawnattr_t& attributes, bool leads_group) const {
        sigset_t set;
        sigemptyset(&set);
        posix_spawnattr_setsigmask(&attributes, &set);
        sigfillset(&set);
        for (const int signal : ignored_signals) sigdelset(&set, signal);
        posix_spawnattr_setsigdefault(&attributes, &set);
        const int group = leads_group ? POSIX_SPAWN_SETPGROUP : 0;
        posix_spawnattr_setflags(&attributes, static_cast<short>(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | group));
    }

    pid_t spawn(const std::vector<std::string>& arguments, bool leads_group) const {
        std::map<std::string, std::string> variables = environment;
        for (char** entry = environ; *entry != nullptr; ++entry) {
            const std::string text = *entry;
            variables.try_emplace(text.substr(0, text.find('=')), text.substr(text.find('=') + 1));
        }
        std::vector<std::string> lines;
        for (const auto& [name, value] : variables) lines.push_back(name + "=" + value);
        std::vector<char*> envp;
        for (std::string& line : lines) envp.push_back(line.data());
        envp.push_back(nullptr);
        std::vector<std::string> words{std::string(TMM_BINARY_DIR) + "/tools/" + tool};
        words.insert(words.end(), arguments.begin(), arguments.end());
        std::vector<char*> argv;
        for (std::string& word : words) argv.push_back(word.data());
        argv.push_back(nullptr);

        posix_spawn_file_actions_t actions;
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
        posix_spawn_file_actions_addopen(&actions, 1, (path / "out").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
        if (stderr_file.empty())
            posix_spawn_file_actions_addclose(&actions, 2);
        else
            posix_spawn_file_actions_addopen(&actions, 2, stderr_file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
        posix_spawnattr_t attributes;
        posix_spawnattr_init(&attributes);
        set_signals(attributes, leads_group);
        const IgnoredSignals ignored(ignored_signals);
        pid_t pid = -1;
        const int error = posix_spawn(&pid, argv[0], &actions, &attributes, argv.data(), envp.data());
        posix_spawn_file_actions_destroy(&actions);
        posix_spawnattr_destroy(&attributes);
        REQUIRE(error == 0);
        return pid;
    }
};

// The worker processes of this parent, found in /proc.
inline std::vector<pid_t> children_of(pid_t parent) {
    std::vector<pid_t> children;
    std::error_code gone;
    for (const auto& task : fs::directory_iterator("/proc/" + std::to_string(parent) + "/task", gone)) {
        std::ifstream list(task.path() / "children");
        for (pid_t child = 0; list >> child;) children.push_back(child);
    }
    return children;
}

// Whether the process is a worker, not a compiler.
inline bool is_worker(pid_t pid) {
    const std::string line = read_text("/proc/" + std::to_string(pid) + "/cmdline");
    return line.find("--worker") != std::string::npos;
}

}  // namespace tuner_testing
