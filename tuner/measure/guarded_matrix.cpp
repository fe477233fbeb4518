#include "tuner/measure/guarded_matrix.h"

#include <algorithm>
#include <cstdint>

#include "runtime/device/sanitizer.h"

namespace tmm {
namespace {

constexpr i64 kVectorBytes = 16;
// The alignment that cudaMalloc gives (CUDA Programming Guide, "Device Memory Accesses").
constexpr i64 kAllocationAlignment = 256;

}  // namespace

Matrix make_matrix(const std::shared_ptr<Device>& device, ElementType type, i64 rows, i64 columns, i64 ld, i64 stride, i64 batch,
                   int declared_alignment, Placing placing) {
    const i64 word = size_of(type);
    const i64 alignment = std::max<i64>(word, declared_alignment & -declared_alignment);
    const i64 matrix_span = rows > 0 && columns > 0 && batch > 0 ? (rows - 1) * ld + columns : 0;
    const i64 span = matrix_span > 0 ? (batch - 1) * stride + matrix_span : 0;
    const bool odd = placing == Placing::odd || alignment < kVectorBytes;
    const i64 unit = odd ? 2 * alignment : kAllocationAlignment;
    // The guard before the first element is at least kGuardBytes and at most one unit more.
    const i64 bytes = span * word + 2 * kGuardBytes + unit;
    Matrix matrix{.buffer = DeviceBuffer(device, static_cast<std::size_t>(bytes)), .region = {}, .base = nullptr};
    auto* const start = static_cast<unsigned char*>(matrix.buffer.data());
    const auto step = static_cast<std::uintptr_t>(unit);
    const auto earliest = reinterpret_cast<std::uintptr_t>(start) + static_cast<std::uintptr_t>(kGuardBytes);
    const std::uintptr_t into_unit = odd ? static_cast<std::uintptr_t>(alignment) : 0;
    auto first = earliest / step * step + into_unit;
    if (first < earliest) first += step;
    const auto before = static_cast<i64>(first - reinterpret_cast<std::uintptr_t>(start));
    matrix.base = start + before;
    matrix.region = {.buffer = start,
                     .type = type,
                     .words = bytes / word,
                     .first = before / word,
                     .span = span,
                     .rows = rows,
                     .columns = columns,
                     .ld = std::max<i64>(ld, 1),
                     .stride = batch > 1 ? stride : 0,
                     .batch = batch};
    return matrix;
}

PoisonedZones::PoisonedZones(const MatrixRegion& region) : region_(region) {
    const i64 behind = region.first + region.span;
    sanitizer::poison(region.buffer, static_cast<std::size_t>(region.first * word_bytes(region)));
    sanitizer::poison(word(behind), static_cast<std::size_t>((region.words - behind) * word_bytes(region)));
}

PoisonedZones::~PoisonedZones() {
    sanitizer::unpoison(region_.buffer, static_cast<std::size_t>(region_.words * word_bytes(region_)));
}

const void* PoisonedZones::word(i64 index) const {
    return static_cast<const unsigned char*>(region_.buffer) + index * word_bytes(region_);
}

}  // namespace tmm
