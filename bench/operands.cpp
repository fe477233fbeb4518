// Operand sets for timing; see operands.h.
#include "bench/operands.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>
#include <random>

#include "generator/error.h"
#include "generator/text.h"

namespace tmm::bench {
namespace {

constexpr std::int64_t kElement = sizeof(float);
constexpr std::size_t kPoolSize = 1048573;

std::int64_t round_up(std::int64_t bytes) {
    return (bytes + 255) / 256 * 256;
}

std::int64_t span(i64 rows, i64 columns, i64 ld, i64 batch, i64 stride) {
    if (rows == 0 || columns == 0 || batch == 0) return 0;
    return (batch - 1) * stride + (rows - 1) * ld + columns;
}

}  // namespace

std::vector<float> normal_pool() {
    std::mt19937 random(20240229);
    std::normal_distribution<float> normal;
    std::vector<float> pool(kPoolSize);
    for (float& value : pool) value = normal(random);
    return pool;
}

Operands::Operands(std::shared_ptr<Device> device, const Shape& shape, std::int64_t rotation_bytes, const std::vector<float>& pool)
    : device_(std::move(device)), shape_(shape), pool_(pool) {
    const GemmProblem& p = shape_.problem;
    for (const ElementType type : {p.type_a, p.type_b, p.type_c})
        if (type != ElementType::f32)
            throw Error(ExitStatus::bad_input, fmt::format("tmm-bench compares f32 matrices, not {}", name_of(type)), {},
                        "leave dtype and ctype out");
    elements_a_ = span(stored_rows_a(p), stored_columns_a(p), p.lda, p.batch, p.stride_a);
    elements_b_ = span(stored_rows_b(p), stored_columns_b(p), p.ldb, p.batch, p.stride_b);
    elements_c_ = span(p.m, p.n, p.ldc, p.batch, p.stride_c);
    const std::int64_t misalignment = p.alignment < 16 ? p.alignment : 0;
    offset_a_ = misalignment;
    offset_b_ = offset_a_ + round_up(elements_a_ * kElement + 16);
    offset_c_ = offset_b_ + round_up(elements_b_ * kElement + 16);
    set_bytes_ = offset_c_ - misalignment + round_up(elements_c_ * kElement + 16);

    const std::int64_t wanted = rotation_bytes == 0 ? 1 : std::max<std::int64_t>(2, (rotation_bytes + set_bytes_ - 1) / set_bytes_);
    sets_ = static_cast<int>(std::min<std::int64_t>(wanted, kMostSets));
    while (true) {
        try {
            memory_ = DeviceBuffer(device_, static_cast<std::size_t>(set_bytes_) * static_cast<std::size_t>(sets_));
            break;
        } catch (const std::bad_alloc&) {
            if (sets_ == 1) throw;
            sets_ /= 2;
        }
    }
    past_cache_ = rotation_bytes > 0 && set_bytes_ * sets_ >= rotation_bytes;
    for (int set = 0; set < sets_; ++set) fill(set);
}

GemmCall Operands::call(int set) const {
    std::byte* start = static_cast<std::byte*>(memory_.data()) + static_cast<std::ptrdiff_t>(set_bytes_) * set;
    return GemmCall{.a = start + offset_a_,
                    .b = start + offset_b_,
                    .c = start + offset_c_,
                    .bias = nullptr,
                    .workspace = nullptr,
                    .alpha = shape_.alpha,
                    .beta = shape_.problem.reads_c ? shape_.beta : 0};
}

GemmCall Operands::absolute_call(int set) const {
    GemmCall absolute = call(set);
    absolute.alpha = std::fabs(absolute.alpha);
    absolute.beta = std::fabs(absolute.beta);
    return absolute;
}

std::vector<GemmCall> Operands::calls(int count) const {
    std::vector<GemmCall> result;
    for (int i = 0; i < count; ++i) result.push_back(call(i % sets_));
    return result;
}

std::vector<ByteRange> Operands::read_ranges(int set) const {
    const GemmProblem& p = shape_.problem;
    const GemmCall at = call(set);
    std::vector<ByteRange> ranges;
    const auto add = [&](const void* start, std::int64_t elements, std::int64_t spanned) {
        if (const std::int64_t read = std::min(elements, spanned); read > 0)
            ranges.push_back({.start = static_cast<const std::byte*>(start), .bytes = read * kElement});
    };
    if (shape_.alpha != 0) {
        add(at.a, p.batch * p.m * p.k, elements_a_);
        add(at.b, p.batch * p.k * p.n, elements_b_);
    }
    if (p.reads_c) add(at.c, p.batch * p.m * p.n, elements_c_);
    return ranges;
}

std::int64_t Operands::written_bytes() const {
    const GemmProblem& p = shape_.problem;
    return std::min<std::int64_t>(p.batch * p.m * p.n, elements_c_) * kElement;
}

void Operands::fill(int set) {
    const std::int64_t start = set_bytes_ * set;
    fill_region(start + offset_a_, elements_a_, false);
    fill_region(start + offset_b_, elements_b_, false);
    if (shape_.problem.reads_c)
        fill_region(start + offset_c_, elements_c_, false);
    else
        device_->fill_bytes(call(set).c, 0xff, static_cast<std::size_t>(elements_c_ * kElement));
}

void Operands::make_absolute(int set) {
    const std::int64_t start = set_bytes_ * set;
    fill_region(start + offset_a_, elements_a_, true);
    fill_region(start + offset_b_, elements_b_, true);
    fill_region(start + offset_c_, elements_c_, true);
}

void Operands::fill_region(std::int64_t offset, std::int64_t elements, bool absolute) {
    std::vector<float> positive;
    if (absolute) {
        positive.resize(pool_.size());
        std::transform(pool_.begin(), pool_.end(), positive.begin(), [](float value) { return std::fabs(value); });
    }
    const std::vector<float>& values = absolute ? positive : pool_;
    const auto period = static_cast<std::int64_t>(values.size());
    std::byte* to = static_cast<std::byte*>(memory_.data()) + offset;
    // Every matrix starts elsewhere in the pool.
    std::int64_t from = offset / 256 * 61 % period;
    for (std::int64_t done = 0; done < elements;) {
        const std::int64_t count = std::min(elements - done, period - from);
        device_->copy_to_device(to + done * kElement, values.data() + from, static_cast<std::size_t>(count * kElement));
        done += count;
        from = 0;
    }
}

std::vector<float> Operands::result(int set) const {
    std::vector<float> c(static_cast<std::size_t>(elements_c_));
    device_->copy_to_host(c.data(), call(set).c, c.size() * sizeof(float));
    return c;
}

Difference compare(const GemmProblem& p, const std::vector<float>& ours, const std::vector<float>& theirs,
                   const std::vector<float>& scale) {
    // TF32 keeps 10 bits of each operand's fraction, which a peer may round or truncate.
    const double operand_rounding = p.compute == ComputeMode::tf32 ? 4 * std::ldexp(1.0, -10) : 0;
    const double factor = 2 * (static_cast<double>(p.k + 4) * std::ldexp(1.0, -24) + operand_rounding);
    Difference worst;
    for (i64 batch = 0; batch < p.batch; ++batch)
        for (i64 row = 0; row < p.m; ++row)
            for (i64 column = 0; column < p.n; ++column) {
                const auto i = static_cast<std::size_t>(batch * p.stride_c + row * p.ldc + column);
                const double x = ours[i];
                const double y = theirs[i];
                if (x == y || (std::isnan(x) && std::isnan(y))) continue;
                const double quotient = std::fabs(x - y) / (factor * scale[i]);
                const double ratio = std::isnan(quotient) ? std::numeric_limits<double>::infinity() : quotient;
                if (ratio > worst.ratio)
                    worst = {.ratio = ratio,
                             .where = fmt::format("C{}[{}][{}]: tmm {}, peer {}", p.batch > 1 ? fmt::format("[{}]", batch) : "", row,
                                                  column, ours[i], theirs[i])};
            }
    return worst;
}

}  // namespace tmm::bench
