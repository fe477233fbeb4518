// The judge of all kernels: right ones pass, and each way of being wrong is seen and named.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "generator/error.h"
#include "generator/prediction/predicted_config.h"
#include "generator/search/search_space.h"
#include "generator/text/shapes_file.h"
#include "generator/text/text.h"
#include "generator/validity/validity.h"
#include "runtime/host_device.h"
#include "tmm/verify/args.h"
#include "tuner/verification.h"

#ifdef TMM_TEST_CBLAS
#include <cblas.h>
#endif

using namespace tmm;

namespace {

// A planted fault changes memory after a kernel of a plan has run.
using Fault = std::function<void(const GemmArgs&)>;

struct NamedKernel final : LoadedKernel {
    std::shared_ptr<const LoadedKernel> kernel;
    bool of_plan = false;
};

// The emulated device, on which kernels of plans (not those that verify) are followed by a fault.
class FaultyDevice final : public Device {
public:
    explicit FaultyDevice(std::shared_ptr<Device> device) : device_(std::move(device)) {}

    Fault fault;

    const DeviceInfo& info() const override { return device_->info(); }
    void* allocate(std::size_t bytes) override { return device_->allocate(bytes); }
    void release(void* memory) noexcept override { device_->release(memory); }
    void copy_to_device(void* to, const void* from, std::size_t bytes) override { device_->copy_to_device(to, from, bytes); }
    void copy_to_host(void* to, const void* from, std::size_t bytes) override { device_->copy_to_host(to, from, bytes); }
    void fill_bytes(void* memory, unsigned char value, std::size_t bytes) override { device_->fill_bytes(memory, value, bytes); }
    std::shared_ptr<const LoadedKernel> load(const CompiledKernel& kernel, const std::string& entry) override {
        auto named = std::make_shared<NamedKernel>();
        named->kernel = device_->load(kernel, entry);
        named->of_plan = !entry.starts_with("tmm_verify");
        return named;
    }
    void launch(const LoadedKernel& kernel, const LaunchShape& shape, const void* arguments, std::size_t argument_bytes,
                Stream stream) override {
        const auto& named = static_cast<const NamedKernel&>(kernel);
        device_->launch(*named.kernel, shape, arguments, argument_bytes, stream);
        if (named.of_plan && fault) fault(*static_cast<const GemmArgs*>(arguments));
    }
    void encode_tensor_map(const TensorMapRequest& request, void* map) const override { device_->encode_tensor_map(request, map); }
    void set_address(void* map, const void* address) const override { device_->set_address(map, address); }
    void synchronize(Stream stream) override { device_->synchronize(stream); }
    std::unique_ptr<Replay> record(const std::function<void(Stream)>& launches) override { return device_->record(launches); }
    DeviceState state() override { return device_->state(); }
    int blocks_per_sm(const LoadedKernel& kernel, int threads, std::int64_t shared_bytes) override {
        return device_->blocks_per_sm(*static_cast<const NamedKernel&>(kernel).kernel, threads, shared_bytes);
    }

private:
    std::shared_ptr<Device> device_;
};

// The kernels are compiled once for all cases.
struct Bench {
    Bench() {
        directory = std::filesystem::temp_directory_path() / fmt::format("tmm-test-verification-{}", getpid());
        device = std::make_shared<FaultyDevice>(make_host_device("ascending"));
        loader = std::make_unique<KernelLoader>(device, make_host_compiler(), KernelCache(directory));
    }
    ~Bench() {
        loader.reset();
        std::error_code ignored;
        std::filesystem::remove_all(directory, ignored);
    }
    Bench(const Bench&) = delete;
    Bench& operator=(const Bench&) = delete;

    ExecutablePlan plan(const GemmProblem& problem, const KernelConfig& config) {
        if (const auto reason = why_invalid(problem, config, device->info())) FAIL(*reason);
        auto made = ExecutablePlan::make(make_launch_plan(problem, config, device->info()), *loader);
        if (const auto* failure = std::get_if<CompileFailure>(&made)) FAIL(failure->log);
        return std::get<ExecutablePlan>(std::move(made));
    }
    ExecutablePlan plan(const GemmProblem& problem) { return plan(problem, fallback_config(problem)); }
    // The verifier's verdict on the fallback kernel followed by the fault.
    Verdict verdict(const GemmProblem& problem, const Fault& fault, const VerificationOptions& options = {}) {
        const ExecutablePlan executable = plan(problem);
        Verifier verifier(*loader, problem, options);
        device->fault = fault;
        Verdict result = verifier.verify(executable);
        device->fault = nullptr;
        return result;
    }

    std::filesystem::path directory;
    std::shared_ptr<FaultyDevice> device;
    std::unique_ptr<KernelLoader> loader;
};

Bench& bench() {
    static Bench instance;
    return instance;
}

GemmProblem problem_of(const std::string& text) {
    return parse_shape(text).problem;
}

float* element(const GemmArgs& args, i64 row, i64 column) {
    return static_cast<float*>(args.c) + row * args.ldc + column;
}
// The same element where C has 16 bits.
std::uint16_t* half_element(const GemmArgs& args, i64 row, i64 column) {
    return static_cast<std::uint16_t*>(args.c) + row * args.ldc + column;
}
float bf16_value(std::uint16_t bits) {
    return std::bit_cast<float>(std::uint32_t{bits} << 16);
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("right kernels pass, whatever the problem") {
    for (const char* text : {
             "33x29x17",
             "17 40 23 ops=nt",
             "17 40 23 ops=tn lda=19 ldb=44 ldc=41",
             "31 15 9 ops=tt lda=40 ldb=12 ldc=16 align=4",
             "20 20 20 beta=1 align=4",
             "20 20 20 layout=col beta=0.5 alpha=-1.5",
             "5 6 7 batch=3",
             // The results lie side by side in common rows, with space between them and behind them, and otherwise within each other.
             "5 6 7 batch=3 ldc=18 stride_c=6",
             "5 6 7 batch=3 ldc=29 stride_c=8 beta=1",
             "5 6 7 batch=3 ldc=29 stride_c=8 layout=col dtype=bf16 align=2",
             "3 2 9 batch=2 ldc=5 stride_c=7",
             "40 1 9 batch=3 ldc=4 stride_c=3",
             "5 6 7 batch=4 lda=28 stride_a=7 ldb=6 stride_b=1 ldc=24 stride_c=6 ops=nn",
             "1x1x1",
             "1x300x40",
             // There are odd numbers of 2-byte elements, at odd multiples of 2 bytes.
             "33x29x17 dtype=bf16 align=2",
             "17 41 23 dtype=f16 ops=nt lda=25 ldc=43 align=2 beta=0.5",
             "31 15 9 dtype=bf16 ops=tt lda=41 ldb=13 ldc=17 alpha=-1.5 beta=2",
             "5 7 9 dtype=f16 ctype=f32 batch=3 align=2",
             "5 7 9 dtype=bf16 ctype=f32 beta=1",
             "1x1x1 dtype=f16 align=2",
             "20 20 20 layout=col dtype=bf16 beta=0.5",
             // Gates, of columns and of rows.
             "17 20 23 ops=nt epilogue=bias+swiglu",
             "17 20 23 ops=tn ldc=24 alpha=-1.5 epilogue=bias_rows+swiglu_rows+residual ldr=43",
             "20 21 9 layout=col dtype=bf16 batch=3 align=2 epilogue=bias+swiglu+residual",
         }) {
        CAPTURE(text);
        const Shape shape = parse_shape(text);
        const ExecutablePlan executable = bench().plan(shape.problem);
        Verifier verifier(*bench().loader, shape.problem, {.alpha = shape.alpha, .beta = shape.beta});
        const Verdict verdict = verifier.verify(executable);
        CHECK_MESSAGE(verdict.outcome == Outcome::ok, verdict.detail);
        CHECK(verdict.error_ratio >= 0);
        CHECK(verdict.error_ratio <= 1);
        const Verdict again = verifier.verify_again(executable);
        CHECK(again.outcome == Outcome::ok);
        CHECK(again.error_ratio == verdict.error_ratio);
    }
}

TEST_CASE("a 16-bit result one step beside the right one is seen, in whole numbers and in real ones") {
    for (const char* text : {"33x29x17 dtype=bf16", "33x29x17 dtype=f16 align=2", "33x29x700 dtype=bf16"}) {
        for (const int step : {1, -1}) {
            CAPTURE(text);
            CAPTURE(step);
            const auto one_beside = [&](const GemmArgs& args) {
                *half_element(args, 3, 17) = static_cast<std::uint16_t>(*half_element(args, 3, 17) + step);
            };
            Verdict verdict = bench().verdict(problem_of(text), one_beside);
            CHECK(verdict.outcome == Outcome::wrong_result);
            CHECK_MESSAGE(contains(verdict.detail, "C[3][17] = "), verdict.detail);
            CHECK_MESSAGE(contains(verdict.detail, "integers"), verdict.detail);

            int run = 0;
            verdict = bench().verdict(problem_of(text), [&](const GemmArgs& args) {
                if (run++ == 1) one_beside(args);
            });
            CHECK(verdict.outcome == Outcome::inaccurate);
            CHECK_MESSAGE(contains(verdict.detail, "C[3][17] = "), verdict.detail);
            CHECK_MESSAGE(contains(verdict.detail, "breaks the error bound"), verdict.detail);
            CHECK(verdict.error_ratio > 1);
            CHECK(verdict.error_ratio < 3.1);
        }
    }
}

TEST_CASE("whole numbers halfway between two of bf16 must have gone to the even one") {
    const GemmProblem problem = problem_of("8x8x3000 dtype=bf16");
    const VerificationOptions threefold{.alpha = 3};
    const Verdict right = bench().verdict(problem, nullptr, threefold);
    CHECK_MESSAGE(right.outcome == Outcome::ok, right.detail);
    int ties = 0;
    const Verdict verdict = bench().verdict(
        problem,
        [&](const GemmArgs& args) {
            for (i64 row = 0; row < args.m; ++row) {
                for (i64 column = 0; column < args.n; ++column) {
                    float exact = 0;
                    for (i64 k = 0; k < args.k; ++k)
                        exact += bf16_value(static_cast<const std::uint16_t*>(args.a)[row * args.lda + k]) *
                                 bf16_value(static_cast<const std::uint16_t*>(args.b)[k * args.ldb + column]);
                    const auto bits = std::bit_cast<std::uint32_t>(3 * exact);
                    if ((bits & 0xffff) != 0x8000) continue;
                    ++ties;
                    // The value is moved away from zero.
                    *half_element(args, row, column) = static_cast<std::uint16_t>((bits >> 16) + 1);
                }
            }
        },
        threefold);
    REQUIRE(ties > 0);
    CHECK(verdict.outcome == Outcome::wrong_result);
    CHECK_MESSAGE(contains(verdict.detail, "integers"), verdict.detail);
}

TEST_CASE("every 2 bytes around 16-bit elements are watched") {
    const GemmProblem problem = problem_of("5 7 9 dtype=bf16 lda=11 ldb=9 ldc=11 align=2");
    const struct {
        Fault fault;
        const char* detail;
    } faults[] = {
        {[](const GemmArgs& args) { half_element(args, 0, 0)[-1] = 0; }, "guard zone before C (1 elements"},
        {[](const GemmArgs& args) { half_element(args, 4, 6)[1] = 0; }, "guard zone behind C (1 elements"},
        {[](const GemmArgs& args) { *half_element(args, 3, 7) = 0; }, "padding of C behind row 3"},
        {[](const GemmArgs& args) { static_cast<std::uint16_t*>(const_cast<void*>(args.a))[4 * args.lda + 8] ^= 1; }, "A[4][8] changed"},
        {[](const GemmArgs& args) { static_cast<std::uint16_t*>(const_cast<void*>(args.b))[7 * args.ldb + 7] = 1; },
         "padding of B behind row 7"},
        {[](const GemmArgs& args) { *half_element(args, 4, 6) = static_cast<std::uint16_t>(format_of(ElementType::bf16).unwritten); },
         "C[4][6] was not written"},
    };
    for (const auto& [fault, detail] : faults) {
        const Verdict verdict = bench().verdict(problem, fault);
        CHECK(verdict.outcome == Outcome::wrong_result);
        CHECK_MESSAGE(contains(verdict.detail, detail), verdict.detail);
    }
}

TEST_CASE("what matrices are filled with are numbers of their type, nearest to those of f32") {
    for (u64 i = 0; i < 20000; ++i) {
        const float wide = normal_value(ElementType::f32, 5, i);
        const float half = normal_value(ElementType::f16, 5, i);
        const float brain = normal_value(ElementType::bf16, 5, i);
        // One bit in the last place of f32 may be lost before.
        const float error = std::fabs(wide) * 0x1p-24f;
        CHECK(static_cast<float>(static_cast<_Float16>(half)) == half);
        CHECK(std::fabs(half - wide) <= std::fabs(wide) * 0x1p-11f + error);
        CHECK((std::bit_cast<std::uint32_t>(brain) & 0xffff) == 0);
        CHECK(std::fabs(brain - wide) <= std::fabs(wide) * 0x1p-8f + error);
    }
    // Ties go to the even one, also where that has one digit more.
    CHECK(rounded(0x101, 8) == 0x100);
    CHECK(rounded(0x103, 8) == 0x104);
    CHECK(rounded(-0x1ff, 8) == -0x200);
    CHECK(rounded(0x1fe, 8) == 0x1fe);
    CHECK(rounded(0x10100, 8) == 0x10000);
}

TEST_CASE("problems that it can't judge are refused") {
    for (const char* text : {"8 8 8 dtype=f64", "8 8 8 dtype=f16 ctype=bf16", "8 8 8 dtype=f16 btype=bf16", "8 8 8 ctype=bf16",
                             "8 8 8 dtype=bf16 compute=f32_strict", "8 8 8 compute=f64", "8 8 8 dtype=f16 compute=tf32"}) {
        CAPTURE(text);
        CHECK_THROWS_AS(Verifier(*bench().loader, problem_of(text)), Error);
    }
}

TEST_CASE("empty problems, alpha = 0 and k = 0 pass without operands") {
    for (auto [m, n, k] : {std::array<i64, 3>{0, 5, 5}, {5, 0, 5}, {5, 6, 0}, {0, 0, 0}}) {
        GemmProblem problem{.m = m, .n = n, .k = k, .lda = std::max<i64>(k, 1), .ldb = std::max<i64>(n, 1), .ldc = std::max<i64>(n, 1)};
        for (const bool reads_c : {false, true}) {
            problem.reads_c = reads_c;
            CAPTURE(to_text(problem));
            const ExecutablePlan executable = bench().plan(problem);
            Verifier verifier(*bench().loader, problem, {.alpha = 2, .beta = 0.75});
            const Verdict verdict = verifier.verify(executable);
            CHECK_MESSAGE(verdict.outcome == Outcome::ok, verdict.detail);
        }
    }
    for (const double beta : {0.0, 1.0}) {
        GemmProblem problem = problem_of("12x13x14");
        problem.reads_c = beta != 0;
        const ExecutablePlan executable = bench().plan(problem);
        Verifier verifier(*bench().loader, problem, {.alpha = 0, .beta = beta});
        const Verdict verdict = verifier.verify(executable);
        CHECK_MESSAGE(verdict.outcome == Outcome::ok, verdict.detail);
    }
}

TEST_CASE("a wrong element is named with what stands there and what should") {
    const Verdict verdict = bench().verdict(problem_of("33x29x17"), [](const GemmArgs& args) { *element(args, 3, 17) += 1; });
    CHECK(verdict.outcome == Outcome::wrong_result);
    CHECK_MESSAGE(contains(verdict.detail, "C[3][17] = "), verdict.detail);
    CHECK_MESSAGE(contains(verdict.detail, ", expected "), verdict.detail);
    CHECK_MESSAGE(contains(verdict.detail, "1 of 957"), verdict.detail);
    CHECK_MESSAGE(contains(verdict.detail, "integers"), verdict.detail);
}

TEST_CASE("an element of a batch is named with its member") {
    const Verdict verdict =
        bench().verdict(problem_of("5 6 7 batch=3"), [](const GemmArgs& args) { element(args, 4, 2)[2 * args.stride_c] = 0.25f; });
    CHECK(verdict.outcome == Outcome::wrong_result);
    CHECK_MESSAGE(contains(verdict.detail, "C[batch 2][4][2] = 0.25"), verdict.detail);
}

TEST_CASE("an element that was not written is told from a wrong one") {
    const Verdict verdict = bench().verdict(problem_of("20x20x20"), [](const GemmArgs& args) {
        *element(args, 19, 19) = std::bit_cast<float>(static_cast<unsigned>(format_of(ElementType::f32).unwritten));
    });
    CHECK(verdict.outcome == Outcome::wrong_result);
    CHECK_MESSAGE(contains(verdict.detail, "C[19][19] was not written"), verdict.detail);
}

TEST_CASE("NaN and infinity are wrong results") {
    for (const float value : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
        const Verdict verdict = bench().verdict(problem_of("20x20x20"), [&](const GemmArgs& args) { *element(args, 0, 0) = value; });
        CHECK(verdict.outcome == Outcome::wrong_result);
        CHECK_MESSAGE(contains(verdict.detail, "C[0][0]"), verdict.detail);
    }
}

TEST_CASE("integers that pass and real values that lost bits are inaccurate") {
    // Results cut to 12 bits: small integers survive that.
    const Verdict verdict = bench().verdict(problem_of("20x20x20"), [](const GemmArgs& args) {
        for (i64 row = 0; row < args.m; ++row) {
            for (i64 column = 0; column < args.n; ++column) {
                float& value = *element(args, row, column);
                value = std::bit_cast<float>(std::bit_cast<unsigned>(value) & 0xfffff000u);
            }
        }
    });
    CHECK(verdict.outcome == Outcome::inaccurate);
    CHECK(verdict.error_ratio > 1);
    CHECK(std::isfinite(verdict.error_ratio));
    CHECK_MESSAGE(contains(verdict.detail, "breaks the error bound"), verdict.detail);
}

TEST_CASE("one lost unit in the last place of a short sum is within the bound, a thousand are not") {
    for (const int units : {1, 1000}) {
        const Verdict verdict = bench().verdict(problem_of("20x20x1"), [&](const GemmArgs& args) {
            float& value = *element(args, 7, 7);
            // Fractions only, so that integers stay right.
            if (value != std::nearbyint(value)) value = std::bit_cast<float>(std::bit_cast<int>(value) + units);
        });
        CHECK(verdict.outcome == (units == 1 ? Outcome::ok : Outcome::inaccurate));
    }
}

TEST_CASE("a write outside of C is seen: before, behind, between rows and between matrices") {
    struct Place {
        const char* problem;
        std::function<void(const GemmArgs&)> write;
        const char* named;
    };
    for (const Place& place : std::vector<Place>{
             {"20x20x20", [](const GemmArgs& args) { element(args, 0, 0)[-1] = 1; }, "guard zone before C (1 elements"},
             {"20x20x20", [](const GemmArgs& args) { element(args, 19, 19)[1] = 1; }, "guard zone behind C (1 elements"},
             {"20x20x20", [](const GemmArgs& args) { element(args, 19, 19)[1000] = 1; }, "guard zone behind C (1000 elements"},
             {"20 20 20 ldc=24", [](const GemmArgs& args) { *element(args, 3, 20) = 0; }, "padding of C behind row 3 (column 20 of 20)"},
         }) {
        const Verdict verdict = bench().verdict(problem_of(place.problem), place.write);
        CHECK(verdict.outcome == Outcome::wrong_result);
        CHECK_MESSAGE(contains(verdict.detail, place.named), verdict.detail);
    }
    GemmProblem apart = problem_of("5 6 7 batch=3");
    apart.stride_c = 40;
    const Verdict verdict = bench().verdict(apart, [](const GemmArgs& args) { element(args, 0, 0)[40 + 33] = 0; });
    CHECK(verdict.outcome == Outcome::wrong_result);
    CHECK_MESSAGE(contains(verdict.detail, "space behind C[batch 1]"), verdict.detail);
}

TEST_CASE("a write between results that lie within each other is seen, and one into another member's result is named") {
    struct Place {
        const char* problem;
        i64 offset;
        const char* named;
    };
    for (const auto& [problem, offset, named] :
         {Place{"5 6 7 batch=3 ldc=29 stride_c=8", 6, "space between the rows of C (6 elements"},
          Place{"5 6 7 batch=3 ldc=29 stride_c=8", 29 + 15, "space between the rows of C (44 elements"},
          Place{"5 6 7 batch=3 ldc=29 stride_c=8", 22, "space between the rows of C (22 elements"},
          Place{"5 6 7 batch=3 ldc=29 stride_c=8", 4 * 29 + 16 + 6, "guard zone behind C (1 elements"},
          Place{"3 2 9 batch=2 ldc=5 stride_c=7", 9, "space between the rows of C (9 elements"},
          Place{"5 6 7 batch=3 ldc=29 stride_c=8", 2 * 29 + 8 + 1, "C[batch 1][2][1]"}}) {
        CAPTURE(std::string(problem));
        const Verdict verdict =
            bench().verdict(problem_of(problem), [at = offset](const GemmArgs& args) { static_cast<float*>(args.c)[at] = 1e6f; });
        CHECK(verdict.outcome == Outcome::wrong_result);
        CHECK_MESSAGE(contains(verdict.detail, named), verdict.detail);
    }
}

TEST_CASE("which words hold elements, against trying every element") {
    for (i64 rows = 1; rows <= 4; ++rows)
        for (i64 columns = 1; columns <= 3; ++columns)
            for (i64 ld = columns; ld <= columns + 7; ++ld)
                for (i64 batch = 1; batch <= 5; ++batch)
                    for (i64 stride = 0; stride <= rows * ld + 1; ++stride) {
                        MatrixRegion region{.rows = rows, .columns = columns, .ld = ld, .stride = batch > 1 ? stride : 0, .batch = batch};
                        region.span = (batch - 1) * region.stride + (rows - 1) * ld + columns;
                        std::vector<bool> expected(static_cast<std::size_t>(region.span));
                        for (i64 member = 0; member < batch; ++member)
                            for (i64 row = 0; row < rows; ++row)
                                for (i64 column = 0; column < columns; ++column)
                                    expected[static_cast<std::size_t>(member * region.stride + row * ld + column)] = true;
                        for (i64 offset = -2; offset < region.span + 2; ++offset) {
                            const bool inside = offset >= 0 && offset < region.span;
                            if (holds_element(region, offset) != (inside && expected[static_cast<std::size_t>(offset)]))
                                FAIL_CHECK(
                                    fmt::format("{}x{} ld={} batch={} stride={} offset={}", rows, columns, ld, batch, stride, offset));
                        }
                    }
}

TEST_CASE("a write into an operand or about it is seen") {
    Verdict verdict =
        bench().verdict(problem_of("20x20x20"), [](const GemmArgs& args) { static_cast<float*>(const_cast<void*>(args.a))[22] = 9; });
    CHECK(verdict.outcome == Outcome::wrong_result);
    CHECK_MESSAGE(contains(verdict.detail, "A[1][2] changed"), verdict.detail);
    verdict =
        bench().verdict(problem_of("20x20x20"), [](const GemmArgs& args) { static_cast<float*>(const_cast<void*>(args.b))[400] = 9; });
    CHECK(verdict.outcome == Outcome::wrong_result);
    CHECK_MESSAGE(contains(verdict.detail, "guard zone behind B"), verdict.detail);
}

TEST_CASE("a wrong candidate does not spoil what the next one gets") {
    const GemmProblem problem = problem_of("20 20 20 beta=1");
    const ExecutablePlan executable = bench().plan(problem);
    Verifier verifier(*bench().loader, problem);
    bench().device->fault = [](const GemmArgs& args) {
        static_cast<float*>(const_cast<void*>(args.a))[0] = 1e6f;
        static_cast<float*>(const_cast<void*>(args.b))[-3] = 0;
        element(args, 0, 0)[-2] = 0;
    };
    CHECK(verifier.verify(executable).outcome == Outcome::wrong_result);
    bench().device->fault = nullptr;
    const Verdict verdict = verifier.verify(executable);
    CHECK_MESSAGE(verdict.outcome == Outcome::ok, verdict.detail);
}

TEST_CASE("C that is read although beta is 0 is seen") {
    const Verdict verdict = bench().verdict(problem_of("20 20 20 beta=1"), [](const GemmArgs& args) {
        if (args.beta == 0)
            *element(args, 5, 5) += 0.0f * std::bit_cast<float>(static_cast<unsigned>(format_of(ElementType::f32).unwritten));
    });
    CHECK(verdict.outcome == Outcome::wrong_result);
    CHECK_MESSAGE(contains(verdict.detail, "C[5][5] was not written, or read before"), verdict.detail);
    CHECK_MESSAGE(contains(verdict.detail, "beta 0"), verdict.detail);
}

TEST_CASE("large problems are checked on sampled rows, their first and last among them, and everywhere for being written") {
    const GemmProblem problem = problem_of("700x20x5");
    const VerificationOptions sampled{.full_check_limit = 1};
    CHECK(bench().verdict(problem, nullptr, sampled).outcome == Outcome::ok);
    for (const i64 row : {0, 3, 4, 63, 64, 127, 128, 639, 640, 699}) {
        const Verdict verdict = bench().verdict(
            problem, [&](const GemmArgs& args) { *element(args, row, 11) += 1; }, sampled);
        CHECK(verdict.outcome == Outcome::wrong_result);
        CHECK_MESSAGE(contains(verdict.detail, fmt::format("C[{}][11]", row)), verdict.detail);
    }
    const Verdict verdict = bench().verdict(
        problem,
        [](const GemmArgs& args) {
            for (i64 row = 200; row < 300; ++row)
                *element(args, row, 3) = std::bit_cast<float>(static_cast<unsigned>(format_of(ElementType::f32).unwritten));
        },
        sampled);
    CHECK(verdict.outcome == Outcome::wrong_result);
    CHECK_MESSAGE(contains(verdict.detail, "was not written"), verdict.detail);
}

TEST_CASE("sampled rows of a gate of rows are those of C, with what each is for") {
    const GemmProblem problem = problem_of("350x20x5 epilogue=bias_rows+swiglu_rows");
    const VerificationOptions sampled{.full_check_limit = 1};
    CHECK(bench().verdict(problem, nullptr, sampled).outcome == Outcome::ok);
    for (const i64 row : {0, 63, 64, 319, 320, 349}) {
        const Verdict verdict = bench().verdict(
            problem, [&](const GemmArgs& args) { *element(args, row, 11) += 1; }, sampled);
        CHECK(verdict.outcome != Outcome::ok);
        CHECK_MESSAGE(contains(verdict.detail, fmt::format("C[{}][11]", row)), verdict.detail);
    }
}

TEST_CASE("what is verified stands on the alignment that the problem declares and on no better one, what is timed as allocated") {
    for (const auto& [text, alignment] : {std::pair{"16x16x16", 4},
                                          {"16x16x16", 8},
                                          {"16x16x16", 16},
                                          {"16x16x16", 64},
                                          {"16x16x16 dtype=bf16", 2},
                                          {"16x16x16 dtype=f16", 16}}) {
        GemmProblem problem = problem_of(text);
        problem.alignment = alignment;
        Verifier verified(*bench().loader, problem, {.rotation_bytes = 0});
        REQUIRE(verified.rotation_sets() == 1);
        const GemmCall only = verified.timing_call(0, 0);
        for (const void* pointer : {only.a, only.b, static_cast<const void*>(only.c)}) {
            const auto address = reinterpret_cast<std::uintptr_t>(pointer);
            CHECK(address % static_cast<std::uintptr_t>(alignment) == 0);
            CHECK(address % static_cast<std::uintptr_t>(2 * alignment) != 0);
        }
        Verifier verifier(*bench().loader, problem, {.rotation_bytes = 100000});
        CHECK(verifier.rotation_sets() > 1);
        CHECK(verifier.rotation_sets() <= 16);
        const void* previous = nullptr;
        for (int set = 0; set < verifier.rotation_sets(); ++set) {
            const GemmCall call = verifier.timing_call(set, 1000);
            for (const void* pointer : {call.a, call.b, static_cast<const void*>(call.c)}) {
                const auto address = reinterpret_cast<std::uintptr_t>(pointer);
                CHECK(address % static_cast<std::uintptr_t>(alignment) == 0);
                CHECK((address % 256 == 0) == (alignment >= 16));
            }
            CHECK(reinterpret_cast<std::uintptr_t>(call.workspace) % 256 == 0);
            CHECK(call.a != previous);
            previous = call.a;
        }
    }
}

TEST_CASE("timing gets the caller's scalars, and normal values of mean 0 and variance 1") {
    const GemmProblem problem = problem_of("200 20 300 beta=0.5");
    Verifier verifier(*bench().loader, problem, {.alpha = 0.1, .beta = 0.5});
    const GemmCall call = verifier.timing_call(0, 0);
    CHECK(call.alpha == static_cast<double>(0.1f));
    CHECK(call.beta == 0.5);
    CHECK(call.workspace == nullptr);
    std::vector<float> a(200 * 300);
    bench().device->copy_to_host(a.data(), call.a, a.size() * sizeof(float));
    double sum = 0;
    double squares = 0;
    int within_one = 0;
    for (const float value : a) {
        sum += static_cast<double>(value);
        squares += static_cast<double>(value) * static_cast<double>(value);
        within_one += std::fabs(value) < 1;
    }
    const auto count = static_cast<double>(a.size());
    CHECK(std::fabs(sum / count) < 0.02);
    CHECK(std::fabs(squares / count - 1) < 0.02);
    CHECK(std::fabs(within_one / count - 0.6827) < 0.01);
}

TEST_CASE("split-K's workspace is guarded too") {
    GemmProblem problem = problem_of("20x20x64");
    KernelConfig config;
    bool found = false;
    for (const KernelConfig& candidate : search_space(problem, bench().device->info(), Effort::full).candidates) {
        if (partial_results(candidate) > 1 && !found) {
            config = candidate;
            found = true;
        }
    }
    REQUIRE(found);
    CAPTURE(to_text(config));
    const ExecutablePlan executable = bench().plan(problem, config);
    const std::int64_t bytes = executable.plan().workspace_bytes;
    REQUIRE(bytes > 0);
    Verifier verifier(*bench().loader, problem);
    Verdict verdict = verifier.verify(executable);
    CHECK_MESSAGE(verdict.outcome == Outcome::ok, verdict.detail);
    bench().device->fault = [&](const GemmArgs& args) { static_cast<float*>(args.workspace)[bytes / 4] = 0; };
    verdict = verifier.verify(executable);
    bench().device->fault = nullptr;
    CHECK(verdict.outcome == Outcome::wrong_result);
    CHECK_MESSAGE(contains(verdict.detail, "guard zone behind the workspace changed"), verdict.detail);
}

TEST_CASE("the reference agrees with OpenBLAS in double precision") {
#ifndef TMM_TEST_CBLAS
    MESSAGE("skipped: built without OpenBLAS (install libopenblas-dev)");
#else
    auto loaded = bench().loader->load(make_verify_source(), "tmm_verify_reference");
    REQUIRE(std::holds_alternative<KernelLoader::Loaded>(loaded));
    const auto kernel = std::get<KernelLoader::Loaded>(loaded).kernel;
    for (const char* text : {"70x90x33", "70 90 33 ops=nt lda=40", "129 17 64 ops=tn ldb=21", "3 200 50 ops=tt lda=9 ldb=55", "1x1x500"}) {
        CAPTURE(text);
        const GemmProblem p = problem_of(text);
        std::vector<float> a(static_cast<std::size_t>(stored_rows_a(p) * p.lda));
        std::vector<float> b(static_cast<std::size_t>(stored_rows_b(p) * p.ldb));
        for (std::size_t i = 0; i < a.size(); ++i) a[i] = content_value(ElementType::f32, contents::normal, 11, static_cast<i64>(i));
        for (std::size_t i = 0; i < b.size(); ++i) b[i] = content_value(ElementType::f32, contents::normal, 12, static_cast<i64>(i));
        const std::vector<double> wide_a(a.begin(), a.end());
        const std::vector<double> wide_b(b.begin(), b.end());
        std::vector<double> expected(static_cast<std::size_t>(p.m * p.n));
        const auto op = [](Operation o) { return o == Operation::none ? CblasNoTrans : CblasTrans; };
        cblas_dgemm(CblasRowMajor, op(p.op_a), op(p.op_b), static_cast<int>(p.m), static_cast<int>(p.n), static_cast<int>(p.k), 1,
                    wide_a.data(), static_cast<int>(p.lda), wide_b.data(), static_cast<int>(p.ldb), 0, expected.data(),
                    static_cast<int>(p.n));

        const bool a_plain = p.op_a == Operation::none;
        const bool b_plain = p.op_b == Operation::none;
        // All rows are compared, then two of them in an order of their own.
        for (const std::vector<i64>& rows : {std::vector<i64>{}, std::vector<i64>{p.m - 1, 0}}) {
            const i64 row_count = rows.empty() ? p.m : static_cast<i64>(rows.size());
            std::vector<double> sum(static_cast<std::size_t>(row_count * p.n));
            std::vector<double> magnitude(sum.size());
            const ReferenceArgs args{.a = a.data(),
                                     .b = b.data(),
                                     .rows = rows.empty() ? nullptr : rows.data(),
                                     .sum = sum.data(),
                                     .magnitude = magnitude.data(),
                                     .row_count = row_count,
                                     .n = p.n,
                                     .k = p.k,
                                     .a_step_m = a_plain ? p.lda : 1,
                                     .a_step_k = a_plain ? 1 : p.lda,
                                     .b_step_k = b_plain ? p.ldb : 1,
                                     .b_step_n = b_plain ? 1 : p.ldb};
            bench().device->launch(*kernel, {.grid = 3, .threads = 256}, &args, sizeof args, nullptr);
            double worst = 0;
            bool bounded = true;
            for (i64 i = 0; i < row_count; ++i) {
                for (i64 j = 0; j < p.n; ++j) {
                    const auto at = static_cast<std::size_t>(i * p.n + j);
                    const i64 row = rows.empty() ? i : rows[static_cast<std::size_t>(i)];
                    const double reference = expected[static_cast<std::size_t>(row * p.n + j)];
                    worst = std::max(worst, std::fabs(sum[at] - reference));
                    bounded = bounded && magnitude[at] >= std::fabs(reference) && magnitude[at] < 5 * static_cast<double>(p.k);
                }
            }
            CHECK(worst < 1e-11);
            CHECK(bounded);
        }
    }
#endif
}
