// Configs and problems as JSON text: what is written reads back, equal ones are equal texts, and no other text is taken.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <map>
#include <string>
#include <tuple>

#include "db/store/field_text.h"
#include "db/store/fields.h"
#include "tests/support/config_testing.h"
#include "tests/support/database_fixture.h"

using namespace tmm;
using namespace tmm::testing;

namespace {

std::string fault_of_config(const std::string& text) {
    KernelConfig config;
    return read_field_text(text, config);
}

std::string fault_of_problem(const std::string& text) {
    GemmProblem problem;
    return read_field_text(text, problem);
}

}  // namespace

TEST_CASE("a text has what differs from neutral, under the fields' names, in their order") {
    CHECK(field_text(KernelConfig{}) == "{}");
    CHECK(field_text(GemmProblem{}) == "{}");
    KernelConfig config{.family = family::wgmma, .block_m = 128, .stages = 4, .boundary = boundary::hardware};
    CHECK(field_text(config) == R"({"family":"wgmma","block_m":128,"stages":4,"boundary":"hardware"})");
    CHECK(field_text(problem_of("64 32 16 dtype=bf16 ops=nt epilogue=bias+gelu")) ==
          R"({"m":64,"n":32,"k":16,"type_a":"bf16","type_b":"bf16","type_c":"bf16","op_b":"t","lda":16,"ldb":16,"ldc":32,"bias":"columns",)"
          R"("activation":"gelu","epilogue":"activation","type_bias":"bf16"})");
    // C's columns, as everywhere where a problem is written: op(B) has twice as many.
    CHECK(field_text(problem_of("64 32 16 dtype=f16 epilogue=swiglu")).starts_with(R"({"m":64,"n":32,"k":16,)"));
}

TEST_CASE("texts read back as what they were written of, and differ where that does") {
    std::mt19937 random(7);
    std::map<std::string, KernelConfig> known;
    for (int i = 0; i < 500; ++i) {
        const KernelConfig config = random_config(random);
        const std::string text = field_text(config);
        KernelConfig read;
        CHECK(read_field_text(text, read) == "");
        CHECK(read == config);
        const auto [place, is_new] = known.emplace(text, config);
        CHECK(place->second == config);
    }
    for (const char* shape : {"1x1x1", "7x5x3 ops=tt lda=9 ldb=11 ldc=13", "64 32 16 dtype=f64", "64 32 16 batch=5 align=4 beta=1",
                              "64 32 16 dtype=bf16 ctype=f32", "64 32 16 dtype=s8", "8 6 4 dtype=f16 epilogue=swiglu_rows", "64 1 1",
                              "8 6 4 batch=2 epilogue=bias_rows+silu+residual bias_type=f32 ldr=9"}) {
        CAPTURE(std::string(shape));
        GemmProblem read;
        GemmProblem written = problem_of(shape);
        CHECK(read_field_text(field_text(written), read) == "");
        // Measurements serve every mode.
        written.compute = read.compute;
        CHECK(read == written);
    }
}

TEST_CASE("both ends of each field's range read back, and what is beyond them is named") {
    for (const Parameter& parameter : kParameters) {
        CAPTURE(std::string(parameter.name));
        for (const int value : {least_value(parameter), most_value(parameter)}) {
            KernelConfig config, read;
            config.*parameter.member = value;
            CHECK(read_field_text(field_text(config), read) == "");
            CHECK(read == config);
            const int beyond = value == least_value(parameter) ? value - 1 : value + 1;
            config.*parameter.member = beyond;
            CHECK(read_field_text(field_text(config), read).starts_with(fmt::format("{} is {}, ", parameter.name, beyond)));
        }
    }
    for (const ProblemField& field : problem_fields()) {
        CAPTURE(std::string(field.name));
        for (const i64 value : {field.range.least, field.range.most}) {
            GemmProblem problem, read;
            field.set(problem, value);
            CHECK(read_field_text(field_text(problem), read) == "");
            CHECK(field.get(read) == value);
        }
        CHECK(fault_of_problem(fmt::format(R"({{"{}":-1}})", field.name)).starts_with(fmt::format("{} is -1, ", field.name)));
        CHECK(fault_of_problem(fmt::format(R"({{"{}":9223372036854775808}})", field.name)) ==
              fmt::format("{} is 9223372036854775808, which is too large", field.name));
    }
}

TEST_CASE("a text that tmm would not have written is refused, and says why") {
    const std::tuple<const char*, const char*> of_configs[] = {
        {"", "the config's fields are no JSON text (at byte"},
        {"{", "the config's fields are no JSON text (at byte"},
        {"nonsense", "the config's fields are no JSON text (at byte"},
        {R"({"family":"simt"} )", "the config's fields are not as tmm writes them"},
        {R"({"family":"simt"}{})", "the config's fields are no JSON text (at byte"},
        {R"({ "family":"simt"})", "the config's fields are not as tmm writes them"},
        {R"({"stages":2,"family":"simt"})", "the config's fields are not as tmm writes them"},
        {R"({"block_m":1})", "the config's fields are not as tmm writes them"},
        {R"({"family":"naive"})", "the config's fields are not as tmm writes them"},
        {R"({"stages":2,"stages":3})", "the config's fields are not as tmm writes them"},
        {R"({"st\u0061ges":2})", "the config's fields are not as tmm writes them"},
        {"[]", "the config's fields are no JSON object of numbers and names"},
        {"7", "the config's fields are no JSON object of numbers and names"},
        {R"([{"stages":2}])", "the config's fields are no JSON object of numbers and names"},
        {R"({"stages":{"a":2}})", "the config's fields are no JSON object of numbers and names"},
        {R"({"stages":[2]})", "stages is neither a whole number nor a name"},
        {R"({"stages":null})", "stages is neither a whole number nor a name"},
        {R"({"stages":true})", "stages is neither a whole number nor a name"},
        {R"({"stages":2.0})", "stages is neither a whole number nor a name"},
        {R"({"stages":1e1})", "stages is neither a whole number nor a name"},
        {R"({"stages":"two"})", "stages is 'two', no number"},
        {R"({"stages":65})", "stages is 65, outside 1 … 64"},
        {R"({"family":2})", "family is 2, none of its names"},
        {R"({"family":"reduce"})", "family is 'reduce', none of its names"},
        {R"({"family":""})", "family is '', none of its names"},
        {R"({"warps":2})", "'warps' is no field of a config"},
        {R"({"m":2})", "'m' is no field of a config"},
        {R"({"":2})", "'' is no field of a config"},
        {R"({"a\u001b[31m":2})", "'a [31m' is no field of a config"},
    };
    for (const auto& [text, fault] : of_configs) {
        CAPTURE(std::string(text));
        const std::string said = fault_of_config(text);
        CHECK_MESSAGE(said.starts_with(fault), said);
    }
    CHECK(fault_of_problem(R"({"compute":"tf32"})") == "'compute' is no field of a problem");
    CHECK(fault_of_problem(R"({"residual":1})") == "residual is 1, none of its names");
    CHECK(fault_of_problem(std::string(9000, '[')) == "the problem's fields are no JSON object of numbers and names");
    // Twice as many rows are no number.
    CHECK(fault_of_problem(R"({"m":9223372036854775807,"activation":"swiglu_rows"})") == "the problem's fields are not as tmm writes them");
}
