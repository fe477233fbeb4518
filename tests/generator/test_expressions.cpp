// The caller's expressions through the C interface, on the emulated device: what they see, what is said of faulty ones, and which tuned
// config serves them.
#include <dlfcn.h>
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "db/store/tuning_database.h"
#include "generator/text/shapes_file.h"
#include "generator/text/text.h"
#include "runtime/device/device.h"
#include "tests/support/temporary_directory.h"
#include "tmm/tmm.hpp"

using tmm::testing::TemporaryDirectory;

namespace {

constexpr int kM = 5;
constexpr int kN = 7;
constexpr int kK = 3;

// C = expression over A = 1 and B = 2, so that x = 6.
struct Product {
    tmmGemmProblem_t problem = tmm::problem(kM, kN, kK);
    std::vector<float> a = std::vector<float>(kM * kK, 1);
    std::vector<float> b = std::vector<float>(kK * kN, 2);
    std::vector<float> c = std::vector<float>(kM * kN, -1);
    float alpha = 1;
    float beta = 0;
    tmmGemmArgs_t args = tmm::args(&alpha, a.data(), b.data(), &beta, c.data());

    explicit Product(const char* expression, tmmLayout_t layout = TMM_ROW_MAJOR) {
        problem.epilogue = TMM_EPILOGUE_CUSTOM;
        problem.expression = expression;
        problem.layout = layout;
        if (layout == TMM_COL_MAJOR) problem.lda = problem.ldc = kM, problem.ldb = kK;
    }
    float at(int row, int column) const {
        return c[static_cast<std::size_t>(problem.layout == TMM_ROW_MAJOR ? row * kN + column : column * kM + row)];
    }
};

std::string refusal(tmm::Handle& handle, const char* expression) {
    Product product(expression);
    try {
        handle.gemm(product.problem, product.args);
    } catch (const tmm::Exception& error) {
        CHECK(error.status() == TMM_STATUS_INVALID_EXPRESSION);
        return error.what();
    }
    return "taken";
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("an expression sees x, its place as the caller counts it, and the call's parameters") {
    const TemporaryDirectory directory;
    tmm::Handle handle(TMM_DEVICE_HOST, (directory.path() / "tmm.db").string());
    for (const tmmLayout_t layout : {TMM_ROW_MAJOR, TMM_COL_MAJOR}) {
        Product product("x + row * 100 + column * 10 + batch + p0 - p3", layout);
        const auto plan = handle.plan(product.problem);
        // The parameters are values of a call, which a plan does not know.
        for (const float p0 : {0.0f, 0.5f}) {
            product.args.parameters[0] = p0;
            product.args.parameters[3] = 2;
            plan.run(product.args);
            for (int row = 0; row < kM; ++row)
                for (int column = 0; column < kN; ++column)
                    CHECK(product.at(row, column) == 6 + static_cast<float>(row * 100 + column * 10) + p0 - 2);
        }
    }
}

TEST_CASE("kernels of different expressions are told apart, and the text may be gone once the plan is made") {
    const TemporaryDirectory directory;
    tmm::Handle handle(TMM_DEVICE_HOST, (directory.path() / "tmm.db").string());
    std::string text = "x * 2";
    Product doubled(text.c_str());
    const auto plan = handle.plan(doubled.problem);
    text.assign(text.size(), '?');
    plan.run(doubled.args);
    CHECK(doubled.at(1, 1) == 12);
    for (int round = 0; round < 2; ++round) {
        for (const auto& [expression, expected] : {std::pair{"x + 1", 7.0f}, {"x - 1", 5.0f}, {"x", 6.0f}, {"-x", -6.0f}}) {
            Product product(expression);
            handle.gemm(product.problem, product.args);
            CHECK(product.at(4, 6) == expected);
        }
    }
}

TEST_CASE("a faulty expression has a status of its own, the compiler's words, and the place within the expression") {
    const TemporaryDirectory directory;
    tmm::Handle handle(TMM_DEVICE_HOST, (directory.path() / "tmm.db").string());
    CHECK(contains(refusal(handle, "fmaxf(x + bia, p0)"), "expression:1:11"));
    CHECK(contains(refusal(handle, "fmaxf(x + bia, p0)"), "bia"));
    CHECK(contains(refusal(handle, "x\n + y0"), "expression:2:4"));
    CHECK(contains(refusal(handle, "x +"), "expression:1:4"));
    CHECK(contains(refusal(handle, "unknown(x)"), "unknown"));
    CHECK(contains(refusal(handle, "x; x"), "character 2 can't stand in an expression: ';'"));
    CHECK(contains(refusal(handle, "x)"), "the ')' at character 2 closes nothing"));
    CHECK(contains(refusal(handle, "(x]"), "the ']' at character 3 closes nothing"));
    CHECK(contains(refusal(handle, "(x"), "a '(' is not closed"));
    CHECK(contains(refusal(handle, " "), "it is empty"));
    CHECK(contains(refusal(handle, "x // y"), "a comment begins at character 3"));
    CHECK(contains(refusal(handle, "x /* y"), "a comment begins at character 3"));
    for (const char* forbidden : {"\"text\"", "'c'", "x{", "#x", "x\\", "x@", "x$", "\x01", "\xc3\xa4"})
        CHECK(contains(refusal(handle, forbidden), "can't stand in an expression"));
    // A line of the preprocessor, a block and brackets may be spelled without #, { and [.
    for (const char* digraph :
         {"x +\n%:define y 7\ny", "x +\n%:include </etc/hostname>\n", "x + (<% 1 )", "(1 %>)", "(&x)<:0:>", "(&x)[0:>"})
        CHECK(contains(refusal(handle, digraph), "can't stand in an expression"));
    CHECK(contains(refusal(handle, std::string(5000, 'x').c_str()), "more than 4096"));
    // What went wrong before is no hindrance.
    Product product("x");
    handle.gemm(product.problem, product.args);
    CHECK(product.at(0, 0) == 6);
}

TEST_CASE("what gives no number is told by its cause") {
    const TemporaryDirectory directory;
    tmm::Handle handle(TMM_DEVICE_HOST, (directory.path() / "tmm.db").string());
    const auto told = [&](const char* expression, const char* words) {
        const std::string said = refusal(handle, expression);
        CAPTURE(said);
        CHECK(contains(said, "the expression '" + std::string(expression) + "'"));
        CHECK(contains(said, words));
        CHECK(said.size() < 300);
    };
    for (const char* address : {"&x", "nullptr", "(&x)", "sqrtf", "__func__", "x > 0.0f ? &x : nullptr"})
        told(address, "it gives an address");
    for (const char* structure : {"blockIdx", "threadIdx", "signature"}) told(structure, "it gives a struct");
    for (const char* nothing : {"__syncthreads()", "__syncwarp()", "static_cast<void>(x)"}) told(nothing, "it gives nothing (void)");
    // Overloaded functions without a call, a fault that shows within a template, functions that only a GPU has.
    told("abs", "abs");
    told("__shfl_sync(1u, true, 0)", "warp operations move 4 or 8 bytes");
    told("__fadd_rd(x, 1.0f)", "it calls __fadd_rd, which only a GPU has");
    told("__vadd2(1u, 2u)", "lacks some functions that a GPU has");
    CHECK(contains(refusal(handle, "x > 0.0f ? x : throw 1"), "'throw' at character 16 can't stand in an expression"));
    CHECK(refusal(handle, "throw_x") != "taken");
}

TEST_CASE("whatever becomes a float is a number") {
    const TemporaryDirectory directory;
    tmm::Handle handle(TMM_DEVICE_HOST, (directory.path() / "tmm.db").string());
    const float infinity = std::numeric_limits<float>::infinity();
    const std::pair<const char*, float> cases[] = {{"row", 4},
                                                   {"x > 5.0f", 1},
                                                   {"blockDim.x > 0u", 1},
                                                   {"bias, x", 6},
                                                   {"int(x / 4.0f)", 1},
                                                   {"x / 4.0", 1.5f},
                                                   {"(x, row)", 4},
                                                   {"sizeof(x)", 4},
                                                   {"INFINITY", infinity},
                                                   {"fminf(x, -INFINITY)", -infinity},
                                                   {"isnan(NAN) ? 2.0f : 3.0f", 2},
                                                   {"x == x + NAN", 0}};
    for (const auto& [text, expected] : cases) {
        CAPTURE(std::string(text));
        Product product(text);
        handle.gemm(product.problem, product.args);
        CHECK(product.at(4, 6) == expected);
    }
}

TEST_CASE("an expression is served by the winner of the same shape whose epilogue is nearest, and says so") {
    const TemporaryDirectory directory;
    const std::string file = (directory.path() / "tmm.db").string();
    const tmm::DeviceInfo host = tmm::open_device(TMM_DEVICE_HOST)->info();
    const std::pair<const char*, const char*> winners[] = {
        {"5x7x3", "naive 8x8x1"}, {"5x7x3 epilogue=bias+relu", "naive 4x16x1"}, {"5x7x4 epilogue=bias+relu", "naive 4x8x1"}};
    {
        tmm::TuningDatabase database(file, tmm::TuningDatabase::Mode::read_write_create);
        database.set_environment(tmm::Environment{.device = host});
        tmm::Measurement measurement;
        measurement.median_us = measurement.low_us = measurement.high_us = 1;
        measurement.samples = 3;
        measurement.error_ratio = 0.1;
        measurement.kernel_name = "tmm_test";
        measurement.kernel_hash = "0123456789abcdef";
        for (const auto& [shape, config_text] : winners) {
            const tmm::GemmProblem problem = tmm::parse_shape(std::string(shape) + " align=4").problem;
            const tmm::KernelConfig config = tmm::parse_config(config_text);
            database.announce(problem, config, measurement.kernel_name);
            database.record(problem, config, {}, measurement);
            database.decide(problem, {}, {.config = config, .median_us = 1, .candidates = 1, .reason = "only one"});
        }
    }
    tmm::Handle handle(TMM_DEVICE_HOST, file.c_str());
    Product product("x * 2");
    const std::string plain = handle.plan(product.problem).describe();
    product.problem.has_bias = 1;
    const std::string biased = handle.plan(product.problem).describe();
    CHECK(contains(plain, "match: near"));
    CHECK(contains(plain, "0.0 doublings away, is 5x7x3"));
    CHECK(contains(plain, "config: naive 8x8x1"));
    CHECK(contains(biased, "config: naive 4x16x1"));
    CHECK(contains(biased, "is 5x7x3 epilogue=bias+relu"));
}

TEST_CASE("programs that were linked before epilogues existed get problems of the size that they know") {
    void* const library = dlopen(TMM_BINARY_DIR "/runtime/libtmm.so", RTLD_NOW | RTLD_LOCAL);
    REQUIRE(library);
    using Init = tmmStatus_t (*)(tmmGemmProblem_t*);
    const auto older = reinterpret_cast<Init>(dlvsym(library, "tmmGemmProblemInit", "TMM_0"));
    const auto newer = reinterpret_cast<Init>(dlsym(library, "tmmGemmProblemInit"));
    const bool found = older && newer;
    REQUIRE(found);
    tmmGemmProblem_t problem;
    std::memset(&problem, 0x5a, sizeof problem);
    CHECK(older(&problem) == TMM_STATUS_SUCCESS);
    CHECK(problem.struct_size == offsetof(tmmGemmProblem_t, activation));
    CHECK(problem.batch == 1);
    const auto* bytes = reinterpret_cast<const unsigned char*>(&problem);
    for (std::size_t i = problem.struct_size; i < sizeof problem; ++i) CHECK(bytes[i] == 0x5a);
    CHECK(older(nullptr) == TMM_STATUS_NULL_POINTER);
    CHECK(newer(&problem) == TMM_STATUS_SUCCESS);
    CHECK(problem.struct_size == sizeof problem);
    CHECK(problem.expression == nullptr);
}
