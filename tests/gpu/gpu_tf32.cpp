// Tests on a Hopper GPU which numbers the tensor cores multiply with compute=tf32, bit by bit, and that errors are those of cuBLAS.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "bench/accuracy/family_accuracy.h"
#include "bench/peers/peers.h"
#include "bench/peers/tuned.h"
#include "bench/timing/driver_context.h"
#include "generator/text/shapes_file.h"
#include "tests/support/kernels/tf32_rounding.h"
#include "tests/support/temporary_directory.h"

using namespace tmm;
using namespace tmm::testing;

namespace {

// Null, with a message, where no GPU multiplies TF32.
std::shared_ptr<Device> hopper() {
    if (gpu_count() == 0) {
        MESSAGE("skipped: no GPU");
        return nullptr;
    }
    std::shared_ptr<Device> device = open_device(0);
    if (device->info().compute_capability() == 90) return device;
    MESSAGE("skipped: TF32 is multiplied on compute capability 9.0 only");
    return nullptr;
}

// All layouts; sizes that are multiples of a tile, odd ones, and few rows; rows that follow each other closely and padded ones, aligned and
// not; a batch.
const char* const kShapes[] = {
    "1024x1024x1024",
    "512x768x4096 ops=nt",
    "256x1000x512 ops=tn",
    "384x520x1000 ops=tt",
    "511x513x509",
    "255x1023x1021 ops=nt",
    "301x299x515 ops=tn",
    "129x515x1023 ops=tt",
    "300x200x1000 lda=1004 ldb=204 ldc=208",
    "300x200x1000 ops=nt lda=1003 ldb=1001 ldc=207",
    "300x200x1000 ops=tn lda=304 ldb=203",
    "300x200x1000 ops=tt lda=301 ldb=1004",
    "16x4096x2048 ops=nt",
    "100x120x200 batch=5 ops=tn",
};
// What is promised (docs/accuracy.md). Both sides round the same operands in the same way, so that chance adds little.
constexpr double kMostRatio = 1.05;

}  // namespace

TEST_CASE("tensor cores multiply the nearest numbers of TF32, ties to even, and lose no NaN") {
    const std::shared_ptr<Device> device = hopper();
    if (!device) return;
    const TemporaryDirectory directory;
    KernelLoader loader(device, make_compiler(device->info()), KernelCache(directory.path() / "kernels"));
    for (const Tf32Case& one : tf32_cases()) {
        CAPTURE(std::string(one.ops));
        CAPTURE(std::string(one.config));
        const Tf32Rounding found = tf32_rounding(loader, device->info(), "232x168x104", one);
        CHECK(found.wrong == "");
        CHECK(found.wrong_nans == "");
    }
}

TEST_CASE("errors of compute=tf32 are at most 1.05 times cuBLAS's, family by family of inputs") {
    const std::shared_ptr<Device> device = hopper();
    if (!device) return;
    const bench::DriverContext context(0);
    std::unique_ptr<bench::Peer> cublas;
    try {
        cublas = bench::make_peer("cublas", device, {});
    } catch (const Error& error) {
        MESSAGE("skipped: " << error.what());
        return;
    }
    const std::unique_ptr<bench::Peer> naive = bench::make_naive_peer(device);
    const TemporaryDirectory directory;
    const bench::TunedLibrary tuned(0, device, directory.path() / "empty.db");
    bench::ExactMultiplier multiplier(device);
    for (const char* text : kShapes) {
        const GemmProblem problem = parse_shape(fmt::format("{} compute=tf32", text)).problem;
        const bench::TunedPlan plan = tuned.plan(problem);
        const std::vector<std::unique_ptr<bench::Contestant>> theirs = cublas->offers(problem);
        const std::vector<std::unique_ptr<bench::Contestant>> loops = naive->offers(problem);
        bench::FamilyOperands operands(device, problem);
        for (const bench::InputFamily family : bench::kInputFamilies) {
            CAPTURE(std::string(text));
            CAPTURE(plan.config);
            CAPTURE(std::string(name_of(family)));
            const bench::FamilyAccuracy accuracy =
                measure_family(family, operands, multiplier,
                               {.tmm = *plan.contestant, .loop = *loops.front(), .cublas = theirs.front().get()}, context.stream());
            REQUIRE(accuracy.cublas);
            CHECK(accuracy.tmm.rms <= kMostRatio * accuracy.cublas->rms);
            CHECK(accuracy.tmm.worst <= kMostRatio * accuracy.cublas->worst);
            CHECK(accuracy.tmm.norm <= kMostRatio * accuracy.cublas->norm);
            // Infinities and NaNs stand where a loop of FMAs has them, except that rounding may make the largest numbers infinite.
            CHECK_MESSAGE(accuracy.misplaced.count == 0, accuracy.misplaced_where);
            if (std::getenv("TMM_TEST_VERBOSE"))
                fmt::print("{} {}: {} rms {:.4g} of {:.4g}, worst {:.4g} of {:.4g}, norm {:.4g} of {:.4g}\n", text, name_of(family),
                           plan.config, accuracy.tmm.rms, accuracy.cublas->rms, accuracy.tmm.worst, accuracy.cublas->worst,
                           accuracy.tmm.norm, accuracy.cublas->norm);
        }
    }
}
