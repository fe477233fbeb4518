// Gates through the C interface, against a plain loop over what the caller sees: with swiglu op(B) has 2 n columns, whichever way matrices
// are stored, and with swiglu_rows op(A) has 2 m rows; the first half is the gate's.
#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "generator/text/shapes_file.h"
#include "generator/text/text.h"
#include "runtime/api/validate.h"
#include "tests/support/api_testing.h"

using namespace api_testing;

namespace {

struct Case {
    // A shapes file's line of the same problem.
    const char* line;
    tmmLayout_t layout;
    tmmOperation_t op_a, op_b;
    std::int64_t m, n, k;
    std::int64_t batch = 1;
    tmmType_t type = TMM_F32;
    tmmActivation_t activation = TMM_ACTIVATION_SWIGLU;
    int has_bias = 0;
    tmmBiasAxis_t bias_axis = TMM_BIAS_COLUMNS;
    int has_residual = 0;
};

constexpr tmmOperation_t kPlain = TMM_NO_TRANS, kTurned = TMM_TRANS;
constexpr tmmActivation_t kRows = TMM_ACTIVATION_SWIGLU_ROWS;
const Case kCases[] = {
    {"37 45 21 layout=col epilogue=swiglu", TMM_COL_MAJOR, kPlain, kPlain, 37, 45, 21},
    {"64 32 48 ops=tn layout=col epilogue=bias+swiglu", TMM_COL_MAJOR, kTurned, kPlain, 64, 32, 48, 1, TMM_F32, TMM_ACTIVATION_SWIGLU, 1},
    {"33 65 17 ops=nt layout=col batch=3 epilogue=bias_rows+swiglu+residual", TMM_COL_MAJOR, kPlain, kTurned, 33, 65, 17, 3, TMM_F32,
     TMM_ACTIVATION_SWIGLU, 1, TMM_BIAS_ROWS, 1},
    {"1 7 5 ops=tt layout=col epilogue=bias+swiglu+residual", TMM_COL_MAJOR, kTurned, kTurned, 1, 7, 5, 1, TMM_F32, TMM_ACTIVATION_SWIGLU,
     1, TMM_BIAS_COLUMNS, 1},
    {"40 19 31 dtype=bf16 ops=tn layout=col batch=2 epilogue=bias+swiglu+residual", TMM_COL_MAJOR, kTurned, kPlain, 40, 19, 31, 2, TMM_BF16,
     TMM_ACTIVATION_SWIGLU, 1, TMM_BIAS_COLUMNS, 1},
    {"37 45 21 epilogue=bias+swiglu", TMM_ROW_MAJOR, kPlain, kPlain, 37, 45, 21, 1, TMM_F32, TMM_ACTIVATION_SWIGLU, 1},
    {"37 45 21 ops=tn epilogue=bias_rows+swiglu_rows+residual", TMM_ROW_MAJOR, kTurned, kPlain, 37, 45, 21, 1, TMM_F32, kRows, 1,
     TMM_BIAS_ROWS, 1},
    {"12 9 40 dtype=f16 ops=nt layout=col batch=2 epilogue=bias+swiglu_rows", TMM_COL_MAJOR, kPlain, kTurned, 12, 9, 40, 2, TMM_F16, kRows,
     1},
};

std::int64_t rows_of_product(const Case& of) {
    return of.activation == kRows ? 2 * of.m : of.m;
}
std::int64_t columns_of_product(const Case& of) {
    return of.activation == kRows ? of.n : 2 * of.n;
}

// A matrix op(X) of so many rows and columns as it is stored, with a gap behind each line and each member of a batch.
struct Layout {
    Layout(const Case& of, tmmOperation_t op, std::int64_t rows, std::int64_t columns, std::int64_t gap)
        : along_rows((of.layout == TMM_ROW_MAJOR) == (op == TMM_NO_TRANS)),
          ld((along_rows ? columns : rows) + gap),
          stride(of.batch > 1 ? (along_rows ? rows : columns) * ld + gap : 0),
          elements((of.batch - 1) * stride + (along_rows ? rows : columns) * ld) {}
    std::size_t at(std::int64_t batch, std::int64_t row, std::int64_t column) const {
        return static_cast<std::size_t>(batch * stride + (along_rows ? row * ld + column : column * ld + row));
    }

    bool along_rows;
    std::int64_t ld, stride, elements;
};

// The residual lies as C does.
struct Layouts {
    Layouts(const Case& of, std::int64_t gap)
        : a(of, of.op_a, rows_of_product(of), of.k, gap),
          b(of, of.op_b, of.k, columns_of_product(of), gap),
          c(of, kPlain, of.m, of.n, gap) {}
    Layout a, b, c;
};

// Multiples of 1/4 from -2 to 1.75, which all types hold and whose sums are exact.
std::vector<float> quarters(std::int64_t count, unsigned seed) {
    std::vector<float> values(static_cast<std::size_t>(count));
    for (float& value : values) {
        seed = seed * 1664525U + 1013904223U;
        value = static_cast<float>(static_cast<int>(seed >> 28) - 8) / 4;
    }
    return values;
}

tmmGemmProblem_t problem_of(const Case& of, const Layouts& lie, int alignment) {
    tmmGemmProblem_t problem;
    tmmGemmProblemInit(&problem);
    problem.layout = of.layout;
    problem.op_a = of.op_a, problem.op_b = of.op_b;
    problem.m = of.m, problem.n = of.n, problem.k = of.k, problem.batch = of.batch;
    problem.type_a = problem.type_b = problem.type_c = of.type;
    problem.lda = lie.a.ld, problem.ldb = lie.b.ld, problem.ldc = problem.ldr = lie.c.ld;
    problem.stride_a = lie.a.stride, problem.stride_b = lie.b.stride, problem.stride_c = problem.stride_r = lie.c.stride;
    problem.alignment = alignment;
    problem.activation = of.activation;
    problem.has_bias = of.has_bias, problem.bias_axis = of.bias_axis, problem.type_bias = of.type;
    problem.has_residual = of.has_residual;
    return problem;
}

// The first wrong element of C, or "".
std::string wrong_element(const Fixture& on, const Case& of) {
    const Layouts lie(of, 3);
    const auto& [a, b, c] = lie;
    const std::vector<float> in_a = quarters(a.elements, 1), in_b = quarters(b.elements, 2), in_residual = quarters(c.elements, 3);
    const std::vector<float> in_bias = quarters(of.bias_axis == TMM_BIAS_ROWS ? rows_of_product(of) : columns_of_product(of), 4);
    constexpr float kUntouched = 99;
    const OnDevice on_a(on, in_a, 0, of.type), on_b(on, in_b, 0, of.type), on_bias(on, in_bias, 0, of.type),
        on_residual(on, in_residual, 0, of.type),
        on_c(on, std::vector<float>(static_cast<std::size_t>(c.elements), kUntouched), 0, of.type);

    const tmmGemmProblem_t problem = problem_of(of, lie, static_cast<int>(size_of(of.type)));
    const float alpha = 0.5f, beta = 0;
    tmmGemmArgs_t args{};
    args.struct_size = sizeof args;
    args.alpha = &alpha, args.beta = &beta;
    args.a = on_a.data(), args.b = on_b.data(), args.c = on_c.data();
    if (of.has_bias) args.bias = on_bias.data();
    if (of.has_residual) args.residual = on_residual.data();
    if (tmmGemm(on.handle, &problem, &args) != TMM_STATUS_SUCCESS) return tmmLastError(on.handle);
    on.device->synchronize();

    std::vector<float> expected(static_cast<std::size_t>(c.elements), kUntouched);
    for (std::int64_t batch = 0; batch < of.batch; ++batch)
        for (std::int64_t row = 0; row < of.m; ++row)
            for (std::int64_t column = 0; column < of.n; ++column) {
                const auto x = [&](std::int64_t of_a, std::int64_t of_b) {
                    double sum = 0;
                    for (std::int64_t k = 0; k < of.k; ++k)
                        sum += static_cast<double>(in_a[a.at(batch, of_a, k)]) * static_cast<double>(in_b[b.at(batch, k, of_b)]);
                    const double bias = of.has_bias ? in_bias[static_cast<std::size_t>(of.bias_axis == TMM_BIAS_ROWS ? of_a : of_b)] : 0;
                    return 0.5 * sum + bias;
                };
                const double gate = x(row, column);
                const double value = of.activation == kRows ? x(of.m + row, column) : x(row, of.n + column);
                const double residual = of.has_residual ? in_residual[c.at(batch, row, column)] : 0;
                expected[c.at(batch, row, column)] = static_cast<float>(gate / (1 + std::exp(-gate)) * value + residual);
            }
    const std::vector<float> result = on_c.read();
    const float unit = of.type == TMM_F32 ? 0x1p-20f : of.type == TMM_F16 ? 0x1p-10f : 0x1p-7f;
    for (std::size_t i = 0; i < result.size(); ++i)
        if (!(std::fabs(result[i] - expected[i]) <= (expected[i] == kUntouched ? 0 : unit * (4 + std::fabs(expected[i])))))
            return "element " + std::to_string(i) + " is " + std::to_string(result[i]) + ", not " + std::to_string(expected[i]);
    return "";
}

}  // namespace

TEST_CASE("a gate takes the halves that the caller sees, in both layouts") {
    for (const int ordinal : devices()) {
        CAPTURE(ordinal);
        const Fixture on(ordinal);
        for (const Case& of : kCases) {
            CAPTURE(std::string(of.line));
            CHECK(wrong_element(on, of) == "");
        }
    }
}

TEST_CASE("a shapes file's line is the problem that a program asks for, and its text reads as the same") {
    for (const Case& of : kCases) {
        CAPTURE(std::string(of.line));
        const tmm::GemmProblem written = tmm::parse_shape(of.line).problem;
        const tmmGemmProblem_t problem = problem_of(of, Layouts(of, 0), 16);
        CHECK(tmm::check_problem(&problem).request.problem == written);
        CHECK(tmm::parse_shape(tmm::to_text(written)).problem == written);
    }
    CHECK(tmm::to_text(tmm::parse_shape("40 12 64 ops=nt layout=col ldb=96 epilogue=bias+swiglu").problem) ==
          "12x40x64 ops=tn lda=96 epilogue=bias_rows+swiglu_rows");
}
