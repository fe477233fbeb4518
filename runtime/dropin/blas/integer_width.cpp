#include "runtime/dropin/blas/integer_width.h"

#include <cstdint>

#include "runtime/dropin/log.h"
#include "runtime/dropin/process.h"

namespace tmm::dropin {
namespace {

enum class Width { unknown, bits_32, bits_64 };

// isamax gives the place of the largest of n numbers. Of this n the lower half is 3, and the whole is negative, for which the answer is 0.
Width width_of(const Behind& behind) {
    constexpr std::int64_t kCount = -(std::int64_t{1} << 32) + 3;
    constexpr std::int64_t kStride = 1;
    constexpr float kNumbers[] = {1, 2, 3};
    const auto width = [](std::int64_t place, int last) {
        const int answer = static_cast<int>(place);
        return answer == last ? Width::bits_32 : answer == 0 ? Width::bits_64 : Width::unknown;
    };
    using Fortran = std::int64_t (*)(const std::int64_t*, const float*, const std::int64_t*);
    using Cblas = std::int64_t (*)(std::int64_t, const float*, std::int64_t);
    void* const fortran = behind.others[0];
    void* const cblas = behind.others[1];
    if (fortran && in_one_object(fortran, behind.function))
        return width(reinterpret_cast<Fortran>(fortran)(&kCount, kNumbers, &kStride), 3);
    if (cblas && in_one_object(cblas, behind.function)) return width(reinterpret_cast<Cblas>(cblas)(kCount, kNumbers, kStride), 2);
    return Width::unknown;
}

}  // namespace

bool takes_32_bits(const Behind& behind) noexcept {
    const Width width = width_of(behind);
    if (width == Width::bits_32) return true;
    static ProcessFlag said;
    if (said.raise())
        log(LogLevel::info, width == Width::bits_64
                                ? "the BLAS behind takes integers of 64 bits under plain names: its products are left to it"
                                : "the BLAS behind has neither isamax_ nor cblas_isamax, which would tell how wide its integers are: its "
                                  "products are left to it");
    return false;
}

}  // namespace tmm::dropin
