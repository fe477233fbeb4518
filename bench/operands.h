// Operand sets for timing: enough of them that a launch finds none of its data in the L2, filled with normal values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "generator/launch_plan.h"
#include "generator/shapes_file.h"
#include "runtime/device.h"

namespace tmm::bench {

// Standard normal values in a prime number, so that repeating them lines up with no row.
std::vector<float> normal_pool();

struct ByteRange {
    const std::byte* start = nullptr;
    std::int64_t bytes = 0;
};

class Operands {
public:
    static constexpr int kMostSets = 1024;

    // Sets until they span rotation_bytes, at least two (one where it is 0), at most kMostSets, fewer where memory is short.
    // The pointers are multiples of the problem's alignment and of no more, from 16 on of 256. Throws std::bad_alloc where
    // not even one set fits, Error (bad_input) for element types other than f32.
    Operands(std::shared_ptr<Device> device, const Shape& shape, std::int64_t rotation_bytes, const std::vector<float>& pool);

    int sets() const { return sets_; }
    // The sets span rotation_bytes.
    bool past_cache() const { return past_cache_; }
    // Without a workspace.
    GemmCall call(int set) const;
    // The same with |alpha| and |beta|: with make_absolute() it computes what rounding errors are measured by.
    GemmCall absolute_call(int set) const;
    std::vector<GemmCall> calls(int count) const;

    // What a multiplication must read of a set: as many bytes as A and B have elements for (C too where it is read; neither A
    // nor B where alpha is 0), each from its matrix's start on. Rows' padding is not counted, an element that the batch shares
    // counts once.
    std::vector<ByteRange> read_ranges(int set) const;
    // Of C.
    std::int64_t written_bytes() const;

    // Puts the set's first values back, or their absolute values. C becomes NaN where the problem does not read it.
    void fill(int set);
    void make_absolute(int set);
    // C of the set with its leading dimension and stride.
    std::vector<float> result(int set) const;

    const Shape& shape() const { return shape_; }

private:
    void fill_region(std::int64_t offset, std::int64_t elements, bool absolute);

    std::shared_ptr<Device> device_;
    Shape shape_;
    const std::vector<float>& pool_;
    std::int64_t elements_a_ = 0;
    std::int64_t elements_b_ = 0;
    std::int64_t elements_c_ = 0;
    // Bytes from a set's start.
    std::int64_t offset_a_ = 0;
    std::int64_t offset_b_ = 0;
    std::int64_t offset_c_ = 0;
    std::int64_t set_bytes_ = 0;
    int sets_ = 0;
    bool past_cache_ = false;
    DeviceBuffer memory_;
};

// How far two results are apart.
struct Difference {
    // The largest |x - y| / (2 (k + 4) u scale), where scale is |alpha| |A| |B| + |beta| |C|: each result may be off by
    // (k + 2) u scale, however it was summed. Infinite where one is a NaN and the other is not. At most 1: they agree.
    double ratio = 0;
    // "C[3][17]: tmm 4, peer 5", of the largest.
    std::string where;
};
Difference compare(const GemmProblem& problem, const std::vector<float>& ours, const std::vector<float>& theirs,
                   const std::vector<float>& scale);

}  // namespace tmm::bench
