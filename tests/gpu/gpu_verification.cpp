// The verification on a GPU: the kernels that always must be right are judged so, from one element to billions of operations.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <variant>

#include "generator/choice/predicted_config.h"
#include "generator/text/shapes_file.h"
#include "generator/text/text.h"
#include "tuner/measure/verification.h"

using namespace tmm;

TEST_CASE("fallback and default kernels pass on a GPU") {
    if (gpu_count() == 0) {
        MESSAGE("skipped: no GPU here");
        return;
    }
    const auto device = open_device(0);
    const auto directory = std::filesystem::temp_directory_path() / fmt::format("tmm-gpu-verification-{}", getpid());
    KernelLoader loader(device, make_compiler(device->info()), KernelCache(directory));
    for (const char* text : {
             "1x1x1",
             "5 6 1 beta=2",
             "33x29x17",
             "127 65 300 ops=tt lda=130 ldb=333 ldc=71 align=4 beta=-0.5 alpha=1.5",
             "100 100 100 batch=7 ops=nt",
             "1x4096x4096",
             "4096x1x4096",
             "16x16x1048576",
             "2048x2048x2048",
             "33x29x17 dtype=bf16 align=2",
             "127 65 300 dtype=f16 ops=tt lda=131 ldb=333 ldc=71 align=2 beta=-0.5 alpha=1.5",
             "8x4096x4096 dtype=bf16 ops=nt",
             "100 100 100 dtype=f16 ctype=f32 batch=7 ops=tn",
             "2048x2048x2048 dtype=bf16",
             "33x29x17 compute=tf32 align=4",
             "127 65 300 compute=tf32 ops=tt lda=131 ldb=333 ldc=71 align=4 beta=-0.5 alpha=1.5",
             "16x4096x4096 compute=tf32",
             "500x300x700 compute=tf32 batch=3 ops=tn beta=1",
             "2048x2048x2048 compute=tf32",
             "2048x2048x2048 compute=tf32 ops=tt",
             "2048x2048x2048 compute=tf32 ops=nt",
             "5 6 1 dtype=f64 beta=2",
             "33x29x17 dtype=f64",
             "127 65 300 dtype=f64 ops=tt lda=131 ldb=333 ldc=71 align=8 beta=-0.5 alpha=1.5",
             "100 100 100 dtype=f64 batch=7 ops=nt",
             "1x4096x4096 dtype=f64",
             "4096x1x4096 dtype=f64 ops=tn",
             "16x4096x4096 dtype=f64 ops=nt",
             "64x64x65536 dtype=f64",
             "1023x1023x1023 dtype=f64 epilogue=bias+gelu bias_type=f64",
             "2048x2048x2048 dtype=f64",
             // The results of these are sampled by rows.
             "6000x6000x6000 dtype=f64",
             "20000x20000x8",
             "6000x6000x6000",
         }) {
        const Shape shape = parse_shape(text);
        Verifier verifier(loader, shape.problem, {.alpha = shape.alpha, .beta = shape.beta, .rotation_bytes = 1 << 20});
        for (const KernelConfig& config : {fallback_config(), default_config(shape.problem, device->info())}) {
            CAPTURE(text);
            CAPTURE(to_text(config));
            auto made = ExecutablePlan::make(make_launch_plan(shape.problem, config, device->info()), loader);
            REQUIRE(std::holds_alternative<ExecutablePlan>(made));
            const auto& plan = std::get<ExecutablePlan>(made);
            Verdict verdict = verifier.verify(plan);
            CHECK_MESSAGE(verdict.outcome == Outcome::ok, verdict.detail);
            const auto replay = device->record([&](Stream stream) {
                for (int set = 0; set < verifier.rotation_sets(); ++set)
                    plan.run(verifier.timing_call(set, plan.plan().workspace_bytes), stream);
            });
            CHECK(replay->run_timed() > 0);
            verdict = verifier.verify_again(plan);
            CHECK_MESSAGE(verdict.outcome == Outcome::ok, verdict.detail);
        }
    }
    std::error_code ignored;
    std::filesystem::remove_all(directory, ignored);
}
