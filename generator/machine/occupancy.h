// How many blocks of a kernel an SM holds at once, from the limits alone: what the driver would say, without a driver. And how blocks are
// dealt out to SMs.
#pragma once

#include <cstdint>

#include "generator/machine/device_info.h"
#include "tmm/vocabulary/problem.h"

namespace tmm {

struct Occupancy {
    int blocks = 0;
    // What bounds the number: "threads", "registers", "shared memory" or "blocks".
    const char* limit = "threads";
};

// registers: those of a thread; -1 where they are not known, which leaves them out.
Occupancy blocks_per_sm(const DeviceInfo& device, int threads, int registers, std::int64_t shared_bytes);

// Registers that each of so many threads on an SM may have: they are given to warps in units of 8 a thread, up to 255.
int registers_for(const DeviceInfo& device, int threads_on_sm);

// Shared memory with which so many blocks fit on an SM, 1 to 32, and no more.
std::int64_t shared_bytes_for(const DeviceInfo& device, int blocks);

// How many SMs get one block less than the others when so many blocks are dealt out evenly. So many more blocks make none of them wait.
std::int64_t sms_with_room(std::int64_t blocks, const DeviceInfo& device);

// SMs on which clusters of so many blocks find room at once, where an SM holds so many of these blocks: the SMs of a GPC are no multiple of
// most sizes.
double sms_for_clusters(const DeviceInfo& device, int size, int resident = 1);

// Bytes a microsecond that all SMs together get out of the L2 cache.
double l2_bytes(const DeviceInfo& device);

// Multiply-adds of an SM in a clock on CUDA cores, with sums of that type.
double fmas_per_clock(const DeviceInfo& device, ElementType sums);

// Issue slots of one of an SM's four schedulers that the multiply-adds of a warp take, with sums of that type.
double slots_of_warp_fma(const DeviceInfo& device, ElementType sums = ElementType::f32);

}  // namespace tmm
