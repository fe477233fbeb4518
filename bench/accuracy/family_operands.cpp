// Fills operands and runs contestants; see family_operands.h.
#include "bench/accuracy/family_operands.h"

#include <algorithm>
#include <limits>

#include "bench/operands/operands.h"

namespace tmm::bench {
namespace {

constexpr int kVectorBytes = 16;
constexpr int kElementBytes = 4;

}  // namespace

FamilyOperands::Matrix::Matrix(const std::shared_ptr<Device>& device, i64 elements, int alignment)
    : memory(device, static_cast<std::size_t>(elements * kElementBytes + kVectorBytes)),
      first(static_cast<float*>(memory.data()) + (alignment < kVectorBytes ? std::max(alignment / kElementBytes, 1) : 0)),
      stored(static_cast<std::size_t>(elements), std::numeric_limits<float>::quiet_NaN()) {}

FamilyOperands::FamilyOperands(std::shared_ptr<Device> device, const GemmProblem& p)
    : device_(std::move(device)),
      problem_(p),
      a_(device_, spanned_elements(stored_rows_a(p), stored_columns_a(p), p.lda, p.batch, p.stride_a), p.alignment),
      b_(device_, spanned_elements(stored_rows_b(p), stored_columns_b(p), p.ldb, p.batch, p.stride_b), p.alignment),
      c_(device_, spanned_elements(p.m, p.n, p.ldc, p.batch, p.stride_c), p.alignment) {}

void FamilyOperands::fill(InputFamily family, int draw) {
    fill_a(family, problem_, a_.stored, draw);
    fill_b(family, problem_, b_.stored, draw);
    device_->copy_to_device(a_.first, a_.stored.data(), a_.bytes());
    device_->copy_to_device(b_.first, b_.stored.data(), b_.bytes());
}

std::vector<float> FamilyOperands::product_of(Contestant& contestant, Stream stream) const {
    const GemmProblem& p = problem_;
    device_->copy_to_device(c_.first, c_.stored.data(), c_.bytes());
    contestant.enqueue({.a = a_.first, .b = b_.first, .c = c_.first, .bias = nullptr, .workspace = nullptr, .alpha = 1, .beta = 0}, stream);
    device_->synchronize(stream);
    std::vector<float> stored(c_.stored.size());
    device_->copy_to_host(stored.data(), c_.first, c_.bytes());
    std::vector<float> product;
    product.reserve(static_cast<std::size_t>(p.batch * p.m * p.n));
    for (i64 batch = 0; batch < p.batch; ++batch)
        for (i64 row = 0; row < p.m; ++row) {
            const auto line = stored.begin() + batch * p.stride_c + row * p.ldc;
            product.insert(product.end(), line, line + p.n);
        }
    return product;
}

}  // namespace tmm::bench
