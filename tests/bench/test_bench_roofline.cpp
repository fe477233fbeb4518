// The floor of a shape, what a shape must read, how far the times are above it, and the kernels that measure the ceilings.
#include <doctest/doctest.h>

#include <cmath>
#include <sstream>

#include "base/median.h"
#include "base/text/environment.h"
#include "bench/operands/operands.h"
#include "bench/report/report.h"
#include "bench/timing/roofline.h"
#include "generator/compile/compiler.h"
#include "runtime/plan/executable_plan.h"
#include "tmm/checks/ceilings/args.h"
#include "tuner/measure/ceilings.h"

using namespace tmm;
using namespace tmm::bench;

namespace {

const DeviceCeilings kCeilings{
    .read_bytes_per_us = 4e6,
    .read_bytes = 1 << 30,
    .multiplying = {{Unit::ffma, {.flop_per_us = 60e6, .instruction = "FFMA", .launch = "8 chains a thread"}},
                    {Unit::bf16, {.flop_per_us = 600e6, .instruction = "mma.sync", .launch = "16 chains a warp", .clock_mhz = 1700}}},
    .launch_gap_us = 1,
    .read_launch = {}};

constexpr CeilingOptions kAtOnce{.settle = {.least_seconds = 0, .most_seconds = 0}, .sample_us = 100};

ShapeResult result(ShapeClass shape_class, double floor_us, std::vector<double> samples_us, std::vector<double> ratios) {
    ShapeResult made;
    made.shape_class = shape_class;
    made.samples_us = std::move(samples_us);
    made.median_us = median(made.samples_us);
    made.ratios = std::move(ratios);
    made.floor = Floor{.us = floor_us, .bound = Bound::read};
    return made;
}

Shape shape(GemmProblem problem, double alpha = 1) {
    Shape made;
    made.problem = problem;
    made.alpha = alpha;
    made.beta = problem.reads_c ? 1 : 0;
    return made;
}

std::vector<std::int64_t> bytes_read(const Shape& one) {
    static const ValuePool pool;
    const Operands operands(open_device(kHostDevice), one, 0, pool);
    std::vector<std::int64_t> bytes;
    for (const ByteRange& range : operands.read_ranges(0)) bytes.push_back(range.bytes);
    return bytes;
}

}  // namespace

TEST_CASE("the floor is the largest of its parts, and says which") {
    const Floor launch = floor_of({.read_us = 0.5, .read_bytes = 100, .written_bytes = 100, .flop = 1e6}, kCeilings);
    CHECK(launch.us == 1);
    CHECK(launch.bound == Bound::launch);
    const Floor read = floor_of({.read_us = 30, .read_bytes = 80e6, .written_bytes = 4e6, .flop = 60e6}, kCeilings);
    CHECK(read.us == 30);
    CHECK(read.bound == Bound::read);
    CHECK(read.traffic_us == 21);
    CHECK(read.fma_us == 1);
    const Floor traffic = floor_of({.read_us = 20, .read_bytes = 80e6, .written_bytes = 160e6, .flop = 60e6}, kCeilings);
    CHECK(traffic.us == 60);
    CHECK(traffic.bound == Bound::traffic);
    const Floor fma = floor_of({.read_us = 20, .read_bytes = 80e6, .written_bytes = 4e6, .flop = 6000e6}, kCeilings);
    CHECK(fma.us == 100);
    CHECK(fma.bound == Bound::fma);
}

TEST_CASE("products count at the rate of what multiplies them, and not at all where that was not measured") {
    Demand demand{.read_us = 2, .read_bytes = 8e6, .written_bytes = 0, .flop = 6000e6};
    CHECK(floor_of(demand, kCeilings).fma_us == 100);
    demand.arithmetic = Unit::bf16;
    CHECK(floor_of(demand, kCeilings).fma_us == 10);
    demand.arithmetic = Unit::tf32;
    CHECK(floor_of(demand, kCeilings).fma_us == 0);
    CHECK(floor_of(demand, kCeilings).bound == Bound::read);

    GemmProblem p{.m = 8, .n = 8, .k = 8};
    CHECK(unit_of(p) == Unit::ffma);
    p.compute = ComputeMode::f32_strict;
    CHECK(unit_of(p) == Unit::ffma);
    p.compute = ComputeMode::tf32;
    CHECK(unit_of(p) == Unit::tf32);
    p.compute = ComputeMode::f32;
    p.type_a = p.type_b = ElementType::bf16;
    CHECK(unit_of(p) == Unit::bf16);
    p.type_a = p.type_b = ElementType::f16;
    CHECK(unit_of(p) == Unit::f16);
    // Doubles are not promised the rate of floats.
    p.type_a = p.type_b = ElementType::f64;
    demand.arithmetic = unit_of(p);
    CHECK(floor_of(demand, kCeilings).fma_us == 0);
}

TEST_CASE("a shape that is read faster than the 1 GiB raises the rate at which its C is written") {
    const Floor floor = floor_of({.read_us = 10, .read_bytes = 80e6, .written_bytes = 40e6, .flop = 0}, kCeilings);
    CHECK(floor.traffic_us == 15);
    CHECK(floor.us == 15);
}

TEST_CASE("what is not written, computed or known puts no floor under a shape") {
    const Floor floor = floor_of({.read_us = 10, .read_bytes = 80e6, .written_bytes = 0, .flop = 0}, kCeilings);
    CHECK(floor.traffic_us == 0);
    CHECK(floor.fma_us == 0);
    CHECK(floor.us == 10);
    // Ceilings that were not measured.
    CHECK(floor_of({.read_us = 2, .read_bytes = 8, .written_bytes = 0, .flop = 8}, {}).us == 2);
    CHECK(floor_of({}, {}).us == 0);
}

TEST_CASE("a multiplication must read A and B, C where beta is not 0, and nothing but C where alpha is") {
    GemmProblem p{.m = 6, .n = 10, .k = 4, .lda = 4, .ldb = 10, .ldc = 10};
    CHECK(bytes_read(shape(p)) == std::vector<std::int64_t>{96, 160});
    p.reads_c = true;
    CHECK(bytes_read(shape(p)) == std::vector<std::int64_t>{96, 160, 240});
    CHECK(bytes_read(shape(p, 0)) == std::vector<std::int64_t>{240});
    // Padding of rows is not read.
    p = {.m = 6, .n = 10, .k = 4, .lda = 100, .ldb = 100, .ldc = 100};
    CHECK(bytes_read(shape(p)) == std::vector<std::int64_t>{96, 160});
    // One B for the whole batch is read once.
    p = {.m = 6, .n = 10, .k = 4, .batch = 3, .lda = 4, .ldb = 10, .ldc = 10, .stride_a = 24, .stride_b = 0, .stride_c = 60};
    CHECK(bytes_read(shape(p)) == std::vector<std::int64_t>{288, 160});
    p.m = 0;
    CHECK(bytes_read(shape(p)) == std::vector<std::int64_t>{160});
}

TEST_CASE("distances from the floor are averaged over each class and over all") {
    std::vector<ShapeResult> results = {
        result(ShapeClass::mid, 10, {20, 20, 20}, {1.5, 1.5, 1.5}),
        result(ShapeClass::mid, 10, {80, 80, 80}, {0.5, 0.5, 0.5}),
        result(ShapeClass::deep, 5, {5, 5, 5}, {2}),
    };
    const std::vector<ClassDistance> means = mean_distances(results);
    REQUIRE(means.size() == 3);
    CHECK(means[0].shape_class == ShapeClass::mid);
    CHECK(means[0].shapes == 2);
    CHECK(means[0].tmm.value == doctest::Approx(4));
    REQUIRE(means[0].peer);
    CHECK(means[0].peer->value == doctest::Approx(std::sqrt(3.0 * 4.0)));
    CHECK(means[1].shape_class == ShapeClass::deep);
    CHECK(means[1].tmm.value == doctest::Approx(1));
    CHECK(means[1].peer->value == doctest::Approx(2));
    CHECK_FALSE(means[2].shape_class);
    CHECK(means[2].shapes == 3);
    CHECK(means[2].tmm.value == doctest::Approx(std::cbrt(16.0)));

    // Without a peer on every shape the two sides would be means over different shapes.
    results[0].ratios.clear();
    CHECK_FALSE(mean_distances(results)[0].peer);
    // A shape that failed or has no floor does not count.
    results[1].failure = "lost";
    results[2].floor.reset();
    CHECK(mean_distances(results).back().shapes == 1);
    results[0].floor.reset();
    CHECK(mean_distances(results).empty());
}

TEST_CASE("the read kernel reads every vector of every range, and nothing else") {
    const std::shared_ptr<Device> device = open_device(kHostDevice);
    KernelLoader loader(device, make_compiler(device->info()), KernelCache(default_cache_directory()));
    const std::vector<std::int64_t> lengths = {37, 0, 90};
    for (const int loads : {1, 2, 4, 8}) {
        auto loaded = loader.load(make_ceilings_source(), "tmm_ceiling_read_" + std::to_string(loads));
        REQUIRE(std::holds_alternative<KernelLoader::Loaded>(loaded));
        const auto kernel = std::get<KernelLoader::Loaded>(loaded).kernel;
        DeviceBuffer sink(device, 256);
        DeviceBuffer memory(device, 256 * kReadVectorBytes);
        const auto sink_after = [&](std::int64_t vector) {
            // All words are 0 but the vector's last, so one thread folds to 5, or none where that word is not read.
            device->fill_bytes(memory.data(), 0, memory.bytes());
            device->fill_bytes(sink.data(), 0, sink.bytes());
            auto* const words = static_cast<unsigned*>(memory.data());
            words[vector * 4 + 3] = 5;
            ReadArgs args;
            args.improbable = 5;
            args.sink = static_cast<unsigned*>(sink.data());
            args.ranges[0] = {.start = words, .vectors = lengths[0]};
            args.ranges[1] = {.start = words, .vectors = lengths[1]};
            args.ranges[2] = {.start = words + 100 * 4, .vectors = lengths[2]};
            device->launch(*kernel, {.grid = 2, .threads = 32}, &args, sizeof args, nullptr);
            device->synchronize();
            return *static_cast<const unsigned*>(sink.data());
        };
        for (std::int64_t vector = 0; vector < 256; ++vector) {
            CAPTURE(loads);
            CAPTURE(vector);
            const bool inside = vector < lengths[0] || (vector >= 100 && vector < 100 + lengths[2]);
            CHECK(sink_after(vector) == (inside ? 5 : 0));
        }
    }
}

TEST_CASE("ceilings are measured on the emulated device too, for what that is worth") {
    const CeilingSweep sweep(open_device(kHostDevice), {Unit::ffma, Unit::bf16}, kAtOnce);
    const DeviceCeilings ceilings = sweep.measure();
    CHECK(ceilings.read_bytes_per_us > 0);
    CHECK(ceilings.flop_per_us(Unit::ffma) > 0);
    // It has no tensor cores to measure.
    CHECK(ceilings.multiplying.size() == 1);
    CHECK(ceilings.launch_gap_us >= 0);
    CHECK(ceilings.read_bytes > 0);
    CHECK(ceilings.read_launch.find("32 threads") != std::string::npos);
    CHECK(to_text(CeilingLaunch{.at_once = 1, .threads = 256, .blocks_per_sm = 1}, "load") ==
          "1 load a thread, 256 threads, 1 block an SM");
    CHECK(to_text(CeilingLaunch{.at_once = 16, .threads = 256, .blocks_per_sm = 2}, "chain", "warp") ==
          "16 chains a warp, 256 threads, 2 blocks an SM");
}

TEST_CASE("the kernels that measure tensor cores compile, multiply by mma.sync and spill nothing") {
    if (nvrtc_version() == 0) {
        MESSAGE("skipped: libnvrtc was not found");
        return;
    }
    const KernelSource source = make_mma_ceilings_source();
    REQUIRE(source.entries.size() == 6);
    for (const int architecture : {80, 90, 120}) {
        CAPTURE(architecture);
        const CompileResult result = make_nvrtc_compiler(architecture)->compile(source);
        if (const auto* failure = std::get_if<CompileFailure>(&result)) FAIL(failure->log);
        const auto& kernel = std::get<CompiledKernel>(result);
        CHECK(kernel.log == "");
        CHECK(kernel.spill_bytes == 0);
        const std::string image(reinterpret_cast<const char*>(kernel.image.data()), kernel.image.size());
        for (const KernelEntry& entry : source.entries) CHECK_MESSAGE(image.find(entry.name) != std::string::npos, entry.name);
    }
    const std::string ptx = compile_to_ptx(source, 90);
    for (const char* instruction :
         {"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
          "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32"}) {
        // Every step of 4 and of 16 chains is there at least once.
        std::size_t count = 0;
        for (std::size_t at = ptx.find(instruction); at != std::string::npos; at = ptx.find(instruction, at + 1)) ++count;
        CHECK_MESSAGE(count >= (4 + 16) * kMmaSteps, instruction);
    }
}

TEST_CASE("a read floor is found in the operands' sets, and in sets of its own where C alone passes the cache") {
    const std::shared_ptr<Device> device = open_device(kHostDevice);
    const CeilingSweep sweep(device, {}, kAtOnce);
    const ValuePool pool;
    const GemmProblem deep{.m = 2, .n = 2, .k = 100, .lda = 100, .ldb = 2, .ldc = 2, .alignment = 4};
    const GemmProblem wide{.m = 40, .n = 40, .k = 1, .lda = 1, .ldb = 40, .ldc = 40, .alignment = 4};
    const GemmProblem nothing{.m = 3, .n = 3, .k = 0, .lda = 1, .ldb = 3, .ldc = 3};
    for (const GemmProblem& p : {deep, wide, nothing}) {
        const Operands operands(device, shape(p), 8192, pool);
        CHECK(read_floor(sweep, operands, 8192).us > 0);
        CHECK(read_floor(sweep, operands, 8192).launch.find("a thread") != std::string::npos);
    }
}

TEST_CASE("the report's line holds each side's distance") {
    ShapeResult one = result(ShapeClass::mid, 10, {20, 20, 20}, {1.5, 1.5, 1.5});
    one.shape = shape({.m = 6, .n = 10, .k = 4, .lda = 4, .ldb = 10, .ldc = 10});
    one.floor->read_us = 10;
    PeerResult peer;
    peer.name = "cublas";
    peer.median_us = 30;
    one.peers.push_back(peer);
    RunInfo info;
    info.peers = {"cublas"};
    info.peer_versions = {"cuBLAS"};
    std::ostringstream without;
    print_roofline(without, info, {one}, {});
    CHECK(without.str().empty());
    info.ceilings = kCeilings;
    std::ostringstream with;
    print_roofline(with, info, {one}, {});
    INFO(with.str());
    CHECK(with.str().find("read 4000 GB/s on 1024M") != std::string::npos);
    CHECK(with.str().find("ffma 60.00 TFLOP/s (FFMA, 8 chains a thread);") != std::string::npos);
    CHECK(with.str().find("bf16 600.00 TFLOP/s (mma.sync, 16 chains a warp, 1700 MHz);") != std::string::npos);
    CHECK(csv(info, {one}).find("# bf16_tflops: 600\n") != std::string::npos);
    CHECK(with.str().find("  2.00  ") != std::string::npos);
    CHECK(with.str().find("  3.00  ") != std::string::npos);
    CHECK(with.str().find(" 50.0%") != std::string::npos);
}
