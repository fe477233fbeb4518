// The spellings of the vocabulary: what is written parses back, and what can't be parsed says why.
#include <doctest/doctest.h>

#include <functional>
#include <string>

#include "generator/error.h"
#include "generator/shapes_file.h"
#include "generator/text.h"

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
    for (const auto epilogue : {Epilogue::none, Epilogue::bias, Epilogue::activation, Epilogue::custom})
        CHECK(parse_epilogue(name_of(epilogue)) == epilogue);
    CHECK(contains(usage_error([] { parse_element_type("float"); }), "one of f32, f16, bf16, f64"));
    CHECK(contains(usage_error([] { parse_compute_mode("fast"); }), "f32_strict"));
    CHECK(ops_name(Operation::transpose, Operation::none) == "tn");
}

TEST_CASE("every field of a config is written under its own name and parses back") {
    // The neutral values of the table are the struct's own.
    for (const Parameter& parameter : kParameters) CHECK(KernelConfig{}.*parameter.member == parameter.neutral);
    CHECK(to_text(KernelConfig{}) == "family=naive");
    KernelConfig all;
    for (const Parameter& parameter : kParameters) {
        CAPTURE(parameter.name);
        KernelConfig config;
        config.*parameter.member = parameter.neutral == 0 ? 1 : 0;
        all.*parameter.member = parameter.value_names ? parameter.value_count - 1 : 7;
        CHECK(contains(to_text(config), std::string(parameter.name) + "="));
        CHECK(parse_config(to_text(config)) == config);
    }
    CHECK(parse_config(to_text(all)) == all);
    CHECK(to_text(KernelConfig{.family = family::tiled, .block_m = 16, .block_n = 16, .block_k = 16, .boundary = boundary::exact}) ==
          "family=tiled,block_m=16,block_n=16,block_k=16,boundary=exact");
}

TEST_CASE("a config that can't be parsed names the field") {
    CHECK(contains(usage_error([] { parse_config(""); }), "not name=value"));
    CHECK(contains(usage_error([] { parse_config("family=tiled,"); }), "not name=value"));
    CHECK(contains(usage_error([] { parse_config("family=wmma"); }), "family: 'wmma'"));
    CHECK(contains(usage_error([] { parse_config("blockm=16"); }), "did you mean block_m?"));
    CHECK(contains(usage_error([] { parse_config("colour=4"); }), "its fields are family, block_m"));
    CHECK(contains(usage_error([] { parse_config("block_m=16,block_m=16"); }), "block_m is given twice"));
    for (const char* value : {"", "x", "-1", "1.5", "99999999999", "2147483647", "16 "}) {
        CAPTURE(value);
        CHECK(contains(usage_error([&] { parse_config(std::string("block_m=") + value); }), "block_m: '"));
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
