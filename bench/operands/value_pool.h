// The values that operands are filled with: standard normal ones, rounded to the element type.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tmm/vocabulary/problem.h"

namespace tmm::bench {

// The same normal values in each type. Their number is a prime, so that repeating them lines up with no row.
class ValuePool {
public:
    ValuePool();
    std::int64_t size() const;
    // Throws std::invalid_argument for types other than f32, f16 and bf16.
    const std::vector<float>& values(ElementType type) const { return of(type).values; }
    // The values as a matrix holds them.
    const std::vector<std::byte>& stored(ElementType type) const { return of(type).stored; }

private:
    struct Typed {
        std::vector<float> values;
        std::vector<std::byte> stored;
    };
    const Typed& of(ElementType type) const;

    std::array<Typed, 3> typed_;
};

}  // namespace tmm::bench
