// Matrices in device memory with guard zones around them, in which a kernel that reads or writes too far is seen.
#pragma once

#include <memory>

#include "runtime/device/device.h"
#include "tmm/checks/verify/args.h"

namespace tmm {

// Bytes of the zone at either end, at least.
inline constexpr i64 kGuardBytes = 4096;

// A matrix (or a batch of them) in device memory with a guard zone at either end.
struct Matrix {
    DeviceBuffer buffer;
    MatrixRegion region;
    unsigned char* base = nullptr;
};

enum class Placing {
    // The first element stands at an odd multiple of the alignment, so that a kernel which needs a wider one is seen to.
    odd,
    // The first element stands where whole vectors are aligned, as an allocation begins; that is what callers pass. Rows then straddle no
    // more of the memory's sectors than they must, and this is the case that should be timed.
    allocated,
};

// stride: elements from one member of the batch to the next; declared_alignment: bytes, as a problem promises it.
Matrix make_matrix(const std::shared_ptr<Device>& device, ElementType type, i64 rows, i64 columns, i64 ld, i64 stride, i64 batch,
                   int declared_alignment, Placing placing);

inline i64 word_bytes(const MatrixRegion& region) {
    return size_of(region.type);
}

// A matrix on the emulated device whose zones AddressSanitizer guards for as long as this lives.
class PoisonedZones {
public:
    explicit PoisonedZones(const MatrixRegion& region);
    ~PoisonedZones();
    PoisonedZones(const PoisonedZones&) = delete;
    PoisonedZones& operator=(const PoisonedZones&) = delete;

private:
    const void* word(i64 index) const;

    MatrixRegion region_;
};

}  // namespace tmm
