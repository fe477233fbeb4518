// Two kernels of one name and different text are two kernels wherever compiled ones are kept: in the loader, the tuner's queue and the
// cache.
#include <doctest/doctest.h>

#include <cstddef>
#include <memory>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "generator/compile/kernel_cache.h"
#include "generator/kernel/kernel_source.h"
#include "generator/text/text.h"
#include "runtime/emulation/host_device.h"
#include "runtime/plan/executable_plan.h"
#include "tests/support/kernels/emulation_testing.h"
#include "tests/support/temporary_directory.h"
#include "tuner/compiling/candidate_compiler.h"

using namespace tmm;
using tmm::testing::TemporaryDirectory;

namespace {

// Kernels that an expression in their text tells apart, as an epilogue's would.
KernelSource source(const std::string& expression) {
    return {.name = "test_kernel",
            .text = std::string(emulation_testing::kHead) +
                    "extern \"C\" __global__ void test_kernel(const __grid_constant__ Args args) {\n"
                    "    const float x = static_cast<float>(args.n);\n    *static_cast<float*>(args.out) = " +
                    expression + ";\n}\n",
            .entries = {{"test_kernel", "Args"}}};
}

const char* const kExpressions[] = {"x + 1", "x * 3", "x"};

// Compiles nothing: the image is the text.
struct TextCompiler : Compiler {
    CompileResult compile(const KernelSource& source) const override {
        if (source.text.find("x * 3") != std::string::npos) return CompileFailure{"error: no products"};
        CompiledKernel kernel{.image = {}, .registers = static_cast<int>(source.text.size()), .spill_bytes = 0, .log = {}};
        for (const char c : source.text) kernel.image.push_back(static_cast<std::byte>(c));
        return kernel;
    }
    std::string identity() const override { return "text"; }
};

}  // namespace

TEST_CASE("the loader keeps kernels of one name apart") {
    const TemporaryDirectory folder;
    const std::shared_ptr<Device> device = make_host_device("ascending");
    // The second round finds what the first loaded.
    KernelLoader loader(device, make_host_compiler(), KernelCache(folder.path() / "cache"));
    std::set<const LoadedKernel*> kernels;
    for (int round = 0; round < 2; ++round) {
        std::vector<float> results;
        for (const char* expression : kExpressions) {
            const auto loaded = loader.load(source(expression), "test_kernel");
            REQUIRE(std::holds_alternative<KernelLoader::Loaded>(loaded));
            const auto& kernel = std::get<KernelLoader::Loaded>(loaded).kernel;
            kernels.insert(kernel.get());
            float result = 0;
            const emulation_testing::Args args{&result, nullptr, nullptr, 5};
            device->launch(*kernel, {.grid = 1, .threads = 1}, &args, sizeof args, nullptr);
            results.push_back(result);
        }
        CHECK(results == std::vector<float>{6, 15, 5});
    }
    CHECK(kernels.size() == 3);
}

TEST_CASE("the tuner's queue keeps kernels of one name apart") {
    const TemporaryDirectory folder;
    CandidateCompiler compiler(std::make_shared<const TextCompiler>(), KernelCache(folder.path() / "cache"), 1);
    for (const char* expression : kExpressions) compiler.request(source(expression), 0, 0);
    // A kernel that another's name hides is never done, so this does not wait for it.
    int done = 0;
    for (int kernel = 0; kernel < 3; ++kernel) done = compiler.wait_for_more(kernel, 5);
    CHECK(done == 3);
    for (const char* expression : kExpressions) {
        const auto result = compiler.result(identity_of(source(expression)));
        REQUIRE(result);
        const bool fails = std::string(expression) == "x * 3";
        CHECK(result->failure.has_value() == fails);
        if (!fails) CHECK(result->registers == static_cast<int>(source(expression).text.size()));
    }
}

TEST_CASE("the cache keeps kernels of one name apart") {
    const TemporaryDirectory folder;
    const KernelCache cache(folder.path() / "cache");
    const TextCompiler compiler;
    CHECK(cache.store(source("x + 1"), compiler, std::get<CompiledKernel>(compiler.compile(source("x + 1")))));
    CHECK_FALSE(cache.find(source("x"), compiler));
    CHECK(std::get<CompiledKernel>(cache.find_or_compile(source("x"), compiler)).registers == static_cast<int>(source("x").text.size()));
    CHECK(std::get<CompiledKernel>(cache.find_or_compile(source("x + 1"), compiler)).registers ==
          static_cast<int>(source("x + 1").text.size()));
}

TEST_CASE("a kernel's hash is that of its text, whatever was hashed before") {
    const TemplateFiles others = active_templates();
    std::set<std::string> hashes;
    const std::vector<KernelSource> sources{make_verify_source(), make_ceilings_source(),
                                            make_kernel_source({}, parse_config("family=tiled,block_m=16,block_n=16,block_k=16")),
                                            make_kernel_source({}, parse_config("family=tiled,block_m=32,block_n=32,block_k=32")),
                                            make_kernel_source({}, parse_config("family=naive,block_m=16,block_n=16"))};
    for (int round = 0; round < 2; ++round)
        for (const KernelSource& source : sources) {
            CHECK(source_hash(source) == source_hash(source, others));
            hashes.insert(source_hash(source));
        }
    CHECK(hashes.size() == sources.size());
    // Spaces part words, and nothing else here.
    const auto hash_of = [](const std::string& text) { return source_hash({.name = "k", .text = text, .entries = {}}); };
    const std::string include = "#include \"tmm/checks/verify/kernels.cuh\"\n";
    CHECK(hash_of(include + "int  f ();") == hash_of(include + "\n// a comment\nint f();\n"));
    CHECK(hash_of(include + "int f();") != hash_of(include + "intf();"));
    CHECK(hash_of(include + "#include \"tmm/checks/verify/kernels.cuh\"\nint f();") == hash_of(include + "int f();"));
}
