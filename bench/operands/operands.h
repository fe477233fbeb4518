// Operand sets for timing: enough of them that a launch finds none of its data in the L2, filled with standard normal values, rounded to
// the element type.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "generator/plan/launch_plan.h"
#include "generator/text/shapes_file.h"
#include "runtime/device/device.h"
#include "tmm/vocabulary/problem.h"
#include "tuner/measure/ceilings.h"

namespace tmm::bench {

// The same normal values in each type; of whole numbers the nearest ones to a multiple of them. Their number is a prime, so that repeating
// them lines up with no row.
class ValuePool {
public:
    ValuePool();
    std::int64_t size() const;
    const std::vector<double>& values(ElementType type) const { return of(type).values; }
    // The values as a matrix holds them.
    const std::vector<std::byte>& stored(ElementType type) const { return of(type).stored; }

private:
    struct Typed {
        std::vector<double> values;
        std::vector<std::byte> stored;
    };
    const Typed& of(ElementType type) const;

    std::array<Typed, 6> typed_;
};

// Operand sets for timing: enough of them that a launch finds none of its data in the L2, filled with
// normal values that the element types round.

// Number of elements from a batch's first to its last, with the padding between rows and between matrices.
std::int64_t spanned_elements(i64 rows, i64 columns, i64 ld, i64 batch, i64 stride);

// Why operands of the problem, and results of peers, can't be made that compare with it; nothing where they can.
std::optional<std::string> why_no_operands(const GemmProblem& problem);

// A matrix that was filled from the pool, element after element as it lies in memory: padding of rows counts.
struct FilledMatrix {
    const std::vector<double>* pool = nullptr;
    std::int64_t first = 0;
    double operator[](std::int64_t element) const {
        return (*pool)[static_cast<std::size_t>((first + element) % static_cast<std::int64_t>(pool->size()))];
    }
};

class Operands {
public:
    static constexpr int kMostSets = 1024;

    // Makes sets until they span rotation_bytes, at least two (one where it is 0), at most kMostSets, fewer where memory is short.
    // The pointers are multiples of the problem's alignment, but at least of an element's size, and of no more, from 16 on of 256.
    // Throws std::bad_alloc where not even one set fits. The pool must outlive it.
    Operands(std::shared_ptr<Device> device, const Shape& shape, std::int64_t rotation_bytes, const ValuePool& pool);

    int sets() const { return sets_; }
    // Whether the sets span rotation_bytes.
    bool past_cache() const { return past_cache_; }
    // The call on the set's operands, without a workspace.
    GemmCall call(int set) const;
    // The same call with |alpha| and |beta|: with make_absolute() it computes the scale by which rounding errors are measured.
    GemmCall absolute_call(int set) const;
    std::vector<GemmCall> calls(int count) const;

    // The bytes of a set that a multiplication must read: as many as A and B have elements for (C, bias and residual too where they are
    // read; neither A nor B where alpha is 0), each from its matrix's start on. Rows' padding is not counted, an element that the batch
    // shares counts once. The bias is counted with A, and the residual with C: one range spans what both must read.
    std::vector<ByteRange> read_ranges(int set) const;
    // Bytes of C that a multiplication of a set writes.
    std::int64_t written_bytes() const;

    // Puts the set's first values back, or their absolute values. C becomes NaN where the problem does not read it.
    void fill(int set);
    void make_absolute(int set);
    // Does the same for C alone.
    void fill_c(int set);
    // The values that a set holds at first.
    FilledMatrix first_a(int set) const;
    FilledMatrix first_b(int set) const;
    FilledMatrix first_c(int set) const;
    FilledMatrix first_bias(int set) const;
    FilledMatrix first_residual(int set) const;
    // Number of elements from C's first to its last, with the padding between rows.
    std::int64_t elements_c() const { return c_.elements; }
    // C of the set with its leading dimension and stride.
    std::vector<double> result(int set) const;

    const Shape& shape() const { return shape_; }

private:
    struct Matrix {
        ElementType type = ElementType::f32;
        std::int64_t elements = 0;
        // Bytes from a set's start.
        std::int64_t offset = 0;
        std::int64_t bytes() const { return elements * size_of(type); }
    };
    std::byte* place(const Matrix& matrix, int set) const;
    std::int64_t first_in_pool(const Matrix& matrix, int set) const;
    FilledMatrix filled(const Matrix& matrix, int set) const;
    void fill_matrix(const Matrix& matrix, int set, bool absolute);

    std::shared_ptr<Device> device_;
    Shape shape_;
    const ValuePool& pool_;
    Matrix a_;
    Matrix b_;
    Matrix c_;
    // These two have no elements where the problem has none.
    Matrix bias_;
    Matrix residual_;
    std::int64_t set_bytes_ = 0;
    int sets_ = 0;
    bool past_cache_ = false;
    DeviceBuffer memory_;
};

}  // namespace tmm::bench
