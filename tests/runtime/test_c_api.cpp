// The C interface's manners: every bad argument has a status of its own and launches nothing, and everything can be asked about.
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "runtime/api/validate.h"
#include "tests/support/api_call_testing.h"
#include "tests/support/api_testing.h"
#include "tests/support/temporary_directory.h"

using namespace api_testing;

namespace {

constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();

template <typename T>
T bad(int value) {
    return static_cast<T>(value);
}

const void* moved(const void* pointer, int bytes) {
    return static_cast<const char*>(pointer) + bytes;
}

}  // namespace

TEST_CASE("every invalid argument gives its own status and launches nothing") {
    for (const int ordinal : devices()) {
        CAPTURE(ordinal);
        const Fixture on(ordinal);
        struct Fault {
            const char* name;
            tmmStatus_t expected;
            void (*spoil)(Call&);
            // Seen when the problem is given, before there are pointers.
            bool in_problem;
        };
        static constexpr float kTwo = 2;
        const Fault faults[] = {
            {"problem size", TMM_STATUS_INVALID_STRUCT_SIZE, [](Call& x) { x.problem.struct_size = 3; }, true},
            {"newer problem size", TMM_STATUS_INVALID_STRUCT_SIZE, [](Call& x) { x.problem.struct_size += 8; }, true},
            {"args size", TMM_STATUS_INVALID_STRUCT_SIZE, [](Call& x) { x.args.struct_size += 8; }, false},
            {"layout", TMM_STATUS_INVALID_LAYOUT, [](Call& x) { x.problem.layout = bad<tmmLayout_t>(0); }, true},
            {"op_a", TMM_STATUS_INVALID_OPERATION, [](Call& x) { x.problem.op_a = bad<tmmOperation_t>(0); }, true},
            {"op_b", TMM_STATUS_INVALID_OPERATION, [](Call& x) { x.problem.op_b = bad<tmmOperation_t>(-5); }, true},
            {"type_a", TMM_STATUS_INVALID_TYPE, [](Call& x) { x.problem.type_a = bad<tmmType_t>(99); }, true},
            {"type_c", TMM_STATUS_INVALID_TYPE, [](Call& x) { x.problem.type_c = bad<tmmType_t>(-1); }, true},
            {"compute", TMM_STATUS_INVALID_COMPUTE, [](Call& x) { x.problem.compute = bad<tmmCompute_t>(1000); }, true},
            {"epilogue", TMM_STATUS_INVALID_EPILOGUE, [](Call& x) { x.problem.epilogue = bad<tmmEpilogue_t>(77); }, true},
            {"m", TMM_STATUS_INVALID_M, [](Call& x) { x.problem.m = -1; }, true},
            {"n", TMM_STATUS_INVALID_N, [](Call& x) { x.problem.n = -kHuge; }, true},
            {"k", TMM_STATUS_INVALID_K, [](Call& x) { x.problem.k = -1; }, true},
            {"batch", TMM_STATUS_INVALID_BATCH, [](Call& x) { x.problem.batch = -1; }, true},
            {"lda", TMM_STATUS_INVALID_LDA, [](Call& x) { x.problem.lda = 5; }, true},
            {"ldb", TMM_STATUS_INVALID_LDB, [](Call& x) { x.problem.ldb = 0; }, true},
            {"ldc", TMM_STATUS_INVALID_LDC, [](Call& x) { x.problem.ldc = -5; }, true},
            {"lda of a transposed A", TMM_STATUS_INVALID_LDA, [](Call& x) { x.problem.op_a = TMM_TRANS, x.problem.lda = 3; }, true},
            {"column-major lda", TMM_STATUS_INVALID_LDA, [](Call& x) { x.problem.layout = TMM_COL_MAJOR, x.problem.lda = 3; }, true},
            {"column-major ldb", TMM_STATUS_INVALID_LDB, [](Call& x) { x.problem.layout = TMM_COL_MAJOR, x.problem.ldb = 5; }, true},
            {"column-major ldc", TMM_STATUS_INVALID_LDC,
             [](Call& x) { x.problem.layout = TMM_COL_MAJOR, x.problem.ldb = 6, x.problem.ldc = 3; }, true},
            {"stride_a", TMM_STATUS_INVALID_STRIDE, [](Call& x) { x.problem.batch = 2, x.problem.stride_a = -1; }, true},
            {"stride_c", TMM_STATUS_INVALID_STRIDE, [](Call& x) { x.problem.batch = 2, x.problem.stride_c = 4; }, true},
            {"alignment", TMM_STATUS_INVALID_ALIGNMENT, [](Call& x) { x.problem.alignment = 12; }, true},
            {"alignment 0", TMM_STATUS_INVALID_ALIGNMENT, [](Call& x) { x.problem.alignment = 0; }, true},
            {"too large", TMM_STATUS_TOO_LARGE, [](Call& x) { x.problem.lda = kHuge / 4; }, true},
            {"more elements of C than places", TMM_STATUS_INVALID_STRIDE,
             [](Call& x) { x.problem.m = x.problem.batch = std::int64_t{1} << 31, x.problem.stride_c = 5; }, true},
            {"f64 into f32", TMM_STATUS_UNSUPPORTED_TYPE, [](Call& x) { x.problem.type_a = x.problem.type_b = TMM_F64; }, true},
            {"f64 in f32", TMM_STATUS_UNSUPPORTED_COMPUTE,
             [](Call& x) { x.problem.type_a = x.problem.type_b = x.problem.type_c = TMM_F64; }, true},
            {"f16 and bf16", TMM_STATUS_UNSUPPORTED_TYPE, [](Call& x) { x.problem.type_a = TMM_F16, x.problem.type_b = TMM_BF16; }, true},
            {"f16 and f32", TMM_STATUS_UNSUPPORTED_TYPE, [](Call& x) { x.problem.type_a = TMM_F16; }, true},
            {"f16 into bf16", TMM_STATUS_UNSUPPORTED_TYPE,
             [](Call& x) { x.problem.type_a = x.problem.type_b = TMM_F16, x.problem.type_c = TMM_BF16; }, true},
            {"f32 into bf16", TMM_STATUS_UNSUPPORTED_TYPE, [](Call& x) { x.problem.type_c = TMM_BF16; }, true},
            {"bf16, strict", TMM_STATUS_UNSUPPORTED_COMPUTE,
             [](Call& x) { x.problem.type_a = x.problem.type_b = TMM_BF16, x.problem.compute = TMM_COMPUTE_F32_STRICT; }, true},
            {"f16, misaligned a", TMM_STATUS_MISALIGNED_POINTER,
             [](Call& x) { x.problem.type_a = x.problem.type_b = TMM_F16, x.args.a = moved(x.args.a, 1); }, false},
            {"f16 into f32, misaligned c", TMM_STATUS_MISALIGNED_POINTER,
             [](Call& x) {
                 x.problem.type_a = x.problem.type_b = TMM_F16;
                 x.args.c = const_cast<void*>(moved(x.args.c, 2));
             },
             false},
            {"s8 into f32", TMM_STATUS_UNSUPPORTED_TYPE,
             [](Call& x) { x.problem.type_a = x.problem.type_b = TMM_S8, x.problem.compute = TMM_COMPUTE_S32; }, true},
            {"s32 into s32", TMM_STATUS_UNSUPPORTED_TYPE,
             [](Call& x) {
                 x.problem.type_a = x.problem.type_b = x.problem.type_c = TMM_S32;
                 x.problem.compute = TMM_COMPUTE_S32;
             },
             true},
            {"relu of s8", TMM_STATUS_UNSUPPORTED_EPILOGUE,
             [](Call& x) {
                 x.problem.type_a = x.problem.type_b = TMM_S8, x.problem.type_c = TMM_S32;
                 x.problem.compute = TMM_COMPUTE_S32, x.problem.activation = TMM_ACTIVATION_RELU;
             },
             true},
            {"f32 in f64", TMM_STATUS_UNSUPPORTED_COMPUTE, [](Call& x) { x.problem.compute = TMM_COMPUTE_F64; }, true},
            {"f16, tf32", TMM_STATUS_UNSUPPORTED_COMPUTE,
             [](Call& x) { x.problem.type_a = x.problem.type_b = TMM_F16, x.problem.compute = TMM_COMPUTE_TF32; }, true},
            {"a class without its parts", TMM_STATUS_INVALID_EPILOGUE, [](Call& x) { x.problem.epilogue = TMM_EPILOGUE_BIAS; }, true},
            {"another class", TMM_STATUS_INVALID_EPILOGUE,
             [](Call& x) { x.problem.epilogue = TMM_EPILOGUE_BIAS, x.problem.activation = TMM_ACTIVATION_RELU; }, true},
            {"activation", TMM_STATUS_INVALID_ACTIVATION, [](Call& x) { x.problem.activation = bad<tmmActivation_t>(9); }, true},
            {"swiglu over C", TMM_STATUS_UNSUPPORTED_EPILOGUE,
             [](Call& x) { x.problem.activation = TMM_ACTIVATION_SWIGLU, x.problem.reads_c = 1; }, true},
            {"swiglu of B as narrow as C", TMM_STATUS_INVALID_LDB,
             [](Call& x) { x.problem.activation = TMM_ACTIVATION_SWIGLU, x.problem.op_b = TMM_NO_TRANS; }, true},
            {"swiglu, too large", TMM_STATUS_TOO_LARGE,
             [](Call& x) { x.problem.activation = TMM_ACTIVATION_SWIGLU, x.problem.n = std::int64_t{1} << 62; }, true},
            {"column-major swiglu over C", TMM_STATUS_UNSUPPORTED_EPILOGUE,
             [](Call& x) { x.problem.activation = TMM_ACTIVATION_SWIGLU, x.problem.layout = TMM_COL_MAJOR, x.problem.reads_c = 1; }, true},
            {"column-major swiglu of B as narrow as C", TMM_STATUS_INVALID_LDB,
             [](Call& x) {
                 x.problem.activation = TMM_ACTIVATION_SWIGLU, x.problem.layout = TMM_COL_MAJOR;
                 x.problem.op_b = TMM_TRANS, x.problem.ldb = 9;
             },
             true},
            {"swiglu_rows over C", TMM_STATUS_UNSUPPORTED_EPILOGUE,
             [](Call& x) { x.problem.activation = TMM_ACTIVATION_SWIGLU_ROWS, x.problem.reads_c = 1; }, true},
            {"swiglu_rows of A as low as C", TMM_STATUS_INVALID_LDA,
             [](Call& x) { x.problem.activation = TMM_ACTIVATION_SWIGLU_ROWS, x.problem.op_a = TMM_TRANS, x.problem.lda = 7; }, true},
            {"swiglu_rows, too large", TMM_STATUS_TOO_LARGE,
             [](Call& x) { x.problem.activation = TMM_ACTIVATION_SWIGLU_ROWS, x.problem.m = std::int64_t{1} << 62; }, true},
            {"bias axis", TMM_STATUS_INVALID_BIAS_AXIS, [](Call& x) { x.problem.bias_axis = bad<tmmBiasAxis_t>(2); }, true},
            {"type of the bias", TMM_STATUS_INVALID_TYPE, [](Call& x) { x.problem.type_bias = bad<tmmType_t>(9); }, true},
            {"f64 bias", TMM_STATUS_UNSUPPORTED_TYPE, [](Call& x) { x.problem.has_bias = 1, x.problem.type_bias = TMM_F64; }, true},
            {"ldr", TMM_STATUS_INVALID_LDR, [](Call& x) { x.problem.has_residual = 1, x.problem.ldr = 4; }, true},
            {"stride_r", TMM_STATUS_INVALID_STRIDE,
             [](Call& x) { x.problem.has_residual = 1, x.problem.ldr = 5, x.problem.batch = 2, x.problem.stride_r = -1; }, true},
            {"too large a residual", TMM_STATUS_TOO_LARGE, [](Call& x) { x.problem.has_residual = 1, x.problem.ldr = kHuge / 4; }, true},
            {"no expression", TMM_STATUS_INVALID_EXPRESSION, [](Call& x) { x.problem.epilogue = TMM_EPILOGUE_CUSTOM; }, true},
            {"an expression without its class", TMM_STATUS_INVALID_EXPRESSION, [](Call& x) { x.problem.expression = "x"; }, true},
            {"an expression and an activation", TMM_STATUS_INVALID_EPILOGUE,
             [](Call& x) {
                 x.problem.epilogue = TMM_EPILOGUE_CUSTOM, x.problem.expression = "x", x.problem.activation = TMM_ACTIVATION_RELU;
             },
             true},
            {"a statement", TMM_STATUS_INVALID_EXPRESSION,
             [](Call& x) { x.problem.epilogue = TMM_EPILOGUE_CUSTOM, x.problem.expression = "x; x"; }, true},
            {"null bias", TMM_STATUS_NULL_BIAS, [](Call& x) { x.problem.has_bias = 1; }, false},
            {"null residual", TMM_STATUS_NULL_RESIDUAL, [](Call& x) { x.problem.has_residual = 1, x.problem.ldr = 5; }, false},
            {"misaligned residual", TMM_STATUS_MISALIGNED_POINTER,
             [](Call& x) { x.problem.has_residual = 1, x.problem.ldr = 5, x.args.residual = moved(x.b.data(), 1); }, false},
            {"residual", TMM_STATUS_UNSUPPORTED_EPILOGUE, [](Call& x) { x.args.residual = x.b.data(); }, false},
            {"bias", TMM_STATUS_UNSUPPORTED_EPILOGUE, [](Call& x) { x.args.bias = x.b.data(); }, false},
            {"a", TMM_STATUS_NULL_A, [](Call& x) { x.args.a = nullptr; }, false},
            {"b", TMM_STATUS_NULL_B, [](Call& x) { x.args.b = nullptr; }, false},
            {"c", TMM_STATUS_NULL_C, [](Call& x) { x.args.c = nullptr; }, false},
            {"alpha", TMM_STATUS_NULL_ALPHA, [](Call& x) { x.args.alpha = nullptr; }, false},
            {"beta", TMM_STATUS_NULL_BETA, [](Call& x) { x.problem.reads_c = 1, x.args.beta = nullptr; }, false},
            {"beta not declared", TMM_STATUS_BETA_NOT_DECLARED, [](Call& x) { x.args.beta = &kTwo; }, false},
            {"misaligned a", TMM_STATUS_MISALIGNED_POINTER, [](Call& x) { x.args.a = moved(x.args.a, 2); }, false},
            {"misaligned b", TMM_STATUS_MISALIGNED_POINTER, [](Call& x) { x.args.b = moved(x.args.b, 1); }, false},
            {"misaligned c", TMM_STATUS_MISALIGNED_POINTER, [](Call& x) { x.args.c = const_cast<void*>(moved(x.args.c, 3)); }, false},
            {"misaligned workspace", TMM_STATUS_MISALIGNED_WORKSPACE,
             [](Call& x) { x.args.workspace = const_cast<void*>(moved(x.b.data(), 64)); }, false},
            {"misaligned prepared_a", TMM_STATUS_MISALIGNED_PREPARED, [](Call& x) { x.args.prepared_a = moved(x.a.data(), 128); }, false},
            {"misaligned prepared_b", TMM_STATUS_MISALIGNED_PREPARED, [](Call& x) { x.args.prepared_b = moved(x.b.data(), 4); }, false},
        };
        for (const Fault& fault : faults) {
            CAPTURE(fault.name);
            Call call(on);
            fault.spoil(call);
            CHECK(tmmGemm(on.handle, &call.problem, &call.args) == fault.expected);
            CHECK(std::string(tmmLastError(on.handle)) != "");
            tmmPlan_t plan = reinterpret_cast<tmmPlan_t>(&call);
            const tmmStatus_t created = tmmPlanCreate(on.handle, &call.problem, &plan);
            if (fault.in_problem) {
                CHECK(created == fault.expected);
                CHECK(plan == nullptr);
            } else {
                REQUIRE(created == TMM_STATUS_SUCCESS);
                CHECK(tmmPlanRun(plan, nullptr, &call.args) == fault.expected);
                CHECK(tmmPlanDestroy(plan) == TMM_STATUS_SUCCESS);
            }
            on.device->synchronize();
            CHECK(call.c.read() == std::vector<float>(64, 7.0f));
        }
    }
}

TEST_CASE("tmmSgemm and tmmHostSgemm refuse bad arguments too") {
    const Fixture on(TMM_DEVICE_HOST);
    std::vector<float> a(64, 1), b(64, 1), c(64, 7);
    const float one = 1, zero = 0, two = 2;
    for (const auto call : {tmmSgemm, tmmHostSgemm}) {
        const auto run = [&](tmmHandle_t handle, int layout, int op_a, int op_b, std::int64_t m, std::int64_t n, std::int64_t k,
                             const float* alpha, const float* pa, std::int64_t lda, const float* pb, std::int64_t ldb, const float* beta,
                             float* pc, std::int64_t ldc) {
            return call(handle, static_cast<tmmLayout_t>(layout), static_cast<tmmOperation_t>(op_a), static_cast<tmmOperation_t>(op_b), m,
                        n, k, alpha, pa, lda, pb, ldb, beta, pc, ldc);
        };
        const float* pa = a.data();
        const float* pb = b.data();
        float* pc = c.data();
        const tmmHandle_t h = on.handle;
        CHECK(run(nullptr, 101, 111, 111, 4, 5, 6, &one, pa, 6, pb, 5, &zero, pc, 5) == TMM_STATUS_INVALID_HANDLE);
        CHECK(run(h, 100, 111, 111, 4, 5, 6, &one, pa, 6, pb, 5, &zero, pc, 5) == TMM_STATUS_INVALID_LAYOUT);
        CHECK(run(h, 101, 110, 111, 4, 5, 6, &one, pa, 6, pb, 5, &zero, pc, 5) == TMM_STATUS_INVALID_OPERATION);
        CHECK(run(h, 101, 111, 114, 4, 5, 6, &one, pa, 6, pb, 5, &zero, pc, 5) == TMM_STATUS_INVALID_OPERATION);
        CHECK(run(h, 101, 111, 111, -4, 5, 6, &one, pa, 6, pb, 5, &zero, pc, 5) == TMM_STATUS_INVALID_M);
        CHECK(run(h, 101, 111, 111, 4, -5, 6, &one, pa, 6, pb, 5, &zero, pc, 5) == TMM_STATUS_INVALID_N);
        CHECK(run(h, 101, 111, 111, 4, 5, -6, &one, pa, 6, pb, 5, &zero, pc, 5) == TMM_STATUS_INVALID_K);
        CHECK(run(h, 101, 111, 111, 4, 5, 6, &one, pa, 5, pb, 5, &zero, pc, 5) == TMM_STATUS_INVALID_LDA);
        CHECK(run(h, 101, 111, 111, 4, 5, 6, &one, pa, 6, pb, 4, &zero, pc, 5) == TMM_STATUS_INVALID_LDB);
        CHECK(run(h, 101, 111, 111, 4, 5, 6, &one, pa, 6, pb, 5, &zero, pc, 4) == TMM_STATUS_INVALID_LDC);
        CHECK(run(h, 101, 111, 111, 4, 5, 6, nullptr, pa, 6, pb, 5, &zero, pc, 5) == TMM_STATUS_NULL_ALPHA);
        CHECK(run(h, 101, 111, 111, 4, 5, 6, &one, nullptr, 6, pb, 5, &zero, pc, 5) == TMM_STATUS_NULL_A);
        CHECK(run(h, 101, 111, 111, 4, 5, 6, &one, pa, 6, nullptr, 5, &zero, pc, 5) == TMM_STATUS_NULL_B);
        CHECK(run(h, 102, 111, 111, 4, 5, 6, &one, nullptr, 4, pb, 6, &zero, pc, 4) == TMM_STATUS_NULL_A);
        CHECK(run(h, 101, 111, 111, 4, 5, 6, &one, pa, 6, pb, 5, nullptr, pc, 5) == TMM_STATUS_NULL_BETA);
        CHECK(run(h, 101, 111, 111, 4, 5, 6, &one, pa, 6, pb, 5, &two, nullptr, 5) == TMM_STATUS_NULL_C);
        CHECK(run(h, 101, 111, 111, 4, 5, 6, &one, reinterpret_cast<const float*>(moved(pa, 2)), 6, pb, 5, &zero, pc, 5) ==
              TMM_STATUS_MISALIGNED_POINTER);
    }
    CHECK(c == std::vector<float>(64, 7));
}

TEST_CASE("null handles, plans and places for results") {
    const Fixture on(TMM_DEVICE_HOST);
    Call call(on);
    tmmPlan_t plan = nullptr;
    std::size_t bytes = 0;
    char text[64];
    char elsewhere = 0;
    for (const auto create : {tmmPlanCreate, tmmPlanCreateBare}) {
        // What a program left there is no plan.
        plan = reinterpret_cast<tmmPlan_t>(&elsewhere);
        CHECK(create(nullptr, &call.problem, &plan) == TMM_STATUS_INVALID_HANDLE);
        CHECK(plan == nullptr);
        plan = reinterpret_cast<tmmPlan_t>(&elsewhere);
        CHECK(create(on.handle, nullptr, &plan) == TMM_STATUS_NULL_POINTER);
        CHECK(plan == nullptr);
        CHECK(create(on.handle, &call.problem, nullptr) == TMM_STATUS_NULL_POINTER);
    }
    CHECK(tmmCreate(nullptr, TMM_DEVICE_HOST, nullptr) == TMM_STATUS_NULL_POINTER);
    CHECK(tmmSetStream(nullptr, nullptr) == TMM_STATUS_INVALID_HANDLE);
    CHECK(tmmSetTuning(nullptr, 1) == TMM_STATUS_INVALID_HANDLE);
    CHECK(tmmGemm(nullptr, &call.problem, &call.args) == TMM_STATUS_INVALID_HANDLE);
    CHECK(tmmGemm(on.handle, nullptr, &call.args) == TMM_STATUS_NULL_POINTER);
    CHECK(tmmGemm(on.handle, &call.problem, nullptr) == TMM_STATUS_NULL_POINTER);
    CHECK(tmmGemmProblemInit(nullptr) == TMM_STATUS_NULL_POINTER);
    CHECK(tmmPlanWorkspaceSize(nullptr, &bytes) == TMM_STATUS_INVALID_PLAN);
    CHECK(tmmPlanRun(nullptr, nullptr, &call.args) == TMM_STATUS_INVALID_PLAN);
    CHECK(tmmPlanDescribe(nullptr, text, sizeof text) == TMM_STATUS_INVALID_PLAN);
    CHECK(tmmPlanPreparedSize(nullptr, TMM_OPERAND_A, &bytes) == TMM_STATUS_INVALID_PLAN);
    CHECK(tmmPlanPrepare(nullptr, nullptr, TMM_OPERAND_A, call.a.data(), nullptr, 0) == TMM_STATUS_INVALID_PLAN);
    REQUIRE(tmmPlanCreate(on.handle, &call.problem, &plan) == TMM_STATUS_SUCCESS);
    CHECK(tmmPlanWorkspaceSize(plan, nullptr) == TMM_STATUS_NULL_POINTER);
    CHECK(tmmPlanPreparedSize(plan, TMM_OPERAND_A, nullptr) == TMM_STATUS_NULL_POINTER);
    CHECK(tmmPlanRun(plan, nullptr, nullptr) == TMM_STATUS_NULL_POINTER);
    CHECK(tmmPlanDescribe(plan, nullptr, 8) == TMM_STATUS_NULL_POINTER);
    CHECK(tmmPlanDescribe(plan, text, 0) == TMM_STATUS_NULL_POINTER);
    tmmPlanDestroy(plan);
    CHECK(tmmPlanDestroy(nullptr) == TMM_STATUS_SUCCESS);
    CHECK(tmmDestroy(nullptr) == TMM_STATUS_SUCCESS);
}

TEST_CASE("where a plan splits nothing, preparing does nothing, but bad arguments have their statuses") {
    for (const int ordinal : devices()) {
        for (const tmmLayout_t layout : {TMM_ROW_MAJOR, TMM_COL_MAJOR}) {
            CAPTURE(ordinal);
            const Fixture on(ordinal);
            Call call(on);
            call.problem.layout = layout;
            call.problem.lda = call.problem.ldb = call.problem.ldc = 6;
            tmmPlan_t plan = nullptr;
            REQUIRE(tmmPlanCreate(on.handle, &call.problem, &plan) == TMM_STATUS_SUCCESS);
            const tmm::DeviceBuffer room(on.device, 1024);
            on.device->fill_bytes(room.data(), 0xff, room.bytes());
            for (const tmmOperand_t operand : {TMM_OPERAND_A, TMM_OPERAND_B}) {
                std::size_t bytes = 1;
                CHECK(tmmPlanPreparedSize(plan, operand, &bytes) == TMM_STATUS_SUCCESS);
                CHECK(bytes == 0);
                const auto prepare = [&](const void* matrix, const void* prepared) {
                    return tmmPlanPrepare(plan, nullptr, operand, matrix, const_cast<void*>(prepared), 0);
                };
                CHECK(prepare(call.a.data(), nullptr) == TMM_STATUS_SUCCESS);
                CHECK(prepare(call.a.data(), room.data()) == TMM_STATUS_SUCCESS);
                CHECK(prepare(nullptr, room.data()) == (operand == TMM_OPERAND_A ? TMM_STATUS_NULL_A : TMM_STATUS_NULL_B));
                CHECK(std::string(tmmLastError(on.handle)) == "matrix is null");
                CHECK(prepare(moved(call.a.data(), 2), room.data()) == TMM_STATUS_MISALIGNED_POINTER);
                CHECK(prepare(call.a.data(), moved(room.data(), 128)) == TMM_STATUS_MISALIGNED_PREPARED);
            }
            std::size_t bytes = 1;
            CHECK(tmmPlanPreparedSize(plan, bad<tmmOperand_t>(2), &bytes) == TMM_STATUS_INVALID_OPERAND);
            CHECK(tmmPlanPrepare(plan, nullptr, bad<tmmOperand_t>(-1), call.a.data(), room.data(), 1024) == TMM_STATUS_INVALID_OPERAND);
            on.device->synchronize();
            std::vector<unsigned char> contents(room.bytes());
            on.device->copy_to_host(contents.data(), room.data(), contents.size());
            CHECK((contents == std::vector<unsigned char>(1024, 0xff)));

            call.args.prepared_a = call.args.prepared_b = room.data();
            CHECK(tmmPlanRun(plan, nullptr, &call.args) == TMM_STATUS_SUCCESS);
            CHECK(tmmGemm(on.handle, &call.problem, &call.args) == TMM_STATUS_SUCCESS);
            on.device->synchronize();
            CHECK(call.c.read()[0] == 6);
            CHECK(tmmPlanDestroy(plan) == TMM_STATUS_SUCCESS);
        }
    }
}

TEST_CASE("a product without k has nothing to prepare and needs no matrix for it") {
    const Fixture on(TMM_DEVICE_HOST);
    Call call(on);
    call.problem.k = 0;
    tmmPlan_t plan = nullptr;
    REQUIRE(tmmPlanCreate(on.handle, &call.problem, &plan) == TMM_STATUS_SUCCESS);
    CHECK(tmmPlanPrepare(plan, nullptr, TMM_OPERAND_A, nullptr, nullptr, 0) == TMM_STATUS_SUCCESS);
    CHECK(tmmPlanDestroy(plan) == TMM_STATUS_SUCCESS);
}

TEST_CASE("an operand to prepare is the row-major problem's, and its memory is large enough") {
    tmmGemmProblem_t given;
    tmmGemmProblemInit(&given);
    given.m = given.n = given.k = given.lda = given.ldb = given.ldc = 4;
    CHECK(tmm::check_operand(tmm::check_problem(&given), TMM_OPERAND_A) == tmm::GemmOperand::a);
    CHECK(tmm::check_operand(tmm::check_problem(&given), TMM_OPERAND_B) == tmm::GemmOperand::b);
    given.layout = TMM_COL_MAJOR;
    const tmm::CheckedProblem columns = tmm::check_problem(&given);
    CHECK(tmm::check_operand(columns, TMM_OPERAND_A) == tmm::GemmOperand::b);
    CHECK(tmm::check_operand(columns, TMM_OPERAND_B) == tmm::GemmOperand::a);

    alignas(256) static char memory[1024];
    const float one = 1;
    tmmGemmArgs_t args = {};
    args.struct_size = sizeof args;
    args.alpha = args.beta = &one;
    given.reads_c = 1;
    args.a = args.b = args.c = memory;
    args.prepared_b = memory + 256;
    const auto call_of = [&] { return tmm::check_args(tmm::check_problem(&given), &args).call; };
    CHECK(call_of().prepared_a == memory + 256);
    CHECK(call_of().prepared_b == nullptr);
    // A program that was compiled before there were prepared operands.
    args.struct_size = offsetof(tmmGemmArgs_t, prepared_a);
    CHECK(call_of().prepared_a == nullptr);
    args.struct_size = sizeof args;
    const float zero = 0;
    args.alpha = &zero;
    CHECK(call_of().prepared_a == nullptr);

    const auto status_of = [](const void* prepared, std::size_t size) {
        try {
            tmm::check_prepared_size(prepared, size, 512);
        } catch (const tmm::StatusError& error) {
            return error.status();
        }
        return TMM_STATUS_SUCCESS;
    };
    CHECK(status_of(memory, 512) == TMM_STATUS_SUCCESS);
    CHECK(status_of(memory, 511) == TMM_STATUS_PREPARED_TOO_SMALL);
    CHECK(status_of(nullptr, 512) == TMM_STATUS_NULL_POINTER);
}

TEST_CASE("a device that does not exist is named") {
    tmmHandle_t handle = nullptr;
    CHECK(tmmCreate(&handle, 12345, nullptr) == TMM_STATUS_NO_DEVICE);
    CHECK(handle == nullptr);
    CHECK(std::string(tmmLastError(nullptr)) != "");
    CHECK(tmmCreate(&handle, -7, nullptr) == TMM_STATUS_NO_DEVICE);
}

TEST_CASE("a kernel that the device can't load is a failure of the device") {
    const tmm::testing::TemporaryDirectory directory;
    const char* const before = std::getenv("TMPDIR");
    const std::string kept = before ? before : "";
    const Fixture on(TMM_DEVICE_HOST);
    Call call(on);
    const auto status_of_plan = [&](tmmHandle_t handle) {
        tmmPlan_t plan = nullptr;
        const tmmStatus_t status = tmmPlanCreate(handle, &call.problem, &plan);
        CHECK((plan != nullptr) == (status == TMM_STATUS_SUCCESS));
        tmmPlanDestroy(plan);
        return status;
    };
    // A compiler takes temporary files, too. The first plan has the handle look for one, and the second leaves its kernels in the cache.
    call.problem.reads_c = 1;
    REQUIRE(status_of_plan(on.handle) == TMM_STATUS_SUCCESS);
    call.problem.reads_c = 0;
    // The fallback serves, behind which there is no other kernel.
    call.problem.k = 0;
    REQUIRE(status_of_plan(Fixture(TMM_DEVICE_HOST).handle) == TMM_STATUS_SUCCESS);
    const LogCapture log;
    setenv("TMPDIR", (directory.path() / "missing").c_str(), 1);
    const tmmStatus_t status = status_of_plan(on.handle);
    if (before)
        setenv("TMPDIR", kept.c_str(), 1);
    else
        unsetenv("TMPDIR");
    CHECK(status == TMM_STATUS_DEVICE);
    CHECK(std::string(tmmLastError(on.handle)).find("can't write a kernel") != std::string::npos);
}

TEST_CASE("a program that races a library gets candidates, plans of them, and what it found remembered") {
    const tmm::testing::TemporaryDirectory folder;
    const std::string file = (folder.path() / "new" / "tmm.db").string();
    tmmHandle_t handle = nullptr;
    REQUIRE(tmmCreate(&handle, TMM_DEVICE_HOST, file.c_str()) == TMM_STATUS_SUCCESS);
    tmmGemmProblem_t problem;
    tmmGemmProblemInit(&problem);
    problem.m = problem.n = problem.k = problem.lda = problem.ldb = problem.ldc = 48;
    char text[4096];
    REQUIRE(tmmProblemCandidates(handle, &problem, 3, text, sizeof text) == TMM_STATUS_SUCCESS);
    std::istringstream lines(text);
    std::vector<std::string> configs;
    for (std::string line; std::getline(lines, line);) configs.push_back(line);
    REQUIRE(configs.size() >= 2);
    CHECK(configs.size() <= 3);
    CHECK(std::set<std::string>(configs.begin(), configs.end()).size() == configs.size());
    for (const std::string& config : configs) {
        CAPTURE(config);
        tmmPlan_t plan = nullptr;
        REQUIRE(tmmPlanCreateOf(handle, &problem, config.c_str(), &plan) == TMM_STATUS_SUCCESS);
        REQUIRE(tmmPlanDescribe(plan, text, sizeof text) == TMM_STATUS_SUCCESS);
        CHECK(std::string(text).starts_with("config: " + config + "\n"));
        tmmPlanDestroy(plan);
    }
    tmmPlan_t plan = nullptr;
    for (const char* config : {"", "no family", "tiled 16x16x16 exact s99", "wgmma 128x128x64 w2 s4"}) {
        CAPTURE(config);
        CHECK(tmmPlanCreateOf(handle, &problem, config, &plan) == TMM_STATUS_INVALID_CONFIG);
        CHECK(plan == nullptr);
    }
    CHECK(tmmPlanCreateOf(handle, &problem, nullptr, &plan) == TMM_STATUS_NULL_POINTER);
    CHECK(tmmPlanCreateOf(nullptr, &problem, configs[0].c_str(), &plan) == TMM_STATUS_INVALID_HANDLE);
    CHECK(tmmProblemCandidates(handle, &problem, 3, nullptr, 0) == TMM_STATUS_NULL_POINTER);
    CHECK(tmmProblemCandidates(nullptr, &problem, 3, text, sizeof text) == TMM_STATUS_INVALID_HANDLE);
    CHECK(tmmSetCompileTool(nullptr, nullptr) == TMM_STATUS_INVALID_HANDLE);
    CHECK(tmmSetCompileTool(handle, "/nonexistent") == TMM_STATUS_SUCCESS);
    CHECK(tmmRemember(nullptr, &problem, configs[0].c_str(), 1, 2) == TMM_STATUS_INVALID_HANDLE);
    CHECK(tmmRemember(handle, &problem, nullptr, 1, 2) == TMM_STATUS_NULL_POINTER);

    REQUIRE(tmmRemember(handle, &problem, configs[1].c_str(), 30, 50) == TMM_STATUS_SUCCESS);
    tmmHandle_t next = nullptr;
    REQUIRE(tmmCreate(&next, TMM_DEVICE_HOST, file.c_str()) == TMM_STATUS_SUCCESS);
    REQUIRE(tmmProblemDescribe(next, &problem, text, sizeof text) == TMM_STATUS_SUCCESS);
    const std::string said = text;
    CHECK(said.starts_with("config: " + configs[1] + "\nmatch: exact\n"));
    CHECK(said.find("\nmeasured: 30 µs") != std::string::npos);
    CHECK(said.find("\nlibrary: 50 µs") != std::string::npos);
    tmmDestroy(next);
    tmmDestroy(handle);
}

TEST_CASE("statuses have words of their own") {
    std::set<std::string> words;
    for (int status = TMM_STATUS_SUCCESS; status <= TMM_STATUS_NOT_SQUARE; ++status)
        words.insert(tmmStatusString(static_cast<tmmStatus_t>(status)));
    CHECK(words.size() == TMM_STATUS_NOT_SQUARE + 1);
    CHECK(words.count("unknown status") == 0);
    CHECK(std::string(tmmStatusString(static_cast<tmmStatus_t>(-3))) == "unknown status");
    CHECK(tmmGetVersion() == TMM_VERSION);
}

TEST_CASE("an error's sentence names what was wrong, and belongs to its thread and handle") {
    const Fixture on(TMM_DEVICE_HOST);
    const Fixture other(TMM_DEVICE_HOST);
    Call call(on);
    call.problem.lda = 5;
    REQUIRE(tmmGemm(on.handle, &call.problem, &call.args) == TMM_STATUS_INVALID_LDA);
    CHECK(std::string(tmmLastError(on.handle)) == "lda is 5, but a stored row of the matrix takes 6 elements");
    CHECK(std::string(tmmLastError(nullptr)) == tmmLastError(on.handle));
    CHECK(std::string(tmmLastError(other.handle)) == "");
    std::string elsewhere = "?";
    std::thread([&] { elsewhere = tmmLastError(on.handle); }).join();
    CHECK(elsewhere == "");
}

TEST_CASE("threads may share a handle") {
    const Fixture on(TMM_DEVICE_HOST);
    std::vector<std::string> faults(4);
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < 4; ++t) {
        threads.emplace_back([&, t] {
            for (unsigned round = 0; round < 6 && faults[t].empty(); ++round) {
                const Product p{.m = 9 + round % 3, .n = 10, .k = 11};
                const std::vector<float> a = normal_values(p.size_a(), t);
                const std::vector<float> b = normal_values(p.size_b(), t + 10);
                const std::vector<float> before(p.size_c(), NAN);
                std::vector<float> c = before;
                if (sgemm(on.handle, p, a.data(), b.data(), c.data()) != TMM_STATUS_SUCCESS)
                    faults[t] = tmmLastError(on.handle);
                else
                    faults[t] = difference(p, a, b, before, c);
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    for (const std::string& fault : faults) CHECK(fault == "");
}
