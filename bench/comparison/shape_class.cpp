// Classes of shapes; see shape_class.h.
#include "bench/comparison/shape_class.h"

#include <algorithm>

#include "db/store/measurement.h"
#include "tmm/vocabulary/signature.h"

namespace tmm::bench {
namespace {

constexpr i64 kFew = 64;

bool deep(const GemmProblem& problem) {
    return problem.k / 16 >= std::max(problem.m, problem.n);
}

ShapeClass classify_f32(const GemmProblem& problem) {
    const double volume = flops(problem) / 2;
    if (problem.batch > 1) return ShapeClass::batched;
    if (deep(problem)) return ShapeClass::deep;
    if (std::min(problem.m, problem.n) <= kFew || volume < 0.5e9) return ShapeClass::small_or_skinny;
    if (problem.m % 16 || problem.n % 16 || problem.k % 16) return ShapeClass::odd;
    return volume >= 4096.0 * 4096.0 * 4096.0 ? ShapeClass::large : ShapeClass::mid;
}

ShapeClass classify_16_bit(const GemmProblem& problem) {
    const i64 fewer = std::min(problem.m, problem.n);
    if (problem.batch > 1) return ShapeClass::batched;
    if (!aligned(problem)) return ShapeClass::unaligned;
    if (deep(problem)) return ShapeClass::deep;
    if (fewer <= kFew) return ShapeClass::decode;
    if (flops(problem) < 4e9) return ShapeClass::small;
    return std::max(problem.m, problem.n) >= 2 * fewer ? ShapeClass::prefill : ShapeClass::large;
}

}  // namespace

std::string_view name_of(ShapeClass shape_class) {
    switch (shape_class) {
        case ShapeClass::large: return "large";
        case ShapeClass::mid: return "mid";
        case ShapeClass::prefill: return "prefill";
        case ShapeClass::decode: return "decode";
        case ShapeClass::small: return "small";
        case ShapeClass::small_or_skinny: return "small/skinny";
        case ShapeClass::deep: return "deep";
        case ShapeClass::batched: return "batched";
        case ShapeClass::odd: return "odd";
        case ShapeClass::unaligned: return "unaligned";
    }
    return "?";
}

bool aligned(const GemmProblem& problem) {
    const KernelSignature signature = signature_of(problem);
    return signature.align_a == 16 && signature.align_b == 16;
}

ShapeClass classify(const GemmProblem& problem) {
    return size_of(problem.type_a) == 2 ? classify_16_bit(problem) : classify_f32(problem);
}

}  // namespace tmm::bench
