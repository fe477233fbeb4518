// Plans by the C interface: what they say of themselves, what workspace they keep to, and how those run that bring none.
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "db/store/tuning_database.h"
#include "generator/text/shapes_file.h"
#include "generator/text/text.h"
#include "tests/support/api_call_testing.h"
#include "tests/support/api_testing.h"
#include "tests/support/temporary_directory.h"

using namespace api_testing;

namespace {

// A winner of 64x64x65536 that sums K in parts, which takes workspace.
void store_split_winner(const std::string& file, int ordinal) {
    const tmm::GemmProblem problem = tmm::parse_shape("64x64x65536").problem;
    const tmm::KernelConfig config = tmm::parse_config("simt 32x32x8 t4x4 s2 v4 peeled split8");
    tmm::TuningDatabase database(file, tmm::TuningDatabase::Mode::read_write_create);
    database.set_environment(tmm::Environment{.device = tmm::open_device(ordinal)->info()});
    database.decide(problem, {}, {.config = config, .median_us = 12.5, .candidates = 1, .reason = "the only one"});
}

}  // namespace

TEST_CASE("a plan describes itself, in as much room as there is, and outlives its handle") {
    for (const int ordinal : devices()) {
        CAPTURE(ordinal);
        Fixture on(ordinal);
        Call call(on);
        tmmPlan_t plan = nullptr;
        REQUIRE(tmmPlanCreate(on.handle, &call.problem, &plan) == TMM_STATUS_SUCCESS);
        char text[2048];
        REQUIRE(tmmPlanDescribe(plan, text, sizeof text) == TMM_STATUS_SUCCESS);
        const std::string all = text;
        CHECK(all.find("config: ") == 0);
        CHECK(all.find("\nmatch: predicted\n") != std::string::npos);
        CHECK(all.find("\nwhy: neither 4x5x6 nor") != std::string::npos);
        CHECK(all.find(" µs = ", all.find("\npredicted: ")) != std::string::npos);
        char few[10];
        REQUIRE(tmmPlanDescribe(plan, few, sizeof few) == TMM_STATUS_SUCCESS);
        CHECK(std::string(few) == all.substr(0, 9));

        tmmDestroy(on.handle);
        on.handle = nullptr;
        CHECK(tmmPlanRun(plan, nullptr, &call.args) == TMM_STATUS_SUCCESS);
        on.device->synchronize();
        CHECK(call.c.read()[0] == 6);
        CHECK(tmmPlanDestroy(plan) == TMM_STATUS_SUCCESS);
    }
}

TEST_CASE("max_workspace holds a plan's workspace to that; without the field there is no bound") {
    for (const int ordinal : devices()) {
        CAPTURE(ordinal);
        const tmm::testing::TemporaryDirectory directory;
        const std::string database = (directory.path() / "winners.db").string();
        store_split_winner(database, ordinal);
        const Fixture on(ordinal, database);
        Call call(on);
        CHECK(call.problem.max_workspace == SIZE_MAX);
        call.problem.m = call.problem.n = call.problem.ldb = call.problem.ldc = 64;
        call.problem.k = call.problem.lda = 65536;
        const auto workspace = [&] {
            tmmPlan_t plan = nullptr;
            REQUIRE_MESSAGE(tmmPlanCreate(on.handle, &call.problem, &plan) == TMM_STATUS_SUCCESS, tmmLastError(on.handle));
            std::size_t bytes = 0;
            CHECK(tmmPlanWorkspaceSize(plan, &bytes) == TMM_STATUS_SUCCESS);
            tmmPlanDestroy(plan);
            return bytes;
        };
        const std::size_t unbounded = workspace();
        REQUIRE(unbounded > 0);
        for (const std::size_t most : {std::size_t{0}, unbounded / 2, unbounded - 1}) {
            call.problem.max_workspace = most;
            CHECK(workspace() <= most);
        }
        for (const std::size_t most : {unbounded, unbounded + 1, SIZE_MAX / 2 + 2}) {
            call.problem.max_workspace = most;
            CHECK(workspace() == unbounded);
        }
        // This is the size in a header without the field: what stands in the field's place is not looked at.
        call.problem.struct_size = offsetof(tmmGemmProblem_t, max_workspace);
        call.problem.max_workspace = 0;
        CHECK(workspace() == unbounded);
    }
}

TEST_CASE("max_workspace is refused where a gate's sums need more with every kernel") {
    const Fixture on(TMM_DEVICE_HOST);
    Call call(on);
    // The sums of the product have 2 * 5 columns, in rows of 10 or more floats.
    call.problem.activation = TMM_ACTIVATION_SWIGLU;
    call.problem.ldb = 10;
    const auto create = [&](std::size_t most, tmmStatus_t (*how)(tmmHandle_t, const tmmGemmProblem_t*, tmmPlan_t*), std::size_t& bytes) {
        call.problem.max_workspace = most;
        tmmPlan_t plan = nullptr;
        const tmmStatus_t status = how(on.handle, &call.problem, &plan);
        if (plan) CHECK(tmmPlanWorkspaceSize(plan, &bytes) == TMM_STATUS_SUCCESS);
        tmmPlanDestroy(plan);
        return status;
    };
    for (const auto how : {tmmPlanCreate, tmmPlanCreateBare}) {
        std::size_t needed = 0;
        REQUIRE(create(SIZE_MAX, how, needed) == TMM_STATUS_SUCCESS);
        REQUIRE(needed >= 4 * 10 * sizeof(float));
        for (const std::size_t most : {std::size_t{0}, needed - 1}) {
            std::size_t none = 0;
            CHECK(create(most, how, none) == TMM_STATUS_WORKSPACE_TOO_SMALL);
            const std::string said = tmmLastError(on.handle);
            CHECK(said.find("max_workspace is " + std::to_string(most) + ", but no kernel of 4x5x6 epilogue=swiglu ") == 0);
            CHECK(said.find(" takes " + std::to_string(needed) + " bytes for the sums of the gate") != std::string::npos);
        }
        std::size_t bytes = 0;
        CHECK(create(needed, how, bytes) == TMM_STATUS_SUCCESS);
        CHECK(bytes == needed);
    }
    call.problem.max_workspace = 0;
    CHECK(tmmGemm(on.handle, &call.problem, &call.args) == TMM_STATUS_WORKSPACE_TOO_SMALL);
    char text[64];
    CHECK(tmmProblemDescribe(on.handle, &call.problem, text, sizeof text) == TMM_STATUS_WORKSPACE_TOO_SMALL);
    CHECK(call.c.read() == std::vector<float>(64, 7));
}

TEST_CASE("a bare plan runs in a workspace that is brought along, and keeps the caller to the promise of alignment") {
    for (const int ordinal : devices()) {
        CAPTURE(ordinal);
        const Fixture on(ordinal);
        Call call(on);
        tmmPlan_t plan = nullptr;
        CHECK(tmmPlanCreateBare(nullptr, &call.problem, &plan) == TMM_STATUS_INVALID_HANDLE);
        CHECK(tmmPlanCreateBare(on.handle, nullptr, &plan) == TMM_STATUS_NULL_POINTER);
        CHECK(tmmPlanCreateBare(on.handle, &call.problem, nullptr) == TMM_STATUS_NULL_POINTER);
        // Rows of 8 elements: the promise of 16 bytes is one.
        call.problem.lda = call.problem.ldb = call.problem.ldc = 8;
        call.problem.m = call.problem.n = call.problem.k = 1;
        REQUIRE_MESSAGE(tmmPlanCreateBare(on.handle, &call.problem, &plan) == TMM_STATUS_SUCCESS, tmmLastError(on.handle));
        REQUIRE(tmmPlanRun(plan, nullptr, &call.args) == TMM_STATUS_SUCCESS);
        on.device->synchronize();
        CHECK(call.c.read()[0] == 1);
        tmmGemmArgs_t shifted = call.args;
        shifted.b = static_cast<const float*>(shifted.b) + 1;
        CHECK(tmmPlanRun(plan, nullptr, &shifted) == TMM_STATUS_MISALIGNED_POINTER);
        CHECK(tmmPlanDestroy(plan) == TMM_STATUS_SUCCESS);
    }
}

TEST_CASE("a problem's description is that of the plan that it gets") {
    const Fixture on(TMM_DEVICE_HOST);
    Call call(on);
    char of_problem[2048];
    char of_plan[2048];
    CHECK(tmmProblemDescribe(nullptr, &call.problem, of_problem, sizeof of_problem) == TMM_STATUS_INVALID_HANDLE);
    CHECK(tmmProblemDescribe(on.handle, nullptr, of_problem, sizeof of_problem) == TMM_STATUS_NULL_POINTER);
    CHECK(tmmProblemDescribe(on.handle, &call.problem, nullptr, 8) == TMM_STATUS_NULL_POINTER);
    REQUIRE(tmmProblemDescribe(on.handle, &call.problem, of_problem, sizeof of_problem) == TMM_STATUS_SUCCESS);
    tmmPlan_t plan = nullptr;
    REQUIRE(tmmPlanCreateBare(on.handle, &call.problem, &plan) == TMM_STATUS_SUCCESS);
    REQUIRE(tmmPlanDescribe(plan, of_plan, sizeof of_plan) == TMM_STATUS_SUCCESS);
    CHECK(std::string(of_problem) == of_plan);
    tmmPlanDestroy(plan);
}
