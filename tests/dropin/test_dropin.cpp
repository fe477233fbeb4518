// What the drop-in libraries understand of their environment and of calls.
#include <doctest/doctest.h>

#include <iterator>
#include <string>
#include <tuple>

#include "generator/text/shapes_file.h"
#include "runtime/dropin/blas/ab_timing.h"
#include "runtime/dropin/blas/gemm_call.h"
#include "runtime/dropin/record/shape_text.h"
#include "runtime/dropin/settings.h"

using namespace tmm::dropin;

TEST_CASE("without variables, and with empty ones, products are served by GPU 0") {
    for (const char* text : {static_cast<const char*>(nullptr), ""}) {
        const Settings s = parse_settings(text, text, text, text);
        CHECK(s.mode == Mode::use);
        CHECK(s.device == 0);
        CHECK(s.record.empty());
        CHECK(s.log == LogLevel::warn);
        CHECK(s.log_file.empty());
        CHECK(s.complaint.empty());
    }
}

TEST_CASE("variables say what they say") {
    CHECK(parse_settings("off", nullptr, nullptr, nullptr).mode == Mode::off);
    CHECK(parse_settings("tune", nullptr, nullptr, nullptr).mode == Mode::tune);
    const Settings s = parse_settings("record", "3", "f.txt", "debug:/tmp/a:b");
    CHECK(s.mode == Mode::record);
    CHECK(s.device == 3);
    CHECK(s.record == "f.txt");
    CHECK(s.log == LogLevel::debug);
    CHECK(s.log_file == "/tmp/a:b");
    CHECK(s.complaint.empty());
    CHECK(parse_settings("use", "host", nullptr, "info").device == TMM_DEVICE_HOST);
    CHECK(s.device_is_named);
    CHECK_FALSE(parse_settings(nullptr, nullptr, nullptr, nullptr).device_is_named);
    CHECK(s.settled == std::nullopt);
    for (const char* settled : {"0", "1"})
        CHECK(parse_settings(nullptr, nullptr, nullptr, nullptr, nullptr, settled).settled == (*settled == '1'));
    CHECK(s.workspace_limit == std::nullopt);
    CHECK(parse_settings(nullptr, nullptr, nullptr, nullptr, "64MiB").workspace_limit == 64 << 20);
    CHECK(parse_settings(nullptr, nullptr, nullptr, nullptr, "0").workspace_limit == 0);
}

TEST_CASE("what is not understood is said, and leaves the usual") {
    const Settings s = parse_settings("fast", "-1", nullptr, "loud");
    CHECK(s.mode == Mode::use);
    CHECK(s.device == 0);
    CHECK(s.log == LogLevel::warn);
    for (const char* word : {"TMM_MODE=fast", "TMM_DEVICE=-1", "TMM_LOG=loud"}) CHECK(s.complaint.find(word) != std::string::npos);
    for (const char* device : {"1x", "99999999999", " 1", "0x1", "gpu"})
        CHECK_FALSE(parse_settings(nullptr, device, nullptr, nullptr).complaint.empty());
    const Settings unlimited = parse_settings(nullptr, nullptr, nullptr, nullptr, "64MB");
    CHECK(unlimited.workspace_limit == std::nullopt);
    CHECK(unlimited.complaint.find("TMM_WORKSPACE_LIMIT=64MB") != std::string::npos);
    const Settings unsettled = parse_settings(nullptr, nullptr, nullptr, nullptr, nullptr, "yes");
    CHECK(unsettled.settled == std::nullopt);
    CHECK(unsettled.complaint.find("TMM_SETTLED=yes") != std::string::npos);
    const Settings nowhere = parse_settings("record", nullptr, nullptr, nullptr);
    CHECK(nowhere.mode == Mode::off);
    CHECK(nowhere.complaint.find("TMM_RECORD") != std::string::npos);
}

TEST_CASE("what has no effect is said, but where nothing is asked for") {
    const auto complaint = [](const char* mode, const char* record, const char* log) {
        return parse_settings(mode, nullptr, record, log).complaint;
    };
    CHECK(complaint(nullptr, "f.txt", nullptr) == "TMM_RECORD has no effect without TMM_MODE=record");
    CHECK(complaint(nullptr, nullptr, "info:") == "TMM_LOG=info: names no file behind its colon");
    CHECK(complaint("use", "f.txt", "info") == "");
    CHECK(complaint("off", "f.txt", "loud:") == "");
}

TEST_CASE("a problem is written as a line that a shapes file reads as the same problem") {
    tmmGemmProblem_t p{};
    tmmGemmProblemInit(&p);
    p.m = 4;
    p.n = 5;
    p.k = 6;
    set_packed(p);
    CHECK(shape_text(p) == "4 5 6");
    p.layout = TMM_COL_MAJOR;
    p.op_a = TMM_TRANS;
    p.batch = 2;
    set_packed(p);
    CHECK(shape_text(p) == "4 5 6 ops=tn layout=col batch=2");
    p.lda += 2;
    p.stride_a = p.lda * 4;
    p.type_a = p.type_b = p.type_c = TMM_BF16;
    p.alignment = 8;
    p.reads_c = 1;
    CHECK(shape_text(p) == "4 5 6 dtype=bf16 ops=tn layout=col batch=2 lda=8 align=8 beta=1");
    p.has_bias = 1;
    p.bias_axis = TMM_BIAS_ROWS;
    p.type_bias = TMM_BF16;
    p.activation = TMM_ACTIVATION_GELU_TANH;
    CHECK(shape_text(p) == "4 5 6 dtype=bf16 ops=tn layout=col batch=2 lda=8 align=8 beta=1 epilogue=bias_rows+gelu_tanh");
    p.type_bias = TMM_F32;
    p.activation = TMM_ACTIVATION_NONE;
    const std::string line = "4 5 6 dtype=bf16 ops=tn layout=col batch=2 lda=8 align=8 beta=1 epilogue=bias_rows bias_type=f32";
    CHECK(shape_text(p) == line);
    // The row-major problem has A and B exchanged.
    CHECK(tmm::parse_shape(line).problem.ldb == 8);
    CHECK(tmm::parse_shape(line).problem.type_bias == tmm::ElementType::f32);
    p.has_bias = 0;
    p.activation = TMM_ACTIVATION_RELU;
    CHECK(shape_text(p).ends_with(" epilogue=relu"));
    // The mode of doubles goes without saying.
    p = {};
    tmmGemmProblemInit(&p);
    p.m = 4;
    p.n = 5;
    p.k = 6;
    p.type_a = p.type_b = p.type_c = TMM_F64;
    p.compute = TMM_COMPUTE_F64;
    set_packed(p);
    CHECK(shape_text(p) == "4 5 6 dtype=f64");
    CHECK(tmm::parse_shape(shape_text(p)).problem.compute == tmm::ComputeMode::f64);
    p.type_a = p.type_b = TMM_S8;
    p.type_c = TMM_S32;
    p.compute = TMM_COMPUTE_S32;
    CHECK(shape_text(p) == "4 5 6 dtype=s8");
    CHECK(tmm::parse_shape(shape_text(p)).problem.type_c == tmm::ElementType::s32);
}

TEST_CASE("triangles, arrays of pointers and the promise of same bits are keys of a shape") {
    tmmGemmProblem_t p{};
    tmmGemmProblemInit(&p);
    p.m = p.n = 5;
    p.k = 6;
    p.layout = TMM_COL_MAJOR;
    p.op_b = TMM_TRANS;
    for (const auto& [result, text, read] :
         {std::tuple(TMM_RESULT_LOWER, "lower", tmm::Result::upper), std::tuple(TMM_RESULT_UPPER, "upper", tmm::Result::lower),
          std::tuple(TMM_RESULT_SYMMETRIC, "symmetric", tmm::Result::symmetric)}) {
        p.result = result;
        set_packed(p);
        CHECK(shape_text(p) == std::string("5 5 6 ops=nt layout=col result=") + text);
        // The row-major problem has the transpose of C.
        CHECK(tmm::parse_shape(shape_text(p)).problem.result == read);
    }
    p.result = TMM_RESULT_FULL;
    p.batch = 3;
    p.pointer_array = 1;
    p.invariant = 1;
    // Where each matrix stands only the call says.
    for (const std::int64_t stride : {0, 7}) {
        p.stride_a = p.stride_b = p.stride_c = stride;
        CHECK(shape_text(p) == "5 5 6 ops=nt layout=col batch=3 pointers=1 invariant=1");
    }
    CHECK(tmm::parse_shape(shape_text(p)).problem.pointers);
    CHECK(tmm::parse_shape(shape_text(p)).problem.invariant);
}

TEST_CASE("arguments that a BLAS refuses are left to it") {
    const GemmCall good{TMM_F32, TMM_COL_MAJOR, TMM_NO_TRANS, TMM_TRANS, 4, 5, 6, 1, nullptr, 4, nullptr, 5, 0, nullptr, 4};
    CHECK(is_valid(good));
    const auto with = [&](auto member, auto value) {
        GemmCall call = good;
        call.*member = value;
        return is_valid(call);
    };
    CHECK_FALSE(with(&GemmCall::m, -1));
    CHECK_FALSE(with(&GemmCall::n, -1));
    CHECK_FALSE(with(&GemmCall::k, -1));
    CHECK_FALSE(with(&GemmCall::lda, 3));
    CHECK_FALSE(with(&GemmCall::ldb, 4));
    CHECK_FALSE(with(&GemmCall::ldc, 3));
    CHECK_FALSE(with(&GemmCall::op_a, static_cast<tmmOperation_t>(0)));
    CHECK_FALSE(with(&GemmCall::op_b, static_cast<tmmOperation_t>(7)));
    CHECK_FALSE(with(&GemmCall::layout, static_cast<tmmLayout_t>(100)));
    CHECK(with(&GemmCall::layout, TMM_ROW_MAJOR) == false);
    CHECK(with(&GemmCall::op_a, TMM_CONJ_TRANS) == false);
    CHECK(with(&GemmCall::m, 0));
    CHECK_FALSE(with(&GemmCall::result, static_cast<tmmResult_t>(-1)));
    CHECK(with(&GemmCall::result, TMM_RESULT_UPPER));
    const GemmCall row{TMM_F64, TMM_ROW_MAJOR, TMM_TRANS, TMM_NO_TRANS, 4, 5, 6, 1, nullptr, 4, nullptr, 5, 0, nullptr, 5};
    CHECK(is_valid(row));
}

TEST_CASE("products that tmm does not take are left to the BLAS behind") {
    const GemmCall nothing{TMM_F64, TMM_COL_MAJOR, TMM_NO_TRANS, TMM_NO_TRANS, 0, 5, 6, 1, nullptr, 1, nullptr, 6, 0, nullptr, 1};
    CHECK_FALSE(may_be_served(nothing));
    CHECK(multiply(nothing) == Turn::behind);
}

TEST_CASE("where there is no BLAS a loop multiplies, and leaves the other triangle alone") {
    const double a[] = {1, 2, 3, 4, 5, 6};
    for (const tmmResult_t result : {TMM_RESULT_FULL, TMM_RESULT_LOWER, TMM_RESULT_UPPER}) {
        CAPTURE(result);
        double c[] = {-1, -1, -1, -1};
        multiply_without_blas(
            {TMM_F64, TMM_ROW_MAJOR, TMM_NO_TRANS, TMM_TRANS, 2, 2, 3, 1, std::data(a), 3, std::data(a), 3, 0, std::data(c), 2, result});
        CHECK(c[0] == 14);
        CHECK(c[1] == (result == TMM_RESULT_LOWER ? -1 : 32));
        CHECK(c[2] == (result == TMM_RESULT_UPPER ? -1 : 32));
        CHECK(c[3] == 77);
    }
}

TEST_CASE("a shape goes to whoever was faster, once both have had a call that was timed") {
    using Who = AbTiming::Who;
    for (const auto& [of_tmm, winner] : {std::pair{0.5, Who::tmm}, std::pair{1.0, Who::behind}, std::pair{2.0, Who::behind}}) {
        AbTiming ab_timing;
        CHECK(ab_timing.next() == Who::behind);
        ab_timing.note(Who::behind, 1.0);
        // The first call of tmm's compiles, and counts for nothing.
        CHECK(ab_timing.next() == Who::tmm);
        ab_timing.note(Who::tmm, 100.0);
        CHECK_FALSE(ab_timing.is_decided());
        CHECK(ab_timing.next() == Who::tmm);
        ab_timing.note(Who::tmm, of_tmm);
        CHECK(ab_timing.is_decided());
        for (int call = 0; call < 3; ++call) {
            CHECK(ab_timing.next() == winner);
            // Later times change nothing.
            ab_timing.note(winner, winner == Who::tmm ? 50.0 : 0.01);
        }
        CHECK(ab_timing.behind() == 1.0);
        CHECK(ab_timing.of_tmm() == of_tmm);
    }
}

TEST_CASE("a shape that tmm refuses stays with the BLAS behind") {
    AbTiming ab_timing;
    ab_timing.note(AbTiming::Who::behind, 1.0);
    ab_timing.refuse();
    for (int call = 0; call < 3; ++call) {
        CHECK(ab_timing.next() == AbTiming::Who::behind);
        ab_timing.note(AbTiming::Who::behind, 1.0);
    }
    CHECK_FALSE(ab_timing.is_decided());
}
