// Operands of each type, how results are compared, and the exact product that errors are measured against.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <set>

#include "base/error.h"
#include "bench/accuracy/accuracy.h"
#include "bench/accuracy/exact_product.h"
#include "bench/accuracy/result_check.h"
#include "bench/operands/element_bits.h"
#include "bench/operands/operands.h"
#include "bench/peers/peers.h"
#include "generator/problem/number_codec.h"
#include "generator/text/shapes_file.h"

using namespace tmm;
using namespace tmm::bench;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

GemmProblem problem(i64 m, i64 n, i64 k, ElementType type_c = ElementType::f32) {
    return GemmProblem{.m = m, .n = n, .k = k, .type_c = type_c, .lda = k, .ldb = n, .ldc = n};
}

const ValuePool& pool() {
    static const ValuePool made;
    return made;
}

std::shared_ptr<Device> host() {
    static const std::shared_ptr<Device> device = open_device(kHostDevice);
    return device;
}

template <class T>
T element(const void* matrix, i64 index) {
    T value;
    std::memcpy(&value, static_cast<const std::byte*>(matrix) + index * static_cast<i64>(sizeof(T)), sizeof value);
    return value;
}

// The value as a matrix of the type holds it.
double held(ElementType type, double value) {
    return to_values(type, to_stored(type, {value})).at(0);
}

// The bits that a matrix of a 16-bit type holds.
std::uint16_t bits_of(ElementType type, double value) {
    return element<std::uint16_t>(to_stored(type, {value}).data(), 0);
}

// An element of a matrix in memory.
double stored_element(ElementType type, const void* matrix, i64 index) {
    const auto* const first = static_cast<const std::byte*>(matrix) + index * size_of(type);
    return to_values(type, {first, first + size_of(type)}).at(0);
}

double exact_element(const Operands& operands, i64 batch, i64 row, i64 column) {
    const GemmProblem& p = operands.shape().problem;
    double sum = 0;
    for (i64 k = 0; k < p.k; ++k) {
        const double a = operands.first_a(0)[batch * p.stride_a + (p.op_a == Operation::none ? row * p.lda + k : k * p.lda + row)];
        const double b = operands.first_b(0)[batch * p.stride_b + (p.op_b == Operation::none ? k * p.ldb + column : column * p.ldb + k)];
        sum += a * b;
    }
    const double before = p.reads_c ? operands.first_c(0)[batch * p.stride_c + row * p.ldc + column] : 0;
    return operands.shape().alpha * sum + operands.shape().beta * before;
}

}  // namespace

TEST_CASE("16-bit values are rounded to the nearest, ties to even, and keep zeros, infinities and NaNs") {
    using enum ElementType;
    CHECK(bits_of(f16, 1) == 0x3c00);
    CHECK(bits_of(f16, -2) == 0xc000);
    CHECK(bits_of(bf16, 1) == 0x3f80);
    CHECK(bits_of(bf16, -2) == 0xc000);
    // These values lie halfway between two others, and a little above.
    CHECK(bits_of(f16, 1 + std::ldexp(1.0F, -11)) == 0x3c00);
    CHECK(bits_of(f16, 1 + std::ldexp(3.0F, -11)) == 0x3c02);
    CHECK(bits_of(f16, 1 + std::ldexp(1.0F, -11) + std::ldexp(1.0F, -20)) == 0x3c01);
    CHECK(bits_of(bf16, 1 + std::ldexp(1.0F, -8)) == 0x3f80);
    CHECK(bits_of(bf16, 1 + std::ldexp(3.0F, -8)) == 0x3f82);
    // These are the largest values, and values that round past them.
    CHECK(bits_of(f16, 65504) == 0x7bff);
    CHECK(bits_of(f16, 65519) == 0x7bff);
    CHECK(bits_of(f16, 65520) == 0x7c00);
    CHECK(bits_of(bf16, std::numeric_limits<float>::max()) == 0x7f80);
    // These lie below the smallest normal value.
    CHECK(bits_of(f16, std::ldexp(1.0F, -24)) == 1);
    CHECK(bits_of(f16, std::ldexp(1.0F, -25)) == 0);
    CHECK(bits_of(f16, std::ldexp(-3.0F, -26)) == 0x8001);
    CHECK(bits_of(f16, std::ldexp(2047.0F, -25)) == 0x0400);
    for (const ElementType type : {f16, bf16, f32, f64}) {
        CHECK(std::isnan(held(type, kNan)));
        CHECK(held(type, -kInfinity) == -kInfinity);
        CHECK(std::signbit(held(type, -0.0)));
    }
    // Each value is its own nearest.
    std::vector<std::byte> all(std::size_t{2} << 16);
    for (unsigned bits = 0; bits < 1 << 16; ++bits) std::memcpy(&all[std::size_t{2} * bits], &bits, 2);
    for (const ElementType type : {f16, bf16}) {
        const std::vector<std::byte> again = to_stored(type, to_values(type, all));
        int changed = 0;
        for (std::size_t i = 0; i < all.size(); i += 2)
            if (!std::isnan(stored_element(type, &all[i], 0)) && std::memcmp(&all[i], &again[i], 2) != 0) ++changed;
        CHECK(changed == 0);
    }
    CHECK(held(f64, 1 + 0x1p-52) == 1 + 0x1p-52);
    CHECK(held(f32, 1 + 0x1p-52) == 1);
    CHECK(unit_roundoff(f64) == std::ldexp(1.0, -53));
    CHECK(unit_roundoff(f32) == std::ldexp(1.0, -24));
    CHECK(unit_roundoff(f16) == std::ldexp(1.0, -11));
    CHECK(unit_roundoff(bf16) == std::ldexp(1.0, -8));
    CHECK(smallest_rounding(f16) == std::ldexp(1.0, -25));
}

TEST_CASE("operands hold the same normal values in every type, rounded to it, in sets as large as the type") {
    for (const ElementType type : {ElementType::f64, ElementType::f32, ElementType::f16, ElementType::bf16}) {
        CAPTURE(static_cast<int>(type));
        Shape shape;
        shape.problem = problem(30, 40, 50, type);
        shape.problem.type_a = shape.problem.type_b = type;
        const std::int64_t rotation = 100000;
        Operands operands(host(), shape, rotation, pool());
        CHECK(operands.past_cache());
        // A set is at least as large as its matrices and at most padded.
        const std::int64_t bytes = (30 * 50 + 50 * 40 + 30 * 40) * size_of(type);
        CHECK(operands.sets() * bytes <= rotation + bytes);
        CHECK(operands.sets() >= rotation / (bytes + 3 * 300));
        CHECK(operands.written_bytes() == 30 * 40 * size_of(type));
        const std::vector<ByteRange> ranges = operands.read_ranges(1);
        REQUIRE(ranges.size() == 2);
        CHECK(ranges[0].bytes == 30 * 50 * size_of(type));
        CHECK(ranges[1].bytes == 50 * 40 * size_of(type));

        double squares = 0;
        std::set<double> values;
        const GemmCall call = operands.call(1);
        for (i64 i = 0; i < 30 * 50; ++i) {
            const double value = stored_element(type, call.a, i);
            CHECK(value == operands.first_a(1)[i]);
            squares += value * value;
            values.insert(value);
        }
        CHECK(squares / 1500 == doctest::Approx(1).epsilon(0.1));
        CHECK(values.size() > (type == ElementType::bf16 ? 500 : 1000));
        // A C that is not read is NaN until it is written.
        for (const double value : operands.result(1)) REQUIRE(std::isnan(value));

        operands.make_absolute(0);
        for (i64 i = 0; i < 50 * 40; ++i) {
            REQUIRE(stored_element(type, operands.call(0).b, i) == std::fabs(operands.first_b(0)[i]));
        }
    }
    // Doubles have digits that a float has not, so that sums of them are rounded.
    int floats = 0;
    for (const double value : pool().values(ElementType::f64)) floats += value == held(ElementType::f32, value);
    CHECK(floats < 10);
}

TEST_CASE("pointers keep the alignment that 16-bit operands promise, and no more") {
    Shape shape;
    shape.problem = problem(3, 5, 7, ElementType::bf16);
    shape.problem.type_a = shape.problem.type_b = ElementType::bf16;
    for (const int alignment : {2, 4, 8, 16}) {
        shape.problem.alignment = alignment;
        const Operands operands(host(), shape, 4000, pool());
        for (int set = 0; set < operands.sets(); ++set)
            for (const void* pointer : {operands.call(set).a, operands.call(set).b, static_cast<const void*>(operands.call(set).c)}) {
                const auto address = reinterpret_cast<std::uintptr_t>(pointer);
                CHECK(address % static_cast<std::uintptr_t>(alignment) == 0);
                if (alignment < 16)
                    CHECK(address % static_cast<std::uintptr_t>(2 * alignment) != 0);
                else
                    CHECK(address % 256 == 0);
            }
    }
}

TEST_CASE("f32 results are compared by the bound, inside the matrix only") {
    GemmProblem p = problem(2, 2, 4);
    p.ldc = 3;
    const std::vector<double> scale = {1, 1, 0, 1, 1, 0};
    const double ulp = std::ldexp(1.0, -23);
    CHECK(compare(p, {1, 1, 5, 1, 1, 5}, {1, 1, -5, 1, 1, -5}, scale).ratio == 0);
    const Difference near = compare(p, {1, 1, 0, 1, 1 + ulp, 0}, {1, 1, 0, 1, 1, 0}, scale);
    CHECK(near.ratio > 0);
    CHECK(near.ratio <= 1);
    const Difference wrong = compare(p, {1, 1, 0, 1.5, 1, 0}, {1, 1, 0, 1, 1, 0}, scale);
    CHECK(wrong.ratio > 1);
    CHECK(wrong.where == "C[1][0]: tmm 1.5, peer 1");
    CHECK(std::isinf(compare(p, {kNan, 1, 0, 1, 1, 0}, {1, 1, 0, 1, 1, 0}, scale).ratio));
    CHECK(compare(p, {kNan, 1, 0, 1, 1, 0}, {kNan, 1, 0, 1, 1, 0}, scale).ratio == 0);
    // A bound of zero allows no difference.
    CHECK(std::isinf(compare(p, {1, 1, 0, 1, 1, 0}, {2, 1, 0, 1, 1, 0}, {0, 0, 0, 0, 0, 0}).ratio));
}

TEST_CASE("a result of a 16-bit type may be off by its rounding besides, and by no more") {
    for (const ElementType type : {ElementType::f16, ElementType::bf16}) {
        CAPTURE(static_cast<int>(type));
        GemmProblem p = problem(1, 1, 64, type);
        p.type_a = p.type_b = type;
        const double u = unit_roundoff(type);
        // Half a unit of the last place is rounding, two units are not: with k of 64 the sum's own errors are far below.
        CHECK(compare(p, {1}, {1 + u}, {1}).ratio <= 1);
        CHECK(compare(p, {1 + 2 * u}, {1 + u}, {1}).ratio <= 1);
        CHECK(compare(p, {1 + 4 * u}, {1}, {1}).ratio > 1);
        p.type_c = ElementType::f32;
        CHECK(compare(p, {1}, {1 + u}, {1}).ratio > 1);
    }
    // Past the largest value f16 is infinite, and nowhere else.
    const GemmProblem p = problem(1, 1, 4, ElementType::f16);
    CHECK(compare(p, {kInfinity}, {70000}, {70000}).ratio == 0);
    CHECK(compare(p, {kInfinity}, {60000}, {60000}).ratio > 1);
    CHECK(compare(p, {-kInfinity}, {70000}, {70000}).ratio > 1);
    // The smallest values of f16 are far apart.
    CHECK(compare(p, {0}, {std::ldexp(1.0F, -25)}, {0}).ratio <= 1);
    CHECK(compare(p, {0}, {std::ldexp(1.0F, -23)}, {0}).ratio > 1);
}

TEST_CASE("what a sum may be off by grows with k, and is larger where tensor cores cut off") {
    const double u = std::ldexp(1.0, -24);
    GemmProblem p = problem(8, 8, 1000);
    CHECK(accumulation_bound(p) == 1004 * u);
    p.compute = ComputeMode::f32_strict;
    CHECK(accumulation_bound(p) == 1004 * u);
    p.compute = ComputeMode::tf32;
    CHECK(accumulation_bound(p) == 2504 * u + std::ldexp(1.0, -10));
    p = problem(8, 8, 1000, ElementType::f64);
    p.type_a = p.type_b = ElementType::f64;
    p.compute = ComputeMode::f64;
    CHECK(accumulation_bound(p) == 1004 * std::ldexp(1.0, -53));
    p = problem(8, 8, 1000, ElementType::bf16);
    p.type_a = p.type_b = ElementType::bf16;
    CHECK(accumulation_bound(p) == 2504 * u);
}

TEST_CASE("errors are measured against the exact product, for each type, layout and batch") {
    struct Case {
        ElementType type;
        ElementType type_c;
        Operation op_a;
        Operation op_b;
        i64 batch;
        bool reads_c;
    };
    using enum ElementType;
    constexpr Operation none = Operation::none;
    constexpr Operation transpose = Operation::transpose;
    for (const Case& one : {Case{f32, f32, none, none, 1, false}, Case{bf16, bf16, none, transpose, 3, true},
                            Case{f16, f32, transpose, none, 2, true}, Case{f16, f16, transpose, transpose, 1, false}}) {
        Shape shape;
        GemmProblem& p = shape.problem;
        p = {.m = 5,
             .n = 6,
             .k = 7,
             .batch = one.batch,
             .type_a = one.type,
             .type_b = one.type,
             .type_c = one.type_c,
             .op_a = one.op_a,
             .op_b = one.op_b,
             .lda = 9,
             .ldb = 10,
             .ldc = 8,
             .reads_c = one.reads_c};
        if (one.batch > 1) {
            p.stride_a = 70;
            p.stride_b = 81;
            p.stride_c = 45;
        }
        shape.alpha = -1.5;
        shape.beta = one.reads_c ? 0.5 : 0;
        const Operands operands(host(), shape, 0, pool());
        const Reference reference(operands, 0);
        REQUIRE(reference.elements() == one.batch * 30);

        std::vector<double> c(static_cast<std::size_t>(operands.elements_c()), kNan);
        double error = 0;
        double norm = 0;
        for (i64 batch = 0; batch < one.batch; ++batch)
            for (i64 row = 0; row < 5; ++row)
                for (i64 column = 0; column < 6; ++column) {
                    const double exact = exact_element(operands, batch, row, column);
                    const double value = held(one.type_c, exact);
                    c[static_cast<std::size_t>(batch * p.stride_c + row * p.ldc + column)] = value;
                    error += (value - exact) * (value - exact);
                    norm += exact * exact;
                }
        const Accuracy good = reference.judge(c);
        CHECK(good.error == doctest::Approx(std::sqrt(error / norm)));
        CHECK(good.error <= unit_roundoff(one.type_c));
        CHECK(good.ratio <= 1);

        const auto last = static_cast<std::size_t>((one.batch - 1) * p.stride_c + 4 * p.ldc + 5);
        c[last] += 0.25;
        const Accuracy bad = reference.judge(c);
        CHECK(bad.ratio > 1);
        CHECK(bad.where.find("[4][5]: ") != std::string::npos);
        CHECK(bad.error == doctest::Approx(0.25 / std::sqrt(norm)).epsilon(0.1));
        c[last] = kNan;
        CHECK(std::isinf(reference.judge(c).error));
        CHECK(std::isinf(reference.judge(c).ratio));
    }
}

TEST_CASE("errors of doubles are measured against sums in twice their precision") {
    for (const char* text : {"5 6 700 dtype=f64", "5 6 700 dtype=f64 ops=tt beta=-0.3 alpha=0.7 batch=2", "5 6 1 dtype=f64"}) {
        CAPTURE(text);
        const Shape shape = parse_shape(text);
        const GemmProblem& p = shape.problem;
        Operands operands(host(), shape, 0, pool());
        const Reference reference(operands, 0);
        const auto judged = [&](auto sum_type) {
            using Sum = decltype(sum_type);
            std::vector<double> c(static_cast<std::size_t>(operands.elements_c()));
            for (i64 batch = 0; batch < p.batch; ++batch)
                for (i64 row = 0; row < p.m; ++row)
                    for (i64 column = 0; column < p.n; ++column) {
                        Sum sum = 0;
                        for (i64 k = 0; k < p.k; ++k)
                            sum += Sum(operands.first_a(
                                       0)[batch * p.stride_a + (p.op_a == Operation::none ? row * p.lda + k : k * p.lda + row)]) *
                                   Sum(operands.first_b(
                                       0)[batch * p.stride_b + (p.op_b == Operation::none ? k * p.ldb + column : column * p.ldb + k)]);
                        const auto at = static_cast<std::size_t>(batch * p.stride_c + row * p.ldc + column);
                        const double before = p.reads_c ? operands.first_c(0)[static_cast<i64>(at)] : 0;
                        c[at] = static_cast<double>(Sum(shape.alpha) * sum + Sum(shape.beta) * Sum(before));
                    }
            return reference.judge(c);
        };
        // What is summed wider and rounded once is off by that rounding alone, a loop in doubles by more: that a reference in doubles
        // could not tell.
        const Accuracy wider = judged(static_cast<long double>(0));
        CHECK(wider.error > 0);
        CHECK(wider.error < 0x1p-53);
        const Accuracy loop = judged(0.0);
        CHECK(loop.ratio <= 1);
        if (p.k > 1) CHECK(loop.error > 3 * wider.error);
        const Accuracy floats = judged(0.0F);
        CHECK(floats.ratio > 1);
        CHECK(floats.where.find(", exactly ") != std::string::npos);
    }
}

TEST_CASE("of a large product some rows and columns are checked, the edges among them") {
    Shape shape;
    GemmProblem& p = shape.problem;
    p = problem(100, 200, 30);
    p.batch = 10;
    p.stride_a = p.m * p.k;
    p.stride_b = p.k * p.n;
    p.stride_c = p.m * p.n;
    const Operands operands(host(), shape, 0, pool());
    const Reference reference(operands, 0, 30 * 4 * 200);
    CHECK(reference.elements() <= 800);
    CHECK(reference.elements() >= 600);
    std::vector<double> c(static_cast<std::size_t>(operands.elements_c()));
    for (i64 batch = 0; batch < p.batch; ++batch)
        for (i64 row = 0; row < p.m; ++row)
            for (i64 column = 0; column < p.n; ++column)
                c[static_cast<std::size_t>(batch * p.stride_c + row * p.ldc + column)] =
                    held(ElementType::f32, exact_element(operands, batch, row, column));
    CHECK(reference.judge(c).ratio <= 1);
    CHECK(reference.judge(c).error < 1e-7);
    // The four corners of the first and of the last matrix are checked.
    for (const i64 batch : {i64{0}, p.batch - 1})
        for (const i64 row : {i64{0}, p.m - 1})
            for (const i64 column : {i64{0}, p.n - 1}) {
                std::vector<double> changed = c;
                changed[static_cast<std::size_t>(batch * p.stride_c + row * p.ldc + column)] += 1;
                CAPTURE(row);
                CAPTURE(column);
                CHECK(reference.judge(changed).ratio > 1);
            }
}

TEST_CASE("the CPU multiplies 16-bit matrices into C of their type and of f32") {
    const std::unique_ptr<Peer> cpu = make_peer("cpu", host(), {});
    for (const ElementType type : {ElementType::f16, ElementType::bf16})
        for (const ElementType type_c : {type, ElementType::f32}) {
            Shape shape;
            shape.problem = problem(20, 30, 100, type_c);
            shape.problem.type_a = shape.problem.type_b = type;
            shape.problem.reads_c = true;
            shape.alpha = 2;
            shape.beta = -1;
            const Operands operands(host(), shape, 0, pool());
            const auto offers = cpu->offers(shape.problem);
            REQUIRE(offers.size() == 1);
            CHECK(offers[0]->detail() == "as floats");
            offers[0]->enqueue(operands.call(0), nullptr);
            const Accuracy accuracy = Reference(operands, 0).judge(operands.result(0));
            CHECK_MESSAGE(accuracy.ratio <= 1, accuracy.where);
            CHECK(accuracy.error < unit_roundoff(type_c) * (type_c == ElementType::f32 ? 10 : 1));
            CHECK(accuracy.error > unit_roundoff(type_c) / 10);
        }
}

TEST_CASE("a wrong product is seen, a right one passes, whatever the types") {
    // OpenBLAS, with one element of C changed after it by so much.
    class Faulty final : public Contestant {
    public:
        Faulty(std::unique_ptr<Contestant> right, ElementType type, i64 place) : right_(std::move(right)), type_(type), place_(place) {}
        void enqueue(const GemmCall& call, Stream stream) override {
            right_->enqueue(call, stream);
            std::byte* c = static_cast<std::byte*>(call.c) + place_ * size_of(type_);
            const std::vector<double> old = to_values(type_, {c, c + size_of(type_)});
            const std::vector<std::byte> changed = to_stored(type_, {old[0] + (type_ == ElementType::f64 ? 1e-12 : 1)});
            std::memcpy(c, changed.data(), changed.size());
        }

    private:
        std::unique_ptr<Contestant> right_;
        ElementType type_;
        i64 place_;
    };

    const std::unique_ptr<Peer> cpu = make_peer("cpu", host(), {});
    ResultChecker checker(host(), nullptr);
    for (const ElementType type : {ElementType::f64, ElementType::f32, ElementType::f16, ElementType::bf16})
        for (const ElementType type_c : {type, ElementType::f32})
            for (const bool reads_c : {false, true}) {
                if (type == ElementType::f64 && type_c != type) continue;
                CAPTURE(static_cast<int>(type));
                CAPTURE(static_cast<int>(type_c));
                Shape shape;
                shape.problem = problem(12, 14, 40, type_c);
                shape.problem.type_a = shape.problem.type_b = type;
                if (type == ElementType::f64) shape.problem.compute = ComputeMode::f64;
                shape.problem.reads_c = reads_c;
                shape.beta = reads_c ? -2 : 0;
                Operands operands(host(), shape, 0, pool());
                const auto ours = cpu->offers(shape.problem);
                const auto theirs = cpu->offers(shape.problem);
                const PeerOffer offer{.peer = cpu.get(), .contestant = theirs.front().get()};

                const ResultCheck right = checker.check(operands, *ours.front(), {offer});
                CHECK(right.checked_elements == 12 * 14);
                REQUIRE(right.difference);
                CHECK_MESSAGE(right.difference->ratio <= 1, right.difference->where);
                CHECK_MESSAGE(right.accuracy.ratio <= 1, right.accuracy.where);
                CHECK_FALSE(right.wrong());
                CHECK(right.accuracy.error == right.peer_errors.at(0));
                if (type == type_c) CHECK(right.naive_error.value() < 10 * unit_roundoff(type));
                // The operands are as they were.
                CHECK(element<std::uint16_t>(operands.call(0).a, 0) ==
                      element<std::uint16_t>(pool().stored(type).data() + operands.first_a(0).first * size_of(type), 0));

                Faulty faulty(std::move(cpu->offers(shape.problem).at(0)), type_c, 5 * 14 + 3);
                const ResultCheck wrong = checker.check(operands, faulty, {offer});
                CHECK(wrong.wrong());
                CHECK(wrong.accuracy.ratio > 1);
                CHECK(wrong.difference->ratio > 1);
                CHECK(wrong.where().find("C[5][3]: ") == 0);
                // Without a peer the exact product still tells.
                const ResultCheck alone = checker.check(operands, faulty, {});
                CHECK(alone.wrong());
                CHECK_FALSE(alone.difference);
            }
}

TEST_CASE("a result of whole numbers that is off by one is wrong, whatever its size") {
    const Shape shape = parse_shape("2x2x4 dtype=s8");
    const std::vector<double> right = {64516, -3, 0, 7};
    const Operands operands(host(), shape, 0, pool());
    const ExactEpilogue epilogue(operands, 0);
    CHECK(compare(shape.problem, right, right, right, epilogue).ratio == 0);
    CHECK(compare(shape.problem, {64517, -3, 0, 7}, right, right, epilogue).ratio > 1);
}
