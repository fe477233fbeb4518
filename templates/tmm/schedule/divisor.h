// Division by a number that the host knows takes a multiplication and a shift, where the GPU's own division takes some 25 instructions.
#pragma once

namespace tmm {

struct Divisor {
    unsigned number = 1;
    unsigned factor = 1u << 31;
    unsigned shift = 0;
};

// number: 1 to 2^31. The factor is 2^(31 + shift) / number, rounded up; since 2^shift is at least the number, what it is too large by never
// carries a dividend below 2^31 to the next quotient (Granlund and Montgomery, Division by Invariant Integers, theorem 4.2).
constexpr Divisor divisor(unsigned number) {
    Divisor d{.number = number};
    while (1u << d.shift < number) ++d.shift;
    d.factor = static_cast<unsigned>(((1ull << (31 + d.shift)) + number - 1) / number);
    return d;
}

// dividend: below 2^31.
constexpr unsigned quotient(unsigned dividend, const Divisor& by) {
    return static_cast<unsigned>(static_cast<unsigned long long>(2 * dividend) * by.factor >> 32) >> by.shift;
}

}  // namespace tmm
