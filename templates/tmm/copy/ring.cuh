// The ring of stages in shared memory that the copy engine fills and warps read, stage after stage.
#pragma once

#include "tmm/ptx.cuh"

namespace tmm {

// The place of one side of the ring. The parity of a barrier's phase turns each time the ring comes round.
template <int stages>
struct RingPlace {
    int stage = 0;
    unsigned parity = 0;
    // The stage before the last advance.
    int previous = 0;

    // Goes on to the next stage. True where the ring has come round.
    __device__ bool advance() {
        previous = stage;
        const bool round = ++stage == stages;
        if (round) {
            stage = 0;
            parity ^= 1;
        }
        return round;
    }
    __device__ void skip(int tiles) {
        const int place = stage + tiles;
        stage = place % stages;
        parity ^= static_cast<unsigned>(place / stages) & 1;
    }
    // The place so many tiles ago, fewer than there are stages.
    __device__ RingPlace back(int tiles) const {
        const bool round = stage < tiles;
        return {.stage = stage - tiles + (round ? stages : 0), .parity = parity ^ (round ? 1u : 0u)};
    }
};

// One thread makes a ring's barriers. A stage has landed when all bytes that were announced have landed, and is free when so many readers
// have said so. The caller makes the barriers visible to the copy engine, and to other blocks (fence_mbarrier_init).
template <int stages>
__device__ inline void init_ring(unsigned long long* full, unsigned long long* empty, int readers) {
    for (int stage = 0; stage < stages; ++stage) {
        ptx::mbarrier_init(full + stage, 1);
        ptx::mbarrier_init(empty + stage, readers);
    }
}

// Waits until the barrier's phase of that parity has ended.
__device__ inline void wait_for_phase(unsigned long long* barrier, unsigned parity) {
    while (!ptx::mbarrier_try_wait_parity(barrier, parity)) {
    }
}

// A warp's arrival at a barrier does not wait for its loads from shared memory that are under way, and the copy engine's next tile has been
// seen to land before them. So arrivals hang on what was read: their address has a 0 added to it that is made of results of all loads, and
// that no compiler can know to be 0, since the mask comes from an argument.
class ReadBits {
public:
    // one: an argument that is 1.
    __device__ explicit ReadBits(float one) : mask_(__float_as_uint(one) ^ __float_as_uint(1.0f)) {}
    // A result of loaded values.
    __device__ void add(float result) { bits_ ^= __float_as_uint(result); }
    __device__ unsigned zero() const { return bits_ & mask_; }

private:
    unsigned mask_;
    unsigned bits_ = 0;
};

}  // namespace tmm
