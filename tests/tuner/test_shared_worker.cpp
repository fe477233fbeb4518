// Searches that share a worker: one request runs at a time, and what one search's candidate does to the worker is not held against another.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "generator/machine/device_info.h"
#include "tuner/worker/shared_worker.h"

using namespace tmm;

namespace {

constexpr double kLong = 1000;

// A worker without a process. A request of an odd seed ends it.
class StandIn final : public WorkerConnection {
public:
    StandIn() { device_.memory_bytes = 800; }

    const DeviceInfo& device() const override { return device_; }
    bool alive() const override { return alive_; }
    double start_seconds() const override { return 0; }
    void respawn() override {
        alive_ = true;
        ++starts;
    }
    Answer ask(const Request& request, double, double, const std::function<void(int)>&) override {
        CHECK(alive_);
        CHECK(++running == 1);
        const auto& prepare = std::get<PrepareRequest>(request);
        searches.push_back(prepare.search);
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        --running;
        if (prepare.seed % 2 == 0) return Reply{Prepared{}};
        alive_ = false;
        return Died{.how = "crashed"};
    }

    std::atomic<int> running = 0;
    int starts = 0;
    std::vector<int> searches;

private:
    DeviceInfo device_ = host_device_info();
    bool alive_ = true;
};

// Two searches and the worker that they share.
struct Pair {
    const Interrupt interrupt;
    StandIn worker;
    SharedWorker shared{worker, interrupt};
    WorkerShare first{shared, 0};
    WorkerShare second{shared, 1};
};

constexpr std::uint64_t kHarmless = 2;
constexpr std::uint64_t kCrash = 1;

WorkerConnection::Answer ask(WorkerShare& share, std::uint64_t seed) {
    return share.ask(PrepareRequest{.problem = {}, .seed = seed}, kLong, kLong);
}

}  // namespace

TEST_CASE("requests of several searches run one at a time, each for its own search") {
    const Interrupt interrupt;
    StandIn worker;
    SharedWorker shared(worker, interrupt);
    std::vector<std::function<void()>> searches;
    for (int search = 0; search < 3; ++search)
        searches.emplace_back([&, search] {
            WorkerShare share(shared, search);
            for (int i = 0; i < 10; ++i) CHECK(std::holds_alternative<Reply>(ask(share, kHarmless)));
        });
    run_until_all_end(searches);
    for (int search = 0; search < 3; ++search) CHECK(std::count(worker.searches.begin(), worker.searches.end(), search) == 10);
}

TEST_CASE("a search learns that another one's candidate has ended the worker, and starts it once") {
    Pair pair;
    WorkerShare& first = pair.first;
    WorkerShare& second = pair.second;
    CHECK(std::holds_alternative<WorkerConnection::Died>(ask(first, kCrash)));
    CHECK_FALSE(second.alive());
    CHECK(std::holds_alternative<WorkerConnection::Lost>(ask(second, kHarmless)));
    first.respawn();
    CHECK(first.alive());
    // What the second had prepared is gone all the same.
    CHECK_FALSE(second.alive());
    CHECK(std::holds_alternative<WorkerConnection::Lost>(ask(second, kHarmless)));
    second.respawn();
    CHECK(pair.worker.starts == 1);
    CHECK(std::holds_alternative<Reply>(ask(second, kHarmless)));
    CHECK(std::holds_alternative<Reply>(ask(first, kHarmless)));
    CHECK(pair.worker.searches == std::vector{0, 1, 0});
}

TEST_CASE("the time that a worker works for a search is its own, and that in which it waits is shared out") {
    Pair pair;
    WorkerShare& first = pair.first;
    WorkerShare& second = pair.second;
    CHECK(first.take_room(1));
    CHECK(second.take_room(1));
    for (int i = 0; i < 4; ++i) ask(first, kHarmless);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const double of_first = first.seconds_for_others();
    const double of_second = second.seconds_for_others();
    // 20 ms of work, and 20 of waiting.
    CHECK(of_first >= 0.01);
    CHECK(of_second >= of_first + 0.02);
}

TEST_CASE("a problem waits until the device has room for it beside the others") {
    Pair pair;
    WorkerShare& first = pair.first;
    WorkerShare& second = pair.second;
    CHECK(first.take_room(60));
    CHECK(second.take_room(40));
    second.leave_room();
    std::atomic<bool> has_room = false;
    std::thread waiting([&] {
        CHECK(second.take_room(1e9));
        has_room = true;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    CHECK_FALSE(has_room);
    first.leave_room();
    waiting.join();
    CHECK(has_room);
}
