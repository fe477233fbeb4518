// A hash of all of a problem's fields.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "tmm/vocabulary/problem_fields.h"

namespace tmm {

// No call goes through the list's pointers: a plan is looked up with every multiplication.
constexpr std::uint64_t hash_of(const GemmProblem& problem, std::uint64_t seed = 0) {
    std::uint64_t hash = seed;
    const auto mix = [&hash](i64 value) {
        hash = (hash ^ static_cast<std::uint64_t>(value)) * 0x9E3779B97F4A7C15U;
        hash ^= hash >> 32;
    };
    // Enumerators and flags are small and are packed side by side.
    std::uint64_t packed = 0;
    const auto take = [&]<std::size_t i>() {
        constexpr ProblemField field = kProblemFields[i];
        const i64 value = field.get(problem);
        if constexpr (field.range.most < 16)
            packed = packed * 16 + static_cast<std::uint64_t>(value);
        else
            mix(value);
    };
    const auto take_all = [&]<std::size_t... i>(std::index_sequence<i...>) {
        (take.template operator()<i>(), ...);
    };
    take_all(std::make_index_sequence<kProblemFieldCount>());
    mix(static_cast<i64>(packed));
    return hash;
}

}  // namespace tmm
