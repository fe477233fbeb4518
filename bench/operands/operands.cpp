#include "bench/operands/operands.h"

#include <algorithm>
#include <cmath>
#include <new>
#include <random>
#include <stdexcept>

#include "bench/operands/element_bits.h"
#include "tmm/number/arithmetic.h"

namespace tmm::bench {

namespace {

constexpr std::size_t kSize = 1048573;
constexpr ElementType kTypes[] = {ElementType::f64,  ElementType::f32, ElementType::f16,
                                  ElementType::bf16, ElementType::s8,  ElementType::s32};
// Whole numbers are normal values times this: s8 then holds all but one in a thousand, and these are cut off at 127.
constexpr double kWholeNumbers = 38;
constexpr double kLargestWhole = 127;

}  // namespace

ValuePool::ValuePool() {
    std::mt19937 random(20240229);
    std::normal_distribution<double> normal;
    std::vector<double> values(kSize);
    for (double& value : values) value = normal(random);
    std::vector<double> whole(kSize);
    std::transform(values.begin(), values.end(), whole.begin(),
                   [](double value) { return std::clamp(std::nearbyint(kWholeNumbers * value), -kLargestWhole, kLargestWhole); });
    for (std::size_t i = 0; i < typed_.size(); ++i) {
        typed_[i].stored = to_stored(kTypes[i], format_of(kTypes[i]).is_integer ? whole : values);
        typed_[i].values = to_values(kTypes[i], typed_[i].stored);
    }
}

std::int64_t ValuePool::size() const {
    return static_cast<std::int64_t>(kSize);
}

const ValuePool::Typed& ValuePool::of(ElementType type) const {
    for (std::size_t i = 0; i < typed_.size(); ++i)
        if (kTypes[i] == type) return typed_[i];
    throw std::invalid_argument("an element type without values");
}

namespace {

std::int64_t round_up(std::int64_t bytes) {
    return (bytes + 255) / 256 * 256;
}

// op(B) is the transpose of op(A) where both are one matrix.
bool may_be_one_matrix(const GemmProblem& p) {
    return p.op_a != p.op_b && p.type_a == p.type_b && p.lda == p.ldb && p.stride_a == p.stride_b && stored_rows_a(p) == stored_rows_b(p) &&
           stored_columns_a(p) == stored_columns_b(p);
}

}  // namespace

std::optional<std::string> why_no_operands(const GemmProblem& p) {
    if (p.pointers) return "peers are given the matrices of a batch one behind the other: leave out pointers=1";
    if (p.result == Result::lower || p.result == Result::upper) return "peers make all of C: leave out result, or make it symmetric";
    if (p.result == Result::symmetric && !may_be_one_matrix(p))
        return "the results of random operands are symmetric where B is A transposed: ops=nt or tn, with lda=ldb";
    return std::nullopt;
}

std::int64_t spanned_elements(i64 rows, i64 columns, i64 ld, i64 batch, i64 stride) {
    if (rows == 0 || columns == 0 || batch == 0) return 0;
    return (batch - 1) * stride + (rows - 1) * ld + columns;
}

Operands::Operands(std::shared_ptr<Device> device, const Shape& shape, std::int64_t rotation_bytes, const ValuePool& pool)
    : device_(std::move(device)), shape_(shape), pool_(pool) {
    const GemmProblem& p = shape_.problem;
    std::int64_t end = 0;
    const auto laid_out = [&](ElementType type, std::int64_t elements) {
        // Elements of C may be wider than what is promised of A and B.
        const std::int64_t misalignment = p.alignment < 16 ? std::max(p.alignment, size_of(type)) : 0;
        const Matrix matrix{.type = type, .elements = elements, .offset = end + misalignment};
        end += round_up(matrix.bytes() + 16);
        return matrix;
    };
    // read_ranges() counts on the bias before A, and the residual before C.
    if (p.bias != BiasAxis::none) bias_ = laid_out(p.type_bias, elements_of_bias(p));
    a_ = laid_out(p.type_a, spanned_elements(stored_rows_a(p), stored_columns_a(p), p.lda, p.batch, p.stride_a));
    b_ = p.result == Result::symmetric
             ? a_
             : laid_out(p.type_b, spanned_elements(stored_rows_b(p), stored_columns_b(p), p.ldb, p.batch, p.stride_b));
    if (p.residual) residual_ = laid_out(p.type_c, spanned_elements(rows_of_c(p), columns_of_c(p), p.ldr, p.batch, p.stride_r));
    c_ = laid_out(p.type_c, spanned_elements(rows_of_c(p), columns_of_c(p), p.ldc, p.batch, p.stride_c));
    set_bytes_ = end;

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
    return GemmCall{.a = place(a_, set),
                    .b = place(b_, set),
                    .c = place(c_, set),
                    .bias = bias_.elements > 0 ? place(bias_, set) : nullptr,
                    .residual = residual_.elements > 0 ? place(residual_, set) : nullptr,
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
    std::vector<ByteRange> ranges;
    const auto read_of = [](const Matrix& matrix, std::int64_t elements) {
        return std::min(elements, matrix.elements) * size_of(matrix.type);
    };
    // The range begins with the first that is read of two matrices that lie one behind the other.
    const auto add = [&](const Matrix& first, std::int64_t first_bytes, const Matrix& second, std::int64_t second_bytes) {
        if (first_bytes + second_bytes > 0)
            ranges.push_back({.start = place(first_bytes > 0 ? first : second, set), .bytes = first_bytes + second_bytes});
    };
    const std::int64_t multiplies = shape_.alpha != 0 ? 1 : 0;
    add(bias_, read_of(bias_, bias_.elements), a_, multiplies * read_of(a_, p.batch * p.m * p.k));
    if (p.result != Result::symmetric) add(b_, multiplies * read_of(b_, p.batch * p.k * p.n), {}, 0);
    const i64 elements_of_c = p.batch * rows_of_c(p) * columns_of_c(p);
    add(residual_, read_of(residual_, elements_of_c), c_, p.reads_c ? read_of(c_, elements_of_c) : 0);
    return ranges;
}

std::int64_t Operands::written_bytes() const {
    const GemmProblem& p = shape_.problem;
    return std::min<std::int64_t>(p.batch * rows_of_c(p) * columns_of_c(p), c_.elements) * size_of(c_.type);
}

void Operands::fill(int set) {
    fill_matrix(a_, set, false);
    fill_matrix(b_, set, false);
    fill_matrix(bias_, set, false);
    fill_matrix(residual_, set, false);
    fill_c(set);
}

void Operands::fill_c(int set) {
    if (shape_.problem.reads_c)
        fill_matrix(c_, set, false);
    else
        device_->fill_bytes(place(c_, set), 0xff, static_cast<std::size_t>(c_.bytes()));
}

void Operands::make_absolute(int set) {
    for (const Matrix& matrix : {a_, b_, c_}) fill_matrix(matrix, set, true);
}

FilledMatrix Operands::first_a(int set) const {
    return filled(a_, set);
}

FilledMatrix Operands::first_b(int set) const {
    return filled(b_, set);
}

FilledMatrix Operands::first_c(int set) const {
    return filled(c_, set);
}

FilledMatrix Operands::first_bias(int set) const {
    return filled(bias_, set);
}

FilledMatrix Operands::first_residual(int set) const {
    return filled(residual_, set);
}

std::byte* Operands::place(const Matrix& matrix, int set) const {
    return static_cast<std::byte*>(memory_.data()) + static_cast<std::ptrdiff_t>(set_bytes_ * set + matrix.offset);
}

// Every matrix starts at another place in the pool.
std::int64_t Operands::first_in_pool(const Matrix& matrix, int set) const {
    return (set_bytes_ * set + matrix.offset) / 256 * 61 % pool_.size();
}

FilledMatrix Operands::filled(const Matrix& matrix, int set) const {
    return {.pool = &pool_.values(matrix.type), .first = first_in_pool(matrix, set)};
}

void Operands::fill_matrix(const Matrix& matrix, int set, bool absolute) {
    const std::int64_t size = size_of(matrix.type);
    const std::vector<std::byte>& stored = pool_.stored(matrix.type);
    std::vector<std::byte> positive;
    if (absolute) {
        std::vector<double> magnitudes = pool_.values(matrix.type);
        for (double& value : magnitudes) value = std::fabs(value);
        positive = to_stored(matrix.type, magnitudes);
    }
    const std::byte* values = absolute ? positive.data() : stored.data();
    std::byte* to = place(matrix, set);
    std::int64_t from = first_in_pool(matrix, set);
    for (std::int64_t done = 0; done < matrix.elements;) {
        const std::int64_t count = std::min(matrix.elements - done, pool_.size() - from);
        device_->copy_to_device(to + done * size, values + from * size, static_cast<std::size_t>(count * size));
        done += count;
        from = 0;
    }
}

std::vector<double> Operands::result(int set) const {
    std::vector<std::byte> stored(static_cast<std::size_t>(c_.bytes()));
    device_->copy_to_host(stored.data(), place(c_, set), stored.size());
    return to_values(c_.type, stored);
}

}  // namespace tmm::bench
