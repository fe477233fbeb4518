// Products with a shape of their own by the C interface: one triangle of C, batches anywhere, and rows whose bits hang on no other row.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "tests/support/api_testing.h"
#include "tmm/tmm.h"

using namespace api_testing;

namespace {

// Deterministic values of no pattern.
float value(std::int64_t i) {
    return static_cast<float>((i * 7919 + 13) % 211 - 105) / 16;
}

// A product of floats in the process's memory, on the emulated device.
struct FloatProduct {
    Fixture on{TMM_DEVICE_HOST};
    tmmGemmProblem_t problem{};
    std::vector<float> a, b, c;
    float alpha = 1, beta = 0;

    FloatProduct(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t padding = 0) {
        tmmGemmProblemInit(&problem);
        problem.m = m;
        problem.n = n;
        problem.k = k;
        problem.lda = k + padding;
        problem.ldb = k + padding;
        problem.ldc = n + 2 * padding;
        problem.op_b = TMM_TRANS;
        for (std::int64_t i = 0; i < m * problem.lda; ++i) a.push_back(value(i));
        for (std::int64_t i = 0; i < n * problem.ldb; ++i) b.push_back(value(3 * i + 1));
        c.assign(static_cast<std::size_t>(m * problem.ldc), std::numeric_limits<float>::quiet_NaN());
    }
    tmmGemmArgs_t args() {
        tmmGemmArgs_t args{};
        args.struct_size = sizeof args;
        args.alpha = &alpha;
        args.beta = &beta;
        args.a = a.data();
        args.b = b.data();
        args.c = c.data();
        return args;
    }
    tmmStatus_t run() {
        const tmmGemmArgs_t its = args();
        return tmmGemm(on.handle, &problem, &its);
    }
    float& at(std::int64_t row, std::int64_t column) {
        const std::int64_t place = problem.layout == TMM_ROW_MAJOR ? row * problem.ldc + column : column * problem.ldc + row;
        return c[static_cast<std::size_t>(place)];
    }
    double expected(std::int64_t row, std::int64_t column) const {
        double sum = 0;
        for (std::int64_t k = 0; k < problem.k; ++k)
            sum += double{a[static_cast<std::size_t>(row * problem.lda + k)]} * b[static_cast<std::size_t>(column * problem.ldb + k)];
        return alpha * sum;
    }
};

bool same_bits(float x, float y) {
    return std::memcmp(&x, &y, sizeof x) == 0;
}

}  // namespace

TEST_CASE("a symmetric result is complete, and equal to its transpose bit for bit") {
    for (const std::int64_t size : {1, 2, 31, 45, 100}) {
        CAPTURE(size);
        FloatProduct product(size, size, 37, 3);
        product.b = product.a;
        product.problem.result = TMM_RESULT_SYMMETRIC;
        REQUIRE(product.run() == TMM_STATUS_SUCCESS);
        for (std::int64_t row = 0; row < size; ++row)
            for (std::int64_t column = 0; column < size; ++column) {
                CHECK(same_bits(product.at(row, column), product.at(column, row)));
                CHECK(product.at(row, column) == doctest::Approx(product.expected(row, column)).epsilon(1e-5));
            }
    }
}

TEST_CASE("lower and upper leave the other triangle alone, in either layout, with and without C's old values") {
    for (const tmmLayout_t layout : {TMM_ROW_MAJOR, TMM_COL_MAJOR}) {
        for (const tmmResult_t result : {TMM_RESULT_LOWER, TMM_RESULT_UPPER}) {
            for (const float beta : {0.0F, 2.0F}) {
                CAPTURE(static_cast<int>(layout));
                CAPTURE(static_cast<int>(result));
                CAPTURE(beta);
                FloatProduct product(41, 41, 19, 1);
                // Read by columns, A's rows are those of its transpose.
                product.problem.layout = layout;
                if (layout == TMM_COL_MAJOR) {
                    product.problem.op_a = TMM_TRANS;
                    product.problem.op_b = TMM_NO_TRANS;
                }
                product.problem.result = result;
                product.problem.reads_c = beta != 0;
                product.beta = beta;
                if (beta != 0)
                    for (std::size_t i = 0; i < product.c.size(); ++i) product.c[i] = value(static_cast<std::int64_t>(i));
                const std::vector<float> before = product.c;
                REQUIRE(product.run() == TMM_STATUS_SUCCESS);
                const std::vector<float> after = product.c;
                for (std::int64_t row = 0; row < 41; ++row)
                    for (std::int64_t column = 0; column < 41; ++column) {
                        const float got = product.at(row, column);
                        const auto place = static_cast<std::size_t>(&product.at(row, column) - product.c.data());
                        const bool wanted = result == TMM_RESULT_LOWER ? column <= row : column >= row;
                        if (wanted)
                            CHECK(got ==
                                  doctest::Approx(product.expected(row, column) + (beta != 0 ? beta * before[place] : 0)).epsilon(1e-4));
                        else
                            CHECK(same_bits(got, before[place]));
                    }
            }
        }
    }
}

TEST_CASE("results that no triangle can stand for are refused, each with its status and sentence") {
    FloatProduct product(8, 8, 8);
    product.problem.result = static_cast<tmmResult_t>(4);
    CHECK(product.run() == TMM_STATUS_INVALID_RESULT);
    product.problem.result = TMM_RESULT_SYMMETRIC;
    product.problem.has_bias = 1;
    CHECK(product.run() == TMM_STATUS_UNSUPPORTED_EPILOGUE);
    product.problem.has_bias = 0;
    product.problem.activation = TMM_ACTIVATION_SWIGLU;
    product.problem.ldb = 16;
    CHECK(product.run() == TMM_STATUS_UNSUPPORTED_EPILOGUE);
    product.problem.activation = TMM_ACTIVATION_NONE;
    product.problem.ldb = 8;
    product.problem.epilogue = TMM_EPILOGUE_CUSTOM;
    product.problem.expression = "x + row";
    CHECK(product.run() == TMM_STATUS_UNSUPPORTED_EPILOGUE);
    product.problem.expression = "fmaxf(x, 0)";
    CHECK(product.run() == TMM_STATUS_SUCCESS);

    for (const tmmResult_t result : {TMM_RESULT_SYMMETRIC, TMM_RESULT_LOWER, TMM_RESULT_UPPER}) {
        FloatProduct oblong(8, 9, 8);
        oblong.problem.result = result;
        CHECK(oblong.run() == TMM_STATUS_NOT_SQUARE);
        CHECK(std::string(tmmLastError(oblong.on.handle)).find("8 rows and 9 columns") != std::string::npos);
    }
}

TEST_CASE("matrices of a batch stand where their addresses say") {
    constexpr std::int64_t kBatch = 3, kM = 17, kN = 9, kK = 11;
    FloatProduct product(kM, kN, kK);
    product.problem.batch = kBatch;
    product.problem.pointer_array = 1;
    // What strides say is of no meaning.
    product.problem.stride_a = product.problem.stride_c = -7;
    std::vector<const void*> a, b;
    std::vector<void*> c;
    std::vector<std::vector<float>> results(kBatch, std::vector<float>(kM * kN, -1));
    std::vector<std::vector<float>> operands(kBatch);
    for (std::int64_t member = 0; member < kBatch; ++member) {
        for (std::int64_t i = 0; i < kM * kK; ++i) operands[static_cast<std::size_t>(member)].push_back(value(i + 1000 * member));
        a.push_back(operands[static_cast<std::size_t>(member)].data());
        b.push_back(product.b.data());
        c.push_back(results[static_cast<std::size_t>(kBatch - 1 - member)].data());
    }
    tmmGemmArgs_t args = product.args();
    args.a = args.b = nullptr;
    args.c = nullptr;
    args.a_array = a.data();
    args.b_array = b.data();
    args.c_array = c.data();
    REQUIRE(tmmGemm(product.on.handle, &product.problem, &args) == TMM_STATUS_SUCCESS);
    for (std::int64_t member = 0; member < kBatch; ++member) {
        product.a = operands[static_cast<std::size_t>(member)];
        const std::vector<float>& result = results[static_cast<std::size_t>(kBatch - 1 - member)];
        for (std::int64_t row = 0; row < kM; ++row)
            for (std::int64_t column = 0; column < kN; ++column)
                CHECK(result[static_cast<std::size_t>(row * kN + column)] == doctest::Approx(product.expected(row, column)).epsilon(1e-5));
    }

    args.a_array = nullptr;
    CHECK(tmmGemm(product.on.handle, &product.problem, &args) == TMM_STATUS_NULL_A);
    // Without alpha neither A nor B is read.
    product.alpha = 0;
    CHECK(tmmGemm(product.on.handle, &product.problem, &args) == TMM_STATUS_SUCCESS);
    CHECK(results[0][0] == 0);
    args.c_array = nullptr;
    CHECK(tmmGemm(product.on.handle, &product.problem, &args) == TMM_STATUS_NULL_C);
}

TEST_CASE("with invariant a row has the same bits whatever it is multiplied with") {
    constexpr std::int64_t kN = 33, kK = 700;
    FloatProduct whole(70, kN, kK);
    whole.problem.invariant = 1;
    REQUIRE(whole.run() == TMM_STATUS_SUCCESS);
    for (const std::int64_t m : {1, 2, 7, 16, 33, 64}) {
        CAPTURE(m);
        FloatProduct part(m, kN, kK);
        part.problem.invariant = 1;
        // Rows 5 and on of the other product.
        std::copy_n(whole.a.begin() + 5 * whole.problem.lda, part.a.size(), part.a.begin());
        tmmPlan_t plan = nullptr;
        REQUIRE(tmmPlanCreate(part.on.handle, &part.problem, &plan) == TMM_STATUS_SUCCESS);
        char text[4096];
        REQUIRE(tmmPlanDescribe(plan, text, sizeof text) == TMM_STATUS_SUCCESS);
        CHECK(std::string(text).find("\norder of sums: one FMA after the other, k ascending") != std::string::npos);
        tmmPlanDestroy(plan);
        REQUIRE(part.run() == TMM_STATUS_SUCCESS);
        for (std::int64_t row = 0; row < m && row + 5 < 70; ++row)
            for (std::int64_t column = 0; column < kN; ++column) CHECK(same_bits(part.at(row, column), whole.at(row + 5, column)));
    }
}
