// Tests the C++ header: results, plans, exceptions and ownership.
#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/api_testing.h"
#include "tmm/tmm.hpp"

using namespace api_testing;

namespace {

tmm::Handle quiet_handle(const Scratch& scratch) {
    const LogCapture log;
    return tmm::Handle(TMM_DEVICE_HOST, scratch.file("none.db"));
}

}  // namespace

TEST_CASE("a handle multiplies on the device and on the host") {
    const Scratch scratch;
    tmm::Handle handle = quiet_handle(scratch);
    const Product p{.m = 4, .n = 3, .k = 5, .alpha = 2};
    const std::vector<float> a = normal_values(p.size_a(), 1), b = normal_values(p.size_b(), 2), before(p.size_c(), NAN);
    std::vector<float> c = before;
    handle.sgemm(TMM_ROW_MAJOR, TMM_NO_TRANS, TMM_NO_TRANS, 4, 3, 5, 2, a.data(), 5, b.data(), 3, 0, c.data(), 3);
    CHECK(difference(p, a, b, before, c) == "");
    c = before;
    handle.host_sgemm(TMM_ROW_MAJOR, TMM_NO_TRANS, TMM_NO_TRANS, 4, 3, 5, 2, a.data(), 5, b.data(), 3, 0, c.data(), 3);
    CHECK(difference(p, a, b, before, c) == "");
    c = before;
    const float alpha = 2, beta = 0;
    handle.gemm(tmm::problem(4, 3, 5), tmm::args(&alpha, a.data(), b.data(), &beta, c.data()));
    CHECK(difference(p, a, b, before, c) == "");
}

TEST_CASE("a plan runs, describes itself, moves, and may outlive its handle") {
    const Scratch scratch;
    tmm::Plan plan = quiet_handle(scratch).plan(tmm::problem(4, 3, 5, TMM_TRANS, TMM_TRANS));
    tmm::Plan moved = std::move(plan);
    CHECK(moved.describe().find("config: ") == 0);
    CHECK(moved.describe().find("match: predicted") != std::string::npos);
    const Product p{.op_a = TMM_TRANS, .op_b = TMM_TRANS, .m = 4, .n = 3, .k = 5};
    const std::vector<float> a = normal_values(p.size_a(), 1), b = normal_values(p.size_b(), 2), before(p.size_c(), NAN);
    std::vector<float> c = before;
    const float alpha = 1, beta = 0;
    tmmGemmArgs_t args = tmm::args(&alpha, a.data(), b.data(), &beta, c.data());
    const tmm::DeviceBuffer workspace(tmm::open_device(TMM_DEVICE_HOST), moved.workspace_size() + 256);
    args.workspace = workspace.data();
    args.workspace_size = moved.workspace_size();
    // Its kernels rewrite no operand.
    CHECK(moved.prepared_size(TMM_OPERAND_B) == 0);
    moved.prepare(TMM_OPERAND_B, b.data(), nullptr, 0);
    moved.run(args);
    CHECK(difference(p, a, b, before, c) == "");
}

TEST_CASE("a bare plan brings no workspace, and takes no pointers that are less aligned than its problem says") {
    const Scratch scratch;
    tmm::Handle handle = quiet_handle(scratch);
    const Product p{.m = 32, .n = 48, .k = 64};
    const std::vector<float> a = normal_values(p.size_a(), 1), b = normal_values(p.size_b(), 2), before(p.size_c(), NAN);
    const Fixture on(TMM_DEVICE_HOST);
    const OnDevice da(on, a), db(on, b), dc(on, before), da_off(on, a, 1);
    const float alpha = 1, beta = 0;
    const tmm::Plan plan = handle.bare_plan(tmm::problem(p.m, p.n, p.k));
    tmmGemmArgs_t args = tmm::args(&alpha, da.data(), db.data(), &beta, dc.data());
    const tmm::DeviceBuffer workspace(on.device, plan.workspace_size() + 256);
    args.workspace = workspace.data();
    args.workspace_size = plan.workspace_size();
    plan.run(args);
    CHECK(difference(p, a, b, before, dc.read()) == "");
    args.a = da_off.data();
    try {
        plan.run(args);
        FAIL("a pointer that breaks the promise was taken");
    } catch (const tmm::Exception& error) {
        CHECK(error.status() == TMM_STATUS_MISALIGNED_POINTER);
    }
}

TEST_CASE("a handle says of a problem what its plan will say") {
    const Scratch scratch;
    tmm::Handle handle = quiet_handle(scratch);
    const std::string described = handle.describe(tmm::problem(4, 3, 5));
    CHECK(described.find("config: ") == 0);
    CHECK(handle.plan(tmm::problem(4, 3, 5)).describe() == described);
    tmmGemmProblem_t problem = tmm::problem(4, 3, 5);
    problem.ldb = 2;
    CHECK_THROWS_AS(handle.describe(problem), tmm::Exception);
}

TEST_CASE("whatever in the C interface may fail has a counterpart that throws") {
    const auto content_of = [](const char* name) {
        std::ifstream file(std::string(TMM_SOURCE_DIR "/runtime/include/tmm/") + name);
        return std::string{std::istreambuf_iterator<char>(file), {}};
    };
    const std::string c = content_of("tmm.h"), cpp = content_of("tmm.hpp");
    const std::regex function("TMM_API tmmStatus_t (tmm[A-Za-z]+)\\(");
    int functions = 0;
    for (std::sregex_iterator found(c.begin(), c.end(), function), end; found != end; ++found, ++functions) {
        const std::string name = found->str(1);
        CHECK_MESSAGE(std::regex_search(cpp, std::regex("[( ]" + name + "[(,]")), name);
    }
    CHECK(functions > 15);
}

TEST_CASE("failures are exceptions with the status and the sentence") {
    const Scratch scratch;
    tmm::Handle handle = quiet_handle(scratch);
    tmmGemmProblem_t problem = tmm::problem(4, 3, 5);
    problem.ldb = 2;
    try {
        handle.plan(problem);
        FAIL("a short ldb was taken");
    } catch (const tmm::Exception& error) {
        CHECK(error.status() == TMM_STATUS_INVALID_LDB);
        CHECK(std::string(error.what()) == "ldb is 2, but a stored row of the matrix takes 3 elements");
    }
    const tmm::Plan plan = handle.plan(tmm::problem(4, 3, 5));
    try {
        plan.run(tmm::args(nullptr, nullptr, nullptr, nullptr, nullptr));
        FAIL("a null alpha was taken");
    } catch (const tmm::Exception& error) {
        CHECK(error.status() == TMM_STATUS_NULL_ALPHA);
    }
    CHECK_THROWS_AS(tmm::Handle(12345), tmm::Exception);
}
