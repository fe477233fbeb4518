// A thread begins on a fiber that is free and stays on it; as long as threads end without waiting, one fiber runs them all one after the
// other as plain calls.
#include "runtime/emulation/host_scheduler.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "runtime/emulation/host_thread.h"

namespace tmm {
namespace {

using host::Site;
using Kind = HostThreadOrder::Kind;
using State = HostThread::State;

// Unwinds a fiber whose launch has failed.
struct Cancelled {};

bool release_block(std::span<HostThread> block) {
    for (const HostThread& thread : block)
        if (thread.state != State::at_barrier || !same_site(thread.site, block.front().site)) return false;
    for (HostThread& thread : block) thread.state = State::ready;
    return true;
}

// Releases the threads that wait at the same named barrier when they are as many as it is for.
bool release_named(std::span<HostThread> block) {
    bool released = false;
    for (const HostThread& first : block) {
        if (first.state != State::at_named_barrier) continue;
        const auto waits = [id = first.barrier_id](const HostThread& thread) {
            return thread.state == State::at_named_barrier && thread.barrier_id == id;
        };
        if (std::ranges::count_if(block, waits) < first.barrier_threads) continue;
        for (HostThread& thread : block)
            if (waits(thread)) thread.state = State::ready;
        released = true;
    }
    return released;
}

}  // namespace

void HostScheduler::begin_launch(const HostLaunch& launch) {
    launch_ = &launch;
    chance_ = HostChance(launch.order);
    slow_ = false;
    block_threads_ = static_cast<std::size_t>(launch.threads);
    const std::size_t count = static_cast<std::size_t>(launch.cluster) * block_threads_;
    if (threads_.size() < count) threads_.resize(count);
    order_.resize(count);
    std::iota(order_.begin(), order_.end(), 0);
    if (launch.order.kind == Kind::descending) std::iota(order_.rbegin(), order_.rend(), 0);
}

std::string HostScheduler::run_cluster(std::int64_t first_block) {
    first_block_ = first_block;
    const host::Index block{static_cast<unsigned>(launch_->threads), 1, 1};
    const host::Index grid{static_cast<unsigned>(launch_->grid), 1, 1};
    for (std::size_t i = 0; i < count(); ++i)
        threads_[i].begin_block(
            {{static_cast<unsigned>(i % block_threads_), 0, 0}, {static_cast<unsigned>(block_number(i)), 0, 0}, block, grid});
    exited_ = 0;
    started_ = 0;
    shuffle_order();
    // Blocks run one after the other as far as they get; in shuffled order all of their threads are mixed.
    const bool mixed = launch_->order.kind == Kind::shuffled;
    while (started_ < count() && fault_.empty()) {
        startable_ = mixed ? count() : started_ + block_threads_;
        while (started_ < startable_ && fault_.empty()) fibers_.start_free_one();
        while (!mixed && fault_.empty() && (run_ready_threads() || release_barriers() || run_ready_threads(true))) {
        }
    }
    while (exited_ < count() && fault_.empty()) {
        if (!run_ready_threads() && !release_barriers() && !run_ready_threads(true))
            fault_ = describe_divergence(all_threads(), where_in_grid());
    }
    if (!fault_.empty()) cancel();
    return std::exchange(fault_, {});
}

std::span<HostThread> HostScheduler::threads_of(std::size_t block) {
    return all_threads().subspan(block * block_threads_, block_threads_);
}

std::span<HostThread> HostScheduler::part_of_block(std::size_t index, std::size_t size) {
    const std::size_t first = index % block_threads_ / size * size;
    return threads_of(block_of(index)).subspan(first, std::min(size, block_threads_ - first));
}

void HostScheduler::wait(State state, Site site) {
    current_->state = state;
    current_->site = site;
    suspend();
}

void HostScheduler::wait_for_mbarriers(Site site) {
    current_->changes_seen = mbarrier_changes_;
    wait(State::at_mbarrier, site);
}

void HostScheduler::linger(Site site) {
    const int turns = slow_ ? 2 : 0;
    for (int turn = 0; turn < turns; ++turn) {
        current_->changes_seen = mbarrier_changes_ - 1;
        wait(State::at_mbarrier, site);
    }
}

void HostScheduler::fail(const char* what, Site site) {
    const std::size_t index = index_of(*current_);
    fault_ = fmt::format("{} ({}, block {}, thread {})", what, describe(site), block_number(index), index % block_threads_);
    for (;;) suspend();
}

std::string HostScheduler::where_in_grid() const {
    if (launch_->cluster == 1) return fmt::format("block {}", first_block_);
    return fmt::format("the cluster of blocks {} to {}", first_block_, block_number(count() - 1));
}

void HostScheduler::shuffle_order() {
    if (launch_->order.kind != Kind::shuffled) return;
    for (std::size_t i = count(); i > 1; --i) std::swap(order_[i - 1], order_[chance_.one_of(i)]);
    slow_ = chance_.heads();
}

bool HostScheduler::straggles(std::size_t index) const {
    return launch_->order.kind == Kind::straggling && index % block_threads_ == launch_->order.straggler;
}

bool HostScheduler::run_ready_threads(bool stragglers) {
    bool progress = false;
    for (const std::size_t index : order_) {
        HostThread& thread = threads_[index];
        if (thread.state != State::ready || straggles(index) != stragglers) continue;
        progress = true;
        current_ = &thread;
        fibers_.resume(*thread.fiber);
        if (!fault_.empty()) break;
    }
    return progress;
}

// The result is true where all threads of the cluster, or of one of its blocks, waited at the same barrier, and may now go on. One block
// runs as far as it gets before the next: blocks in step would hide that they do not wait for each other.
bool HostScheduler::release_barriers() {
    const std::size_t blocks = count() / block_threads_;
    bool released = release_cluster();
    for (std::size_t block = 0; block < blocks; ++block) released = release_named(threads_of(block)) || released;
    const std::size_t start = chance_.one_of(blocks);
    for (std::size_t i = 0; i < blocks && !released; ++i) {
        const std::span<HostThread> block = threads_of(launch_->order.kind == Kind::descending ? blocks - 1 - i : (start + i) % blocks);
        released = release_mbarriers(block) || release_block(block);
    }
    if (released) shuffle_order();
    return released;
}

// The threads that wait for an mbarrier look again when one has changed.
bool HostScheduler::release_mbarriers(std::span<HostThread> block) {
    bool released = false;
    for (HostThread& thread : block) {
        if (thread.state != State::at_mbarrier || thread.changes_seen == mbarrier_changes_) continue;
        thread.state = State::ready;
        released = true;
    }
    return released;
}

// The threads of a cluster may come to its barrier at several places, those of a warp at one.
bool HostScheduler::release_cluster() {
    for (std::size_t i = 0; i < count(); ++i)
        if (threads_[i].state != State::at_cluster_barrier || !same_site(threads_[i].site, part_of_block(i, kHostWarpSize).front().site))
            return false;
    for (HostThread& thread : all_threads()) thread.state = State::ready;
    return true;
}

void HostScheduler::cancel() {
    cancelling_ = true;
    for (HostThread& thread : all_threads()) {
        if (!thread.fiber || thread.state == State::exited || thread.state == State::not_started) continue;
        current_ = &thread;
        fibers_.resume(*thread.fiber);
    }
    cancelling_ = false;
}

// Begins threads until one of them waits.
void HostScheduler::begin_threads(HostFibers::Fiber& fiber) {
    while (started_ < startable_ && fault_.empty()) {
        HostThread& thread = threads_[order_[started_++]];
        thread.fiber = &fiber;
        thread.state = State::ready;
        current_ = &thread;
        run_thread();
    }
}

// The function is not inlined: what is thrown here must not be caught further out.
__attribute__((noinline)) void HostScheduler::run_thread() {
    HostThread* const self = current_;
    try {
        launch_->kernel(launch_->arguments);
        if (!self->stores.empty() && fault_.empty())
            fault_ = fmt::format("thread {} of block {} has ended before its boxes were read from shared memory",
                                 index_of(*self) % block_threads_, block_number(index_of(*self)));
    } catch (const Cancelled&) {
    }
    self->state = State::exited;
    ++exited_;
}

void HostScheduler::suspend() {
    fibers_.suspend(*current_->fiber);
    if (cancelling_) throw Cancelled();
}

}  // namespace tmm
