// Generated text: what the stub says, that names tell kernels apart, and what a kernel's hash depends on.
#include <doctest/doctest.h>

#include <cctype>
#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "generator/families/family.h"
#include "generator/kernel/kernel_source.h"
#include "generator/text/text.h"

using namespace tmm;

namespace {

const KernelConfig kSimt{.family = family::simt,
                         .block_m = 128,
                         .block_n = 64,
                         .block_k = 16,
                         .thread_m = 8,
                         .thread_n = 4,
                         .stages = 3,
                         .async_copy = 1,
                         .vector_width = 4,
                         .boundary = boundary::peeled};

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

std::vector<KernelSignature> many_signatures() {
    std::vector<KernelSignature> signatures;
    for (const auto types : {ElementType::f32, ElementType::f16, ElementType::bf16, ElementType::f64})
        for (const auto type_c : {types, ElementType::f32})
            for (const auto compute : {ComputeMode::f32, ComputeMode::f32_strict, ComputeMode::tf32, ComputeMode::f64})
                for (int bits = 0; bits < 64; ++bits) {
                    KernelSignature s{.type_a = types, .type_b = types, .type_c = type_c, .compute = compute};
                    s.op_a = static_cast<Operation>(bits & 1);
                    s.op_b = static_cast<Operation>(bits >> 1 & 1);
                    s.batched = bits >> 2 & 1;
                    s.reads_c = bits >> 3 & 1;
                    s.align_a = bits >> 4 & 1 ? 16 : size_of(types);
                    s.align_b = bits >> 5 & 1 ? 8 : size_of(types);
                    s.align_c = size_of(type_c);
                    signatures.push_back(s);
                }
    return signatures;
}

std::vector<KernelConfig> many_configs() {
    std::vector<KernelConfig> configs;
    for (const Family* const its_family : families()) {
        const int family = its_family->number;
        KernelConfig base = kSimt;
        base.family = family;
        for (const KernelConfig& start : {base, KernelConfig{.family = family}}) {
            configs.push_back(start);
            // Each field is changed by itself, over values that could be mistaken for one another's.
            for (const Parameter& parameter : kParameters) {
                if (parameter.member == &KernelConfig::family) continue;
                for (const int value : {0, 1, 2, 4, 12, 16, 128}) {
                    if (parameter.value_names && !has_name(parameter, value)) continue;
                    KernelConfig config = start;
                    config.*parameter.member = value;
                    configs.push_back(config);
                }
            }
        }
    }
    return configs;
}

// One kernel of each family, and several of each step.
std::vector<PlanKernel> many_kernels() {
    std::vector<PlanKernel> kernels{Pack{.a = true},
                                    Pack{.b = true},
                                    Pack{.a = true, .b = true, .strips = true, .blocks_per_sm = 3},
                                    Pack{.a = true, .blocks_per_sm = 4},
                                    Pad{.a = true},
                                    Pad{.b = true},
                                    Pad{.a = true, .b = true},
                                    Planes{},
                                    Planes{.planes = 3, .cluster = 8, .slots = 3},
                                    Planes{.planes = 2, .cluster = 3, .slots = 2},
                                    Planes{.planes = 2, .cluster = 2, .slots = 3},
                                    Reduce{},
                                    Reduce{.sharers = 4, .columns = 64},
                                    Reduce{.sharers = 46, .columns = 4},
                                    Finishing{},
                                    Finishing{.across = 16, .down = 8, .rows = 2},
                                    Finishing{.across = 8, .down = 16, .rows = 2},
                                    Fixup{.block_m = 64, .block_n = 128, .block_k = 16},
                                    Fixup{.block_m = 128, .block_n = 64, .block_k = 16},
                                    Rescue{.tile = kSimt},
                                    Mirror{},
                                    Mirror{.side = 64}};
    for (const Family* const family : families()) {
        KernelConfig config = kSimt;
        config.family = family->number;
        kernels.emplace_back(config);
    }
    Rescue other{.tile = kSimt};
    other.tile.block_n = 128;
    kernels.emplace_back(other);
    return kernels;
}

}  // namespace

TEST_CASE("the stub names signature, config and kernel, and nothing else") {
    const KernelSignature signature{.op_b = Operation::transpose, .align_a = 16, .align_b = 16, .align_c = 8, .reads_c = true};
    const KernelSource source = make_kernel_source(signature, kSimt);
    CHECK(source.name == "tmm_simt_f32_nt_a16b16c8_beta_128x64x16_t8x4_s3_async_v4_peeled");
    REQUIRE(source.entries.size() == 1);
    CHECK(source.entries[0].name == source.name);
    CHECK(source.entries[0].args_type == "tmm::GemmArgs");
    CHECK(source.text ==
          R"(#include "tmm/families/simt/kernel.cuh"

namespace {
struct Kernel {
    static constexpr tmm::KernelSignature signature{
        .type_a = tmm::ElementType::f32, .type_b = tmm::ElementType::f32, .type_c = tmm::ElementType::f32,
        .compute = tmm::ComputeMode::f32, .op_a = tmm::Operation::none, .op_b = tmm::Operation::transpose,
        .align_a = 16, .align_b = 16, .align_c = 8, .reads_c = true};
    static constexpr tmm::KernelConfig config{
        .family = tmm::family::simt, .block_m = 128, .block_n = 64, .block_k = 16, .thread_m = 8,
        .thread_n = 4, .stages = 3, .async_copy = 1, .vector_width = 4, .boundary = tmm::boundary::peeled};
};
}  // namespace

extern "C" __global__ void __launch_bounds__(tmm::simt::threads(Kernel::config), Kernel::config.min_blocks)
    tmm_simt_f32_nt_a16b16c8_beta_128x64x16_t8x4_s3_async_v4_peeled(const __grid_constant__ tmm::GemmArgs args) {
    tmm::simt::kernel<Kernel>(args);
}
)");
}

TEST_CASE("a step's stub names the step's own struct") {
    const KernelSignature signature{.align_c = 16, .batched = true};
    CHECK(make_kernel_source(signature, Reduce{.sharers = 4, .columns = 128}).text ==
          R"(#include "tmm/steps/reduce/kernel.cuh"

namespace {
struct Kernel {
    static constexpr tmm::KernelSignature signature{
        .type_a = tmm::ElementType::f32, .type_b = tmm::ElementType::f32, .type_c = tmm::ElementType::f32,
        .compute = tmm::ComputeMode::f32, .op_a = tmm::Operation::none, .op_b = tmm::Operation::none,
        .align_a = 4, .align_b = 4, .align_c = 16, .batched = true};
    static constexpr tmm::Reduce step{
        .sharers = 4, .columns = 128};
};
}  // namespace

extern "C" __global__ void __launch_bounds__(tmm::reduce::threads(Kernel::step), 1)
    tmm_reduce_f32_nn_a4b4c16_batched_sharers4_columns128(const __grid_constant__ tmm::GemmArgs args) {
    tmm::reduce::kernel<Kernel>(args);
}
)");
    CHECK(make_kernel_source({}, Pack{.a = true, .blocks_per_sm = 4})
              .text.find("constexpr tmm::Pack step{\n        .a = true, .b = false, .strips = false, .blocks_per_sm = 4};") !=
          std::string::npos);
    CHECK(make_kernel_source({}, Rescue{.tile = kSimt}).name == "tmm_rescue_f32_nn_128x64x16_t8x4_s3_async_v4_peeled");
}

TEST_CASE("equal kernels have equal names, different kernels different ones") {
    // The text without the name is what a kernel is; the name must say as much.
    std::map<std::string, std::string> text_of_name;
    std::map<std::string, std::string> name_of_text;
    std::size_t clashes = 0;
    const auto add = [&](const KernelSignature& signature, const PlanKernel& kernel) {
        const KernelSource source = make_kernel_source(signature, kernel);
        for (const char c : source.name) {
            if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_') ++clashes;
        }
        std::string text = source.text;
        text.replace(text.find(source.name), source.name.size(), "NAME");
        if (text_of_name.emplace(source.name, text).first->second != text) ++clashes;
        if (name_of_text.emplace(text, source.name).first->second != source.name) ++clashes;
    };
    for (const KernelSignature& signature : many_signatures())
        for (const PlanKernel& kernel : many_kernels()) add(signature, kernel);
    for (const KernelConfig& config : many_configs()) add(KernelSignature{.align_a = 16, .align_b = 16, .align_c = 16}, config);
    CHECK(clashes == 0);
    CHECK(text_of_name.size() > 2000);
}

TEST_CASE("what only the launch depends on does not make another kernel") {
    KernelConfig other = kSimt;
    other.raster = 8;
    CHECK(make_kernel_source({}, other).text == make_kernel_source({}, kSimt).text);
    KernelConfig two = kSimt;
    two.split_k = 2;
    KernelConfig nine = kSimt;
    nine.split_k = 9;
    CHECK(make_kernel_source({}, two).text == make_kernel_source({}, nine).text);
    CHECK(make_kernel_source({}, two).name != make_kernel_source({}, kSimt).name);

    KernelSignature strict;
    strict.compute = ComputeMode::f32_strict;
    CHECK(make_kernel_source(strict, kSimt).name == make_kernel_source({}, kSimt).name);
}

TEST_CASE("alignments wider than a kernel's accesses are not kept") {
    const KernelSignature wide{.align_a = 16, .align_b = 8, .align_c = 16};
    KernelConfig config = kSimt;
    CHECK(kernel_signature(wide, config) == wide);
    config.vector_width = 2;
    CHECK(kernel_signature(wide, config) == KernelSignature{.align_a = 8, .align_b = 8, .align_c = 8});
    config.vector_width = 1;
    CHECK(kernel_signature(wide, config) == KernelSignature{.align_a = 4, .align_b = 4, .align_c = 4});
    for (const int family : {family::naive, family::tiled}) {
        config.family = family;
        config.vector_width = 4;
        CHECK(kernel_signature(wide, config) == KernelSignature{.align_a = 4, .align_b = 4, .align_c = 4});
    }
    // The sum of partial results sees neither A nor B.
    const KernelSignature transposed{
        .op_a = Operation::transpose, .op_b = Operation::transpose, .align_a = 16, .align_b = 16, .align_c = 16};
    CHECK(kernel_signature(transposed, Reduce{}) == KernelSignature{.align_c = 16});
    // Once clamped, it stays.
    for (const KernelSignature& signature : many_signatures())
        for (const int width : {1, 2, 4, 8}) {
            KernelConfig c = kSimt;
            c.vector_width = width;
            const KernelSignature once = kernel_signature(signature, c);
            REQUIRE(kernel_signature(once, c) == once);
        }
}

TEST_CASE("a kernel's hash follows its code and nothing else") {
    const KernelSource source{.name = "k", .text = "#include \"tmm/k.cuh\"\nkernel<1>();\n", .entries = {}};
    const TemplateFiles files{
        {"tmm/k.cuh",
         "#pragma once\n#include \"tmm/vocabulary/problem.h\"\n#include \"tmm/used.cuh\"\nint f() { return a + 1'000; }  // sum\n"},
        {"tmm/used.cuh", "const char* text = \"a // b\";\n"},
        {"tmm/vocabulary/problem.h", "struct P {};\n"},
        {"tmm/other.cuh", "int other;\n"},
    };
    const std::string hash = source_hash(source, files);
    CHECK(hash.size() == 16);
    const auto changed = [&](const char* file, const std::string& from, const std::string& to) {
        TemplateFiles copy = files;
        std::string& text = copy[file];
        text.replace(text.find(from), from.size(), to);
        return source_hash(source, copy) != hash;
    };
    // Comments, layout, the vocabulary and files that are not included change nothing.
    CHECK_FALSE(changed("tmm/k.cuh", "// sum", "// the sum of both, it's \"new\""));
    CHECK_FALSE(changed("tmm/k.cuh", "  // sum", ""));
    CHECK_FALSE(changed("tmm/k.cuh", "{ return", "{\n\n    return"));
    CHECK_FALSE(changed("tmm/k.cuh", "{ return", "{ /* why */ return"));
    CHECK_FALSE(changed("tmm/vocabulary/problem.h", "struct P {};", "struct P { int new_field; };"));
    CHECK_FALSE(changed("tmm/other.cuh", "other", "another"));
    // A change of the code changes the hash, literals included.
    CHECK(changed("tmm/k.cuh", "1'000", "1'001"));
    CHECK(changed("tmm/k.cuh", "a + 1", "a - 1"));
    CHECK(changed("tmm/k.cuh", "return a", "returna"));
    CHECK(changed("tmm/used.cuh", "a // b", "a // c"));
    CHECK(changed("tmm/used.cuh", "a // b", "a //  b"));
    KernelSource stub = source;
    stub.text = "#include \"tmm/k.cuh\"\nkernel<2>();\n";
    CHECK(source_hash(stub, files) != hash);
}

TEST_CASE("flattening inlines each file once and leaves the emulation's own") {
    const TemplateFiles files{{"a.h", "#pragma once\n#include \"b.h\"\nA\n"}, {"b.h", "#  pragma once\nB\n"}};
    CHECK(flatten("#include \"host/x.h\"\n#include <cstdint>\n#include \"a.h\"\n #  include \"b.h\"  // again\nC", files) ==
          "#include \"host/x.h\"\n#include <cstdint>\nB\nA\nC\n");
    try {
        flatten("#include \"missing.h\"\n", files);
        FAIL("no error");
    } catch (const Error& error) {
        CHECK(contains(error.what(), "missing.h"));
    }
}

TEST_CASE("every family's and step's whole source flattens, without toolkit headers") {
    for (const PlanKernel& kernel : many_kernels()) {
        const KernelSource source = make_kernel_source({}, kernel);
        const std::string text = flatten(source.text, embedded_templates());
        CAPTURE(source.name);
        CHECK(contains(text, "struct GemmArgs"));
        CHECK_FALSE(contains(text, "#include"));
    }
    for (const KernelSource& source : {make_verify_source(), make_ceilings_source()}) {
        const std::string text = flatten(source.text, embedded_templates());
        CAPTURE(source.name);
        CHECK_FALSE(contains(text, "#include"));
        for (const KernelEntry& entry : source.entries) CHECK(contains(text, entry.name + "(const " + entry.args_type));
    }
}

TEST_CASE("templates can be read from a directory") {
    CHECK(read_templates(TMM_SOURCE_DIR "/templates") == embedded_templates());
    CHECK_THROWS_AS(read_templates("/nonexistent"), Error);
}

TEST_CASE("a kernel's name has the words of its config's text") {
    // Names are part of what kernels in databases are known by, so these two keep theirs.
    const std::map<std::string, std::string> others = {{"c", "multicast"}, {"trim", "strip"}};
    int words = 0;
    for (const Parameter& parameter : kParameters) {
        if (!parameter.token.word) continue;
        CAPTURE(parameter.name);
        KernelConfig config{.family = family::gemv};
        config.*parameter.member = 4;
        if (kernel_config(config).*parameter.member == parameter.neutral) continue;
        const std::string word = parameter.token.word;
        const std::string name = make_kernel_source({}, config).name;
        CHECK(name.find("_" + (others.contains(word) ? others.at(word) : word), name.find("_nn")) != std::string::npos);
        ++words;
    }
    CHECK(words >= 24);
}
