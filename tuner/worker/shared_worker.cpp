#include "tuner/worker/shared_worker.h"

#include <chrono>
#include <latch>
#include <thread>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/text/side_by_side.h"

namespace tmm {
namespace {

// Problems whose operands are a larger part of the device's memory have no other beside them: operands for timing, references and
// workspaces come on top.
constexpr double kPartOfMemory = 0.125;
constexpr auto kPoll = std::chrono::milliseconds(100);

}  // namespace

// Begins when all that were asked for before are over.
class SharedWorker::Turn {
public:
    Turn(SharedWorker& shared, int search) : shared_(shared) {
        std::unique_lock lock(shared_.mutex_);
        const long mine = shared_.asked_for_++;
        shared_.changed_.wait(lock, [&] { return shared_.over_ == mine; });
        shared_.count_seconds();
        shared_.in_turn_ = search;
    }
    ~Turn() {
        {
            const std::lock_guard lock(shared_.mutex_);
            shared_.count_seconds();
            shared_.in_turn_ = kNobody;
            shared_.alive_ = shared_.process_.alive();
            shared_.start_seconds_ = shared_.process_.start_seconds();
            ++shared_.over_;
        }
        shared_.changed_.notify_all();
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

private:
    SharedWorker& shared_;
};

SharedWorker::SharedWorker(WorkerConnection& process, const Interrupt& interrupt)
    : process_(process), interrupt_(interrupt), alive_(process.alive()), start_seconds_(process.start_seconds()) {}

// Seconds in which nobody has a turn are shared out: the searches wait for the same compilers.
double SharedWorker::uncounted(int search) const {
    if (in_turn_ == search) return 0;
    const double seconds = seconds_since(counted_);
    return in_turn_ == kNobody ? seconds * (1 - 1 / static_cast<double>(uses_.size())) : seconds;
}

void SharedWorker::count_seconds() {
    for (auto& [search, use] : uses_) use.seconds_of_others += uncounted(search);
    counted_ = SteadyClock::now();
}

WorkerShare::WorkerShare(SharedWorker& shared, int search) : shared_(shared), search_(search), device_(shared.process_.device()) {}

WorkerShare::~WorkerShare() {
    leave_room();
}

bool WorkerShare::take_room(double bytes) {
    std::unique_lock lock(shared_.mutex_);
    const auto fits = [&] {
        double all = bytes;
        for (const auto& [other, use] : shared_.uses_) all += use.bytes;
        return shared_.uses_.empty() || device_.memory_bytes <= 0 || all <= kPartOfMemory * static_cast<double>(device_.memory_bytes);
    };
    while (!shared_.changed_.wait_for(lock, kPoll, fits))
        if (shared_.interrupt_.requested()) return false;
    shared_.count_seconds();
    shared_.uses_[search_] = {.bytes = bytes};
    return true;
}

void WorkerShare::leave_room() {
    {
        const std::lock_guard lock(shared_.mutex_);
        shared_.count_seconds();
        shared_.uses_.erase(search_);
    }
    shared_.changed_.notify_all();
}

bool WorkerShare::alive() const {
    const std::lock_guard lock(shared_.mutex_);
    return shared_.alive_ && process_number_ == shared_.process_number_;
}

double WorkerShare::start_seconds() const {
    const std::lock_guard lock(shared_.mutex_);
    return shared_.start_seconds_;
}

double WorkerShare::seconds_for_others() const {
    const std::lock_guard lock(shared_.mutex_);
    const auto use = shared_.uses_.find(search_);
    return use == shared_.uses_.end() ? 0 : use->second.seconds_of_others + shared_.uncounted(search_);
}

void WorkerShare::respawn() {
    const SharedWorker::Turn turn(shared_, search_);
    if (!alive() && process_number_ == shared_.process_number_) {
        shared_.process_.respawn();
        const std::lock_guard lock(shared_.mutex_);
        ++shared_.process_number_;
    }
    process_number_ = shared_.process_number_;
}

WorkerShare::Answer WorkerShare::ask(const Request& request, double deadline_seconds, double turn_seconds,
                                     const std::function<void(int)>& step) {
    const SharedWorker::Turn turn(shared_, search_);
    if (shared_.interrupt_.requested()) return Interrupted{};
    if (!alive()) return Lost{};
    Request mine = request;
    std::visit(
        [this](auto& one) {
            if constexpr (!std::is_same_v<std::decay_t<decltype(one)>, RatesRequest>) one.search = search_;
        },
        mine);
    return shared_.process_.ask(mine, deadline_seconds, turn_seconds, step);
}

void run_until_all_end(const std::vector<std::function<void()>>& searches) {
    std::latch working(static_cast<std::ptrdiff_t>(searches.size()));
    std::vector<std::thread> threads;
    for (std::size_t i = 1; i < searches.size(); ++i) {
        auto thread = start_thread([&working, &search = searches[i]] {
            search();
            working.arrive_and_wait();
        });
        if (thread)
            threads.push_back(std::move(*thread));
        else
            working.count_down();
    }
    searches.front()();
    working.arrive_and_wait();
    for (std::thread& thread : threads) thread.join();
}

}  // namespace tmm
