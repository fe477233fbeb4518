// Values by family; see input_family.h.
#include "bench/accuracy/input_family.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <thread>

#include "base/text/side_by_side.h"
#include "tmm/checks/verify/args.h"

namespace tmm::bench {
namespace {

// Seeds of the two matrices, and of what is drawn in addition to their values.
enum Sequence : u64 { of_a, of_b, of_perturbation, of_place_in_a, of_place_in_b };

// The random bits of one draw of a family.
struct Source {
    InputFamily family;
    int draw;

    u64 bits(Sequence sequence, i64 counter) const {
        const u64 seed = random_bits(20240301 + static_cast<u64>(draw), static_cast<u64>(family) * 8 + sequence);
        return random_bits(seed, static_cast<u64>(counter));
    }
};

float uniform(u64 bits) {
    return static_cast<float>(static_cast<double>(static_cast<long long>(bits)) * 0x1p-63);
}

float positive(u64 bits) {
    return static_cast<float>(static_cast<double>(bits >> 11) * 0x1p-53);
}

// The sum of twelve uniform values has variance 1; each of theirs has 32 bits, so that small sums have a full significand too.
float normal(u64 bits) {
    u64 sum = 0;
    for (u64 i = 0; i < 6; ++i) {
        const u64 pair = random_bits(bits, i);
        sum += (pair & 0xffffffff) + (pair >> 32);
    }
    return static_cast<float>(static_cast<double>(sum) * 0x1p-32 - 6);
}

float with_exponent(u64 bits, int lowest, int highest) {
    const int exponents = highest - lowest + 1;
    const int exponent = lowest + static_cast<int>((bits >> 32) % static_cast<u64>(exponents));
    return std::bit_cast<float>(static_cast<unsigned>(bits & 0x807fffff) | static_cast<unsigned>(exponent + 127) << 23);
}

float subnormal(u64 bits) {
    return std::bit_cast<float>(std::max(static_cast<unsigned>(bits & 0x007fffff), 1U) | static_cast<unsigned>(bits & 0x80000000));
}

// Values of the families that draw every element by itself.
float independent(InputFamily family, u64 bits) {
    switch (family) {
        case InputFamily::normal: return normal(bits);
        case InputFamily::wide_20: return with_exponent(bits, -20, 20);
        case InputFamily::wide_60: return with_exponent(bits, -60, 60);
        case InputFamily::positive: return positive(bits);
        case InputFamily::vanishing: return with_exponent(bits, -121, -119);
        default: return uniform(bits);
    }
}

bool has_planted(InputFamily family) {
    return family == InputFamily::infinities || family == InputFamily::nans;
}

// One line in eight is planted, so that most of C stays finite; where a problem is too small for that, its first row is.
bool planted_row(const GemmProblem& p, i64 row) {
    return row % 8 == 5 || (row == 0 && p.m < 6 && p.n < 4);
}
bool planted_column(i64 column) {
    return column % 8 == 3;
}
bool zero_column(i64 column) {
    return column % 8 == 6;
}

// Each line has a positive planted value and a negative one, unless both fall on the same place; the sign is 0 elsewhere.
int planted_sign(const Source& source, Sequence sequence, i64 line, i64 k, i64 depth) {
    const u64 bits = source.bits(sequence, line);
    const auto length = static_cast<u64>(depth);
    if (static_cast<u64>(k) == (bits & 0xffffffff) % length) return 1;
    return static_cast<u64>(k) == (bits >> 32) % length ? -1 : 0;
}

float planted(InputFamily family, int sign) {
    const float value = family == InputFamily::nans ? std::numeric_limits<float>::quiet_NaN() : std::numeric_limits<float>::infinity();
    return sign < 0 ? -value : value;
}

// So many elements take longer to write than a thread takes to begin.
constexpr i64 kElementsOfThread = 1 << 14;

// Calls write(line) for each of the lines.
template <class Write>
void for_lines(i64 lines, i64 length, const Write& write) {
    const i64 useful = std::min(lines, lines * length / kElementsOfThread);
    const i64 workers = std::min<i64>(std::thread::hardware_concurrency(), useful);
    if (workers <= 1) {
        for (i64 line = 0; line < lines; ++line) write(line);
        return;
    }
    std::atomic<i64> next = 0;
    run_side_by_side(static_cast<std::size_t>(workers), [&] {
        for (i64 line = next++; line < lines; line = next++) write(line);
    });
}

// Fills the matrices as they are stored with value(batch, row, column).
template <class Value>
void fill(i64 batch, i64 stride, i64 rows, i64 columns, i64 ld, std::vector<float>& stored, const Value& value) {
    // A matrix that the batch shares is filled once, as the first one.
    const i64 matrices = stride == 0 ? std::min<i64>(batch, 1) : batch;
    for (i64 matrix = 0; matrix < matrices; ++matrix)
        for_lines(rows, columns, [&](i64 row) {
            float* line = stored.data() + matrix * stride + row * ld;
            for (i64 column = 0; column < columns; ++column) line[column] = value(matrix, row, column);
        });
}

}  // namespace

std::string_view name_of(InputFamily family) {
    switch (family) {
        case InputFamily::uniform: return "uniform";
        case InputFamily::normal: return "normal";
        case InputFamily::wide_20: return "wide20";
        case InputFamily::wide_60: return "wide60";
        case InputFamily::positive: return "positive";
        case InputFamily::cancelling: return "cancelling";
        case InputFamily::subnormal: return "subnormal";
        case InputFamily::vanishing: return "vanishing";
        case InputFamily::infinities: return "inf";
        case InputFamily::nans: return "nan";
    }
    throw std::invalid_argument("an input family without a name");
}

float value_a(InputFamily family, const GemmProblem& p, i64 batch, i64 row, i64 k, int draw) {
    const Source source{.family = family, .draw = draw};
    const i64 line = batch * p.m + row;
    if (family == InputFamily::cancelling && k >= p.k / 2) k -= p.k / 2;
    const u64 bits = source.bits(of_a, line * p.k + k);
    if (family == InputFamily::subnormal) return subnormal(bits);
    if (has_planted(family) && planted_row(p, row))
        if (const int sign = planted_sign(source, of_place_in_a, line, k, p.k)) return planted(family, sign);
    return independent(family, bits);
}

float value_b(InputFamily family, const GemmProblem& p, i64 batch, i64 k, i64 column, int draw) {
    const Source source{.family = family, .draw = draw};
    const i64 line = batch * p.n + column;
    if (family == InputFamily::cancelling && k >= p.k / 2) {
        const i64 half = p.k / 2;
        const float first = uniform(source.bits(of_b, line * p.k + k - half));
        const float part = uniform(source.bits(of_perturbation, line * p.k + k)) * 0x1p-10F;
        // An odd depth's last element has nothing to cancel.
        return k - half < half ? -first * (1 + part) : first * part;
    }
    const u64 bits = source.bits(of_b, line * p.k + k);
    if (family == InputFamily::subnormal) return uniform(bits) * 0x1p100F;
    if (has_planted(family)) {
        if (zero_column(column)) return 0;
        if (planted_column(column))
            if (const int sign = planted_sign(source, of_place_in_b, line, k, p.k)) return planted(family, sign);
    }
    return independent(family, bits);
}

void fill_a(InputFamily family, const GemmProblem& p, std::vector<float>& stored, int draw) {
    fill(p.batch, p.stride_a, stored_rows_a(p), stored_columns_a(p), p.lda, stored, [&](i64 batch, i64 row, i64 column) {
        return p.op_a == Operation::none ? value_a(family, p, batch, row, column, draw) : value_a(family, p, batch, column, row, draw);
    });
}

void fill_b(InputFamily family, const GemmProblem& p, std::vector<float>& stored, int draw) {
    fill(p.batch, p.stride_b, stored_rows_b(p), stored_columns_b(p), p.ldb, stored, [&](i64 batch, i64 row, i64 column) {
        return p.op_b == Operation::none ? value_b(family, p, batch, row, column, draw) : value_b(family, p, batch, column, row, draw);
    });
}

}  // namespace tmm::bench
