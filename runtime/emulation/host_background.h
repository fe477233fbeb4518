// What the hardware does while threads go on: asynchronous copies to shared memory and operations of tensor cores. It is done as late as
// waits allow, so that a missing wait shows.
#pragma once

#include <cstddef>
#include <vector>

#include "host/asynchronous.h"

namespace tmm {

struct AsyncCopy {
    void* destination;
    const void* source;
    int bytes;
    // The rest of the destination becomes 0.
    int source_bytes;
};

void land(const AsyncCopy& copy);
void land(const host::BulkCopy& copy);

// A thread's copies by cp.async, or its boxes on their way from shared memory.
template <class Copy>
class GroupedCopies {
public:
    void clear();
    void start(const Copy& copy) { copies_.push_back({copy, open_group_}); }
    void commit() { ++open_group_; }
    void land_all_but(int pending_groups);
    bool empty() const { return copies_.empty(); }

private:
    struct Started {
        Copy copy;
        unsigned group;
    };
    // The copies stand in the order issued; those before `landed_` have landed.
    std::vector<Started> copies_;
    std::size_t landed_ = 0;
    unsigned open_group_ = 0;
};

using AsyncCopies = GroupedCopies<AsyncCopy>;
using BulkStores = GroupedCopies<host::BulkCopy>;

// A thread's share of wgmma's operations.
class DeferredOperations {
public:
    void clear();
    void defer(void (*run)(const void* data), const void* data, int bytes);
    void commit() { ++open_group_; }
    unsigned committed_groups() const { return open_group_; }
    void run_groups_before(unsigned end);
    void run_all() { run_groups_before(~0U); }

private:
    struct Operation {
        void (*run)(const void* data);
        std::vector<unsigned char> data;
        unsigned group;
    };
    std::vector<Operation> operations_;
    unsigned open_group_ = 0;
};

// TMA's copies to the shared memory of a cluster's blocks.
class BulkCopies {
public:
    void clear() { copies_.clear(); }
    bool empty() const { return copies_.empty(); }
    void start(const host::BulkCopy& copy) { copies_.push_back(copy); }
    // Makes the copies land that this barrier awaits; says how many they were.
    unsigned land_for(const host::Mbarrier* barrier);

private:
    std::vector<host::BulkCopy> copies_;
};

}  // namespace tmm
