// The threads of an emulated cluster, most often of a single block, as fibers. A thread begins on a fiber that is free and stays on it; as
// long as threads end without waiting, one fiber runs them all one after the other as plain calls.
#include "runtime/host_block.h"

#include <fmt/core.h>

#include <algorithm>
#include <boost/context/fiber.hpp>
#include <boost/context/preallocated.hpp>
#include <boost/context/protected_fixedsize_stack.hpp>
#include <charconv>
#include <cstring>
#include <memory>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

#include "generator/error.h"
#include "runtime/device.h"
#include "runtime/host_shared_memory.h"
#include "runtime/sanitizer.h"

namespace tmm {
namespace {

using host::Site;
using host::WarpOperation;

constexpr int kWarpSize = 32;
constexpr std::size_t kWarpgroupSize = 128;
constexpr std::size_t kStackBytes = 64 << 10;

// Unwinds a fiber whose launch has failed.
struct Cancelled {};

// A stack with a guard page. What a fiber left poisoned on it must not outlive it.
class StackAllocator {
public:
    boost::context::stack_context allocate() { return boost::context::protected_fixedsize_stack(kStackBytes).allocate(); }
    void deallocate(boost::context::stack_context& stack) {
        sanitizer::unpoison(static_cast<char*>(stack.sp) - kStackBytes, kStackBytes);
        boost::context::protected_fixedsize_stack(kStackBytes).deallocate(stack);
    }
};

struct Fiber {
    // Where it goes on, while others run; and where the scheduler goes on, while it runs.
    boost::context::fiber inside;
    boost::context::fiber scheduler;
    const void* stack_bottom = nullptr;
};

struct AsyncCopy {
    void* destination;
    const void* source;
    int bytes;
    int source_bytes;
    unsigned group;
};

struct Deferred {
    void (*run)(const void* data);
    std::vector<unsigned char> data;
    unsigned group;
};

struct EmulatedThread {
    enum class State { not_started, ready, at_barrier, at_cluster_barrier, at_named_barrier, at_mbarrier, at_warp_operation, exited };

    host::Thread view{};
    State state = State::not_started;
    Fiber* fiber = nullptr;
    Site site{};
    // What it brings to a warp-wide operation and takes from it.
    WarpOperation operation{};
    unsigned mask = 0;
    unsigned long long word = 0;
    int source_lane = 0;
    const void* brought = nullptr;
    int bytes = 0;
    // What all lanes brought, with the warp's first.
    std::vector<unsigned char> gathered;
    // In the order issued; those before `landed` have landed.
    std::vector<AsyncCopy> copies;
    std::size_t landed = 0;
    unsigned open_group = 0;
    // A named barrier's number and threads; how often mbarriers had changed when it began to wait for one.
    int barrier_id = 0;
    int barrier_threads = 0;
    unsigned long long changes_seen = 0;
    std::vector<Deferred> deferred;
    unsigned open_deferred = 0;
};

void land(const AsyncCopy& copy) {
    const auto read = static_cast<std::size_t>(copy.source_bytes);
    if (read) std::memcpy(copy.destination, copy.source, read);
    std::memset(static_cast<char*>(copy.destination) + read, 0, static_cast<std::size_t>(copy.bytes) - read);
}

// A box by rows, each of 128 bytes.
void land(const host::BulkCopy& copy) {
    const host::EncodedMatrix& m = copy.matrix;
    const int row_bytes = m.box_columns * m.element_bytes;
    for (int r = 0; r < m.box_rows; ++r)
        for (int c = 0; c < m.box_columns; ++c) {
            const long long row = copy.y + r, column = copy.x + c;
            const unsigned address = copy.address + static_cast<unsigned>(r * row_bytes + c * m.element_bytes);
            unsigned char* const to = copy.destination + (host::swizzled_128(address) - copy.address);
            const bool inside = row >= 0 && row < m.rows && column >= 0 && column < m.columns && copy.z >= 0 && copy.z < m.matrices;
            if (inside)
                std::memcpy(to, m.address + copy.z * m.matrix_bytes + row * m.row_bytes + column * m.element_bytes,
                            static_cast<std::size_t>(m.element_bytes));
            else
                std::memset(to, 0, static_cast<std::size_t>(m.element_bytes));
        }
    copy.barrier->bytes -= m.box_rows * row_bytes;
    copy.barrier->end_phase_if_complete();
}

std::string describe(Site site) {
    return fmt::format("{}:{}", site.file, site.line);
}

const char* name_of(WarpOperation operation) {
    switch (operation) {
        case WarpOperation::sync: return "__syncwarp";
        case WarpOperation::shuffle: return "a shuffle";
        case WarpOperation::ballot: return "a vote";
        case WarpOperation::gather: return "an operation of the whole warp";
    }
    return "";
}

std::string describe(const EmulatedThread& thread) {
    switch (thread.state) {
        case EmulatedThread::State::at_barrier: return "__syncthreads at " + describe(thread.site);
        case EmulatedThread::State::at_cluster_barrier: return "cluster_sync at " + describe(thread.site);
        case EmulatedThread::State::at_named_barrier:
            return fmt::format("barrier {} for {} threads at {}", thread.barrier_id, thread.barrier_threads, describe(thread.site));
        case EmulatedThread::State::at_mbarrier: return "an mbarrier, or wgmma's wait, at " + describe(thread.site);
        case EmulatedThread::State::at_warp_operation:
            return fmt::format("{} over lanes {:#x} at {}", name_of(thread.operation), thread.mask, describe(thread.site));
        default: return "exited";
    }
}

bool same_site(Site a, Site b) {
    return a.line == b.line && (a.file == b.file || std::strcmp(a.file, b.file) == 0);
}

class Cluster {
public:
    ~Cluster() {
        stopping_ = true;
        for (const auto& fiber : fibers_)
            if (fiber->inside) resume(*fiber);
    }

    void run(const HostLaunch& launch) {
        launch_ = &launch;
        random_ = launch.order.seed * 0x9e3779b97f4a7c15ULL + 1;
        slow_ = false;
        const auto blocks = static_cast<std::size_t>(launch.cluster);
        block_threads_ = static_cast<std::size_t>(launch.threads);
        const std::size_t count = blocks * block_threads_;
        if (threads_.size() < count) threads_.resize(count);
        order_.resize(count);
        std::iota(order_.begin(), order_.end(), 0);
        if (launch.order.kind == HostThreadOrder::Kind::descending) std::iota(order_.rbegin(), order_.rend(), 0);
        while (shared_.size() < blocks) shared_.push_back(std::make_unique<HostSharedMemory>());
        for (const auto& shared : shared_) shared->begin_launch(launch.shared_bytes);
        const std::int64_t clusters = launch.grid / launch.cluster;
        for (std::int64_t cluster = 0; cluster < clusters; ++cluster) {
            run_cluster((launch.order.kind == HostThreadOrder::Kind::descending ? clusters - 1 - cluster : cluster) * launch.cluster);
            for (std::size_t block = 0; block < blocks; ++block)
                if (const auto damage = shared_[block]->damage(); damage && fault_.empty()) fault_ = *damage;
            if (!fault_.empty()) throw DeviceFault(std::exchange(fault_, {}));
        }
    }

    // What the running thread calls.
    const host::Thread* current() const { return &current_->view; }

    void sync_threads(Site site) { wait(EmulatedThread::State::at_barrier, site); }
    void sync_cluster(Site site) { wait(EmulatedThread::State::at_cluster_barrier, site); }
    void sync_some(int id, int threads, Site site) {
        current_->barrier_id = id;
        current_->barrier_threads = threads;
        wait(EmulatedThread::State::at_named_barrier, site);
    }

    unsigned shared_address(const void* place, Site site) {
        const auto address = shared_[static_cast<std::size_t>(cluster_rank())]->gpu_address(place);
        if (!address) fail("the address is in no tile of shared memory", site);
        return *address;
    }
    host::SharedSpan shared_span(unsigned address) const { return shared_[static_cast<std::size_t>(cluster_rank())]->span(address); }

    void start_bulk_copy(const host::BulkCopy& copy) {
        mbarrier_changed();
        if (launch_->order.kind == HostThreadOrder::Kind::shuffled && (next_random() >> 32 & 1))
            land(copy);
        else
            bulk_copies_.push_back(copy);
    }
    void land_bulk_copies(const host::Mbarrier* barrier) {
        for (std::size_t i = 0; i < bulk_copies_.size();) {
            if (bulk_copies_[i].barrier != barrier) {
                ++i;
                continue;
            }
            land(bulk_copies_[i]);
            bulk_copies_.erase(bulk_copies_.begin() + static_cast<std::ptrdiff_t>(i));
            mbarrier_changed();
        }
    }
    void mbarrier_changed() { ++mbarrier_changes_; }
    void wait_for_mbarriers(Site site) {
        current_->changes_seen = mbarrier_changes_;
        wait(EmulatedThread::State::at_mbarrier, site);
    }

    void defer(void (*operation)(const void* data), const void* data, int bytes) {
        if (launch_->order.kind == HostThreadOrder::Kind::shuffled && (next_random() >> 32 & 1)) {
            // Those before it come first: they may add to the same sums.
            run_deferred(*current_, ~0U);
            operation(data);
            return;
        }
        const auto* const first = static_cast<const unsigned char*>(data);
        current_->deferred.push_back({operation, {first, first + bytes}, current_->open_deferred});
    }
    void commit_deferred() {
        ++current_->open_deferred;
        mbarrier_changed();
    }
    // An operation of a warpgroup ends for all of its threads at once, and not before all have issued it.
    void wait_for_deferred(int pending_groups, Site site) {
        if (current_->open_deferred < static_cast<unsigned>(pending_groups)) return;
        const unsigned end = current_->open_deferred - static_cast<unsigned>(pending_groups);
        const std::size_t index = index_of(*current_);
        const std::size_t first = index - index % block_threads_ % kWarpgroupSize;
        const std::size_t last = std::min(first + kWarpgroupSize, (block_of(index) + 1) * block_threads_);
        const auto lags = [&](const EmulatedThread& thread) { return thread.state != State::exited && thread.open_deferred < end; };
        const auto begin = threads_.begin() + static_cast<std::ptrdiff_t>(first);
        const auto stop = threads_.begin() + static_cast<std::ptrdiff_t>(last);
        // It may take its time, for all that wait now: until every other thread has had a turn.
        const int turns = slow_ ? 2 : 0;
        for (int turn = 0; turn < turns; ++turn) {
            current_->changes_seen = mbarrier_changes_ - 1;
            wait(State::at_mbarrier, site);
        }
        while (std::any_of(begin, stop, lags)) wait_for_mbarriers(site);
        for (auto thread = begin; thread != stop; ++thread) run_deferred(*thread, end);
    }

    int cluster_rank() const { return static_cast<int>(block_of(index_of(*current_))); }

    const void* map_shared(const void* address, int rank, Site site) {
        if (rank < 0 || rank >= launch_->cluster)
            fail(fmt::format("a cluster of {} blocks has no block {}", launch_->cluster, rank).c_str(), site);
        const auto other = static_cast<std::size_t>(rank);
        for (std::size_t i = other * block_threads_; i < (other + 1) * block_threads_ && rank != cluster_rank(); ++i)
            if (threads_[i].state == State::exited) fail("the shared memory of a block that has ended is read", site);
        const void* const place = shared_[static_cast<std::size_t>(cluster_rank())]->counterpart(address, *shared_[other]);
        if (!place) fail("the address is in no tile of shared memory that both blocks have", site);
        return place;
    }

    unsigned long long warp(WarpOperation operation, unsigned mask, unsigned long long word, int source_lane, Site site) {
        EmulatedThread& self = *current_;
        const std::size_t index = index_of(self);
        const auto [first, lanes] = warp_of(index);
        if (lanes < kWarpSize) mask &= (1U << lanes) - 1;
        self.operation = operation;
        self.mask = mask;
        self.word = word;
        self.source_lane = source_lane;
        if (!(mask >> (index - first) & 1))
            fail(fmt::format("a thread is not among the lanes {:#x} of its own {}", mask, tmm::name_of(operation)).c_str(), site);
        self.site = site;
        bool complete = true;
        for (std::size_t lane = 0; lane < lanes && complete; ++lane) {
            const EmulatedThread& other = threads_[first + lane];
            if (!(mask >> lane & 1) || &other == &self) continue;
            complete = other.state == EmulatedThread::State::at_warp_operation && other.mask == mask && other.operation == operation &&
                       same_site(other.site, site);
        }
        if (!complete) {
            wait(EmulatedThread::State::at_warp_operation, site);
            return self.word;
        }
        exchange(first, lanes, mask, operation);
        return self.word;
    }

    const void* gather(const void* brought, int bytes, Site site) {
        const auto [first, lanes] = warp_of(index_of(*current_));
        if (lanes < kWarpSize) fail("an operation of the whole warp in a warp of fewer than 32 threads", site);
        current_->brought = brought;
        current_->bytes = bytes;
        warp(WarpOperation::gather, ~0U, 0, 0, site);
        return threads_[first].gathered.data();
    }

    void* take_shared(int index, long long bytes, Site site) {
        std::string error;
        void* const tile = shared_[static_cast<std::size_t>(cluster_rank())]->take(index, bytes, error);
        if (!tile) fail(error.c_str(), site);
        return tile;
    }

    void copy_async(const AsyncCopy& copy) {
        EmulatedThread& self = *current_;
        if (launch_->order.kind == HostThreadOrder::Kind::shuffled && (next_random() >> 32 & 1)) {
            land(copy);
            return;
        }
        self.copies.push_back(copy);
        self.copies.back().group = self.open_group;
    }
    void commit_copies() { ++current_->open_group; }
    void wait_for_copies(int pending_groups) {
        EmulatedThread& self = *current_;
        while (self.landed < self.copies.size() && self.copies[self.landed].group + static_cast<unsigned>(pending_groups) < self.open_group)
            land(self.copies[self.landed++]);
        if (self.landed < self.copies.size()) return;
        self.copies.clear();
        self.landed = 0;
    }

    [[noreturn]] void fail(const char* what, Site site) {
        const std::size_t index = index_of(*current_);
        fault_ = fmt::format("{} ({}, block {}, thread {})", what, describe(site), block_number(index), index % block_threads_);
        for (;;) suspend(*current_->fiber);
    }

private:
    using State = EmulatedThread::State;

    // Of the groups before `end`.
    static void run_deferred(EmulatedThread& thread, unsigned end) {
        std::vector<Deferred>& deferred = thread.deferred;
        std::size_t done = 0;
        while (done < deferred.size() && deferred[done].group < end) {
            deferred[done].run(deferred[done].data.data());
            ++done;
        }
        deferred.erase(deferred.begin(), deferred.begin() + static_cast<std::ptrdiff_t>(done));
    }

    std::size_t count() const { return order_.size(); }
    std::size_t index_of(const EmulatedThread& thread) const { return static_cast<std::size_t>(&thread - threads_.data()); }

    std::size_t block_of(std::size_t index) const { return index / block_threads_; }
    std::int64_t block_number(std::size_t index) const { return first_block_ + static_cast<std::int64_t>(block_of(index)); }

    // A warp's first thread, and how many it has.
    std::pair<std::size_t, std::size_t> warp_of(std::size_t index) const {
        const std::size_t block_begin = block_of(index) * block_threads_;
        const std::size_t first = block_begin + (index - block_begin) / kWarpSize * kWarpSize;
        return {first, std::min<std::size_t>(kWarpSize, block_begin + block_threads_ - first)};
    }

    std::uint64_t next_random() {
        random_ ^= random_ << 13;
        random_ ^= random_ >> 7;
        random_ ^= random_ << 17;
        return random_;
    }

    void shuffle_order() {
        if (launch_->order.kind != HostThreadOrder::Kind::shuffled) return;
        for (std::size_t i = count(); i > 1; --i) std::swap(order_[i - 1], order_[(next_random() >> 11) % i]);
        slow_ = (next_random() >> 32 & 1) != 0;
    }

    void run_cluster(std::int64_t first_block) {
        first_block_ = first_block;
        for (const auto& shared : shared_) shared->begin_block();
        const auto threads = static_cast<unsigned>(launch_->threads);
        const host::Index grid{static_cast<unsigned>(launch_->grid), 1, 1};
        for (std::size_t i = 0; i < count(); ++i) {
            EmulatedThread& thread = threads_[i];
            thread.view = {
                {static_cast<unsigned>(i % block_threads_), 0, 0}, {static_cast<unsigned>(block_number(i)), 0, 0}, {threads, 1, 1}, grid};
            thread.state = State::not_started;
            thread.fiber = nullptr;
            thread.copies.clear();
            thread.landed = 0;
            thread.open_group = 0;
            thread.deferred.clear();
            thread.open_deferred = 0;
        }
        bulk_copies_.clear();
        exited_ = 0;
        started_ = 0;
        shuffle_order();
        // Blocks run one after the other as far as they get; in shuffled order all of their threads are mixed.
        const bool mixed = launch_->order.kind == HostThreadOrder::Kind::shuffled;
        while (started_ < count() && fault_.empty()) {
            startable_ = mixed ? count() : started_ + block_threads_;
            while (started_ < startable_ && fault_.empty()) start_threads();
            while (!mixed && fault_.empty() && (release_barriers() || run_ready_threads())) {
            }
        }
        while (exited_ < count() && fault_.empty()) {
            if (!release_barriers() && !run_ready_threads()) fault_ = divergence();
        }
        if (fault_.empty() && !bulk_copies_.empty()) fault_ = "a block has ended while copies to its shared memory are under way";
        if (!fault_.empty()) cancel();
    }

    // Puts a free fiber to work: it begins threads, one after the other, until one of them waits.
    void start_threads() {
        if (free_.empty()) {
            free_.push_back(fibers_.emplace_back(std::make_unique<Fiber>()).get());
            make_context(*free_.back());
        }
        Fiber* const fiber = free_.back();
        free_.pop_back();
        resume(*fiber);
    }

    bool run_ready_threads() {
        bool progress = false;
        for (const std::size_t index : order_) {
            EmulatedThread& thread = threads_[index];
            if (thread.state != State::ready) continue;
            progress = true;
            current_ = &thread;
            resume(*thread.fiber);
            if (!fault_.empty()) break;
        }
        return progress;
    }

    // True where all threads of the cluster, or of one of its blocks, waited at the same barrier, and may now go on. One block runs as
    // far as it gets before the next: blocks in step would hide that they do not wait for each other.
    bool release_barriers() {
        const std::size_t blocks = count() / block_threads_;
        bool released = release(State::at_cluster_barrier, 0, count());
        for (std::size_t block = 0; block < blocks; ++block) released = release_named(block * block_threads_) || released;
        for (std::size_t i = 0; i < count(); ++i) {
            if (threads_[i].state != State::at_mbarrier || threads_[i].changes_seen == mbarrier_changes_) continue;
            threads_[i].state = State::ready;
            released = true;
        }
        const std::size_t start = launch_->order.kind == HostThreadOrder::Kind::shuffled ? (next_random() >> 11) % blocks : 0;
        for (std::size_t i = 0; i < blocks && !released; ++i) {
            const std::size_t block = launch_->order.kind == HostThreadOrder::Kind::descending ? blocks - 1 - i : (start + i) % blocks;
            released = release(State::at_barrier, block * block_threads_, (block + 1) * block_threads_);
        }
        if (released) shuffle_order();
        return released;
    }
    // Of a block, those that wait at the same named barrier, when they are as many as it is for.
    bool release_named(std::size_t begin) {
        bool released = false;
        for (std::size_t i = begin; i < begin + block_threads_; ++i) {
            const EmulatedThread& first = threads_[i];
            if (first.state != State::at_named_barrier) continue;
            const auto waits = [&](const EmulatedThread& thread) {
                return thread.state == State::at_named_barrier && thread.barrier_id == first.barrier_id;
            };
            const auto block = threads_.begin() + static_cast<std::ptrdiff_t>(begin);
            const auto end = block + static_cast<std::ptrdiff_t>(block_threads_);
            if (std::count_if(block, end, waits) < first.barrier_threads) continue;
            const int id = first.barrier_id;
            for (auto thread = block; thread != end; ++thread)
                if (thread->state == State::at_named_barrier && thread->barrier_id == id) thread->state = State::ready;
            released = true;
        }
        return released;
    }
    // The threads of a cluster may come to its barrier at several places, those of a warp at one.
    bool release(State barrier, std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            const std::size_t like = barrier == State::at_cluster_barrier ? warp_of(i).first : begin;
            if (threads_[i].state != barrier || !same_site(threads_[i].site, threads_[like].site)) return false;
        }
        for (std::size_t i = begin; i < end; ++i) threads_[i].state = State::ready;
        return true;
    }

    // All lanes of the mask have arrived: each gets its result, and those that waited may go on.
    void exchange(std::size_t first, std::size_t lanes, unsigned mask, WarpOperation operation) {
        unsigned long long words[kWarpSize];
        unsigned votes = 0;
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            // A lane that takes no part has no value to give.
            words[lane] = ~0ULL;
            if (!(mask >> lane & 1)) continue;
            words[lane] = threads_[first + lane].word;
            if (words[lane]) votes |= 1U << lane;
        }
        if (operation == WarpOperation::gather) {
            std::vector<unsigned char>& gathered = threads_[first].gathered;
            gathered.clear();
            for (std::size_t lane = 0; lane < lanes; ++lane) {
                const auto* const brought = static_cast<const unsigned char*>(threads_[first + lane].brought);
                gathered.insert(gathered.end(), brought, brought + threads_[first + lane].bytes);
            }
        }
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            if (!(mask >> lane & 1)) continue;
            EmulatedThread& thread = threads_[first + lane];
            if (operation == WarpOperation::ballot) thread.word = votes;
            if (operation == WarpOperation::shuffle) {
                const auto source = static_cast<std::size_t>(thread.source_lane);
                thread.word = source < lanes ? words[source] : ~0ULL;
            }
            if (&thread != current_) thread.state = State::ready;
        }
    }

    // Every thread waits for another, or for one that has ended.
    std::string divergence() const {
        std::vector<std::pair<std::string, std::vector<std::size_t>>> groups;
        for (std::size_t i = 0; i < count(); ++i) {
            const std::string where = describe(threads_[i]);
            auto group = groups.begin();
            while (group != groups.end() && group->first != where) ++group;
            if (group == groups.end()) group = groups.insert(groups.end(), {where, {}});
            group->second.push_back(i);
        }
        const std::string where_in_grid = launch_->cluster == 1
                                              ? fmt::format("block {}", first_block_)
                                              : fmt::format("the cluster of blocks {} to {}", first_block_, block_number(count() - 1));
        std::string text = fmt::format("barrier divergence in {}:", where_in_grid);
        for (const auto& [where, members] : groups)
            text += fmt::format("{} {} thread{} (the first is {}) {}{}", &where == &groups.front().first ? "" : ";", members.size(),
                                members.size() == 1 ? "" : "s", members.front(), where == "exited" ? "" : "at ", where);
        return text;
    }

    void cancel() {
        cancelling_ = true;
        for (std::size_t i = 0; i < count(); ++i) {
            EmulatedThread& thread = threads_[i];
            if (!thread.fiber || thread.state == State::exited || thread.state == State::not_started) continue;
            current_ = &thread;
            resume(*thread.fiber);
        }
        cancelling_ = false;
    }

    void make_context(Fiber& fiber) {
        boost::context::stack_context stack = StackAllocator().allocate();
        fiber.stack_bottom = static_cast<char*>(stack.sp) - kStackBytes;
        fiber.inside = boost::context::fiber(std::allocator_arg, boost::context::preallocated(stack.sp, stack.size, stack),
                                             StackAllocator(), [this, &fiber](boost::context::fiber&& scheduler) {
                                                 sanitizer::finish_switch(nullptr, &scheduler_stack_, &scheduler_stack_bytes_);
                                                 fiber.scheduler = std::move(scheduler);
                                                 work(fiber);
                                                 sanitizer::start_switch(nullptr, scheduler_stack_, scheduler_stack_bytes_);
                                                 return std::move(fiber.scheduler);
                                             });
    }

    // A fiber's life.
    void work(Fiber& fiber) {
        while (!stopping_) {
            while (started_ < startable_ && fault_.empty()) {
                EmulatedThread& thread = threads_[order_[started_++]];
                thread.fiber = &fiber;
                thread.state = State::ready;
                current_ = &thread;
                run_thread();
            }
            free_.push_back(&fiber);
            suspend(fiber);
        }
    }

    // Not in line: what is thrown here must not be caught further out.
    __attribute__((noinline)) void run_thread() {
        EmulatedThread* const self = current_;
        try {
            launch_->kernel(launch_->arguments);
        } catch (const Cancelled&) {
        }
        self->state = State::exited;
        ++exited_;
    }

    // From the scheduler to a fiber, and back.
    void resume(Fiber& fiber) {
        void* fake_stack = nullptr;
        sanitizer::start_switch(&fake_stack, fiber.stack_bottom, kStackBytes);
        fiber.inside = std::move(fiber.inside).resume();
        sanitizer::finish_switch(fake_stack, nullptr, nullptr);
    }
    void suspend(Fiber& fiber) {
        void* fake_stack = nullptr;
        sanitizer::start_switch(&fake_stack, scheduler_stack_, scheduler_stack_bytes_);
        fiber.scheduler = std::move(fiber.scheduler).resume();
        sanitizer::finish_switch(fake_stack, &scheduler_stack_, &scheduler_stack_bytes_);
        if (cancelling_) throw Cancelled();
    }

    void wait(State state, Site site) {
        EmulatedThread& self = *current_;
        self.state = state;
        self.site = site;
        suspend(*self.fiber);
    }

    const HostLaunch* launch_ = nullptr;
    std::int64_t first_block_ = 0;
    std::size_t block_threads_ = 1;
    // Of all blocks of the cluster, one block after the other.
    std::vector<EmulatedThread> threads_;
    std::vector<std::size_t> order_;
    // Threads that may begin, in the order of order_; those that have, and those that have ended.
    std::size_t startable_ = 0;
    std::size_t started_ = 0;
    std::size_t exited_ = 0;
    EmulatedThread* current_ = nullptr;
    std::vector<std::unique_ptr<Fiber>> fibers_;
    std::vector<Fiber*> free_;
    // A block's each.
    std::vector<std::unique_ptr<HostSharedMemory>> shared_;
    std::vector<host::BulkCopy> bulk_copies_;
    unsigned long long mbarrier_changes_ = 0;
    // In shuffled order, at times: what runs in the background ends later than it could.
    bool slow_ = false;
    std::uint64_t random_ = 1;
    std::string fault_;
    bool cancelling_ = false;
    bool stopping_ = false;
    const void* scheduler_stack_ = nullptr;
    std::size_t scheduler_stack_bytes_ = 0;
};

// The cluster that runs on this OS thread.
thread_local Cluster* running = nullptr;

}  // namespace

HostThreadOrder parse_host_thread_order(const std::string& text) {
    if (text == "ascending") return {HostThreadOrder::Kind::ascending};
    if (text == "descending") return {HostThreadOrder::Kind::descending};
    constexpr std::string_view kShuffled = "shuffled";
    if (text == kShuffled) return {HostThreadOrder::Kind::shuffled};
    if (text.starts_with("shuffled:")) {
        HostThreadOrder order{HostThreadOrder::Kind::shuffled};
        const char* const end = text.data() + text.size();
        const auto [stop, error] = std::from_chars(text.data() + kShuffled.size() + 1, end, order.seed);
        if (error == std::errc() && stop == end) return order;
    }
    throw Error(ExitStatus::usage, fmt::format("'{}' is no thread order", text), "TMM_HOST_ORDER",
                "use ascending, descending, shuffled or shuffled:SEED");
}

void run_on_host(const HostLaunch& launch) {
    thread_local Cluster cluster;
    running = &cluster;
    cluster.run(launch);
}

const host::Services& host_services() {
    static const host::Services services{
        .current_thread = [] { return running->current(); },
        .sync_threads = [](Site site) { running->sync_threads(site); },
        .warp = [](WarpOperation operation, unsigned mask, unsigned long long word, int source_lane,
                   Site site) { return running->warp(operation, mask, word, source_lane, site); },
        .gather = [](const void* brought, int bytes, Site site) { return running->gather(brought, bytes, site); },
        .take_shared = [](int index, long long bytes, Site site) { return running->take_shared(index, bytes, site); },
        .copy_async =
            [](void* destination, const void* source, int bytes, int source_bytes) {
                running->copy_async({destination, source, bytes, source_bytes, 0});
            },
        .commit_copies = [] { running->commit_copies(); },
        .wait_for_copies = [](int pending_groups) { running->wait_for_copies(pending_groups); },
        .cluster_rank = [] { return running->cluster_rank(); },
        .sync_cluster = [](Site site) { running->sync_cluster(site); },
        .map_shared = [](const void* address, int rank, Site site) { return running->map_shared(address, rank, site); },
        .sync_some = [](int id, int threads, Site site) { running->sync_some(id, threads, site); },
        .shared_address = [](const void* place, Site site) { return running->shared_address(place, site); },
        .shared_span = [](unsigned address) { return running->shared_span(address); },
        .start_bulk_copy = [](const host::BulkCopy& copy) { running->start_bulk_copy(copy); },
        .land_bulk_copies = [](const host::Mbarrier* barrier) { running->land_bulk_copies(barrier); },
        .mbarrier_changed = [] { running->mbarrier_changed(); },
        .wait_for_mbarriers = [](Site site) { running->wait_for_mbarriers(site); },
        .defer = [](void (*run)(const void* data), const void* data, int bytes) { running->defer(run, data, bytes); },
        .commit_deferred = [] { running->commit_deferred(); },
        .wait_for_deferred = [](int pending_groups, Site site) { running->wait_for_deferred(pending_groups, site); },
        .fail = [](const char* what, Site site) { running->fail(what, site); },
    };
    return services;
}

}  // namespace tmm
