#include "runtime/emulation/host_block.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/device/device.h"
#include "runtime/device/thread_local_value.h"
#include "runtime/emulation/host_background.h"
#include "runtime/emulation/host_scheduler.h"
#include "runtime/emulation/host_shared_memory.h"
#include "runtime/emulation/host_thread.h"

namespace tmm {

namespace {

using host::Site;
using host::WarpOperation;
using State = HostThread::State;

constexpr std::size_t kWarpgroupSize = 128;

class Cluster {
public:
    void run(const HostLaunch& launch) {
        blocks_ = static_cast<std::size_t>(launch.cluster);
        scheduler_.begin_launch(launch);
        while (shared_.size() < blocks_) shared_.push_back(std::make_unique<HostSharedMemory>());
        for (const auto& shared : shared_) shared->begin_launch(launch.shared_bytes);
        const std::int64_t clusters = launch.grid / launch.cluster;
        const bool descending = launch.order.kind == HostThreadOrder::Kind::descending && !launch.waits_for_blocks_before;
        for (std::int64_t cluster = 0; cluster < clusters; ++cluster)
            run_cluster((descending ? clusters - 1 - cluster : cluster) * launch.cluster);
    }

    // What the running thread calls.
    const host::Thread* current_thread() const { return &scheduler_.current().view; }
    int rank() const { return static_cast<int>(scheduler_.current_block()); }

    void sync_threads(Site site) { scheduler_.wait(State::at_barrier, site); }
    void sync_cluster(Site site) { scheduler_.wait(State::at_cluster_barrier, site); }
    void sync_some(int id, int threads, Site site) {
        scheduler_.current().barrier_id = id;
        scheduler_.current().barrier_threads = threads;
        scheduler_.wait(State::at_named_barrier, site);
    }

    unsigned long long warp(WarpOperation operation, unsigned mask, unsigned long long word, int source_lane, Site site) {
        HostThread& self = scheduler_.current();
        const std::span<HostThread> lanes = scheduler_.current_part(kHostWarpSize);
        if (lanes.size() < kHostWarpSize) mask &= (1U << lanes.size()) - 1;
        self.operation = operation;
        self.mask = mask;
        self.word = word;
        self.source_lane = source_lane;
        if (!(mask >> (&self - &lanes.front()) & 1))
            fail(fmt::format("a thread is not among the lanes {:#x} of its own {}", mask, name_of(operation)).c_str(), site);
        self.site = site;
        if (others_have_come(lanes, self))
            exchange_words(lanes, self);
        else
            scheduler_.wait(State::at_warp_operation, site);
        return self.word;
    }
    const void* gather(const void* brought, int bytes, Site site) {
        const std::span<HostThread> lanes = scheduler_.current_part(kHostWarpSize);
        if (lanes.size() < kHostWarpSize) fail("an operation of the whole warp in a warp of fewer than 32 threads", site);
        scheduler_.current().brought = brought;
        scheduler_.current().bytes = bytes;
        warp(WarpOperation::gather, ~0U, 0, 0, site);
        return lanes.front().gathered.data();
    }

    void* take_shared(int index, long long bytes, Site site) {
        std::string error;
        void* const tile = own_shared().take(index, bytes, error);
        if (!tile) fail(error.c_str(), site);
        return tile;
    }
    unsigned shared_address(const void* place, Site site) {
        const auto address = own_shared().gpu_address(place);
        if (!address) fail("the address is in no tile of shared memory", site);
        return *address;
    }
    host::SharedSpan shared_span(unsigned address) const { return own_shared().span(address); }
    const void* map_shared(const void* address, int other_rank, Site site) {
        const auto other = static_cast<std::size_t>(other_rank);
        if (other_rank < 0 || other >= blocks_)
            fail(fmt::format("a cluster of {} blocks has no block {}", blocks_, other_rank).c_str(), site);
        const auto has_ended = [](const HostThread& thread) { return thread.state == State::exited; };
        if (other_rank != rank() && std::ranges::all_of(scheduler_.threads_of(other), has_ended))
            fail("the shared memory of a block that has ended is read", site);
        const void* const place = own_shared().counterpart(address, *shared_[other]);
        if (!place) fail("the address is in no tile of shared memory that both blocks have", site);
        return place;
    }

    void copy_async(const AsyncCopy& copy) {
        if (scheduler_.chance().heads())
            land(copy);
        else
            scheduler_.current().copies.start(copy);
    }
    void commit_copies() { scheduler_.current().copies.commit(); }
    void wait_for_copies(int pending_groups) { scheduler_.current().copies.land_all_but(pending_groups); }

    void start_bulk_copy(const host::BulkCopy& copy) {
        mbarrier_changed();
        if (scheduler_.chance().heads())
            land(copy);
        else
            bulk_copies_.start(copy);
    }
    void written_to_shared() { scheduler_.current().unfenced = true; }
    void fence_proxy_async() { scheduler_.current().unfenced = false; }
    void start_bulk_store(const host::BulkCopy& copy, Site site) {
        const auto is_unfenced = [](const HostThread& thread) { return thread.unfenced; };
        if (std::ranges::any_of(scheduler_.current_part(kHostWarpSize), is_unfenced))
            fail("the copy engine takes what a thread of the warp has written and not fenced for it", site);
        if (scheduler_.chance().heads())
            land(copy);
        else
            scheduler_.current().stores.start(copy);
    }
    void commit_bulk_stores() { scheduler_.current().stores.commit(); }
    void wait_for_bulk_stores(int pending_groups) { scheduler_.current().stores.land_all_but(pending_groups); }
    void land_bulk_copies(const host::Mbarrier* barrier) { scheduler_.mbarriers_changed(bulk_copies_.land_for(barrier)); }
    void mbarrier_changed() { scheduler_.mbarriers_changed(1); }
    void wait_for_mbarriers(Site site) { scheduler_.wait_for_mbarriers(site); }

    void defer(void (*operation)(const void* data), const void* data, int bytes) {
        DeferredOperations& deferred = scheduler_.current().deferred;
        if (!scheduler_.chance().heads()) return deferred.defer(operation, data, bytes);
        // The operations before it come first: they may add to the same sums.
        deferred.run_all();
        operation(data);
    }
    void commit_deferred() {
        scheduler_.current().deferred.commit();
        mbarrier_changed();
    }
    // An operation of a warpgroup ends for all of its threads at once, and not before all have issued it.
    void wait_for_deferred(int pending_groups, Site site) {
        const unsigned committed = scheduler_.current().deferred.committed_groups();
        if (committed < static_cast<unsigned>(pending_groups)) return;
        const unsigned end = committed - static_cast<unsigned>(pending_groups);
        const std::span<HostThread> warpgroup = scheduler_.current_part(kWarpgroupSize);
        const auto lags = [&](const HostThread& thread) {
            return thread.state != State::exited && thread.deferred.committed_groups() < end;
        };
        scheduler_.linger(site);
        while (std::ranges::any_of(warpgroup, lags)) wait_for_mbarriers(site);
        for (HostThread& thread : warpgroup) thread.deferred.run_groups_before(end);
    }

    [[noreturn]] void fail(const char* what, Site site) { scheduler_.fail(what, site); }
    [[noreturn]] void misaligned(const char* access, const void* address, unsigned alignment, Site site) {
        fail(fmt::format("{} at {}, which is no multiple of {} bytes: a GPU faults there", access, address, alignment).c_str(), site);
    }

private:
    HostSharedMemory& own_shared() const { return *shared_[scheduler_.current_block()]; }

    void run_cluster(std::int64_t first_block) {
        for (const auto& shared : shared_) shared->begin_block();
        bulk_copies_.clear();
        std::string fault = scheduler_.run_cluster(first_block);
        if (fault.empty() && !bulk_copies_.empty()) fault = "a block has ended while copies to its shared memory are under way";
        for (std::size_t block = 0; block < blocks_ && fault.empty(); ++block) fault = shared_[block]->damage().value_or("");
        if (!fault.empty()) throw DeviceFault(fault);
    }

    std::size_t blocks_ = 1;
    HostScheduler scheduler_;
    // Each block of the cluster has its own.
    std::vector<std::unique_ptr<HostSharedMemory>> shared_;
    BulkCopies bulk_copies_;
};

// The cluster that runs on this OS thread.
thread_local Cluster* running = nullptr;

}  // namespace

void run_on_host(const HostLaunch& launch) {
    running = &thread_local_value<Cluster>();
    running->run(launch);
}

const host::Services& host_services() {
    static const host::Services services{
        .current_thread = [] { return running->current_thread(); },
        .sync_threads = [](Site site) { running->sync_threads(site); },
        .warp = [](WarpOperation operation, unsigned mask, unsigned long long word, int source_lane,
                   Site site) { return running->warp(operation, mask, word, source_lane, site); },
        .gather = [](const void* brought, int bytes, Site site) { return running->gather(brought, bytes, site); },
        .take_shared = [](int index, long long bytes, Site site) { return running->take_shared(index, bytes, site); },
        .copy_async =
            [](void* destination, const void* source, int bytes, int source_bytes) {
                running->copy_async({destination, source, bytes, source_bytes});
            },
        .commit_copies = [] { running->commit_copies(); },
        .wait_for_copies = [](int pending_groups) { running->wait_for_copies(pending_groups); },
        .cluster_rank = [] { return running->rank(); },
        .sync_cluster = [](Site site) { running->sync_cluster(site); },
        .map_shared = [](const void* address, int rank, Site site) { return running->map_shared(address, rank, site); },
        .sync_some = [](int id, int threads, Site site) { running->sync_some(id, threads, site); },
        .shared_address = [](const void* place, Site site) { return running->shared_address(place, site); },
        .shared_span = [](unsigned address) { return running->shared_span(address); },
        .start_bulk_copy = [](const host::BulkCopy& copy) { running->start_bulk_copy(copy); },
        .land_bulk_copies = [](const host::Mbarrier* barrier) { running->land_bulk_copies(barrier); },
        .written_to_shared = [] { running->written_to_shared(); },
        .fence_proxy_async = [] { running->fence_proxy_async(); },
        .start_bulk_store = [](const host::BulkCopy& copy, Site site) { running->start_bulk_store(copy, site); },
        .commit_bulk_stores = [] { running->commit_bulk_stores(); },
        .wait_for_bulk_stores = [](int pending_groups) { running->wait_for_bulk_stores(pending_groups); },
        .mbarrier_changed = [] { running->mbarrier_changed(); },
        .wait_for_mbarriers = [](Site site) { running->wait_for_mbarriers(site); },
        .defer = [](void (*run)(const void* data), const void* data, int bytes) { running->defer(run, data, bytes); },
        .commit_deferred = [] { running->commit_deferred(); },
        .wait_for_deferred = [](int pending_groups, Site site) { running->wait_for_deferred(pending_groups, site); },
        .fail = [](const char* what, Site site) { running->fail(what, site); },
        .misaligned = [](const char* access, const void* address, unsigned alignment,
                         Site site) { running->misaligned(access, address, alignment, site); },
    };
    return services;
}

}  // namespace tmm
