// Says which thread of an emulated cluster, most often of a single block, runs next: each is a fiber that runs until it waits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "host/emulation.h"
#include "runtime/emulation/host_block.h"
#include "runtime/emulation/host_fibers.h"
#include "runtime/emulation/host_thread.h"

namespace tmm {

class HostScheduler {
public:
    void begin_launch(const HostLaunch& launch);
    // Runs the threads of the cluster's blocks to their end. The result says in words what went wrong; it is empty where nothing has.
    std::string run_cluster(std::int64_t first_block);

    // These are called by the running thread.
    HostThread& current() const { return *current_; }
    std::size_t current_block() const { return block_of(index_of(*current_)); }
    std::span<HostThread> threads_of(std::size_t block);
    // Divides the block into parts of so many threads, the last of which may be smaller, and gives the part that the thread is in: its warp
    // or warpgroup.
    std::span<HostThread> current_part(std::size_t size) { return part_of_block(index_of(*current_), size); }
    HostChance& chance() { return chance_; }
    void wait(HostThread::State state, host::Site site);
    void mbarriers_changed(unsigned times) { mbarrier_changes_ += times; }
    void wait_for_mbarriers(host::Site site);
    // What runs in the background may take its time: at times, in shuffled order, until every other thread has had a turn.
    void linger(host::Site site);
    [[noreturn]] void fail(const char* what, host::Site site);

private:
    std::size_t count() const { return order_.size(); }
    std::size_t index_of(const HostThread& thread) const { return static_cast<std::size_t>(&thread - threads_.data()); }
    std::size_t block_of(std::size_t index) const { return index / block_threads_; }
    std::int64_t block_number(std::size_t index) const { return first_block_ + static_cast<std::int64_t>(block_of(index)); }
    std::span<HostThread> all_threads() { return std::span(threads_).first(count()); }
    std::span<HostThread> part_of_block(std::size_t index, std::size_t size);
    std::string where_in_grid() const;

    void shuffle_order();
    bool straggles(std::size_t index) const;
    bool run_ready_threads(bool stragglers = false);
    bool release_barriers();
    bool release_cluster();
    bool release_mbarriers(std::span<HostThread> block);
    void cancel();
    void begin_threads(HostFibers::Fiber& fiber);
    void run_thread();
    void suspend();

    const HostLaunch* launch_ = nullptr;
    std::int64_t first_block_ = 0;
    std::size_t block_threads_ = 1;
    // Threads of all blocks of the cluster, one block after the other.
    std::vector<HostThread> threads_;
    std::vector<std::size_t> order_;
    // Threads that may begin, in the order of order_; threads that have begun; and threads that have ended.
    std::size_t startable_ = 0;
    std::size_t started_ = 0;
    std::size_t exited_ = 0;
    HostThread* current_ = nullptr;
    HostFibers fibers_{[this](HostFibers::Fiber& fiber) { begin_threads(fiber); }};
    unsigned long long mbarrier_changes_ = 0;
    HostChance chance_;
    // Whether lingering takes its time now.
    bool slow_ = false;
    std::string fault_;
    bool cancelling_ = false;
};

}  // namespace tmm
