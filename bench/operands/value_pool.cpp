// Normal values in each element type; see value_pool.h.
#include "bench/operands/value_pool.h"

#include <random>
#include <stdexcept>

#include "bench/operands/element_bits.h"

namespace tmm::bench {
namespace {

constexpr std::size_t kSize = 1048573;
constexpr ElementType kTypes[] = {ElementType::f32, ElementType::f16, ElementType::bf16};

}  // namespace

ValuePool::ValuePool() {
    std::mt19937 random(20240229);
    std::normal_distribution<float> normal;
    std::vector<float> values(kSize);
    for (float& value : values) value = normal(random);
    for (std::size_t i = 0; i < typed_.size(); ++i) {
        typed_[i].stored = to_stored(kTypes[i], values);
        typed_[i].values = to_floats(kTypes[i], typed_[i].stored);
    }
}

std::int64_t ValuePool::size() const {
    return static_cast<std::int64_t>(kSize);
}

const ValuePool::Typed& ValuePool::of(ElementType type) const {
    for (std::size_t i = 0; i < typed_.size(); ++i)
        if (kTypes[i] == type) return typed_[i];
    throw std::invalid_argument("tmm-bench multiplies f32, f16 and bf16");
}

}  // namespace tmm::bench
