// The spellings of the vocabulary: what is written parses back, and what can't be parsed says why.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <random>
#include <set>
#include <sstream>
#include <string>

#include "base/error.h"
#include "generator/text/shapes_file.h"
#include "generator/text/text.h"
#include "tests/support/config_testing.h"

using namespace tmm;

namespace {

std::string usage_error(const std::function<void()>& action) {
    try {
        action();
    } catch (const Error& error) {
        CHECK(error.status() == ExitStatus::usage);
        return error.what();
    }
    return "no error";
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("enumerators have names that parse back") {
    for (const auto type : {ElementType::f32, ElementType::f16, ElementType::bf16, ElementType::f64})
        CHECK(parse_element_type(name_of(type)) == type);
    for (const auto mode : {ComputeMode::f32, ComputeMode::f32_strict, ComputeMode::tf32, ComputeMode::f64})
        CHECK(parse_compute_mode(name_of(mode)) == mode);
    CHECK(contains(usage_error([] { parse_element_type("float"); }), "one of f32, f16, bf16"));
    CHECK(contains(usage_error([] { parse_compute_mode("fast"); }), "f32_strict"));
    CHECK(ops_name(Operation::transpose, Operation::none) == "tn");
}

TEST_CASE("a config is written as its family, its tile and what differs from neutral") {
    const auto spelled = [](const char* fields) { return to_text(parse_config(fields)); };
    // The neutral values of the table are the struct's own.
    for (const Parameter& parameter : kParameters) CHECK(KernelConfig{}.*parameter.member == parameter.neutral);
    CHECK(to_text(KernelConfig{}) == "naive");
    CHECK(spelled("family=tiled,block_m=16,block_n=16,block_k=16,boundary=exact") == "tiled 16x16x16 exact");
    CHECK(spelled("family=naive,block_m=8,block_n=32") == "naive 8x32x1");
    CHECK(spelled("family=wgmma,block_m=128,block_n=256,block_k=64,stages=4,vector_width=8,boundary=hardware,warps_m=2,multicast_b=2") ==
          "wgmma 128x256x64 w2 s4 c2x1");
    CHECK(spelled("family=wgmma,block_m=64,block_n=64,block_k=64,vector_width=4,boundary=guarded,warps_n=2,multicast_a=2,ping_pong=1") ==
          "wgmma 64x64x64 w1x2 v4 guarded c1x2 pingpong");
    CHECK(spelled("family=simt,block_m=16,block_n=64,block_k=64,thread_m=8,thread_n=4,stages=2,async_copy=3,vector_width=4,"
                  "boundary=exact,split_k=2,min_blocks=4,swap_ab=1,pack_ab=1,cluster=2,overlap=1,fma_order=3,slice_k=4,raster=8") ==
          "simt 16x64x64 t8x4 s2 async3 v4 exact cluster2 split2 slice4 order3 o4 swap pack1 raster8 overlap");
}

TEST_CASE("both spellings of a config parse back to it") {
    std::mt19937 random(41);
    for (int i = 0; i < 3000; ++i) {
        const KernelConfig config = random_config(random);
        const std::string text = to_text(config);
        CAPTURE(text);
        REQUIRE(parse_config(text) == config);
        // A value that a family implies is not neutral, so the fields' spelling of a config without it differs from the config that it
        // reads as.
        KernelConfig named = config;
        for (const Parameter& parameter : kParameters)
            if (named.*parameter.member == parameter.neutral) named.*parameter.member = unwritten_value(parameter, config.family);
        REQUIRE(parse_config(fields_text(config)) == named);
        CHECK(text.size() <= fields_text(config).size());
    }
    const KernelConfig config = parse_config("simt 128x64x16 t8x4 s3 guarded async");
    for (const char* text :
         {"simt,128x64x16,t8x4,s3,async", "  s3 async1 128x64x16\tt8x4, simt ",
          "family=simt block_m=128,block_n=64 block_k=16 t8x4 stages=3 async", "simt 128x64x16 t8x4 s3 async v1 split1 swap0"})
        CHECK(parse_config(text) == config);
    CHECK(parse_config("mma 64x64 w2").warps_n == 1);
    CHECK(parse_config("wgmma 64x64x64").boundary == boundary::hardware);
    CHECK(parse_config("wgmma 64x64x64 peeled").boundary == boundary::peeled);
}

TEST_CASE("different configs have different texts") {
    std::mt19937 random(42);
    for (const Parameter& parameter : kParameters) {
        CAPTURE(parameter.name);
        const KernelConfig config = random_config(random);
        std::set<std::string> texts;
        const int values = parameter.value_names ? parameter.value_count : 20;
        for (int value = 0; value < values; ++value) {
            KernelConfig changed = config;
            changed.*parameter.member = value;
            texts.insert(to_text(changed));
        }
        CHECK(texts.size() == static_cast<std::size_t>(values));
    }
}

TEST_CASE("sentences that an older program stored are shown with short configs") {
    CHECK(with_short_configs("beat family=simt,block_m=4,block_n=32,block_k=32,thread_m=4,stages=6 by 0.0% in a run-off of 9") ==
          "beat simt 4x32x32 t4x1 s6 by 0.0% in a run-off of 9");
    CHECK(with_short_configs("family=naive, not family=naive,block_m=8; and family=odd,x=1") ==
          "naive, not naive 8x1x1; and family=odd,x=1");
    CHECK(with_short_configs("the only candidate") == "the only candidate");
}

TEST_CASE("a config that can't be parsed names what is wrong") {
    for (const char* empty : {"", "  ", ","}) CHECK(contains(usage_error([&] { parse_config(empty); }), "the config is empty"));
    CHECK(contains(usage_error([] { parse_config("family=wmma"); }), "family: 'wmma'"));
    // Steps around products are no families, and a number that no family has can't be named.
    CHECK(contains(usage_error([] { parse_config("family=reduce"); }), "one of naive, tiled, simt, gemv, wgmma, mma, skinny"));
    CHECK(contains(usage_error([] { parse_config("family="); }), "family: ''"));
    CHECK(contains(usage_error([] { parse_config("wgma 64x64x64"); }), "did you mean wgmma?"));
    CHECK(contains(usage_error([] { parse_config("simt garded"); }), "did you mean guarded?"));
    CHECK(contains(usage_error([] { parse_config("simt splt4"); }), "did you mean split?"));
    CHECK(contains(usage_error([] { parse_config("blockm=16"); }), "did you mean block_m?"));
    CHECK(contains(usage_error([] { parse_config("telescopes=4"); }), "no field 'telescopes'"));
    CHECK(contains(usage_error([] { parse_config("block_m=16,block_m=16"); }), "block_m is given twice"));
    CHECK(contains(usage_error([] { parse_config("block_n=16,16x16x16"); }), "block_n is given twice"));
    CHECK(contains(usage_error([] { parse_config("simt tiled"); }), "family is given twice"));
    CHECK(contains(usage_error([] { parse_config("simt s"); }), "'s' in a config lacks its number"));
    CHECK(contains(usage_error([] { parse_config("simt 1x2x3x4"); }), "too many numbers"));
    CHECK(contains(usage_error([] { parse_config("simt s2x2"); }), "too many numbers"));
    for (const char* token : {"16x", "16xx2", "t4x", "t-4", "s99999999999", "v1.5", "s4x"}) {
        CAPTURE(token);
        CHECK(usage_error([&] { parse_config(std::string("simt ") + token); }) != "no error");
    }
    for (const char* value : {"", "x", "-1", "1.5", "99999999999", "2147483647"}) {
        CAPTURE(value);
        CHECK(contains(usage_error([&] { parse_config(std::string("block_m=") + value); }), "block_m: '"));
    }
}

TEST_CASE("help on configs has every field and the names of its values") {
    const std::vector<ConfigFieldHelp> fields = config_field_help();
    CHECK(fields.size() == kParameterCount);
    for (const Parameter& parameter : kParameters) {
        CAPTURE(parameter.name);
        const auto field = std::find_if(fields.begin(), fields.end(), [&](const auto& help) { return help.name == parameter.name; });
        REQUIRE(field != fields.end());
        CHECK(contains(field->help, parameter.help));
        for (int i = 0; i < parameter.value_count; ++i) CHECK(contains(field->help, parameter.value_names[i]));
        CHECK_FALSE(contains(field->help, ", ,"));
    }
}

TEST_CASE("a problem's text parses back to the same problem") {
    const char* lines[] = {
        "1024x1024x1024",
        "1000x999x998 ops=nt",
        "100x90x80 lda=96",
        "100x90x80 ops=tt lda=128 ldb=81 ldc=91",
        "100x90x80 batch=4",
        "100x90x80 batch=4 ldb=92 stride_a=0 stride_c=9999",
        "8x8x8 dtype=bf16",
        "8x8x8 dtype=bf16 ctype=f32",
        "8x8x8 dtype=f16 btype=bf16 ctype=f32",
        "8x8x8 dtype=f64",
        "8x8x8 compute=f32_strict",
        "8x8x8 align=4 beta=1 epilogue=bias",
        "8x8x8 dtype=bf16 epilogue=bias_rows+gelu_tanh+residual bias_type=f32 ldr=9",
        "8x8x8 batch=2 epilogue=residual stride_r=0",
        "1x1x1",
    };
    for (const char* line : lines) {
        CAPTURE(line);
        const GemmProblem problem = parse_shape(line).problem;
        CHECK(to_text(problem) == line);
        CHECK(parse_shape(to_text(problem)).problem == problem);
    }
    // Defaults are not spelled out, whatever the line said.
    CHECK(to_text(parse_shape("8 8 8 lda=8 ops=nn dtype=f32 compute=f32 batch=1 align=16").problem) == "8x8x8");
    const GemmProblem column = parse_shape("100 90 80 layout=col ops=tn batch=3 lda=99").problem;
    CHECK(parse_shape(to_text(column)).problem == column);
}

TEST_CASE("an epilogue is read from words in any order, and what is wrong with one is said") {
    const GemmProblem p = parse_shape("8x8x8 epilogue=residual+silu+bias").problem;
    CHECK(p.bias == BiasAxis::columns);
    CHECK(p.activation == Activation::silu);
    CHECK(p.residual);
    CHECK(p.epilogue == Epilogue::activation);
    CHECK(p.ldr == 8);
    CHECK(parse_shape("8x8x8 epilogue=none").problem == parse_shape("8x8x8").problem);
    // The bias of a column-major C lies along the other axis of its transpose.
    CHECK(parse_shape("8x4x8 layout=col epilogue=bias").problem.bias == BiasAxis::rows);
    CHECK(parse_shape("8x4x8 layout=col epilogue=residual").problem.ldr == 8);
    const auto fault = [](const std::string& text) { return usage_error([&] { (void)parse_shape("8x8x8 " + text); }); };
    CHECK(contains(fault("epilogue=bias+swish"), "'swish' is no part of an epilogue; join some of bias, bias_rows, relu"));
    CHECK(contains(fault("epilogue=relu+silu"), "'silu' is given beside 'relu'"));
    CHECK(contains(fault("epilogue=bias+bias"), "'bias' is given beside 'bias'"));
    CHECK(contains(fault("epilogue=bias+"), "'' is no part"));
    CHECK(contains(fault("epilogue=custom"), "can't be given here"));
    CHECK(contains(fault("epilogue=relu bias_type=f16"), "bias_type says nothing where the epilogue has no bias"));
    CHECK(contains(fault("ldr=9"), "ldr says nothing where the epilogue has no residual"));
    CHECK(contains(fault("epilogue=residual ldr=7"), "ldr = 7 is shorter"));
}
