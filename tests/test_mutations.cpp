// The emulated device finds every planted fault: each barrier of a template removed, each boundary condition dropped, each index
// of a load or store swapped, one at a time, must give a wrong result, a fault or a crash in some thread order.
#include <doctest/doctest.h>
#include <fmt/core.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "generator/assumed_device.h"
#include "generator/environment.h"
#include "generator/launch_plan.h"
#include "generator/search_space.h"
#include "runtime/executable_plan.h"
#include "runtime/host_device.h"
#include "support_mutations.h"
#include "support_temporary_directory.h"
#include "tmm/rules.h"

using namespace tmm;
using tmm::testing::Mutation;

namespace {

constexpr const char* kOrders[] = {"ascending", "descending", "shuffled:1"};

// Kernels to try a fault on: sizes that meet the tiles' edges in every way.
struct Case {
    const char* name;
    Operation op_a = Operation::none;
    Operation op_b = Operation::none;
    i64 batch = 1;
    int alignment = 4;
    bool reads_c = false;
    KernelConfig config;
    struct Size {
        i64 m, n, k;
    };
    std::vector<Size> sizes;
    // Blocks of the steps around the product, fewer than they would get, so that each takes several turns; 0: as many as they get.
    i64 side_grid = 0;
    // Of A and B, and of C.
    ElementType type = ElementType::f32;
    ElementType type_c = ElementType::f32;
};

constexpr Operation kNone = Operation::none;
constexpr Operation kTranspose = Operation::transpose;
using boundary::exact;
using boundary::guarded;
using boundary::peeled;

const KernelConfig kSimtConfig{
    .family = family::simt, .block_m = 32, .block_n = 64, .block_k = 8, .thread_m = 8, .thread_n = 8, .vector_width = 4};
const KernelConfig kSimtSmall{
    .family = family::simt, .block_m = 16, .block_n = 32, .block_k = 8, .thread_m = 4, .thread_n = 4, .vector_width = 4};
const KernelConfig kMmaConfig{.family = family::mma,
                              .block_m = 32,
                              .block_n = 64,
                              .block_k = 32,
                              .stages = 3,
                              .async_copy = 1,
                              .vector_width = 8,
                              .boundary = peeled,
                              .warps_m = 1,
                              .warps_n = 2};
const KernelConfig kGemvConfig{.family = family::gemv, .block_m = 2, .block_n = 32, .block_k = 16, .thread_n = 4, .vector_width = 4};

const KernelConfig kWgmmaConfig{
    .family = family::wgmma, .block_m = 64, .block_n = 64, .block_k = 64, .stages = 2, .vector_width = 8, .boundary = boundary::hardware};

KernelConfig with(KernelConfig config, int KernelConfig::*first, int value) {
    config.*first = value;
    return config;
}
template <class... Rest>
KernelConfig with(KernelConfig config, int KernelConfig::*first, int value, Rest... rest) {
    return with(with(config, first, value), rest...);
}
using C = KernelConfig;

const std::map<std::string, std::vector<Case>>& cases() {
    static const std::map<std::string, std::vector<Case>> all = {
        {"tmm/naive.cuh",
         {{"naive nn", kNone, kNone, 2, 4, true, {.family = family::naive, .block_m = 4, .block_n = 8}, {{19, 13, 11}, {5, 23, 7}}},
          {"naive tt", kTranspose, kTranspose, 1, 4, false, {.family = family::naive, .block_m = 8, .block_n = 4}, {{19, 13, 11}}}}},
        {"tmm/tiled.cuh",
         {{"tiled nn",
           kNone,
           kNone,
           2,
           4,
           true,
           {.family = family::tiled, .block_m = 8, .block_n = 8, .block_k = 8},
           {{19, 13, 21}, {5, 23, 7}}},
          {"tiled tt",
           kTranspose,
           kTranspose,
           1,
           4,
           false,
           {.family = family::tiled, .block_m = 8, .block_n = 8, .block_k = 8},
           {{19, 13, 21}, {23, 3, 9}}}}},
        {"tmm/simt.cuh",
         {{"simt registers", kNone, kNone, 1, 16, true, kSimtConfig, {{45, 75, 21}, {3, 130, 9}}},
          {"simt async", kTranspose, kNone, 1, 16, false, with(kSimtSmall, &C::async_copy, 1, &C::stages, 3), {{37, 41, 43}, {7, 70, 5}}},
          {"simt peeled",
           kNone,
           kNone,
           2,
           8,
           true,
           with(kSimtConfig, &C::vector_width, 2, &C::boundary, peeled),
           {{45, 75, 21}, {70, 70, 16}}},
          {"simt split", kNone, kNone, 2, 16, true, with(kSimtSmall, &C::split_k, 3, &C::raster, 2), {{45, 70, 50}}},
          {"simt cluster", kNone, kNone, 2, 16, true, with(kSimtSmall, &C::split_k, 4, &C::cluster, 4), {{45, 70, 50}, {16, 7, 9}}},
          {"simt clusters", kTranspose, kNone, 1, 16, false, with(kSimtSmall, &C::split_k, 4, &C::cluster, 2), {{37, 41, 43}}},
          {"simt along k of A", kNone, kNone, 1, 16, false, with(kSimtSmall, &C::along_k, 1), {{37, 41, 43}}},
          {"simt along k", kNone, kTranspose, 1, 16, false, with(kSimtSmall, &C::along_k, 1, &C::stages, 2), {{37, 41, 43}, {7, 70, 5}}},
          {"simt exact", kNone, kNone, 1, 16, false, with(kSimtSmall, &C::boundary, exact), {{32, 64, 16}, {16, 32, 0}}},
          {"simt async exact",
           kNone,
           kNone,
           1,
           16,
           false,
           with(kSimtSmall, &C::boundary, exact, &C::async_copy, 1, &C::stages, 3),
           {{32, 64, 16}}},
          {"simt turned batch", kTranspose, kTranspose, 2, 16, true, with(kSimtSmall, &C::stages, 2), {{37, 41, 43}}}}},
        {"tmm/mma.cuh",
         {{"mma async",
           kNone,
           kNone,
           1,
           16,
           true,
           with(kMmaConfig, &C::block_m, 16, &C::warps_n, 4),
           {{45, 75, 107}, {7, 130, 40}},
           0,
           ElementType::f16,
           ElementType::f16},
          {"mma async turned",
           kTranspose,
           kTranspose,
           2,
           8,
           false,
           with(kMmaConfig, &C::warps_m, 2, &C::warps_n, 1, &C::boundary, guarded),
           {{45, 75, 107}},
           0,
           ElementType::bf16,
           ElementType::bf16},
          {"mma registers",
           kNone,
           kTranspose,
           1,
           2,
           true,
           with(kMmaConfig, &C::async_copy, 0, &C::stages, 1),
           {{37, 41, 67}, {3, 70, 33}},
           0,
           ElementType::f16,
           ElementType::f16},
          {"mma realigned",
           kTranspose,
           kNone,
           2,
           2,
           false,
           with(kMmaConfig, &C::async_copy, 0, &C::stages, 2, &C::block_n, 128),
           {{37, 141, 67}, {5, 3, 11}},
           0,
           ElementType::bf16,
           ElementType::bf16},
          {"mma single elements",
           kNone,
           kNone,
           1,
           2,
           false,
           with(kMmaConfig, &C::async_copy, 0, &C::stages, 2, &C::vector_width, 1),
           {{37, 75, 67}},
           0,
           ElementType::f16,
           ElementType::f32},
          {"mma two stages",
           kTranspose,
           kNone,
           2,
           4,
           false,
           with(kMmaConfig, &C::async_copy, 0, &C::stages, 2, &C::block_k, 16, &C::vector_width, 2),
           {{37, 41, 67}},
           0,
           ElementType::bf16,
           ElementType::f32},
          {"mma split",
           kTranspose,
           kTranspose,
           2,
           16,
           true,
           with(kMmaConfig, &C::split_k, 3, &C::raster, 2, &C::block_k, 48, &C::block_m, 16, &C::block_n, 96, &C::warps_n, 3),
           {{45, 110, 150}},
           0,
           ElementType::bf16,
           ElementType::f32},
          {"mma exact",
           kNone,
           kTranspose,
           1,
           16,
           false,
           with(kMmaConfig, &C::boundary, exact, &C::block_k, 64, &C::stages, 2),
           {{32, 64, 192}, {32, 128, 0}},
           0,
           ElementType::f16,
           ElementType::f32}}},
        {"tmm/gemv.cuh",
         {{"gemv rows", kNone, kNone, 1, 16, true, kGemvConfig, {{3, 45, 37}, {2, 70, 5}}},
          {"gemv along k",
           kNone,
           kTranspose,
           1,
           16,
           false,
           with(kGemvConfig, &C::block_n, 8, &C::block_k, 256, &C::stages, 2),
           {{3, 21, 301}}},
          {"gemv transposed", kTranspose, kNone, 1, 4, false, kGemvConfig, {{3, 45, 37}}},
          {"gemv peeled",
           kNone,
           kNone,
           1,
           8,
           true,
           with(kGemvConfig, &C::vector_width, 2, &C::boundary, peeled),
           {{3, 45, 40}, {3, 45, 37}}},
          {"gemv swapped",
           kNone,
           kNone,
           2,
           16,
           false,
           with(kGemvConfig, &C::block_n, 8, &C::block_k, 128, &C::swap_ab, 1, &C::split_k, 2),
           {{21, 3, 250}}},
          {"gemv of 16 bits",
           kNone,
           kNone,
           1,
           8,
           true,
           with(kGemvConfig, &C::block_n, 64, &C::block_k, 32, &C::thread_n, 8, &C::vector_width, 8, &C::boundary, peeled),
           {{3, 75, 70}},
           0,
           ElementType::f16},
          {"gemv of 16 bits, along k",
           kNone,
           kTranspose,
           1,
           16,
           false,
           with(kGemvConfig, &C::block_n, 8, &C::block_k, 256, &C::stages, 2, &C::vector_width, 8, &C::boundary, peeled),
           {{3, 21, 520}, {3, 8, 301}},
           0,
           ElementType::f16}}},
        {"tmm/reduce.cuh",
         {{"reduce shared", kNone, kNone, 2, 4, true, with(kGemvConfig, &C::split_k, 8), {{5, 45, 120}}, 2},
          {"reduce wide", kNone, kNone, 2, 16, false, with(kGemvConfig, &C::split_k, 2), {{4, 301, 40}}}}},
        {"tmm/pack.cuh",
         {{"pack both", kNone, kTranspose, 2, 4, true, with(kSimtSmall, &C::pack_ab, 3, &C::split_k, 2), {{37, 41, 43}, {7, 70, 5}}, 2},
          {"pack straight", kTranspose, kNone, 2, 4, false, with(kSimtSmall, &C::pack_ab, 3), {{37, 41, 43}}}}},
        {"tmm/pad.cuh",
         {{"pad both",
           kNone,
           kNone,
           2,
           2,
           false,
           with(kWgmmaConfig, &C::pack_ab, 3),
           {{3, 5, 301}, {5, 270, 3}},
           2,
           ElementType::bf16,
           ElementType::f32},
          {"pad both, turned",
           kTranspose,
           kTranspose,
           2,
           2,
           false,
           with(kWgmmaConfig, &C::pack_ab, 3),
           {{3, 5, 301}, {259, 4, 7}},
           0,
           ElementType::f16,
           ElementType::f32},
          {"turn both", kTranspose, kNone, 2, 4, false, with(kWgmmaConfig, &C::pack_ab, 3), {{37, 41, 43}, {5, 70, 3}}},
          {"pad one, turn one", kNone, kNone, 2, 4, false, with(kWgmmaConfig, &C::pack_ab, 3), {{3, 40, 301}}}}},
    };
    return all;
}

// A fault in what several families share is tried on kernels that use it in different ways.
std::vector<Case> cases_for(const Mutation& mutation) {
    std::vector<Case> tried;
    if (const auto family = cases().find(mutation.file); family != cases().end()) {
        tried = family->second;
    } else {
        for (const char* file : {"tmm/tiled.cuh", "tmm/simt.cuh", "tmm/mma.cuh"})
            tried.insert(tried.end(), cases().at(file).begin(), cases().at(file).end());
    }
    const std::string first = mutation.first_case;
    std::stable_partition(tried.begin(), tried.end(), [&](const Case& one) { return one.name == first; });
    return tried;
}

// Bytes between pages that no one may touch, as close to the upper one as 16-byte alignment allows.
class Fenced {
public:
    explicit Fenced(i64 bytes) : bytes_(static_cast<std::size_t>(bytes)) {
        const std::size_t inner = (bytes_ + kFence - 1) / kFence * kFence;
        total_ = inner + 2 * kFence;
        memory_ = static_cast<char*>(mmap(nullptr, total_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
        REQUIRE(memory_ != MAP_FAILED);
        if (inner) REQUIRE(mprotect(memory_ + kFence, inner, PROT_READ | PROT_WRITE) == 0);
        std::memset(memory_ + kFence, kFill, inner);
        data_ = memory_ + kFence + inner - (bytes_ + 15) / 16 * 16;
    }
    ~Fenced() { munmap(memory_, total_); }
    Fenced(const Fenced&) = delete;
    Fenced& operator=(const Fenced&) = delete;

    char* data() const { return data_; }
    // True where all between the fences but [data, data + bytes) is as it was.
    bool rest_unchanged() const {
        const auto untouched = [](const char* from, const char* to) {
            for (; from != to; ++from)
                if (*from != kFill) return false;
            return true;
        };
        return untouched(memory_ + kFence, data_) && untouched(data_ + bytes_, memory_ + total_ - kFence);
    }

private:
    static constexpr std::size_t kFence = 1 << 20;
    // NaN in elements of every type.
    static constexpr char kFill = '\xff';
    std::size_t bytes_;
    std::size_t total_ = 0;
    char* memory_ = nullptr;
    char* data_ = nullptr;
};

// Values of the 16-bit types: integers here, which f16 holds up to 2048; to bf16 they are rounded.
float read_element(ElementType type, const char* from) {
    if (type == ElementType::f32) {
        float value;
        std::memcpy(&value, from, sizeof value);
        return value;
    }
    std::uint16_t bits;
    std::memcpy(&bits, from, sizeof bits);
    if (type == ElementType::bf16) return std::bit_cast<float>(std::uint32_t{bits} << 16);
    const int exponent = bits >> 10 & 31;
    const float magnitude = exponent == 31  ? std::numeric_limits<float>::quiet_NaN()
                            : exponent == 0 ? std::ldexp(static_cast<float>(bits & 1023), -24)
                                            : std::ldexp(static_cast<float>(1024 + (bits & 1023)), exponent - 25);
    return bits >> 15 ? -magnitude : magnitude;
}
void write_element(ElementType type, char* to, float value) {
    if (type == ElementType::f32) {
        std::memcpy(to, &value, sizeof value);
        return;
    }
    std::uint16_t bits = 0;
    if (type == ElementType::bf16) {
        const auto wide = std::bit_cast<std::uint32_t>(value);
        bits = static_cast<std::uint16_t>((wide + 0x7fff + (wide >> 16 & 1)) >> 16);
    } else if (value != 0) {
        const int exponent = std::ilogb(value);
        const int fraction = static_cast<int>(std::ldexp(std::abs(value), 10 - exponent)) - 1024;
        bits = static_cast<std::uint16_t>((value < 0 ? 0x8000 : 0) | (exponent + 15) << 10 | fraction);
    }
    std::memcpy(to, &bits, sizeof bits);
}
// What is left of the value in an element of the type.
float rounded_to(ElementType type, float value) {
    char element[4];
    write_element(type, element, value);
    return read_element(type, element);
}

// batch matrices of rows x columns, small integers; all between the rows is NaN.
struct Matrix {
    ElementType type;
    i64 rows, columns, ld, stride, batch;
    Fenced memory;

    Matrix(ElementType its_type, i64 its_rows, i64 its_columns, i64 its_ld, i64 its_stride, i64 its_batch)
        : type(its_type),
          rows(its_rows),
          columns(its_columns),
          ld(its_ld),
          stride(its_stride),
          batch(its_batch),
          memory(rows > 0 && columns > 0 ? ((batch - 1) * stride + (rows - 1) * ld + columns) * size_of(type) : 0) {}

    char* place(i64 member, i64 row, i64 column) const { return memory.data() + (member * stride + row * ld + column) * size_of(type); }
    float at(i64 member, i64 row, i64 column) const { return read_element(type, place(member, row, column)); }
    template <class Value>
    void fill(Value&& value) const {
        for (i64 member = 0; member < batch; ++member)
            for (i64 row = 0; row < rows; ++row)
                for (i64 column = 0; column < columns; ++column) write_element(type, place(member, row, column), value());
    }
};

GemmProblem problem_of(const Case& one, const Case::Size& size) {
    const i64 unit = std::max(1, one.alignment / size_of(one.type));
    const i64 unit_c = std::max(1, one.alignment / size_of(one.type_c));
    const auto padded = [](i64 columns, i64 pad, i64 to) { return (columns + to - 1) / to * to + pad * to; };
    const bool tf32 = one.config.family == family::wgmma && one.type == ElementType::f32;
    GemmProblem problem{.m = size.m,
                        .n = size.n,
                        .k = size.k,
                        .batch = one.batch,
                        .type_a = one.type,
                        .type_b = one.type,
                        .type_c = one.type_c,
                        .compute = tf32 ? ComputeMode::tf32 : ComputeMode::f32,
                        .op_a = one.op_a,
                        .op_b = one.op_b};
    problem.lda = padded(stored_columns_a(problem), 1, unit);
    problem.ldb = padded(stored_columns_b(problem), 2, unit);
    problem.ldc = padded(size.n, 3, unit_c);
    if (one.batch > 1) {
        problem.stride_a = stored_rows_a(problem) * problem.lda + unit;
        problem.stride_b = stored_rows_b(problem) * problem.ldb + 2 * unit;
        problem.stride_c = size.m * problem.ldc + 3 * unit_c;
    }
    problem.alignment = one.alignment;
    problem.reads_c = one.reads_c;
    return problem;
}

struct CompileError {
    std::string log;
};

// Where the config could serve: the emulated device, or, for the sake of the steps before wgmma's, one that has it.
DeviceInfo device_of(const Case& one) {
    return one.config.family == family::wgmma ? assumed_device("90") : host_device_info();
}

struct Launch {
    LaunchStep step;
    GemmProblem problem;
    GemmCall call;
};

// A plan's steps. The emulated device has no wgmma: naive multiplies what the steps before it have left.
std::vector<Launch> launches_of(const LaunchPlan& plan, const GemmCall& call) {
    std::vector<Launch> launches;
    for (const LaunchStep& step : plan.steps) {
        if (step.config.family != family::wgmma) {
            launches.push_back({step, plan.problem, call});
            continue;
        }
        alignas(64) std::byte arguments[kMaxArgumentBytes];
        step.bind(step, plan.problem, call, arguments);
        GemmArgs args;
        std::memcpy(&args, arguments, sizeof args);
        GemmProblem padded = plan.problem;
        padded.op_a = step.signature.op_a;
        padded.op_b = step.signature.op_b;
        padded.lda = args.lda;
        padded.ldb = args.ldb;
        padded.stride_a = args.stride_a;
        padded.stride_b = args.stride_b;
        GemmCall product = call;
        product.a = args.a;
        product.b = args.b;
        launches.push_back({make_launch_plan(padded, fallback_config(padded), host_device_info()).steps.front(), padded, product});
    }
    return launches;
}

// What is wrong with the result, in one line; empty where nothing is.
std::string run_size(const Case& one, const Case::Size& size, const Compiler& compiler, std::map<std::string, CompiledKernel>& compiled) {
    const GemmProblem problem = problem_of(one, size);
    const LaunchPlan plan = make_launch_plan(problem, one.config, device_of(one));
    const auto compile = [&](const KernelSource& source) {
        if (compiled.contains(source.name)) return;
        CompileResult result = compiler.compile(source);
        if (const auto* failure = std::get_if<CompileFailure>(&result)) throw CompileError{failure->log};
        compiled.emplace(source.name, std::get<CompiledKernel>(std::move(result)));
    };

    std::mt19937 random(static_cast<unsigned>(size.m * 10007 + size.n * 101 + size.k));
    const auto small = [&] { return static_cast<float>(static_cast<int>(random() % 9) - 4); };
    const Matrix a(one.type, stored_rows_a(problem), stored_columns_a(problem), problem.lda, problem.stride_a, problem.batch);
    const Matrix b(one.type, stored_rows_b(problem), stored_columns_b(problem), problem.ldb, problem.stride_b, problem.batch);
    a.fill(small);
    b.fill(small);
    const auto op_a = [&](i64 member, i64 i, i64 k) -> double { return one.op_a == kNone ? a.at(member, i, k) : a.at(member, k, i); };
    const auto op_b = [&](i64 member, i64 k, i64 j) -> double { return one.op_b == kNone ? b.at(member, k, j) : b.at(member, j, k); };

    for (const double beta : {0.0, -1.0}) {
        if (beta != 0 && !one.reads_c) continue;
        for (const char* order : kOrders) {
            const Matrix c(one.type_c, problem.m, problem.n, problem.ldc, problem.stride_c, problem.batch);
            const Matrix padding(one.type_c, problem.m, problem.n, problem.ldc, problem.stride_c, problem.batch);
            if (beta != 0) c.fill(small);
            std::vector<double> expected;
            for (i64 member = 0; member < problem.batch; ++member)
                for (i64 i = 0; i < problem.m; ++i)
                    for (i64 j = 0; j < problem.n; ++j) {
                        double sum = 0;
                        for (i64 k = 0; k < problem.k; ++k) sum += op_a(member, i, k) * op_b(member, k, j);
                        expected.push_back(2 * sum + (beta != 0 ? beta * c.at(member, i, j) : 0));
                    }
            const Fenced workspace(plan.workspace_bytes);
            const auto device = make_host_device(order);
            const GemmCall call{
                .a = a.memory.data(), .b = b.memory.data(), .c = c.memory.data(), .workspace = workspace.data(), .alpha = 2, .beta = beta};
            for (const auto& [step, its_problem, its_call] : launches_of(plan, call)) {
                const KernelSource source = make_kernel_source(step.signature, step.config);
                compile(source);
                const auto kernel = device->load(compiled.at(source.name), source.name, step.shared_bytes);
                alignas(64) std::byte arguments[kMaxArgumentBytes];
                const std::size_t bytes = step.bind(step, its_problem, its_call, arguments);
                const bool fewer = one.side_grid && step.config.family != one.config.family && step.config.family != family::naive;
                try {
                    LaunchShape launched = shape_of(step);
                    if (fewer) launched.grid = one.side_grid;
                    device->launch(*kernel, launched, arguments, bytes, nullptr);
                } catch (const std::exception& error) {
                    return fmt::format("{}, {}: {}", one.name, order, error.what());
                }
            }
            std::size_t index = 0;
            for (i64 member = 0; member < problem.batch; ++member)
                for (i64 i = 0; i < problem.m; ++i)
                    for (i64 j = 0; j < problem.n; ++j, ++index) {
                        const float got = c.at(member, i, j);
                        if (got != rounded_to(one.type_c, static_cast<float>(expected[index])))
                            return fmt::format("{}, {}, {}x{}x{}: C[{}][{}][{}] = {}, expected {}", one.name, order, size.m, size.n, size.k,
                                               member, i, j, got, expected[index]);
                        std::memcpy(c.place(member, i, j), padding.place(member, i, j), static_cast<std::size_t>(size_of(one.type_c)));
                    }
            // With its elements gone, C's memory is what it was before the launch.
            const std::size_t bytes = static_cast<std::size_t>(
                ((problem.batch - 1) * problem.stride_c + (problem.m - 1) * problem.ldc + problem.n) * size_of(one.type_c));
            if (std::memcmp(c.memory.data(), padding.memory.data(), bytes) != 0)
                return fmt::format("{}, {}: written between the rows of C", one.name, order);
            for (const Fenced* fenced : {&a.memory, &b.memory, &c.memory, &workspace})
                if (!fenced->rest_unchanged()) return fmt::format("{}, {}: written outside of a matrix", one.name, order);
        }
    }
    return "";
}

std::string run_case(const Case& one, const Compiler& compiler) {
    std::map<std::string, CompiledKernel> compiled;
    for (const Case::Size& size : one.sizes)
        if (std::string wrong = run_size(one, size, compiler, compiled); !wrong.empty()) return wrong;
    return "";
}

// One fault in a process of its own, which it may take down.
struct Trial {
    const Mutation* mutation;
    pid_t process;
    int messages;
};

enum ChildStatus { kSurvived = 10, kCaught = 11, kDoesNotCompile = 12, kBroken = 13 };

// temporary: where it may leave files behind.
Trial start(const Mutation& mutation, const std::filesystem::path& temporary) {
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child > 0) {
        close(ends[1]);
        return {&mutation, child, ends[0]};
    }
    // A crash is what may well happen here: neither the test's handlers nor a sanitizer need to say more.
    for (const int signal_number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) signal(signal_number, SIG_DFL);
    if (!freopen("/dev/null", "w", stderr)) _exit(kBroken);
    const rlimit no_core{0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    setenv("TMPDIR", temporary.c_str(), 1);
    // An optimizer may remove an access that it should not have seen, where nothing uses what it reads.
    setenv("TMM_CXX", (host_compiler_command() + " -O0").c_str(), 1);
    alarm(300);
    int status = kSurvived;
    std::string message;
    try {
        const auto compiler = make_host_compiler(tmm::testing::mutated(active_templates(), mutation));
        for (const Case& one : cases_for(mutation)) {
            message = run_case(one, *compiler);
            if (message.empty()) continue;
            status = kCaught;
            break;
        }
    } catch (const CompileError& error) {
        status = kDoesNotCompile;
        message = error.log;
    } catch (const std::exception& error) {
        status = kBroken;
        message = error.what();
    }
    message.resize(std::min<std::size_t>(message.size(), 4000));
    if (write(ends[1], message.data(), message.size()) < 0) status = kBroken;
    _exit(status);
}

void finish(const Trial& trial, int status) {
    std::string message(4096, '\0');
    message.resize(static_cast<std::size_t>(std::max<ssize_t>(0, read(trial.messages, message.data(), message.size()))));
    close(trial.messages);
    const Mutation& mutation = *trial.mutation;
    INFO(fmt::format("{}: {}: '{}' -> '{}'\n{}", mutation.file, mutation.name, mutation.anchor, mutation.replacement, message));
    // A crash is a fault found: the kernel touched what it must not. A time-out is not.
    if (WIFSIGNALED(status)) {
        CHECK(WTERMSIG(status) != SIGALRM);
        return;
    }
    CHECK(WEXITSTATUS(status) != kSurvived);
    CHECK(WEXITSTATUS(status) != kDoesNotCompile);
    CHECK(WEXITSTATUS(status) != kBroken);
    if (std::getenv("TMM_TEST_VERBOSE")) fmt::print("{}: {}: {}\n", mutation.file, mutation.name, message.empty() ? "crashed" : message);
}

}  // namespace

TEST_CASE("every fault's anchor stands in its template, and every barrier has a fault") {
    constexpr const char* kBarriers[] = {"__syncthreads()", "ptx::cluster_sync()"};
    std::map<std::string, int> barriers;
    // A fault that is planted for several families counts once.
    std::set<std::string> counted;
    for (const Mutation& mutation : tmm::testing::mutations()) {
        INFO(fmt::format("{}: {}: '{}'", mutation.file, mutation.name, mutation.anchor));
        CHECK_FALSE(tmm::testing::mutated(active_templates(), mutation).empty());
        CHECK(std::string(mutation.anchor) != mutation.replacement);
        if (!counted.insert(fmt::format("{}: {} {}", mutation.file, mutation.anchor, mutation.which)).second) continue;
        for (const char* barrier : kBarriers) barriers[mutation.file] += tmm::testing::count_of(mutation.anchor, barrier);
    }
    for (const auto& [name, text] : active_templates()) {
        // The emulated device has no wgmma, and so no whole product of planes: test_planes.cpp plants the faults of its first steps.
        if (name == "tmm/planes.cuh" || name == "tmm/scan.cuh") continue;
        if (name.starts_with("host/") || name == "tmm/verify.cuh" || name.starts_with("tmm/wgmma")) continue;
        INFO(name);
        int count = 0;
        for (const char* barrier : kBarriers) count += tmm::testing::count_of(text, barrier);
        CHECK(barriers[name] == count);
    }
}

TEST_CASE("the cases pass where no fault is planted") {
    const auto compiler = make_host_compiler();
    for (const auto& [file, family] : cases())
        for (const Case& one : family) {
            INFO(one.name);
            for (const Case::Size& size : one.sizes) {
                const auto invalid = why_invalid(problem_of(one, size), one.config, device_of(one));
                CHECK_MESSAGE(!invalid, invalid.value_or(""));
            }
            CHECK(run_case(one, *compiler) == "");
        }
}

TEST_CASE("every planted fault is found") {
    const tmm::testing::TemporaryDirectory temporary;
    const std::size_t at_once = std::max(1U, std::thread::hardware_concurrency());
    std::vector<Trial> running;
    const auto finish_one = [&] {
        int status = 0;
        const pid_t ended = wait(&status);
        const auto trial = std::find_if(running.begin(), running.end(), [&](const Trial& one) { return one.process == ended; });
        REQUIRE(trial != running.end());
        finish(*trial, status);
        running.erase(trial);
    };
    const char* const only = std::getenv("TMM_TEST_MUTATION");
    for (const Mutation& mutation : tmm::testing::mutations()) {
        if (only && std::string(mutation.file).find(only) == std::string::npos &&
            std::string(mutation.name).find(only) == std::string::npos)
            continue;
        running.push_back(start(mutation, temporary.path()));
        if (running.size() == at_once) finish_one();
    }
    while (!running.empty()) finish_one();
}
