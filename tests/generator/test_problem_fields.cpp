// Tests what is made of the list of a problem's fields: none is lost on any way, and no value is taken that the list does not have.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "db/store/fields.h"
#include "db/store/record_text.h"
#include "generator/problem/problem_forms.h"
#include "generator/text/shapes_file.h"
#include "generator/text/text.h"
#include "tmm/vocabulary/problem_fields.h"
#include "tuner/worker/protocol.h"

using namespace tmm;

namespace {

GemmProblem some_problem() {
    return parse_shape(
               "6 6 6 batch=2 lda=8 ldb=8 ldc=8 stride_a=64 stride_b=64 stride_c=64 ops=nn epilogue=bias+gelu+residual bias_type=f16 ldr=8 "
               "stride_r=64")
        .problem;
}

// The problem with another value of the field, which fits the others.
GemmProblem changed(const ProblemField& field) {
    GemmProblem problem = some_problem();
    const i64 value = field.get(problem);
    if (field.range.power_of_two)
        field.set(problem, value / 2);
    else
        field.set(problem, value < field.range.most ? value + 1 : value - 1);
    if (!problem.residual) problem.ldr = problem.stride_r = 0;
    // With a bias no result is symmetric, and addresses have no strides.
    if (problem.result == Result::symmetric) problem.result = Result::lower;
    if (problem.pointers) problem.stride_a = problem.stride_b = problem.stride_c = 0;
    return problem;
}

// What the class is follows from the other fields of an epilogue.
bool follows(const ProblemField& field) {
    return std::string(field.name) == "epilogue";
}

}  // namespace

TEST_CASE("names, columns and keys are each field's own") {
    std::set<std::string> names, words;
    for (const ProblemField& field : kProblemFields) {
        CHECK(names.insert(field.name).second);
        // Fields of one word stand together.
        if (field.key) words.insert(std::string(field.key) + std::to_string(field.place));
        const GemmProblem neutral;
        CHECK(field.get(neutral) <= field.range.most);
        if (field.key) CHECK(field.get(neutral) == field.unwritten(neutral));
    }
    CHECK(words.size() == kProblemFieldCount - 3 - 1 - 3);
}

TEST_CASE("a message to the worker carries every field from end to end of its range, and nothing beyond") {
    for (const ProblemField& field : kProblemFields) {
        CAPTURE(std::string(field.name));
        for (const i64 value : {field.range.least, field.range.most}) {
            PrepareRequest request{.problem = some_problem()};
            field.set(request.problem, value);
            const std::string line = encode(Request{request});
            CHECK(std::get<PrepareRequest>(decode_request(line)) == request);
            for (const i64 beyond : {field.range.least - 1, field.range.most < 1000000000 ? field.range.most + 1 : field.range.least - 2}) {
                auto json = nlohmann::json::parse(line);
                json["prepare"]["problem"][field.name] = beyond;
                CHECK_THROWS(decode_request(json.dump()));
            }
            auto json = nlohmann::json::parse(line);
            json["prepare"]["problem"].erase(field.name);
            CHECK_THROWS(decode_request(json.dump()));
        }
    }
}

TEST_CASE("a change of any field changes the problem's hash, its text and its row of an export, which read back") {
    const GemmProblem base = some_problem();
    std::set<std::uint64_t> hashes = {hash_of(base)};
    std::set<std::string> texts = {to_text(base)};
    for (const ProblemField& field : kProblemFields) {
        CAPTURE(std::string(field.name));
        if (follows(field)) continue;
        const GemmProblem other = changed(field);
        REQUIRE(why_inconsistent(other) == "");
        CHECK(hashes.insert(hash_of(other)).second);
        CHECK(texts.insert(to_text(other)).second);
        CHECK(parse_shape(to_text(other)).problem == other);
        TuningRecord record{.kind = TuningRecord::Kind::selection, .environment = {}, .problem = other, .config = {}, .measurement = {}};
        record.environment.device.name = "host";
        const auto read = parse_records(to_csv({record}), "export");
        REQUIRE(read.size() == 1);
        CHECK(read[0].problem == other);
    }
    CHECK(hash_of(base, 1) != hash_of(base, 2));
}

TEST_CASE("the keys of a shapes file are those of the list, and what no kernel serves yet is named all the same") {
    try {
        (void)parse_shape("8 8 8 colour=red");
        FAIL("taken");
    } catch (const Error& error) {
        for (const ProblemField& field : kProblemFields)
            if (field.key) CHECK(error.remedy().find(field.key) != std::string::npos);
        for (const char* key : {"layout", "alpha", "beta"}) CHECK(error.remedy().find(key) != std::string::npos);
    }
    CHECK(parse_shape("8 8 8 dtype=f64 compute=f64").problem.type_a == ElementType::f64);
}
