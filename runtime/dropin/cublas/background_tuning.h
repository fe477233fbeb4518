// TMM_MODE=tune: shapes that a program calls are tuned beside it, by the tool tmm-tune in processes of its own, one at a time.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace tmm::dropin {

// Thread-safe. Never destroyed.
class BackgroundTuning {
public:
    // Seconds that all runs of tmm-tune may take together.
    static constexpr int kBudget = 300;

    // tool: the file of tmm-tune. gpu: what its --gpu takes.
    BackgroundTuning(std::string tool, std::string gpu);

    // Has the shape, a line of a shapes file, tuned, unless it was asked for before.
    void want(const std::string& shape);
    // How many runs have ended. Winners may have changed with each.
    unsigned runs() const { return runs_.load(std::memory_order_acquire); }
    // Ends the run that goes on; what it has found stays.
    void stop() noexcept;

private:
    void work();
    // Waits for shapes; those that come together are tuned together.
    std::string next_shapes();
    void tune(const std::string& shapes);
    // Starts the tool with its standard input. The result is 0 where it can't.
    int start(int budget, int& input);

    const std::string tool_;
    const std::string gpu_;
    // The process that has the thread.
    const unsigned owner_;
    std::atomic<unsigned> runs_ = 0;
    std::mutex mutex_;
    std::condition_variable wanted_;
    std::set<std::string> known_;
    std::vector<std::string> waiting_;
    bool works_ = false;
    // The process of the run that goes on, or 0.
    int process_ = 0;
    double spent_ = 0;
};

// The tool tmm-tune that is installed with this library: beside it or in ../bin. Empty where it is not there.
std::string tool_beside_library();

}  // namespace tmm::dropin
