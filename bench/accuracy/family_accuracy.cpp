#include "bench/accuracy/family_accuracy.h"

#include <fmt/format.h>

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

namespace {

std::string place_text(const GemmProblem& p, std::size_t index) {
    const auto place = static_cast<i64>(index);
    const i64 batch = place / (p.m * p.n);
    return fmt::format("C{}[{}][{}]", p.batch > 1 ? fmt::format("[{}]", batch) : "", place / p.n % p.m, place % p.n);
}

bool suffices(const FamilyAccuracy& accuracy, const Sampling& sampling) {
    if (accuracy.elements >= sampling.most_elements) return true;
    const double allowance = kDeviations * std::max(accuracy.rms_ratio.deviation, accuracy.worst_ratio.deviation);
    return accuracy.elements >= sampling.least_elements && allowance <= sampling.most_allowance;
}

}  // namespace

std::string verdict(const FamilyAccuracy& accuracy) {
    std::string text;
    const auto add = [&text](const std::string& what) { text += (text.empty() ? "" : "; ") + what; };
    if (!accuracy.rms_holds()) add(fmt::format("rms {:.3g} times the loop's", accuracy.rms_ratio.value));
    if (!accuracy.worst_holds()) add(fmt::format("worst {:.3g} times the loop's", accuracy.worst_ratio.value));
    if (!accuracy.largest_holds())
        add(fmt::format("one element {:.3g} times as far off as any of the loop's, {}", accuracy.largest_ratio, accuracy.largest_where));
    if (!accuracy.places_hold())
        add(fmt::format("{} element{} not finite in other places than the loop's, first {}", accuracy.misplaced.count,
                        accuracy.misplaced.count == 1 ? "" : "s", accuracy.misplaced_where));
    return text.empty() ? "ok" : text;
}

FamilyAccuracy measure_family(InputFamily family, FamilyOperands& operands, ExactMultiplier& multiplier, const Compared& compared,
                              Stream stream, const Sampling& sampling) {
    const GemmProblem& problem = operands.problem();
    FamilyAccuracy accuracy;
    accuracy.family = family;
    PooledErrors of_tmm;
    PooledErrors of_loop;
    PooledErrors of_cublas;
    do {
        operands.fill(family, sampling.first + accuracy.draws++);
        const ExactProduct exact = multiplier.multiply(problem, operands.a(), operands.b());
        const std::vector<float> loop = operands.product_of(compared.loop, stream);
        const std::vector<float> c = operands.product_of(compared.tmm, stream);
        if (compared.cublas) of_cublas.add(operands.product_of(*compared.cublas, stream), loop, exact);
        of_loop.add(loop, loop, exact);
        of_tmm.add(c, loop, exact);
        accuracy.elements += static_cast<i64>(c.size());
        accuracy.rms_ratio = of_tmm.rms_ratio();
        accuracy.worst_ratio = of_tmm.worst_ratio();
        if (const std::size_t at = of_tmm.largest_at(); of_tmm.has_new_largest())
            accuracy.largest_where = fmt::format("{}: tmm {:.9g}, exactly {:.9g}", place_text(problem, at), c[at], exact.value[at]);
        const Misplaced found = misplaced(c, loop);
        if (accuracy.misplaced.count == 0 && found.count > 0)
            accuracy.misplaced_where =
                fmt::format("{}: tmm {}, loop {}", place_text(problem, found.first), c[found.first], loop[found.first]);
        accuracy.misplaced.count += found.count;
    } while (accuracy.elements > 0 && !suffices(accuracy, sampling));
    accuracy.tmm = of_tmm.measure();
    accuracy.loop = of_loop.measure();
    accuracy.largest_ratio = of_tmm.largest_ratio();
    if (compared.cublas) accuracy.cublas = of_cublas.measure();
    return accuracy;
}

}  // namespace tmm::bench
