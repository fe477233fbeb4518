// Lets several searches share a worker: while one waits for kernels or for the database, the device works for another.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <vector>

#include "base/processes/elapsed.h"
#include "base/processes/interrupt.h"
#include "tuner/worker/worker_connection.h"

namespace tmm {

// Thread-safe. The worker runs one request at a time, in the order in which the searches come.
class SharedWorker {
public:
    SharedWorker(WorkerConnection& process, const Interrupt& interrupt);

private:
    friend class WorkerShare;
    class Turn;

    // What a search's seconds of others have come to since they were last counted, and counts them for all.
    double uncounted(int search) const;
    void count_seconds();

    WorkerConnection& process_;
    const Interrupt& interrupt_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    // Turns that were asked for, and those that are over.
    long asked_for_ = 0;
    long over_ = 0;
    // Whose turn it is, where it is somebody's.
    int in_turn_ = kNobody;
    // A search that has a problem holds so many bytes of operands, and so many of its seconds are others'.
    struct Use {
        double bytes = 0;
        double seconds_of_others = 0;
    };
    std::map<int, Use> uses_;
    SteadyClock::time_point counted_ = SteadyClock::now();
    // What is known of the process when nobody has a turn.
    bool alive_;
    double start_seconds_;
    // Tells the processes of the worker, one after the other, apart.
    int process_number_ = 0;

    static constexpr int kNobody = -1;
};

// The worker as one of the searches sees it, which one thread uses.
class WorkerShare final : public WorkerConnection {
public:
    WorkerShare(SharedWorker& shared, int search);
    ~WorkerShare() override;
    WorkerShare(const WorkerShare&) = delete;
    WorkerShare& operator=(const WorkerShare&) = delete;

    // Waits until the device has room for a problem of this size beside those of the other searches. Returns false where the run is
    // interrupted.
    bool take_room(double bytes);
    void leave_room();

    const DeviceInfo& device() const override { return device_; }
    // Whether the process that this search knows is still there.
    bool alive() const override;
    double start_seconds() const override;
    double seconds_for_others() const override;
    void respawn() override;
    Answer ask(const Request& request, double deadline_seconds, double turn_seconds, const std::function<void(int)>& step = {}) override;

private:
    SharedWorker& shared_;
    int search_;
    DeviceInfo device_;
    int process_number_ = 0;
};

// Runs the first on this thread and each other on one of its own; those that the system has no thread for are left out. No thread ends
// before the work of all is done: a worker ends with the thread that has started it.
void run_until_all_end(const std::vector<std::function<void()>>& searches);

}  // namespace tmm
