// Epilogues in tmm-bench: their operands, their exact results, the elementwise kernel behind libraries that only multiply, and which of
// them cuBLASLt has itself.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "bench/accuracy/accuracy.h"
#include "bench/accuracy/result_check.h"
#include "bench/operands/element_bits.h"
#include "bench/operands/operands.h"
#include "bench/peers/cublaslt_epilogue.h"
#include "bench/peers/peers.h"
#include "bench/peers/plain_product.h"
#include "bench/peers/separate_epilogue.h"
#include "generator/compile/compiler.h"
#include "generator/text/shapes_file.h"
#include "generator/text/text.h"
#include "tests/support/bench_testing.h"
#include "tests/support/json_schema_testing.h"

using namespace tmm;
using namespace tmm::bench;
using namespace bench_testing;

namespace {

const ValuePool& pool() {
    static const auto& made = *new ValuePool;
    return made;
}

std::shared_ptr<Device> host() {
    static const auto& device = *new std::shared_ptr<Device>(open_device(kHostDevice));
    return device;
}

double element(ElementType type, const void* matrix, i64 index) {
    const auto* const first = static_cast<const std::byte*>(matrix) + index * size_of(type);
    return to_values(type, {first, first + size_of(type)}).at(0);
}

double activated(Activation activation, double x) {
    switch (activation) {
        case Activation::none: return x;
        case Activation::relu: return std::fmax(x, 0);
        case Activation::gelu: return x * std::erfc(-x * std::sqrt(0.5)) / 2;
        case Activation::gelu_tanh: return x / 2 * (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * std::pow(x, 3))));
        case Activation::silu: return x / (1 + std::exp(-x));
        case Activation::sigmoid: return 1 / (1 + std::exp(-x));
        case Activation::tanh: return std::tanh(x);
        case Activation::swiglu:
        case Activation::swiglu_rows: break;
    }
    return std::nan("");
}

// An element of the result, from what lies in the memory of set 0.
double expected(const Operands& operands, i64 batch, i64 row, i64 column) {
    const GemmProblem& p = operands.shape().problem;
    const GemmCall call = operands.call(0);
    const auto biased = [&](i64 of_a, i64 of_b) {
        double x = 0;
        for (i64 k = 0; k < p.k; ++k) {
            const i64 at_a = p.op_a == Operation::none ? of_a * p.lda + k : k * p.lda + of_a;
            const i64 at_b = p.op_b == Operation::none ? k * p.ldb + of_b : of_b * p.ldb + k;
            x += static_cast<double>(element(p.type_a, call.a, batch * p.stride_a + at_a)) *
                 static_cast<double>(element(p.type_b, call.b, batch * p.stride_b + at_b));
        }
        x *= call.alpha;
        if (p.reads_c) x += call.beta * static_cast<double>(operands.first_c(0)[batch * p.stride_c + of_a * p.ldc + of_b]);
        return call.bias ? x + element(p.type_bias, call.bias, p.bias == BiasAxis::rows ? of_a : of_b) : x;
    };
    double x = biased(row, column);
    if (p.activation == Activation::swiglu)
        x = activated(Activation::silu, x) * biased(row, p.n / 2 + column);
    else if (p.activation == Activation::swiglu_rows)
        x = activated(Activation::silu, x) * biased(p.m / 2 + row, column);
    else
        x = activated(p.activation, x);
    if (call.residual) x += element(p.type_c, call.residual, batch * p.stride_r + row * p.ldr + column);
    return x;
}

// Calls visit(batch, row, column, index into C).
template <class Visit>
void for_each_element(const GemmProblem& p, const Visit& visit) {
    for (i64 batch = 0; batch < p.batch; ++batch)
        for (i64 row = 0; row < rows_of_c(p); ++row)
            for (i64 column = 0; column < columns_of_c(p); ++column)
                visit(batch, row, column, static_cast<std::size_t>(batch * p.stride_c + row * p.ldc + column));
}

// Lines of a shapes file that differ in all that an epilogue depends on: axis and type of the bias, activation, residual with its own rows
// and members, batch, layout, C of each type, rows aligned to 16 bytes, to less, and to an element only, and columns that are no multiple
// of what is moved at once, beside padding whose values show whether it was touched (a NaN would stay one).
const char* const kLines[] = {
    "16 24 8 epilogue=bias",
    "16 24 8 epilogue=bias_rows+relu",
    "5 7 9 ops=tn epilogue=bias+gelu",
    "16 24 8 dtype=bf16 epilogue=bias+gelu_tanh bias_type=f32",
    "16 28 8 dtype=bf16 epilogue=bias+silu+residual ldr=32",
    "3 40 8 dtype=f16 epilogue=bias_rows+tanh+residual",
    "16 24 8 dtype=bf16 ctype=f32 epilogue=bias+residual bias_type=bf16",
    "4 12 8 batch=3 epilogue=sigmoid+residual ldr=14 stride_r=80",
    "4 12 8 batch=3 epilogue=bias+residual stride_r=0",
    "9 11 6 ops=nt align=4 epilogue=bias+residual beta=0.5 alpha=-2",
    "9 11 6 layout=col epilogue=bias+residual ldc=10 ldr=13",
    "6 9 4 dtype=f16 align=2 epilogue=residual",
    "64 260 4 epilogue=bias+silu",
    "130 8 4 dtype=bf16 epilogue=bias+relu+residual",
    "40 300 4 dtype=bf16 batch=2 epilogue=gelu_tanh",
    "10 21 8 dtype=bf16 ldc=24 beta=1 epilogue=bias+silu",
    "7 18 4 ldc=20 beta=-1 epilogue=bias+residual ldr=24",
    "16 24 8 dtype=f64 epilogue=bias+gelu bias_type=f64",
    "9 11 6 dtype=f64 ops=nt align=8 epilogue=bias_rows+silu+residual bias_type=f64 beta=0.5 ldr=14",
    "6 10 8 dtype=f64 batch=2 epilogue=bias+swiglu bias_type=f64",
    "16 24 8 epilogue=swiglu",
    "5 7 9 ops=tt alpha=-0.5 epilogue=bias+swiglu",
    "16 24 8 dtype=bf16 ops=nt epilogue=bias+swiglu+residual bias_type=f32",
    "12 28 8 dtype=f16 ldc=32 epilogue=bias+swiglu+residual ldr=40",
    "7 19 8 dtype=bf16 ldc=24 epilogue=bias_rows+swiglu+residual ldr=24",
    "9 22 8 dtype=bf16 ldc=24 epilogue=bias+swiglu bias_type=f32",
    "4 12 8 batch=3 epilogue=swiglu+residual stride_r=0",
    "5 13 8 batch=2 dtype=bf16 ctype=f32 ldc=16 epilogue=bias+swiglu",
    "6 9 4 dtype=f16 align=2 epilogue=bias+swiglu+residual",
    "130 264 4 dtype=bf16 epilogue=bias+swiglu",
    "16 24 8 epilogue=swiglu_rows",
    "5 7 9 ops=tt alpha=-0.5 epilogue=bias_rows+swiglu_rows",
    "24 16 8 layout=col dtype=bf16 ops=tn epilogue=bias+swiglu+residual bias_type=f32 ldr=28",
    "12 28 8 dtype=f16 ldc=32 epilogue=bias+swiglu_rows+residual ldr=40",
    "7 19 8 layout=col batch=3 dtype=bf16 ldc=8 epilogue=bias+swiglu",
    "6 9 4 dtype=f16 align=2 epilogue=bias_rows+swiglu_rows+residual",
    "130 264 4 dtype=bf16 epilogue=bias_rows+swiglu_rows",
};

}  // namespace

TEST_CASE("every set has a bias and a residual of its own, laid out and aligned as the problem says") {
    for (const int alignment : {2, 4, 8, 16}) {
        const Shape shape = parse_shape(fmt::format("12 14 16 dtype=bf16 epilogue=bias+residual ldr=20 align={}", alignment));
        const Operands operands(host(), shape, 40000, pool());
        REQUIRE(operands.sets() > 2);
        std::set<const void*> places;
        for (int set = 0; set < operands.sets(); ++set) {
            const GemmCall call = operands.call(set);
            for (const void* place : {call.bias, call.residual}) {
                REQUIRE(place);
                CHECK(places.insert(place).second);
                CHECK(reinterpret_cast<std::uintptr_t>(place) % static_cast<std::uintptr_t>(alignment) == 0);
                if (alignment < 16) CHECK(reinterpret_cast<std::uintptr_t>(place) % static_cast<std::uintptr_t>(2 * alignment) != 0);
            }
            for (i64 i = 0; i < 14; ++i) REQUIRE(element(ElementType::bf16, call.bias, i) == operands.first_bias(set)[i]);
            for (i64 i = 0; i < 11 * 20 + 14; ++i) REQUIRE(element(ElementType::bf16, call.residual, i) == operands.first_residual(set)[i]);
        }
        CHECK(operands.first_bias(0)[0] != operands.first_residual(0)[0]);
    }
    const Operands plain(host(), parse_shape("12 14 16"), 0, pool());
    CHECK_FALSE(plain.call(0).bias);
    CHECK_FALSE(plain.call(0).residual);
}

TEST_CASE("bias and residual count among the bytes that must be read, in no more ranges than the read kernel takes") {
    const auto read_bytes = [](const std::string& line) {
        const Operands operands(host(), parse_shape(line), 0, pool());
        const std::vector<ByteRange> ranges = operands.read_ranges(0);
        CHECK(ranges.size() <= 3);
        std::int64_t bytes = 0;
        for (const ByteRange& range : ranges) bytes += range.bytes;
        return bytes;
    };
    const std::int64_t product = (12 * 16 + 16 * 14) * 4;
    CHECK(read_bytes("12 14 16") == product);
    CHECK(read_bytes("12 14 16 epilogue=bias") == product + 14 * 4);
    CHECK(read_bytes("12 14 16 epilogue=bias_rows+relu bias_type=bf16") == product + 12 * 2);
    CHECK(read_bytes("12 14 16 epilogue=relu") == product);
    CHECK(read_bytes("12 14 16 epilogue=bias+residual ldr=20") == product + (14 + 12 * 14) * 4);
    CHECK(read_bytes("12 14 16 epilogue=bias+residual beta=1") == product + (14 + 2 * 12 * 14) * 4);
    CHECK(read_bytes("12 14 16 epilogue=bias+residual alpha=0") == (14 + 12 * 14) * 4);
    // A gate takes twice the columns of B and of the bias.
    CHECK(read_bytes("12 14 16 epilogue=bias+swiglu+residual ldc=20") == product + (16 * 14 + 28 + 12 * 14) * 4);
    CHECK(Operands(host(), parse_shape("12 14 16 epilogue=swiglu ldc=20"), 0, pool()).written_bytes() == 12 * 14 * 4);
    // A gate of rows takes twice the rows of A, and a bias of rows twice as many elements.
    CHECK(read_bytes("12 14 16 epilogue=bias_rows+swiglu_rows+residual ldc=20") == product + (12 * 16 + 24 + 12 * 14) * 4);
    CHECK(read_bytes("12 14 16 epilogue=bias+swiglu_rows") == product + (12 * 16 + 14) * 4);
    CHECK(Operands(host(), parse_shape("12 14 16 epilogue=swiglu_rows ldc=20"), 0, pool()).written_bytes() == 12 * 14 * 4);
    // Members that share a residual read it once.
    CHECK(read_bytes("12 14 16 batch=3 epilogue=residual stride_r=0") == 3 * product + 12 * 14 * 4);
}

TEST_CASE("results are judged by what the epilogue makes of the exact product") {
    for (const char* line : kLines) {
        CAPTURE(line);
        const Shape shape = parse_shape(line);
        const GemmProblem& p = shape.problem;
        const Operands operands(host(), shape, 0, pool());
        const Reference reference(operands, 0);
        REQUIRE(reference.elements() == p.batch * rows_of_c(p) * columns_of_c(p));
        std::vector<double> c(static_cast<std::size_t>(operands.elements_c()), std::numeric_limits<double>::quiet_NaN());
        for_each_element(p, [&](i64 batch, i64 row, i64 column, std::size_t at) { c[at] = expected(operands, batch, row, column); });
        c = to_values(p.type_c, to_stored(p.type_c, c));
        const Accuracy good = reference.judge(c);
        CHECK_MESSAGE(good.ratio <= 1, good.where);
        // What is expected is itself a sum in doubles.
        CHECK(good.error <= unit_roundoff(p.type_c) * (p.type_c == ElementType::f64 ? 8 : 1));
        // Some rows and columns of a large C are checked, among them the last.
        const Reference sampled(operands, 0, 20 * p.k);
        CHECK(sampled.elements() <= (is_gate(p.activation) ? 40 : 20));
        CHECK_MESSAGE(sampled.judge(c).ratio <= 1, sampled.judge(c).where);
        c[static_cast<std::size_t>((p.batch - 1) * p.stride_c + (rows_of_c(p) - 1) * p.ldc + columns_of_c(p) - 1)] += 0.125;
        CHECK(reference.judge(c).ratio > 1);
        CHECK(sampled.judge(c).ratio > 1);
    }
}

TEST_CASE("the naive kernel and the CPU apply epilogues, and the two results agree") {
    ResultChecker checker(host(), nullptr);
    for (const char* line : kLines) {
        CAPTURE(line);
        const Shape shape = parse_shape(line);
        Operands operands(host(), shape, 0, pool());
        for (const char* name : {"cpu", "naive"}) {
            CAPTURE(name);
            const std::unique_ptr<Peer> peer = make_peer(name, host(), {});
            const auto ours = peer->offers(shape.problem);
            const auto theirs = peer->offers(shape.problem);
            const ResultCheck check = checker.check(operands, *ours.front(), {{.peer = peer.get(), .contestant = theirs.front().get()}});
            CHECK_MESSAGE(check.accuracy.ratio <= 1, check.accuracy.where);
            REQUIRE(check.difference);
            CHECK_MESSAGE(check.difference->ratio <= 1, check.difference->where);
            // The recorded calls do the same work.
            operands.fill_c(0);
            ours.front()->record(*host(), operands.calls(1))->run_timed();
        }
    }
}

TEST_CASE("a config that is named as a peer applies a gate, whichever step of its plan does that") {
    ResultChecker checker(host(), nullptr);
    constexpr const char* kOfColumns = "33 23 40 ops=nt epilogue=bias+swiglu+residual ldc=28";
    constexpr const char* kOfRows = "17 46 40 ops=tn epilogue=bias_rows+swiglu_rows+residual ldc=49";
    constexpr std::pair<const char*, const char*> kCases[] = {
        {"tiled 16x16x16", kOfColumns}, {"simt 32x32x8 t4x4 split_k=2", kOfColumns}, {"naive", kOfColumns},
        {"tiled 16x16x16", kOfRows},    {"simt 32x32x8 t4x4 split_k=2", kOfRows},    {"naive", kOfRows}};
    for (const auto& [config, line] : kCases) {
        CAPTURE(config);
        CAPTURE(line);
        const Shape shape = parse_shape(line);
        Operands operands(host(), shape, 0, pool());
        const std::unique_ptr<Peer> peer = make_peer(config, host(), {});
        const auto ours = peer->offers(shape.problem);
        const ResultCheck check = checker.check(operands, *ours.front(), {{.peer = peer.get(), .contestant = ours.front().get()}});
        CHECK_MESSAGE(check.accuracy.ratio <= 1, check.accuracy.where);
        REQUIRE(check.difference);
        CHECK_MESSAGE(check.difference->ratio <= 1, check.difference->where);
    }
}

TEST_CASE("a contestant that leaves a part of the epilogue out is found out, by the exact result and by the peer") {
    // It serves the problem without its bias, its activation or its residual, or the plain product.
    const std::unique_ptr<Peer> naive = make_peer("naive", host(), {});
    ResultChecker checker(host(), nullptr);
    const Shape shape = parse_shape("16 24 8 epilogue=bias+silu+residual");
    Operands operands(host(), shape, 0, pool());
    const auto right = naive->offers(shape.problem);
    for (const char* other : {"16 24 8 epilogue=silu+residual", "16 24 8 epilogue=bias+residual", "16 24 8 epilogue=bias+silu", "16 24 8",
                              "16 24 8 epilogue=bias+sigmoid+residual", "16 24 8 epilogue=bias_rows+silu+residual"}) {
        CAPTURE(other);
        // The bias of columns is long enough for one of rows.
        const auto wrong = naive->offers(parse_shape(other).problem);
        const ResultCheck check = checker.check(operands, *wrong.front(), {{.peer = naive.get(), .contestant = right.front().get()}});
        CHECK(check.accuracy.ratio > 1);
        REQUIRE(check.difference);
        CHECK(check.difference->ratio > 1);
        CHECK(check.wrong());
        CHECK(check.peer_errors.at(0) < 1e-6);
    }
}

namespace {

// Serves a problem whose B is stored N x K with the halves of B in each other's place.
class SwappedHalves final : public Contestant {
public:
    SwappedHalves(std::unique_ptr<Contestant> right, const GemmProblem& problem)
        : right_(std::move(right)), half_(static_cast<std::size_t>(problem.n / 2 * problem.ldb * size_of(problem.type_b))), b_(2 * half_) {}
    void enqueue(const GemmCall& call, Stream stream) override {
        const auto* b = static_cast<const std::byte*>(call.b);
        std::copy_n(b + half_, half_, b_.begin());
        std::copy_n(b, half_, b_.begin() + static_cast<std::ptrdiff_t>(half_));
        GemmCall swapped = call;
        swapped.b = b_.data();
        right_->enqueue(swapped, stream);
    }

private:
    std::unique_ptr<Contestant> right_;
    std::size_t half_;
    std::vector<std::byte> b_;
};

}  // namespace

TEST_CASE("a contestant that takes the wrong columns for a gate, or none, is found out") {
    const std::unique_ptr<Peer> naive = make_peer("naive", host(), {});
    ResultChecker checker(host(), nullptr);
    const Shape shape = parse_shape("16 24 8 ops=nt epilogue=bias+swiglu+residual");
    Operands operands(host(), shape, 0, pool());
    std::vector<std::unique_ptr<Contestant>> wrong;
    for (const char* other : {"16 24 8 ops=nt epilogue=swiglu+residual", "16 24 8 ops=nt epilogue=bias+swiglu",
                              "16 24 8 ops=nt epilogue=bias_rows+swiglu+residual", "16 24 8 ops=nt epilogue=bias+silu+residual",
                              "16 24 8 ops=nt epilogue=bias+residual"})
        wrong.push_back(std::move(naive->offers(parse_shape(other).problem).front()));
    wrong.push_back(std::make_unique<SwappedHalves>(std::move(naive->offers(shape.problem).front()), shape.problem));
    for (const std::unique_ptr<Contestant>& one : wrong) {
        CAPTURE(&one - wrong.data());
        const auto right = naive->offers(shape.problem);
        const ResultCheck check = checker.check(operands, *one, {{.peer = naive.get(), .contestant = right.front().get()}});
        CHECK(check.accuracy.ratio > 1);
        REQUIRE(check.difference);
        CHECK(check.difference->ratio > 1);
        CHECK(check.peer_errors.at(0) < 1e-6);
    }
}

TEST_CASE("a library that only multiplies gets its epilogue from one elementwise kernel, and nothing but C changes") {
    const std::unique_ptr<Peer> naive = make_peer("naive", host(), {});
    SeparateEpilogues epilogues(host());
    for (const char* line : kLines) {
        CAPTURE(line);
        const Shape shape = parse_shape(line);
        const GemmProblem& p = shape.problem;
        Operands operands(host(), shape, 0, pool());
        const auto offers = epilogues.behind(naive->offers(plain_product(p)), p);
        REQUIRE_FALSE(offers.empty());
        CHECK(contains(offers.front()->detail(), " + elementwise kernel"));
        offers.front()->enqueue(operands.call(0), nullptr);
        const std::vector<double> c = operands.result(0);
        // The product of a gate lies in memory that the contestant says it has.
        CHECK((offers.front()->workspace_bytes() >= p.batch * p.m * p.n * size_of(p.type_c)) == is_gate(p.activation));
        // The product is rounded to the type of C before it is finished, as every library does it.
        const double most = 4 * unit_roundoff(p.type_c) * (is_16_bit(p.type_c) ? 1 : static_cast<double>(p.k));
        std::set<std::size_t> elements;
        int wrong = 0;
        for_each_element(p, [&](i64 batch, i64 row, i64 column, std::size_t at) {
            elements.insert(at);
            const double exact = expected(operands, batch, row, column);
            if (!(std::fabs(c[at] - exact) <= most * (std::fabs(exact) + 8))) ++wrong;
        });
        CHECK(wrong == 0);
        const FilledMatrix first = operands.first_c(0);
        for (std::size_t i = 0; i < c.size(); ++i)
            if (!elements.contains(i)) CHECK((p.reads_c ? c[i] == first[static_cast<std::int64_t>(i)] : std::isnan(c[i])));
        CHECK(Reference(operands, 0).judge(c).error < 4 * unit_roundoff(p.type_c) + 1e-6);
        operands.fill_c(0);
        CHECK(offers.front()->record(*host(), operands.calls(1))->run_timed() > 0);
    }
}

namespace {

i64 occurrences(const std::string& text, const std::string& part) {
    i64 count = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++count;
    return count;
}

// How many loads of 16 bytes the two entries have, whose threads finish one row and four: for each row those of the product, of its second
// half and of the residual, and those of the bias. What begins at no multiple of 16 bytes is read in smaller pieces.
i64 wide_loads(const GemmProblem& p) {
    const auto second_half_is_aligned = [&](ElementType type) {
        return gates_columns(p.activation) && columns_of_c(p) * size_of(type) % 16 == 0;
    };
    // A gate's second half of the rows begins where rows do.
    const i64 of_row = 1 + (gates_rows(p.activation) || second_half_is_aligned(p.type_c) ? 1 : 0) + (p.residual ? 1 : 0);
    const i64 of_bias = p.bias != BiasAxis::columns ? 0 : size_of(p.type_bias) / size_of(p.type_c);
    return (1 + 4) * of_row + 2 * of_bias * (second_half_is_aligned(p.type_bias) ? 2 : 1);
}

}  // namespace

TEST_CASE("the elementwise kernel's accesses are 16 bytes wide where rows are aligned so") {
    if (nvrtc_version() == 0) {
        MESSAGE("skipped: libnvrtc was not found");
        return;
    }
    for (const char* line : kLines) {
        CAPTURE(line);
        const GemmProblem problem = parse_shape(line).problem;
        const KernelSource source = make_elementwise_source(problem);
        const CompileResult result = make_nvrtc_compiler(90)->compile(source);
        if (const auto* failure = std::get_if<CompileFailure>(&result)) FAIL(failure->log);
        const auto& kernel = std::get<CompiledKernel>(result);
        CHECK(kernel.log == "");
        CHECK(kernel.spill_bytes == 0);
        const std::string ptx = compile_to_ptx(source, 90);
        const KernelSignature signature = signature_of(problem);
        const bool aligned = signature.align_c == 16 && (!signature.residual || signature.align_residual == 16);
        CHECK(contains(ptx, "st.global.v4") == aligned);
        // The compiler reads two doubles at once.
        const std::string load = problem.type_c == ElementType::f64 ? "ld.global.v2" : "ld.global.v4";
        CHECK(occurrences(ptx, load) == (aligned ? wide_loads(problem) : 0));
    }
    GemmProblem problem = parse_shape("64 256 32 dtype=bf16 epilogue=bias+residual").problem;
    problem.epilogue = Epilogue::custom;
    const CompileResult result = make_nvrtc_compiler(90)->compile(make_elementwise_source(problem, {.text = "erff(x) * bias + residual"}));
    if (const auto* failure = std::get_if<CompileFailure>(&result)) FAIL(failure->log);
    CHECK(std::get<CompiledKernel>(result).log == "");
    CHECK(std::get<CompiledKernel>(result).spill_bytes == 0);
}

TEST_CASE("cuBLASLt's own epilogue takes part where it does the same, under the library's number") {
    const auto own = [](const std::string& epilogue) { return own_epilogue(parse_shape("16 24 8 " + epilogue).problem); };
    // The values are those of cublasLt.h.
    const std::pair<const char*, std::uint32_t> same[] = {{"epilogue=bias", 4},      {"epilogue=relu", 2},
                                                          {"epilogue=bias+relu", 6}, {"epilogue=gelu_tanh", 32},
                                                          {"epilogue=residual", 1},  {"epilogue=bias+gelu_tanh", 36}};
    for (const auto& [text, value] : same) {
        CAPTURE(text);
        REQUIRE(own(text));
        CHECK(own(text)->value == value);
        CHECK(own(text)->has_bias == contains(text, "bias"));
        CHECK(own(text)->residual_as_c == contains(text, "residual"));
    }
    CHECK(own("epilogue=bias+residual")->value == 4);
    CHECK(own("epilogue=bias+residual")->residual_as_c);
    CHECK(own("dtype=bf16 epilogue=bias bias_type=f32")->type_bias == ElementType::f32);
    // gelu is the one by erf; the library has no other functions, a bias of its rows only, and adds C before it activates.
    for (const char* other :
         {"epilogue=gelu", "epilogue=bias+gelu", "epilogue=silu", "epilogue=bias+sigmoid", "epilogue=tanh", "epilogue=bias_rows",
          "epilogue=bias_rows+relu", "epilogue=swiglu", "epilogue=bias+swiglu", "epilogue=swiglu+residual", "epilogue=relu+residual",
          "epilogue=bias+gelu_tanh+residual", "epilogue=residual beta=1"}) {
        CAPTURE(other);
        CHECK_FALSE(own(other));
    }
    CHECK(own("epilogue=bias beta=1"));
}

TEST_CASE("cuBLAS and cuBLASLt are called so that each of their ways gives the exact result, by stand-ins for both") {
    PeerOptions options;
    options.cublas_directory = TMM_TEST_CUBLAS_FOLDER;
    options.workspace_bytes = 4096;
    if (options.cublas_directory.empty()) {
        MESSAGE("skipped: a library can't be replaced in a program with a sanitizer");
        return;
    }
    const std::unique_ptr<Peer> peers[] = {make_cublas_peer(host(), options), make_cublaslt_peer(host(), options)};
    std::vector<std::string> lines(std::begin(kLines), std::end(kLines));
    for (const char* own : {"12 20 8 beta=1 alpha=-2 epilogue=bias+relu", "12 20 8 dtype=bf16 ops=nt epilogue=bias+gelu_tanh",
                            "12 20 8 dtype=f16 ldc=25 epilogue=bias+residual ldr=30", "5 9 8 batch=3 epilogue=residual stride_r=60",
                            "12 20 8 dtype=f16 ops=tn epilogue=bias bias_type=f32", "6 10 8 batch=2 epilogue=gelu_tanh"})
        lines.emplace_back(own);
    int own_offers = 0;
    for (const std::unique_ptr<Peer>& peer : peers)
        for (const std::string& line : lines) {
            CAPTURE(peer->name());
            CAPTURE(line);
            const Shape shape = parse_shape(line);
            Operands operands(host(), shape, 0, pool());
            const Reference reference(operands, 0);
            int own = 0;
            const auto offers = peer->offers(shape.problem);
            CHECK(contains(offers.back()->detail(), "elementwise kernel"));
            for (const std::unique_ptr<Contestant>& offer : offers) {
                CAPTURE(offer->detail());
                own += offer->detail().ends_with(", own epilogue") ? 1 : 0;
                operands.fill_c(0);
                offer->enqueue(operands.call(0), nullptr);
                const Accuracy accuracy = reference.judge(operands.result(0));
                CHECK_MESSAGE(accuracy.error < 4 * unit_roundoff(shape.problem.type_c) + 1e-6, accuracy.where);
            }
            CHECK(own == (peer->name() == "cublaslt" && own_epilogue(shape.problem) ? 1 : 0));
            own_offers += own;
        }
    CHECK(own_offers > 8);
}

TEST_CASE("tmm-bench compares shapes with epilogues, and says how the best peer served them") {
    const Folder folder;
    std::string lines;
    for (const char* line : kLines) lines += fmt::format("{}\n", line);
    const auto run = bench_testing::bench(folder, "--gpu host --pairs 1 --wide --roofline --shapes " + folder.with("shapes.txt", lines) +
                                                      " --json " + folder.file("out.json") + " --csv " + folder.file("out.csv"));
    INFO(run.text);
    REQUIRE(run.status == 0);
    CHECK(contains(run.text, "best peer  "));
    CHECK(contains(run.text, "cpu: as floats"));
    CHECK(testing::schema_faults("bench.json", read(folder.file("out.json"))) == "");
    const nlohmann::json shapes = nlohmann::json::parse(read(folder.file("out.json")))["shapes"];
    REQUIRE(shapes.size() == std::size(kLines));
    for (const nlohmann::json& shape : shapes) {
        CAPTURE(shape["shape"]);
        CHECK(contains(shape["shape"], "epilogue="));
        CHECK(shape["accuracy"]["of_bound"].get<double>() <= 1);
        CHECK(shape["difference"]["of_bound"].get<double>() <= 1);
        CHECK(shape["tmm"]["error"].get<double>() < 5e-3);
        CHECK(shape["roofline"]["floor_us"].get<double>() > 0);
    }
    CHECK(contains(read(folder.file("out.csv")), "epilogue=bias_rows+relu"));
    // Other tables do without the column.
    CHECK_FALSE(contains(bench_testing::bench(folder, "--gpu host --pairs 1 --wide --shapes " + folder.with("plain.txt", "8 8 8\n")).text,
                         "best peer  "));
}

TEST_CASE("the list of shapes with epilogues has thirty products with three epilogues each, from 16 rows to cubes of 8192, and gates") {
    std::map<std::string, std::set<std::string>> epilogues;
    std::map<std::string, std::set<std::string>> gates;
    int bf16 = 0;
    i64 fewest = std::numeric_limits<i64>::max();
    i64 most = 0;
    for (const Shape& shape : read_shapes(TMM_SOURCE_DIR "/bench/shapes/epilogues.txt")) {
        auto& kind = is_gate(shape.problem.activation) ? gates : epilogues;
        kind[to_text(plain_product(shape.problem))].insert(epilogue_text(shape.problem));
        if (is_gate(shape.problem.activation)) continue;
        bf16 += shape.problem.type_a == ElementType::bf16 ? 1 : 0;
        fewest = std::min(fewest, shape.problem.m);
        most = std::max(most, shape.problem.m);
    }
    CHECK(epilogues.size() == 30);
    CHECK(bf16 == 60);
    CHECK(fewest == 16);
    CHECK(most == 8192);
    for (const auto& [plain, its] : epilogues) {
        CAPTURE(plain);
        CHECK(its == std::set<std::string>{"bias+gelu_tanh", "bias+silu", "bias+residual"});
    }
    CHECK(gates.size() == 13);
    for (const auto& [plain, its] : gates) {
        CAPTURE(plain);
        const bool of_rows = its.contains("swiglu_rows");
        CHECK(its == (of_rows ? std::set<std::string>{"swiglu_rows"} : std::set<std::string>{"swiglu", "bias+swiglu"}));
    }
    // A gate is compared with the product of as many operations.
    CHECK(gates.contains("16x22016x4096 dtype=bf16 ops=nt"));
}

TEST_CASE("a file of results is summed up to what epilogues cost and how peers stand beside them") {
    if (std::system("python3 -c '' 2>/dev/null") != 0) {
        MESSAGE("skipped: python3 was not found");
        return;
    }
    const Folder folder;
    const std::string file = folder.with("out.csv",
                                         "# tmm-bench\n"
                                         "shape,tmm_us,cublaslt_detail,best_peer,ratio,note\n"
                                         "64x64x64 dtype=bf16,10,heuristic 1,cublaslt,1,\n"
                                         "64x64x64 dtype=bf16 epilogue=bias+silu,12,heuristic 2 + elementwise kernel,cublaslt,1.5,\n"
                                         "32x64x64 ops=nt,4,,cublas,1,\n"
                                         "32x64x64 ops=nt epilogue=bias+silu ldr=70,4,,cublas,0.9,\n"
                                         "32x64x64 ops=nt epilogue=bias+residual ldr=70,9,,cublas,1.6,results differ\n"
                                         "16x64x32 dtype=f16 ops=nt,100,,cublas,1,\n"
                                         "16x128x32 dtype=f16 ops=nt,20,,cublas,1,\n"
                                         "16x64x32 dtype=f16 ops=nt ldc=72 epilogue=bias+swiglu,21,,cublas,1.3,\n");
    FILE* pipe = popen((TMM_SOURCE_DIR "/scripts/summarise_epilogues " + file + " 2>&1").c_str(), "r");
    REQUIRE(pipe);
    std::string text;
    for (int c; (c = std::fgetc(pipe)) != EOF;) text += static_cast<char>(c);
    CHECK(pclose(pipe) == 0);
    INFO(text);
    // The means are geometric: 1 and 9 / 4, 0.9 and 1.6.
    CHECK(contains(text, "bf16 all                           1     1.200   1.200     1.500   1.500"));
    CHECK(contains(text, "f32 all                            2     1.500   2.250     1.200   0.900"));
    // A gate's product has twice the columns.
    CHECK(contains(text, "f16 bias+swiglu                    1     1.050   1.050     1.300   1.300"));
    CHECK(contains(text, "2.250  32x64x64 ops=nt epilogue=bias+residual"));
    CHECK(contains(text, "(cublaslt: heuristic 2 + elementwise kernel)"));
    CHECK(contains(text, "with a note in the file: 32x64x64 ops=nt epilogue=bias+residual ldr=70"));
}

TEST_CASE("--accuracy refuses shapes with an epilogue, by name and line") {
    const Folder folder;
    const std::string shapes = folder.with("shapes.txt", "8 8 8\n8 8 8 epilogue=bias+relu\n");
    const auto run = bench_testing::bench(folder, "--accuracy --gpu host --shapes " + shapes);
    CHECK(run.status == 1);
    CHECK(contains(run.text, "shapes.txt:2"));
    CHECK(contains(run.text, "--accuracy measures the errors of products, and 8x8x8 epilogue=bias+relu has an epilogue"));
}
