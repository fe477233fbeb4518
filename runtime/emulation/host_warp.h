// The operations of a warp's lanes with each other, once its lanes have come to one.
#pragma once

#include <span>

#include "runtime/emulation/host_thread.h"

namespace tmm {

inline constexpr std::size_t kHostWarpSize = 32;

// Whether every other lane of the mask waits at the same operation, in the same place.
bool others_have_come(std::span<const HostThread> warp, const HostThread& last);

// All lanes of the mask have arrived: each gets its result, and those that waited may go on.
void exchange_words(std::span<HostThread> warp, const HostThread& last);

}  // namespace tmm
