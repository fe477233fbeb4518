// GEMM at its edges: beta = 0 over NaN, alpha = 0, empty sizes, NaN and Inf, padding, odd leading dimensions, pointers of every
// alignment, both layouts, equal bits; on every kernel that selection may choose, and on configs of each family by name.
#include <doctest/doctest.h>

#include <limits>
#include <string>
#include <variant>
#include <vector>

#include "base/text/environment.h"
#include "generator/choice/validity.h"
#include "generator/compile/compiler.h"
#include "generator/text/text.h"
#include "runtime/api/validate.h"
#include "runtime/plan/executable_plan.h"
#include "tests/support/api_testing.h"
#include "tests/support/slice.h"

using namespace api_testing;
using tmm::testing::in_slice;

namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

// There is one config per family and boundary mode, and there are some for the ways in which a plan is put together.
constexpr const char* kConfigs[] = {
    "family=naive,block_m=4,block_n=32",
    "family=tiled,block_m=8,block_n=8,block_k=8",
    "family=simt,block_m=32,block_n=32,block_k=16,thread_m=4,thread_n=4,stages=2,boundary=guarded",
    "family=simt,block_m=32,block_n=32,block_k=8,thread_m=4,thread_n=2,stages=3,async_copy=1,boundary=peeled",
    "family=simt,block_m=32,block_n=32,block_k=8,thread_m=4,thread_n=4,stages=2,boundary=peeled,split_k=3",
    "family=simt,block_m=32,block_n=32,block_k=8,thread_m=4,thread_n=4,stages=2,vector_width=4,boundary=peeled,split_k=2,pack_ab=3",
    "family=simt,block_m=32,block_n=32,block_k=8,thread_m=4,thread_n=4,stages=2,vector_width=4,boundary=peeled,trim=1",
    "family=simt,block_m=32,block_n=32,block_k=8,thread_m=4,thread_n=4,stages=2,boundary=peeled,split_k=2,pack_ab=3,trim=1",
    "family=gemv,block_m=4,block_n=32,block_k=128,boundary=guarded",
};

constexpr const char* kConfigsOf16Bit[] = {
    "family=naive,block_m=4,block_n=32",
    "family=gemv,block_m=4,block_n=64,block_k=64,thread_n=8,stages=2,vector_width=8,boundary=peeled",
    "family=gemv,block_m=4,block_n=32,block_k=128,thread_n=2,vector_width=8,boundary=guarded,split_k=3",
    "family=gemv,block_m=4,block_n=32,block_k=128,thread_n=4,vector_width=4,boundary=guarded,swap_ab=1",
};
constexpr Product kTypesOf16Bit[] = {{.type = TMM_BF16, .type_c = TMM_BF16},
                                     {.type = TMM_F16, .type_c = TMM_F16},
                                     {.type = TMM_BF16, .type_c = TMM_F32},
                                     {.type = TMM_F16, .type_c = TMM_F32}};

// Runs a config by name on the product's operands, rounded to its types, with a workspace full of NaN. Returns the difference in words.
std::string run_config(const Fixture& on, tmm::KernelLoader& loader, const std::string& config_text, const Product& p,
                       const std::vector<float>& values_a, const std::vector<float>& values_b, const std::vector<float>& values_c) {
    const std::vector<float> a = rounded_to(p.type, values_a);
    const std::vector<float> b = rounded_to(p.type, values_b);
    const std::vector<float> before = rounded_to(p.type_c, values_c);
    const tmmGemmProblem_t given = problem_of(p);
    const tmm::CheckedProblem checked = tmm::check_problem(&given);
    const tmm::KernelConfig config = tmm::parse_config(config_text);
    if (const auto reason = tmm::why_invalid(checked.request.problem, config, on.device->info())) return config_text + ": " + *reason;
    auto made = tmm::ExecutablePlan::make(tmm::make_launch_plan(checked.request.problem, config, on.device->info()), loader);
    if (const auto* failure = std::get_if<tmm::CompileFailure>(&made)) return config_text + ": " + failure->log;
    const tmm::ExecutablePlan& plan = std::get<tmm::ExecutablePlan>(made);
    const OnDevice da(on, a, 0, p.type);
    const OnDevice db(on, b, 0, p.type);
    const OnDevice dc(on, before, 0, p.type_c);
    const tmmGemmArgs_t args = args_of(p, da.address(), db.address(), dc.address());
    tmm::GemmCall call = tmm::check_args(checked, &args).call;
    const tmm::DeviceBuffer workspace(on.device, static_cast<std::size_t>(plan.plan().workspace_bytes));
    if (workspace.data()) on.device->fill_bytes(workspace.data(), 0xff, workspace.bytes());
    call.workspace = workspace.data();
    plan.run(call, nullptr);
    on.device->synchronize();
    const std::string found = difference(p, a, b, before, dc.read());
    return found.empty() ? "" : config_text + ": " + found;
}

tmm::KernelLoader loader_of(const Fixture& on) {
    return tmm::KernelLoader(on.device, tmm::make_compiler(on.device->info()), tmm::KernelCache(tmm::default_cache_directory()));
}

// A config by name, with operands of the types that `types` names.
void meet_edges(const Fixture& on, tmm::KernelLoader& loader, const char* config, const Product& types) {
    const auto typed = [&](Product p) {
        p.type = types.type;
        p.type_c = types.type_c;
        return p;
    };
    // There are inner and edge tiles in every direction, for tiles of up to 32.
    for (const float beta : {0.0f, 0.5f}) {
        const Product p = typed({.m = 67, .n = 70, .k = 41, .alpha = 1.5f, .beta = beta, .pad_a = 3, .pad_b = 2, .pad_c = 5});
        std::vector<float> a = normal_values(p.size_a(), 1);
        std::vector<float> b = normal_values(p.size_b(), 2);
        const std::vector<float> c = beta == 0 ? std::vector<float>(p.size_c(), kNan) : normal_values(p.size_c(), 3);
        CHECK(run_config(on, loader, config, p, a, b, c) == "");

        // Non-finite values spread along their row or column and nowhere else; zeros beside them are not skipped.
        a[p.at_a(5, 7)] = kNan;
        a[p.at_a(66, 40)] = kInf;
        a[p.at_a(33, 0)] = -kInf;
        b[p.at_b(11, 69)] = kNan;
        b[p.at_b(40, 3)] = 0;
        b[p.at_b(0, 8)] = 0;
        b[p.at_b(20, 31)] = kInf;
        a[p.at_a(12, 20)] = 0;
        CHECK(run_config(on, loader, config, p, a, b, c) == "");
    }
    // The padding between the rows is never used.
    const Product p = typed({.m = 33, .n = 35, .k = 18, .pad_a = 2, .pad_b = 1, .pad_c = 1});
    std::vector<float> a(p.size_a(), kNan);
    std::vector<float> b(p.size_b(), kNan);
    const std::vector<float> values = normal_values(33 * 18 + 18 * 35, 4);
    std::size_t next = 0;
    for (std::int64_t i = 0; i < p.m; ++i)
        for (std::int64_t q = 0; q < p.k; ++q) a[p.at_a(i, q)] = values[next++];
    for (std::int64_t q = 0; q < p.k; ++q)
        for (std::int64_t j = 0; j < p.n; ++j) b[p.at_b(q, j)] = values[next++];
    CHECK(run_config(on, loader, config, p, a, b, std::vector<float>(p.size_c(), kNan)) == "");
    // With alpha = 0 and operands of NaN, the result is beta * C, or zeros.
    const Product scaled = typed({.m = 33, .n = 35, .k = 18, .alpha = 0, .beta = 0.5f, .pad_c = 1});
    const Product cleared = typed({.m = 33, .n = 35, .k = 18, .alpha = 0, .beta = 0, .pad_c = 1});
    const std::vector<float> nans(33 * 35, kNan);
    CHECK(run_config(on, loader, config, scaled, nans, nans, normal_values(scaled.size_c(), 5)) == "");
    CHECK(run_config(on, loader, config, cleared, nans, nans, std::vector<float>(cleared.size_c(), kNan)) == "");
    // k = 0 likewise; a split has no parts there.
    if (tmm::parse_config(config).split_k > 1) return;
    for (const float beta : {0.0f, 0.5f}) {
        const Product empty = typed({.m = 33, .n = 35, .k = 0, .alpha = 2, .beta = beta, .pad_a = 1, .pad_c = 1});
        const std::vector<float> c = beta == 0 ? std::vector<float>(empty.size_c(), kNan) : normal_values(empty.size_c(), 6);
        CHECK(run_config(on, loader, config, empty, std::vector<float>(empty.size_a(), kNan), nans, c) == "");
    }
}

}  // namespace

TEST_CASE("each family at its edges: NaN under beta = 0, NaN and Inf in the operands, padding") {
    for (const int ordinal : devices()) {
        const Fixture on(ordinal);
        tmm::KernelLoader loader = loader_of(on);
        std::size_t index = 0;
        for (const char* config : kConfigs)
            if (in_slice(index++, 3)) meet_edges(on, loader, config, {});
        for (const char* config : kConfigsOf16Bit)
            for (const Product& types : kTypesOf16Bit)
                if (in_slice(index++, 3)) meet_edges(on, loader, config, types);
    }
}

TEST_CASE("16-bit operands: every layout and operation, odd leading dimensions, pointers that are only element-aligned") {
    for (const int ordinal : devices()) {
        const Fixture on(ordinal);
        int round = 0;
        for (const tmmLayout_t layout : {TMM_ROW_MAJOR, TMM_COL_MAJOR}) {
            for (const tmmOperation_t op_a : {TMM_NO_TRANS, TMM_TRANS}) {
                for (const tmmOperation_t op_b : {TMM_NO_TRANS, TMM_CONJ_TRANS}) {
                    for (const std::int64_t pad : {0, 1}) {
                        const auto index = static_cast<std::size_t>(round++);
                        if (!in_slice(index, 5)) continue;
                        const Product& types = kTypesOf16Bit[index % std::size(kTypesOf16Bit)];
                        const Product p{.layout = layout,
                                        .op_a = op_a,
                                        .op_b = op_b,
                                        .m = 9,
                                        .n = 44,
                                        .k = 40,
                                        .alpha = -2,
                                        .beta = pad == 1 ? 3.0f : 0.0f,
                                        .pad_a = pad,
                                        .pad_b = pad,
                                        .pad_c = pad,
                                        .type = types.type,
                                        .type_c = types.type_c};
                        const std::vector<float> a = rounded_to(p.type, normal_values(p.size_a(), 6));
                        const std::vector<float> b = rounded_to(p.type, normal_values(p.size_b(), 7));
                        const std::vector<float> before = rounded_to(p.type_c, normal_values(p.size_c(), 8));
                        const tmmGemmProblem_t problem = problem_of(p);
                        tmmPlan_t plan = nullptr;
                        REQUIRE_MESSAGE(tmmPlanCreate(on.handle, &problem, &plan) == TMM_STATUS_SUCCESS, tmmLastError(on.handle));
                        for (const std::size_t offset : {0, 1, 2}) {
                            const OnDevice da(on, a, offset, p.type), db(on, b, offset, p.type), dc(on, before, offset, p.type_c);
                            const tmmGemmArgs_t args = args_of(p, da.address(), db.address(), dc.address());
                            REQUIRE_MESSAGE(tmmGemm(on.handle, &problem, &args) == TMM_STATUS_SUCCESS, tmmLastError(on.handle));
                            on.device->synchronize();
                            const std::vector<float> called = dc.read();
                            CHECK(difference(p, a, b, before, called) == "");
                            std::vector<float> once;
                            for (int run = 0; run < 2; ++run) {
                                dc.write(before);
                                REQUIRE(tmmPlanRun(plan, nullptr, &args) == TMM_STATUS_SUCCESS);
                                on.device->synchronize();
                                if (run == 0) once = dc.read();
                            }
                            CHECK(difference(p, a, b, before, once) == "");
                            CHECK(same_bits(dc.read(), once));
                            // With pointers as the plan was promised a call takes the same kernels; otherwise the call looks for kernels
                            // that are fast with its pointers, and the plan takes those that it has for any pointers.
                            if (offset == 0) CHECK(same_bits(once, called));
                        }
                        tmmPlanDestroy(plan);
                    }
                }
            }
        }
    }
}

TEST_CASE("a sum that f16 can't hold is infinite in C, and finite where C is f32") {
    for (const int ordinal : devices()) {
        const Fixture on(ordinal);
        for (const tmmType_t type_c : {TMM_F16, TMM_F32}) {
            const Product p{.m = 8, .n = 8, .k = 8, .type = TMM_F16, .type_c = type_c};
            const std::vector<float> a(64, 100), b(64, 100), before(64, kNan);
            const OnDevice da(on, a, 0, TMM_F16), db(on, b, 0, TMM_F16), dc(on, before, 0, type_c);
            const tmmGemmProblem_t problem = problem_of(p);
            const tmmGemmArgs_t args = args_of(p, da.address(), db.address(), dc.address());
            REQUIRE_MESSAGE(tmmGemm(on.handle, &problem, &args) == TMM_STATUS_SUCCESS, tmmLastError(on.handle));
            on.device->synchronize();
            for (const float value : dc.read()) CHECK(value == (type_c == TMM_F16 ? kInf : 80000.0f));
        }
    }
}

TEST_CASE("every layout and operation, any leading dimension, pointers that are only element-aligned") {
    for (const int ordinal : devices()) {
        const Fixture on(ordinal);
        std::size_t index = 0;
        for (const tmmLayout_t layout : {TMM_ROW_MAJOR, TMM_COL_MAJOR}) {
            for (const tmmOperation_t op_a : {TMM_NO_TRANS, TMM_TRANS}) {
                for (const tmmOperation_t op_b : {TMM_NO_TRANS, TMM_CONJ_TRANS}) {
                    for (const std::int64_t pad : {0, 1, 4}) {
                        if (!in_slice(index++, 5)) continue;
                        const Product p{.layout = layout,
                                        .op_a = op_a,
                                        .op_b = op_b,
                                        .m = 36,
                                        .n = 44,
                                        .k = 40,
                                        .alpha = -2,
                                        .beta = pad == 1 ? 3.0f : 0.0f,
                                        .pad_a = pad,
                                        .pad_b = pad,
                                        .pad_c = pad};
                        const std::vector<float> a = normal_values(p.size_a(), 6);
                        const std::vector<float> b = normal_values(p.size_b(), 7);
                        const std::vector<float> c = normal_values(p.size_c(), 8);
                        for (const std::size_t offset : {0, 1, 2}) CHECK(run_and_compare(on, p, a, b, c, offset) == "");
                    }
                }
            }
        }
    }
}

TEST_CASE("alpha = 0 or k = 0 reads neither A nor B") {
    for (const int ordinal : devices()) {
        const Fixture on(ordinal);
        for (const float beta : {0.0f, 1.0f, -0.5f}) {
            for (const bool deep : {false, true}) {
                // A null A or B would fault if it were read.
                const Product p{.m = 20, .n = 30, .k = deep ? 50 : 0, .alpha = deep ? 0.0f : 2.0f, .beta = beta, .pad_c = 2};
                const std::vector<float> before = beta == 0 ? std::vector<float>(p.size_c(), kNan) : normal_values(p.size_c(), 9);
                const OnDevice c(on, before);
                REQUIRE_MESSAGE(sgemm(on.handle, p, nullptr, nullptr, c.data()) == TMM_STATUS_SUCCESS, tmmLastError(on.handle));
                on.device->synchronize();
                Product plain = p;
                plain.alpha = 0;
                CHECK(difference(plain, {}, {}, before, c.read()) == "");
            }
        }
        // beta = NaN is a factor like any other.
        const Product p{.m = 3, .n = 3, .k = 0, .beta = kNan};
        const OnDevice c(on, std::vector<float>(9, 1.0f));
        REQUIRE(sgemm(on.handle, p, nullptr, nullptr, c.data()) == TMM_STATUS_SUCCESS);
        on.device->synchronize();
        for (const float value : c.read()) CHECK(std::isnan(value));
    }
}

TEST_CASE("m = 0, n = 0 or batch = 0 does nothing and needs no pointer") {
    for (const int ordinal : devices()) {
        const Fixture on(ordinal);
        for (const auto& [m, n] : {std::pair<int, int>{0, 5}, {5, 0}, {0, 0}}) {
            CHECK(tmmSgemm(on.handle, TMM_ROW_MAJOR, TMM_NO_TRANS, TMM_NO_TRANS, m, n, 4, nullptr, nullptr, 4, nullptr, 5, nullptr, nullptr,
                           5) == TMM_STATUS_SUCCESS);
            CHECK(tmmHostSgemm(on.handle, TMM_COL_MAJOR, TMM_NO_TRANS, TMM_NO_TRANS, m, n, 4, nullptr, nullptr, 5, nullptr, 4, nullptr,
                               nullptr, 5) == TMM_STATUS_SUCCESS);
        }
        tmmGemmProblem_t problem;
        tmmGemmProblemInit(&problem);
        problem.m = problem.n = problem.k = problem.lda = problem.ldb = problem.ldc = 4;
        problem.batch = 0;
        tmmGemmArgs_t args = {};
        args.struct_size = sizeof args;
        CHECK(tmmGemm(on.handle, &problem, &args) == TMM_STATUS_SUCCESS);
        tmmPlan_t plan = nullptr;
        REQUIRE_MESSAGE(tmmPlanCreate(on.handle, &problem, &plan) == TMM_STATUS_SUCCESS, tmmLastError(on.handle));
        CHECK(tmmPlanRun(plan, nullptr, &args) == TMM_STATUS_SUCCESS);
        tmmPlanDestroy(plan);
        // A column of C is 4 elements long, but there is none.
        problem.layout = TMM_COL_MAJOR;
        problem.n = 0;
        problem.batch = 2;
        CHECK(tmmGemm(on.handle, &problem, &args) == TMM_STATUS_SUCCESS);
    }
}

TEST_CASE("a problem that declares reads_c takes beta = 0 too, and does not read C then") {
    for (const int ordinal : devices()) {
        const Fixture on(ordinal);
        // Deep K and few elements: what selection splits, if it splits anything.
        for (const Product& p : {Product{.m = 37, .n = 41, .k = 50, .pad_c = 3}, Product{.m = 8, .n = 8, .k = 4096}}) {
            const std::vector<float> a = normal_values(p.size_a(), 18);
            const std::vector<float> b = normal_values(p.size_b(), 19);
            const std::vector<float> before(p.size_c(), kNan);
            const OnDevice da(on, a), db(on, b), dc(on, before);
            tmmGemmProblem_t problem = problem_of(p);
            problem.reads_c = 1;
            const tmmGemmArgs_t args = args_of(p, da.data(), db.data(), dc.data());
            REQUIRE_MESSAGE(tmmGemm(on.handle, &problem, &args) == TMM_STATUS_SUCCESS, tmmLastError(on.handle));
            on.device->synchronize();
            CHECK(difference(p, a, b, before, dc.read()) == "");
        }
    }
}

TEST_CASE("finite operands with no overflowing partial sum give finite results; zeros meet NaN and Inf") {
    for (const int ordinal : devices()) {
        const Fixture on(ordinal);
        const Product p{.m = 8, .n = 8, .k = 8};
        std::vector<float> a(64, 1e19f);
        std::vector<float> b(64, 4e18f);
        CHECK(run_and_compare(on, p, a, b, std::vector<float>(64, kNan)) == "");
        std::fill(a.begin(), a.end(), 0.0f);
        b[p.at_b(3, 2)] = kNan;
        b[p.at_b(4, 5)] = kInf;
        const OnDevice da(on, a), db(on, b), dc(on, std::vector<float>(64, 1.0f));
        REQUIRE(sgemm(on.handle, p, da.data(), db.data(), dc.data()) == TMM_STATUS_SUCCESS);
        on.device->synchronize();
        const std::vector<float> c = dc.read();
        for (std::int64_t i = 0; i < 8; ++i)
            for (std::int64_t j = 0; j < 8; ++j) CHECK(std::isnan(c[p.at_c(i, j)]) == (j == 2 || j == 5));
    }
}

TEST_CASE("column-major is row-major of the transposes, bit for bit") {
    for (const int ordinal : devices()) {
        const Fixture on(ordinal);
        const Product column{.layout = TMM_COL_MAJOR, .op_b = TMM_TRANS, .m = 37, .n = 21, .k = 50, .alpha = 0.7f};
        const Product row{.op_a = TMM_TRANS, .m = 21, .n = 37, .k = 50, .alpha = 0.7f};
        const std::vector<float> a = normal_values(column.size_a(), 10);
        const std::vector<float> b = normal_values(column.size_b(), 11);
        const OnDevice da(on, a), db(on, b), dc(on, std::vector<float>(37 * 21)), dr(on, std::vector<float>(37 * 21));
        REQUIRE(sgemm(on.handle, column, da.data(), db.data(), dc.data()) == TMM_STATUS_SUCCESS);
        REQUIRE(sgemm(on.handle, row, db.data(), da.data(), dr.data()) == TMM_STATUS_SUCCESS);
        on.device->synchronize();
        CHECK(same_bits(dc.read(), dr.read()));
    }
}

TEST_CASE("a plan takes aligned and misaligned pointers, and gives the same bits every time") {
    for (const int ordinal : devices()) {
        const Fixture on(ordinal);
        const Product p{.m = 64, .n = 64, .k = 96};
        const std::vector<float> a = normal_values(p.size_a(), 12);
        const std::vector<float> b = normal_values(p.size_b(), 13);
        const std::vector<float> before(p.size_c(), kNan);
        const tmmGemmProblem_t problem = problem_of(p);
        tmmPlan_t plan = nullptr;
        REQUIRE_MESSAGE(tmmPlanCreate(on.handle, &problem, &plan) == TMM_STATUS_SUCCESS, tmmLastError(on.handle));
        for (const std::size_t offset : {0, 1, 2, 3}) {
            const OnDevice da(on, a, offset), db(on, b, offset), dc(on, before, offset), again(on, before, offset);
            const tmmGemmArgs_t args = args_of(p, da.data(), db.data(), dc.data());
            REQUIRE(tmmPlanRun(plan, nullptr, &args) == TMM_STATUS_SUCCESS);
            const tmmGemmArgs_t same = args_of(p, da.data(), db.data(), again.data());
            REQUIRE(tmmPlanRun(plan, nullptr, &same) == TMM_STATUS_SUCCESS);
            on.device->synchronize();
            CHECK(difference(p, a, b, before, dc.read()) == "");
            CHECK(same_bits(dc.read(), again.read()));
        }
        // Only one of the three is misaligned.
        const OnDevice da(on, a), db(on, b, 1), dc(on, before);
        const tmmGemmArgs_t args = args_of(p, da.data(), db.data(), dc.data());
        REQUIRE(tmmPlanRun(plan, nullptr, &args) == TMM_STATUS_SUCCESS);
        on.device->synchronize();
        CHECK(difference(p, a, b, before, dc.read()) == "");
        tmmPlanDestroy(plan);
    }
}

TEST_CASE("a strided batch, with A shared and C interleaved") {
    for (const int ordinal : devices()) {
        const Fixture on(ordinal);
        const std::int64_t batch = 3;
        Product p{.m = 10, .n = 8, .k = 12};
        p.pad_c = (batch - 1) * p.n;
        tmmGemmProblem_t problem = problem_of(p);
        problem.batch = batch;
        problem.stride_a = 0;
        problem.stride_b = p.k * p.n + 5;
        problem.stride_c = p.n;
        const std::vector<float> a = normal_values(p.size_a(), 14);
        const std::vector<float> b = normal_values(static_cast<std::size_t>(batch * problem.stride_b), 15);
        const std::vector<float> before(p.size_c(), kNan);
        const OnDevice da(on, a), db(on, b), dc(on, before);
        const tmmGemmArgs_t args = args_of(p, da.data(), db.data(), dc.data());
        REQUIRE_MESSAGE(tmmGemm(on.handle, &problem, &args) == TMM_STATUS_SUCCESS, tmmLastError(on.handle));
        on.device->synchronize();
        const std::vector<float> c = dc.read();
        for (std::int64_t i = 0; i < batch; ++i) {
            // The others' columns count as padding that nobody compares.
            std::vector<float> mine = before;
            std::vector<float> own(b.begin() + i * problem.stride_b, b.begin() + i * problem.stride_b + p.k * p.n);
            for (std::int64_t r = 0; r < p.m; ++r)
                for (std::int64_t j = 0; j < p.n; ++j) mine[p.at_c(r, j)] = c[p.at_c(r, j) + static_cast<std::size_t>(i * p.n)];
            CHECK(difference(p, a, own, before, mine) == "");
        }
    }
}

TEST_CASE("a caller's workspace is used, and must be large enough") {
    for (const int ordinal : devices()) {
        const Fixture on(ordinal);
        // Deep K and few elements: what selection splits, if it splits anything.
        const Product p{.m = 8, .n = 8, .k = 4096};
        const std::vector<float> a = normal_values(p.size_a(), 16);
        const std::vector<float> b = normal_values(p.size_b(), 17);
        const std::vector<float> before(p.size_c(), kNan);
        const tmmGemmProblem_t problem = problem_of(p);
        tmmPlan_t plan = nullptr;
        REQUIRE_MESSAGE(tmmPlanCreate(on.handle, &problem, &plan) == TMM_STATUS_SUCCESS, tmmLastError(on.handle));
        std::size_t bytes = 0;
        REQUIRE(tmmPlanWorkspaceSize(plan, &bytes) == TMM_STATUS_SUCCESS);
        const tmm::DeviceBuffer workspace(on.device, bytes + 256);
        const OnDevice da(on, a), db(on, b), dc(on, before);
        tmmGemmArgs_t args = args_of(p, da.data(), db.data(), dc.data());
        args.workspace = workspace.data();
        args.workspace_size = bytes;
        CHECK(tmmPlanRun(plan, nullptr, &args) == TMM_STATUS_SUCCESS);
        on.device->synchronize();
        CHECK(difference(p, a, b, before, dc.read()) == "");
        if (bytes > 0) {
            dc.write(before);
            args.workspace_size = bytes - 1;
            CHECK(tmmPlanRun(plan, nullptr, &args) == TMM_STATUS_WORKSPACE_TOO_SMALL);
            CHECK(tmmGemm(on.handle, &problem, &args) == TMM_STATUS_WORKSPACE_TOO_SMALL);
            on.device->synchronize();
            CHECK(same_bits(dc.read(), before));
        }
        tmmPlanDestroy(plan);
    }
}
