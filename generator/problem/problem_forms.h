// Forms of a problem that look-ups and plans need: row-major, with the alignment that its rows allow, without its epilogue, hashed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "tmm/vocabulary/problem.h"
#include "tmm/vocabulary/problem_fields.h"
#include "tmm/vocabulary/signature.h"

namespace tmm {

// Column-major C = op(A) op(B) is row-major C^T = op(B)^T op(A)^T over the same memory: A and B change places, m and n too.
inline GemmProblem as_row_major(GemmProblem p) {
    std::swap(p.m, p.n);
    std::swap(p.type_a, p.type_b);
    std::swap(p.op_a, p.op_b);
    std::swap(p.lda, p.ldb);
    std::swap(p.stride_a, p.stride_b);
    p.result = transposed(p.result);
    // What was a column of C is a row of C^T.
    p.activation = across(p.activation);
    if (p.bias != BiasAxis::none) p.bias = p.bias == BiasAxis::columns ? BiasAxis::rows : BiasAxis::columns;
    return p;
}

// Why no kernel can walk over what the problem wants: one triangle of C, or a batch that stands anywhere; null where one can.
constexpr const char* walk_violation(const GemmProblem& p) {
    if (p.pointers && is_gate(p.activation)) return "a gate takes the matrices of a batch one behind the other";
    if (p.result == Result::full) return nullptr;
    if (is_gate(p.activation)) return "a gate makes one column, or row, of two, so that no triangle of its result can be computed alone";
    if (p.m != p.n) return "a result that is symmetric, lower or upper has as many rows as columns";
    if (p.result == Result::symmetric && p.bias != BiasAxis::none) return "with a bias of rows or columns no result is symmetric";
    return nullptr;
}

// The one spelling by which problems of different promises of alignment are compared.

// The problem with the largest alignment that asks no more of pointers than the given one does: rows whose leading dimension
// is odd are unaligned whatever their first element is. Equal demands then have equal keys.
constexpr GemmProblem with_alignment(GemmProblem problem, int alignment) {
    // A pointer to larger elements is aligned to them whatever the promise about all three is.
    const int element = std::min({size_of(problem.type_a), size_of(problem.type_b), size_of(problem.type_c)});
    problem.alignment = std::clamp(alignment, element, 16);
    while (problem.alignment < 16) {
        GemmProblem wider = problem;
        wider.alignment *= 2;
        if (signature_of(wider) != signature_of(problem)) break;
        problem = wider;
    }
    return problem;
}

// A problem that ends with its sums.

// C stays where the problem has it: with a gate, whose product has twice its columns or rows, the caller says where those go.
constexpr GemmProblem without_epilogue(GemmProblem problem) {
    problem.bias = BiasAxis::none;
    problem.activation = Activation::none;
    problem.residual = false;
    problem.epilogue = Epilogue::none;
    problem.type_bias = ElementType::f32;
    problem.ldr = problem.stride_r = 0;
    return problem;
}

// A hash of all of a problem's fields.

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
