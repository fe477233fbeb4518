#include "runtime/dropin/cublas/background_tuning.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>
#include <thread>
#include <utility>

#include "runtime/dropin/log.h"
#include "runtime/dropin/process.h"

namespace tmm::dropin {
namespace {

using Clock = std::chrono::steady_clock;

// How long the first shape of a run waits for others.
constexpr auto kGathering = std::chrono::seconds(1);

// The program's, but that the tool multiplies for itself.
std::vector<char*> environment_of_tool() {
    std::vector<char*> variables;
    for (char** variable = environ; *variable; ++variable)
        if (!std::string_view(*variable).starts_with("LD_PRELOAD=")) variables.push_back(*variable);
    variables.push_back(nullptr);
    return variables;
}

// A descriptor that closes itself.
class Descriptor {
public:
    explicit Descriptor(int descriptor) : descriptor_(descriptor) {}
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor() {
        if (descriptor_ >= 0) close(descriptor_);
    }
    int get() const { return descriptor_; }
    int release() { return std::exchange(descriptor_, -1); }

private:
    int descriptor_;
};

class FileActions {
public:
    FileActions() { posix_spawn_file_actions_init(&actions_); }
    FileActions(const FileActions&) = delete;
    FileActions& operator=(const FileActions&) = delete;
    ~FileActions() { posix_spawn_file_actions_destroy(&actions_); }
    posix_spawn_file_actions_t* get() { return &actions_; }

private:
    posix_spawn_file_actions_t actions_;
};

}  // namespace

BackgroundTuning::BackgroundTuning(std::string tool, std::string gpu)
    : tool_(std::move(tool)), gpu_(std::move(gpu)), owner_(process_number()) {}

void BackgroundTuning::want(const std::string& shape) {
    const std::lock_guard lock(mutex_);
    if (!known_.insert(shape).second) return;
    waiting_.push_back(shape);
    if (!std::exchange(works_, true)) std::thread([this] { work(); }).detach();
    wanted_.notify_one();
}

void BackgroundTuning::work() {
    // Signals are for the program's own threads.
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, nullptr);
    while (spent_ < kBudget) {
        try {
            tune(next_shapes());
        } catch (...) {
            log(LogLevel::error, "TMM_MODE=tune ends: there is too little memory");
            return;
        }
        runs_.fetch_add(1, std::memory_order_acq_rel);
    }
    log(LogLevel::info, "TMM_MODE=tune has spent its " + std::to_string(kBudget) + " seconds");
}

std::string BackgroundTuning::next_shapes() {
    std::unique_lock lock(mutex_);
    wanted_.wait(lock, [&] { return !waiting_.empty(); });
    lock.unlock();
    std::this_thread::sleep_for(kGathering);
    lock.lock();
    std::string shapes;
    for (const std::string& shape : waiting_) shapes += shape + "\n";
    waiting_.clear();
    return shapes;
}

int BackgroundTuning::start(int budget, int& input) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return 0;
    const Descriptor reading(ends[0]);
    Descriptor writing(ends[1]);
    FileActions actions;
    posix_spawn_file_actions_adddup2(actions.get(), reading.get(), STDIN_FILENO);
    posix_spawn_file_actions_addopen(actions.get(), STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(actions.get(), STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    std::string words[] = {tool_, "--gpu", gpu_, "--shapes", "-", "--effort", "quick", "--budget", std::to_string(budget)};
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    std::vector<char*> variables = environment_of_tool();
    pid_t process = 0;
    const int error = posix_spawn(&process, tool_.c_str(), actions.get(), &attributes, arguments.data(), variables.data());
    posix_spawnattr_destroy(&attributes);
    if (error != 0) log(LogLevel::error, tool_ + " can't be started: " + std::strerror(error));
    if (error != 0) return 0;
    input = writing.release();
    return process;
}

void BackgroundTuning::tune(const std::string& shapes) {
    const auto began = Clock::now();
    int input = -1;
    {
        const std::lock_guard lock(mutex_);
        process_ = start(kBudget - static_cast<int>(spent_), input);
        if (process_ == 0) {
            spent_ = kBudget;
            return;
        }
    }
    {
        const Descriptor writing(input);
        // A tool that has ended reads no more.
        const QuietWrites quiet;
        write_all(writing.get(), shapes.data(), shapes.size());
    }
    // The process is left a zombie until nobody can send it a signal any more.
    siginfo_t ended{};
    while (waitid(P_PID, static_cast<id_t>(process_), &ended, WEXITED | WNOWAIT) != 0 && errno == EINTR) continue;
    {
        const std::lock_guard lock(mutex_);
        waitpid(std::exchange(process_, 0), nullptr, 0);
    }
    spent_ += std::chrono::duration<double>(Clock::now() - began).count();
    log(LogLevel::info, "tmm-tune ended with status " + std::to_string(ended.si_status) + " after " + std::to_string(spent_) +
                            " s of its " + std::to_string(kBudget));
}

void BackgroundTuning::stop() noexcept {
    // A child that ends leaves its parent's tool alone.
    if (process_number() != owner_) return;
    const std::lock_guard lock(mutex_);
    if (process_ > 0) kill(process_, SIGINT);
}

std::string tool_beside_library() {
    Dl_info library{};
    if (dladdr(reinterpret_cast<const void*>(&tool_beside_library), &library) == 0 || !library.dli_fname) return {};
    const std::string file = library.dli_fname;
    const std::string folder = file.substr(0, file.rfind('/') + 1);
    for (const char* place : {"tmm-tune", "../bin/tmm-tune"})
        if (access((folder + place).c_str(), X_OK) == 0) return folder + place;
    return {};
}

}  // namespace tmm::dropin
