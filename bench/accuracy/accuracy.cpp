// Measures how accurate results are; see accuracy.h.
#include "bench/accuracy/accuracy.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <random>
#include <thread>

#include "base/text/side_by_side.h"
#include "bench/operands/element_bits.h"
#include "bench/peers/plain_product.h"
#include "generator/problem/number_codec.h"
#include "tmm/checks/verify/sums.h"
#include "tmm/number/arithmetic.h"

namespace tmm::bench {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Most matrices of a batch that are checked where not all can be.
constexpr i64 kMostMatrices = 4;

std::string place_text(const GemmProblem& p, i64 batch, i64 row, i64 column) {
    return fmt::format("C{}[{}][{}]", p.batch > 1 ? fmt::format("[{}]", batch) : "", row, column);
}

// With the digits that the sums have.
std::string number_text(const GemmProblem& p, double value) {
    if (format_of(p.type_c).is_integer) return fmt::format("{:.0f}", value);
    return fmt::format("{:.{}g}", value, arithmetic_of(p).accumulator == ElementType::f64 ? 17 : 9);
}

// A value that is too large for the type of C is infinite, as it should be.
bool same(ElementType type, double result, double exact) {
    return result == exact || (std::isnan(result) && std::isnan(exact)) || (std::isinf(result) && result == rounded_to(type, exact));
}

struct OutputRounding {
    explicit OutputRounding(const GemmProblem& problem) {
        if (!arithmetic_of(problem).rounds_result()) return;
        relative = unit_roundoff(problem.type_c);
        least = smallest_rounding(problem.type_c);
    }
    double of(double value) const { return std::max(relative * std::fabs(value), least); }

    double relative = 0;
    double least = 0;
};

double ratio_of(double difference, double bound) {
    if (difference == 0) return 0;
    const double ratio = std::fabs(difference) / bound;
    return std::isnan(ratio) ? kInfinity : ratio;
}

// Chooses `count` of the numbers below extent, in ascending order: one from each of as many equal parts, the first and the last among them.
std::vector<i64> spread(i64 extent, i64 count, std::mt19937_64& random) {
    std::vector<i64> chosen;
    for (i64 part = 0; part < count; ++part) {
        const i64 start = extent * part / count;
        const i64 end = extent * (part + 1) / count;
        chosen.push_back(part == 0           ? 0
                         : part == count - 1 ? extent - 1
                                             : start + static_cast<i64>(random() % static_cast<std::uint64_t>(end - start)));
    }
    return chosen;
}

}  // namespace

double accumulation_bound(const GemmProblem& problem) {
    const auto k = static_cast<double>(problem.k);
    const Arithmetic arithmetic = arithmetic_of(problem);
    // Sums of whole numbers are exact.
    if (format_of(arithmetic.accumulator).is_integer) return 0;
    const double u = arithmetic.accumulator_roundoff();
    if (arithmetic.operand_digits == format_of(arithmetic.accumulator).digits) return (k + 4) * u;
    const bool shortened = arithmetic.operand_digits < format_of(arithmetic.a).digits;
    return (2.5 * k + 4) * u + (shortened ? 2 * power_of_two(-arithmetic.operand_digits) : 0);
}

Difference compare(const GemmProblem& p, const std::vector<double>& ours, const std::vector<double>& theirs,
                   const std::vector<double>& scale, const ExactEpilogue& epilogue) {
    const double factor = 2 * accumulation_bound(p);
    const OutputRounding rounding(p);
    const GemmProblem product = plain_product(p);
    const i64 rows = rows_of_c(p);
    const i64 columns = columns_of_c(p);
    Difference worst;
    for (i64 batch = 0; batch < p.batch; ++batch)
        for (i64 row = 0; row < rows; ++row)
            for (i64 column = 0; column < columns; ++column) {
                const double x = ours[static_cast<std::size_t>(batch * p.stride_c + row * p.ldc + column)];
                const auto sum_at = [&](i64 row_of_product, i64 column_of_product) -> Bounded {
                    const auto i = static_cast<std::size_t>(batch * product.stride_c + row_of_product * product.ldc + column_of_product);
                    return {.value = theirs[i], .error = factor * scale[i]};
                };
                const Bounded value = gates_rows(p.activation)      ? sum_at(rows + row, column)
                                      : gates_columns(p.activation) ? sum_at(row, columns + column)
                                                                    : Bounded{};
                const auto [y, error, rest] = epilogue.finish(batch, row, column, sum_at(row, column), value);
                if (same(p.type_c, x, y)) continue;
                const double larger = std::max(std::fabs(x), std::fabs(y));
                const double ratio = ratio_of(x - y, error + rounding.of(larger));
                if (ratio > worst.ratio)
                    worst = {.ratio = ratio,
                             .where = fmt::format("{}: tmm {}, peer {}", place_text(p, batch, row, column), number_text(p, x),
                                                  number_text(p, y))};
            }
    return worst;
}

Reference::Reference(const Operands& operands, int set, std::int64_t most_products) : problem_(operands.shape().problem) {
    const GemmProblem& p = problem_;
    std::mt19937_64 random(20240301);
    const i64 all_rows = rows_of_c(p);
    const i64 all_columns = columns_of_c(p);
    const i64 wanted = std::max<i64>(most_products / (is_gate(p.activation) ? 2 : 1) / std::max<i64>(p.k, 1), 16);
    i64 matrices = p.batch;
    i64 rows = all_rows;
    i64 columns = all_columns;
    if (all_rows * all_columns * p.batch > wanted) {
        matrices = std::min(p.batch, kMostMatrices);
        const i64 each = std::max<i64>(wanted / matrices, 1);
        const auto side = std::max<i64>(static_cast<i64>(std::sqrt(static_cast<double>(each))), 1);
        rows = std::min(all_rows, std::max(side, each / all_columns));
        columns = std::min(all_columns, std::max<i64>(each / std::max<i64>(rows, 1), 1));
    }
    batches_ = spread(p.batch, matrices, random);
    rows_ = spread(all_rows, rows, random);
    columns_ = spread(all_columns, columns, random);
    exact_.resize(static_cast<std::size_t>(elements()));
    const bool wide = arithmetic_of(p).reference == ReferenceSum::two_f64;
    for (std::size_t batch = 0; batch < batches_.size(); ++batch)
        wide ? multiply<SumOfTwoDoubles>(operands, set, batch) : multiply<SumOfDoubles>(operands, set, batch);
}

std::int64_t Reference::elements() const {
    return static_cast<std::int64_t>(batches_.size() * rows_.size() * columns_.size());
}

template <class Sum>
void Reference::multiply(const Operands& operands, int set, std::size_t batch) {
    const GemmProblem& p = problem_;
    const Shape& shape = operands.shape();
    const FilledMatrix a = operands.first_a(set);
    const FilledMatrix b = operands.first_b(set);
    const FilledMatrix c = operands.first_c(set);
    const ExactEpilogue epilogue(operands, set);
    const double factor = accumulation_bound(p);
    const std::size_t checked = columns_.size();
    std::vector<i64> summed = columns_;
    if (gates_columns(p.activation))
        for (const i64 column : columns_) summed.push_back(columns_of_c(p) + column);
    const std::size_t count = summed.size();
    const auto depth = static_cast<std::size_t>(p.k);
    const i64 first_a = batches_[batch] * p.stride_a;
    const i64 first_b = batches_[batch] * p.stride_b;
    const i64 first_c = batches_[batch] * p.stride_c;

    std::vector<double> chosen_b(depth * count);
    for (std::size_t l = 0; l < depth; ++l)
        for (std::size_t j = 0; j < count; ++j) {
            const auto k = static_cast<i64>(l);
            chosen_b[l * count + j] = b[first_b + (p.op_b == Operation::none ? k * p.ldb + summed[j] : summed[j] * p.ldb + k)];
        }

    struct Sums {
        std::vector<Sum> values;
        std::vector<double> magnitudes;
    };
    const auto sums_of_row = [&](i64 row) {
        Sums sums{.values = std::vector<Sum>(count), .magnitudes = std::vector<double>(count)};
        for (std::size_t l = 0; l < depth; ++l) {
            const auto k = static_cast<i64>(l);
            const double x = a[first_a + (p.op_a == Operation::none ? row * p.lda + k : k * p.lda + row)];
            const double* y = &chosen_b[l * count];
            for (std::size_t j = 0; j < count; ++j) {
                sums.values[j].add(x, y[j]);
                sums.magnitudes[j] += std::fabs(x * y[j]);
            }
        }
        return sums;
    };

    const auto multiply_row = [&](std::size_t row) {
        const Sums sums = sums_of_row(rows_[row]);
        const Sums below = gates_rows(p.activation) ? sums_of_row(rows_of_c(p) + rows_[row]) : Sums{};
        const std::size_t first = (batch * rows_.size() + row) * checked;
        for (std::size_t j = 0; j < checked; ++j) {
            const double before = p.reads_c ? c[first_c + rows_[row] * p.ldc + columns_[j]] : 0;
            const TwoDoubles of_c = exact_product(shape.beta, before);
            const auto sum_at = [&](const Sums& of, std::size_t i) -> Bounded {
                const double scale = std::fabs(shape.alpha) * of.magnitudes[i] + std::fabs(of_c.value);
                const TwoDoubles product = exact_product(shape.alpha, of.values[i].value);
                const TwoDoubles x = exact_sum(product.value, of_c.value);
                return {.value = x.value,
                        .error = factor * scale,
                        .rest = x.lost + product.lost + of_c.lost + shape.alpha * of.values[i].rest()};
            };
            const Bounded value = gates_rows(p.activation)      ? sum_at(below, j)
                                  : gates_columns(p.activation) ? sum_at(sums, checked + j)
                                                                : Bounded{};
            exact_[first + j] = epilogue.finish(batches_[batch], rows_[row], columns_[j], sum_at(sums, j), value);
        }
    };
    const std::size_t workers = std::min<std::size_t>(std::max(std::thread::hardware_concurrency(), 1U), rows_.size());
    std::atomic<std::size_t> next = 0;
    run_side_by_side(workers, [&] {
        for (std::size_t row = next++; row < rows_.size(); row = next++) multiply_row(row);
    });
}

Accuracy Reference::judge(const std::vector<double>& c) const {
    const GemmProblem& p = problem_;
    const OutputRounding rounding(p);
    Accuracy accuracy;
    double error = 0;
    double norm = 0;
    std::size_t at = 0;
    for (const i64 batch : batches_)
        for (const i64 row : rows_)
            for (const i64 column : columns_) {
                const double result = c[static_cast<std::size_t>(batch * p.stride_c + row * p.ldc + column)];
                const auto [exact, allowed, rest] = exact_[at++];
                const double difference = (result - exact) - rest;
                error += difference * difference;
                norm += exact * exact;
                if (same(p.type_c, result, exact)) continue;
                const double ratio = ratio_of(difference, allowed + rounding.of(exact));
                if (ratio > accuracy.ratio) {
                    accuracy.ratio = ratio;
                    accuracy.where =
                        fmt::format("{}: {}, exactly {}", place_text(p, batch, row, column), number_text(p, result), number_text(p, exact));
                }
            }
    accuracy.error = error == 0 ? 0 : std::sqrt(error / norm);
    if (!std::isfinite(accuracy.error)) accuracy.error = kInfinity;
    return accuracy;
}

}  // namespace tmm::bench
