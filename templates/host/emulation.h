// The interface between a kernel compiled for the CPU and the device that runs it (runtime/emulation/host_device.cpp). The kernel's shared
// object exports tmm_host_connect(const Services*) and, for each entry, NAME_host(const void* arguments), which runs one thread to its end.
#pragma once

#include "host/asynchronous.h"

namespace tmm::host {

// Part of the compiler's identity: an image made for another version is never loaded.
inline constexpr int kEmulationVersion = 6;

struct Index {
    unsigned x;
    unsigned y;
    unsigned z;
};

struct Thread {
    Index thread_index;
    Index block_index;
    Index block_dim;
    Index grid_dim;
};

// A place in a template, for messages.
struct Site {
    const char* file;
    int line;
};

enum class WarpOperation : int { sync, shuffle, ballot, gather };

// The running thread calls these functions; those that wait switch to other threads of the block, or of its cluster.
struct Services {
    const Thread* (*current_thread)();
    void (*sync_threads)(Site site);
    // Waits for every lane of the mask. Returns the word of source_lane for shuffle, and the lanes whose word is not 0 for ballot.
    unsigned long long (*warp)(WarpOperation operation, unsigned mask, unsigned long long word, int source_lane, Site site);
    // Waits for all 32 lanes. Returns what each of them brought, lane after lane, until the warp's next gathering.
    const void* (*gather)(const void* brought, int bytes, Site site);
    // The index-th tile that this thread takes, of shared memory that every thread of the block sees.
    void* (*take_shared)(int index, long long bytes, Site site);
    // The copy lands when the thread waits for its group (in shuffled order perhaps sooner).
    void (*copy_async)(void* destination, const void* source, int bytes, int source_bytes);
    void (*commit_copies)();
    void (*wait_for_copies)(int pending_groups);
    int (*cluster_rank)();
    void (*sync_cluster)(Site site);
    // The place of an address in this block's shared memory in that of the cluster's block of that rank.
    const void* (*map_shared)(const void* address, int rank, Site site);
    // Waits for so many threads of the block that come to barrier `id`.
    void (*sync_some)(int id, int threads, Site site);
    // The GPU's address of a place in this block's shared memory, and the tile that such an address is in; the span has no memory where the
    // address is in no tile.
    unsigned (*shared_address)(const void* place, Site site);
    SharedSpan (*shared_span)(unsigned address);
    // The copy lands when a thread waits for its barrier (in shuffled order perhaps sooner).
    void (*start_bulk_copy)(const BulkCopy& copy);
    void (*land_bulk_copies)(const Mbarrier* barrier);
    // The first says that the thread has written to shared memory; after the second the copy engine sees what the thread has written so
    // far.
    void (*written_to_shared)();
    void (*fence_proxy_async)();
    // The box is read from shared memory when the thread waits for its group (in shuffled order perhaps sooner).
    void (*start_bulk_store)(const BulkCopy& copy, Site site);
    void (*commit_bulk_stores)();
    void (*wait_for_bulk_stores)(int pending_groups);
    // The first says that some barrier in shared memory has changed; the second waits until one has.
    void (*mbarrier_changed)();
    void (*wait_for_mbarriers)(Site site);
    // The function runs when the thread waits for its group (in shuffled order perhaps sooner).
    void (*defer)(void (*run)(const void* data), const void* data, int bytes);
    void (*commit_deferred)();
    void (*wait_for_deferred)(int pending_groups, Site site);
    // These end the launch with a DeviceFault, and do not return.
    void (*fail)(const char* what, Site site);
    void (*misaligned)(const char* access, const void* address, unsigned alignment, Site site);
};

}  // namespace tmm::host
