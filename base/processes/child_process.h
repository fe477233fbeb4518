// Runs a program and waits for it, whatever state of signals the caller's process is in.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace tmm {

// Exit statuses of run_program() where the program could not be run at all, as POSIX has a shell report them.
inline constexpr int kProgramNotExecutable = 126;
inline constexpr int kProgramNotFound = 127;

// The programs that run at a moment. Each leads a process group, so that what it has started ends with it.
class RunningPrograms {
public:
    void begin(pid_t program) {
        const std::lock_guard lock(mutex_);
        programs_.insert(program);
    }
    void end(pid_t program) {
        const std::lock_guard lock(mutex_);
        programs_.erase(program);
    }
    void terminate() {
        const std::lock_guard lock(mutex_);
        for (const pid_t program : programs_) kill(-program, SIGTERM);
    }

private:
    std::mutex mutex_;
    std::set<pid_t> programs_;
};

// Runs a program found along PATH (in a set-user-ID program, in /usr/bin and /bin, and with no variables but those given), with nothing to
// read and both of its outputs in one file; environment: variables that it sees set otherwise. Its exit status; 128 + n where signal n
// ended it. Throws std::system_error where no process can be started, or where the program's end can't be told.
int run_program(const std::vector<std::string>& command, const std::map<std::string, std::string>& environment,
                const std::filesystem::path& output, RunningPrograms& running);

}  // namespace tmm
