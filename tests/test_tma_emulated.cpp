// Kernels that TMA serves, of wgmma, skinny and simt, on the emulated device, which does what TMA, barriers in shared memory and wgmma do
// as late as a wait allows: sampled configs, held against the references as on a GPU.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <initializer_list>
#include <set>
#include <string>
#include <utility>
#include <variant>

#include "generator/assumed_device.h"
#include "generator/search_space.h"
#include "generator/shapes_file.h"
#include "generator/template_files.h"
#include "generator/text.h"
#include "runtime/executable_plan.h"
#include "runtime/host_device.h"
#include "support_correctness.h"
#include "support_temporary_directory.h"
#include "support_tma_faults.h"
#include "tmm/rules.h"
#include "tuner/verification.h"

using namespace tmm;
using namespace tmm::testing;

namespace {

void check_sampled_configs(int of_family, std::size_t most) {
    const auto checks = [&](const KernelConfig& config) { return config.family == of_family && is_brought_by_tma(config); };
    const std::uint64_t seed = test_seed();
    // Of so few SMs that most blocks have several tiles to walk over.
    DeviceInfo h200 = assumed_device("90");
    h200.sm_count = 2;
    std::vector<Sample> samples = sample_configs({.seed = seed, .count = 600, .problems_per_config = 2}, h200);
    samples.erase(std::remove_if(samples.begin(), samples.end(), [&](const Sample& s) { return !checks(s.config); }), samples.end());
    samples.resize(std::min(samples.size(), most));
    const std::vector<std::shared_ptr<Device>> devices = {make_host_device_for(h200, "ascending"),
                                                          make_host_device_for(h200, "shuffled:" + std::to_string(seed))};
    check_samples(samples, devices, h200, seed, "in two thread orders");
}

// What is wrong with products of the config, by kernels from these templates; empty where nothing is.
std::string wrong_with(const TmaFault& fault, const TemplateFiles& files) {
    const DeviceInfo h200 = assumed_device("90");
    const TemporaryDirectory directory;
    const GemmProblem problem = problem_of(fault);
    const KernelConfig config = config_of(fault);
    if (const auto invalid = why_invalid(problem, config, h200)) return "invalid: " + *invalid;
    for (const char* order : {"ascending", "descending", "shuffled:3", "shuffled:4", "straggling:37"}) {
        KernelLoader loader(make_host_device_for(h200, order), make_host_compiler(files), KernelCache(directory.path() / "kernels"));
        auto plan = ExecutablePlan::make(make_launch_plan(problem, config, h200), loader);
        if (const auto* failure = std::get_if<CompileFailure>(&plan)) return "does not compile: " + failure->log;
        try {
            const Verdict verdict = Verifier(loader, problem, {}).verify(std::get<ExecutablePlan>(plan));
            if (verdict.outcome != Outcome::ok) return verdict.detail;
        } catch (const DeviceFault& found) {
            return found.what();
        }
    }
    return {};
}

struct Case {
    const char* config;
    const char* shape;
};

// Configs that go on from what all have in common.
void check_right(const std::string& common, std::initializer_list<Case> cases) {
    for (const Case& one : cases) {
        const std::string config = common + one.config;
        CAPTURE(config);
        CAPTURE(one.shape);
        CHECK(wrong_with({.what = "", .file = "", .text = "", .instead = "", .config = config.c_str(), .shape = one.shape},
                         active_templates()) == "");
    }
}

}  // namespace

TEST_CASE("sampled configs of wgmma are right on the emulated device") {
    check_sampled_configs(family::wgmma, static_cast<std::size_t>(test_setting("CONFIGS", 12)));
}

TEST_CASE("sampled configs of skinny are right on the emulated device") {
    check_sampled_configs(family::skinny, static_cast<std::size_t>(test_setting("CONFIGS", 12)));
}

TEST_CASE("sampled configs of simt whose tiles TMA brings are right on the emulated device") {
    check_sampled_configs(family::simt, static_cast<std::size_t>(test_setting("CONFIGS", 16)));
}

TEST_CASE("results leave in boxes of every width, and by whole chunks where rows are unaligned") {
    constexpr const char* kSmall = "block_m=64,block_n=64,block_k=64,stages=2";
    check_right(
        "",
        {
            // Rows of 128 bytes; of these and of 64, of 32, and of 48; of 80; of 128 and of 16; of 64 where stages leave no room for more,
            // and of 32; of 32 alone.
            Case{"block_m=64,block_n=128,block_k=64,stages=2", "130x200x70 dtype=bf16 ops=nt align=16 lda=72 ldb=72"},
            Case{"block_m=64,block_n=96,block_k=64,stages=2", "130x200x70 dtype=f16 ops=nt align=16 lda=72 ldb=72"},
            Case{"block_m=64,block_n=80,block_k=64,stages=2", "130x200x70 dtype=bf16 ops=nt align=16 lda=72 ldb=72"},
            Case{"block_m=64,block_n=88,block_k=64,stages=2", "130x200x70 dtype=bf16 ops=nt align=16 lda=72 ldb=72"},
            Case{"block_m=64,block_n=40,block_k=64,stages=2", "130x200x70 dtype=bf16 ops=nt align=16 lda=72 ldb=72"},
            Case{"block_m=64,block_n=72,block_k=64,stages=4,min_blocks=2", "130x200x70 dtype=bf16 ops=nt align=16 lda=72 ldb=72"},
            Case{"block_m=128,block_n=112,block_k=64,stages=7,warps_m=2", "130x203x70 dtype=bf16 ops=nt align=16 lda=72 ldb=72 ldc=208"},
            Case{"block_m=64,block_n=112,block_k=64,stages=10", "130x200x70 dtype=bf16 ops=nt align=16 lda=72 ldb=72"},
            // Seven of a tile, of which three leave at once, three, and one; five by twos.
            Case{"block_m=64,block_n=224,block_k=64,stages=2", "200x701x70 dtype=bf16 ctype=f32 ops=nt align=16 lda=72 ldb=72 ldc=704"},
            Case{"block_m=64,block_n=136,block_k=64,stages=2,min_blocks=2",
                 "200x701x70 dtype=bf16 ctype=f32 ops=nt align=16 lda=72 ldb=72 ldc=704"},
            // Of floats; of a transposed product; both.
            Case{kSmall, "130x203x70 dtype=bf16 ctype=f32 align=16 lda=72 ldb=208 ldc=204"},
            Case{"block_m=64,block_n=24,block_k=64,stages=2,swap_ab=1", "50x203x70 dtype=bf16 align=16 lda=72 ldb=208 ldc=208"},
            Case{"block_m=64,block_n=40,block_k=64,stages=2,swap_ab=1", "50x203x70 dtype=f16 ctype=f32 align=16 lda=72 ldb=208 ldc=204"},
            Case{"block_m=64,block_n=40,block_k=64,stages=2", "130x203x70 dtype=bf16 ctype=f32 ops=nt align=16 lda=72 ldb=72 ldc=204"},
            Case{"block_m=64,block_n=88,block_k=64,stages=2,swap_ab=1", "190x203x70 dtype=bf16 align=16 lda=72 ldb=208 ldc=208"},
            // Fewer columns than a chunk has, members of a batch, tiles of a cluster that lie outside of C.
            Case{kSmall, "70x3x70 dtype=bf16 align=16 lda=72 ldb=8 ldc=8"},
            Case{kSmall, "70x72x70 dtype=bf16 batch=3 align=16 lda=72"},
            Case{"block_m=64,block_n=64,block_k=64,stages=2,multicast_a=2,multicast_b=2", "130x136x70 dtype=bf16 align=16 lda=72"},
            // Slabs that end with the matrix, beside such as lie beyond it: of the left operand, of both, of both of a transposed product.
            Case{"block_m=256,block_n=64,block_k=64,stages=2,warps_m=2", "140x72x70 dtype=bf16 ops=tt align=16 lda=144 ldb=72"},
            Case{"block_m=128,block_n=128,block_k=64,stages=2,warps_n=2", "203x301x70 dtype=bf16 ops=tn align=16 lda=208 ldb=304 ldc=304"},
            Case{"block_m=128,block_n=128,block_k=64,stages=2,swap_ab=1",
                 "203x301x70 dtype=f16 ctype=f32 ops=tn align=16 lda=208 ldb=304 ldc=304"},
            // C is read as well: rows of 128 bytes, of 80, of 128 and of 48 or 16, of 32 for want of room, of floats, more of them than
            // boxes, of transposed products, of several tiles of
            // a block, of slabs that could end with the matrix; and rows that start anywhere.
            Case{"block_m=64,block_n=128,block_k=64,stages=2", "130x203x70 dtype=bf16 ops=nt align=16 lda=72 ldb=72 ldc=208 beta=1"},
            Case{"block_m=64,block_n=40,block_k=64,stages=2", "130x200x70 dtype=f16 ops=nt align=16 lda=72 ldb=72 beta=1"},
            Case{"block_m=64,block_n=88,block_k=64,stages=2", "130x203x70 dtype=f16 ops=nt align=16 lda=72 ldb=72 ldc=208 beta=1"},
            Case{"block_m=64,block_n=72,block_k=64,stages=2", "130x203x70 dtype=bf16 ops=nt align=16 lda=72 ldb=72 ldc=208 beta=1"},
            Case{"block_m=64,block_n=112,block_k=64,stages=10", "70x203x70 dtype=bf16 ops=nt align=16 lda=72 ldb=72 ldc=208 beta=1"},
            Case{"block_m=64,block_n=104,block_k=64,stages=2", "70x200x70 dtype=bf16 ctype=f32 ops=nt align=16 lda=72 ldb=72 beta=1"},
            Case{"block_m=128,block_n=256,block_k=64,stages=2,warps_n=2",
                 "140x203x70 dtype=bf16 ctype=f32 align=16 lda=72 ldb=208 ldc=204 beta=1"},
            Case{"block_m=64,block_n=40,block_k=64,stages=2,swap_ab=1", "50x203x70 dtype=bf16 align=16 lda=72 ldb=208 ldc=208 beta=1"},
            Case{"block_m=64,block_n=72,block_k=64,stages=2,swap_ab=1",
                 "150x203x70 dtype=bf16 ctype=f32 align=16 lda=72 ldb=208 ldc=204 beta=1"},
            Case{"block_m=64,block_n=128,block_k=64,stages=2,swap_ab=1",
                 "203x70x70 dtype=f16 ctype=f32 ops=nt align=16 lda=72 ldb=72 ldc=72 beta=1"},
            Case{"block_m=128,block_n=128,block_k=64,stages=2,ping_pong=1",
                 "600x3000x40 dtype=bf16 ops=nt batch=2 align=16 lda=40 ldb=40 beta=1"},
            Case{"block_m=128,block_n=128,block_k=64,stages=2,warps_n=2",
                 "203x301x70 dtype=bf16 ops=tn align=16 lda=208 ldb=304 ldc=304 beta=1"},
            Case{kSmall, "70x133x70 dtype=f16 align=16 lda=72 ldb=136 ldc=135 beta=1"},
            // Rows that start anywhere.
            Case{kSmall, "70x133x70 dtype=bf16 align=16 lda=72 ldb=136 ldc=135"},
            Case{kSmall, "70x5x70 dtype=f16 align=16 lda=72 ldb=8 ldc=5"},
            Case{"block_m=64,block_n=24,block_k=64,stages=2,swap_ab=1", "50x203x70 dtype=bf16 align=16 lda=72 ldb=208 ldc=205"},
            Case{kSmall, "70x132x70 dtype=bf16 align=16 lda=72 ldb=136 ldc=132"},
            // The same, staged by 64 columns and the rest: 24, 48, 56 alone, and 32 and 8 where stages leave no room for more.
            Case{"block_m=64,block_n=88,block_k=64,stages=2", "130x203x70 dtype=bf16 ops=nt align=16 lda=72 ldb=72 ldc=203"},
            Case{"block_m=192,block_n=176,block_k=64,stages=4,warps_m=3", "203x355x70 dtype=f16 ops=nt align=16 lda=72 ldb=72 ldc=357"},
            Case{"block_m=64,block_n=56,block_k=64,stages=2", "130x203x70 dtype=bf16 ops=nt align=16 lda=72 ldb=72 ldc=205"},
            Case{"block_m=128,block_n=104,block_k=64,stages=7,warps_m=2", "130x203x70 dtype=bf16 ops=nt align=16 lda=72 ldb=72 ldc=206"},
            Case{"block_m=64,block_n=88,block_k=64,stages=2,swap_ab=1", "190x203x70 dtype=bf16 align=16 lda=72 ldb=208 ldc=209"},
            // In floats: over C that starts anywhere, and parts of K.
            Case{"block_m=64,block_n=88,block_k=64,stages=2", "130x203x70 dtype=bf16 ops=nt align=16 lda=72 ldb=72 ldc=203 beta=1"},
            Case{"block_m=64,block_n=56,block_k=64,stages=2", "130x203x70 dtype=f16 ctype=f32 ops=nt align=16 lda=72 ldb=72 ldc=203"},
            Case{"block_m=64,block_n=72,block_k=64,stages=2,swap_ab=1",
                 "150x203x70 dtype=bf16 ctype=f32 align=16 lda=72 ldb=208 ldc=205 beta=1"},
            Case{"block_m=64,block_n=88,block_k=64,stages=2,split_k=2", "130x203x270 dtype=bf16 ops=nt align=16 lda=272 ldb=272 ldc=208"},
            Case{"block_m=128,block_n=40,block_k=64,stages=2,warps_m=2,split_k=3",
                 "130x203x270 dtype=f16 ops=nt align=16 lda=272 ldb=272 ldc=203"},
        });
}

TEST_CASE("edge tiles bring the rows that exist, whichever operand has them, and whole what blocks share") {
    check_right(
        "family=wgmma,vector_width=8,boundary=peeled,stages=2,",
        {
            Case{"block_k=64,block_m=64,block_n=80", "84x110x150 dtype=bf16 ops=nt align=16 lda=152 ldb=152"},
            // Blocks that share one operand or both; tiles of a cluster that lie outside of C; fewer rows than a tile.
            Case{"block_k=64,block_m=128,block_n=96,multicast_a=2,multicast_b=2", "164x110x150 dtype=bf16 ops=nt align=16 lda=152 ldb=152"},
            Case{"block_k=64,block_m=64,block_n=16,warps_n=2,swap_ab=1,multicast_a=2,multicast_b=2,split_k=3,pack_ab=3",
                 "1x1x191 dtype=f16 ops=nt batch=3 lda=192 ldb=192 stride_a=0 beta=1"},
            Case{"block_k=64,block_m=64,block_n=80,multicast_b=2", "148x110x333 dtype=bf16 ops=nt align=16 lda=336 ldb=336"},
            Case{"block_k=64,block_m=64,block_n=64,multicast_a=4", "70x203x70 dtype=f16 ops=nt align=16 lda=72 ldb=72 ldc=208"},
            Case{"block_k=64,block_m=64,block_n=32,multicast_b=2", "13x50x70 dtype=bf16 ops=nt align=16 lda=72 ldb=72"},
            Case{"block_k=64,block_m=128,block_n=64,ping_pong=1", "1500x2100x40 dtype=bf16 ops=nt batch=2"},
            // One operand alone, C read, rows of C that start anywhere, a transposed product, padded operands, a trimmed product.
            Case{"block_k=64,block_m=128,block_n=64,warps_m=2", "150x70x70 dtype=bf16 align=16 lda=72 ldb=72"},
            Case{"block_k=64,block_m=64,block_n=128", "70x150x70 dtype=f16 ops=tt align=16 lda=72 ldb=72 beta=1"},
            Case{"block_k=64,block_m=64,block_n=88", "130x203x70 dtype=bf16 ops=nt align=16 lda=72 ldb=72 ldc=203"},
            Case{"block_k=64,block_m=128,block_n=40,swap_ab=1", "70x203x70 dtype=bf16 ops=nt align=16 lda=72 ldb=72 ldc=208"},
            Case{"block_k=64,block_m=64,block_n=64,pack_ab=3", "83x91x71 dtype=bf16 ops=nt batch=2"},
            Case{"block_k=64,block_m=64,block_n=64,trim=1", "65x100x72 dtype=bf16 ops=nt align=16"},
            // Parts of K, in memory and of a cluster; floats.
            Case{"block_k=64,block_m=64,block_n=64,split_k=3", "83x91x280 dtype=bf16 ops=nt align=16"},
            Case{"block_k=64,block_m=64,block_n=64,split_k=4,cluster=2", "83x91x280 dtype=f16 ops=nt align=16"},
            Case{"block_k=32,block_m=64,block_n=64", "83x91x44 compute=tf32 ops=nt align=16"},
            Case{"block_k=64,block_m=64,block_n=64,planes=3,promote_k=32", "83x91x70 ops=nt"},
            // Slabs that lie beyond rows along N, along M, both, shared, of a transposed product, of C that is read, of parts of K; of
            // floats from registers, of planes.
            Case{"block_k=64,block_m=64,block_n=192,pack_ab=3", "70x257x133 dtype=bf16"},
            Case{"block_k=64,block_m=192,block_n=64,warps_m=3,pack_ab=3", "257x70x133 dtype=bf16 ops=tt batch=2"},
            Case{"block_k=64,block_m=192,block_n=128,warps_m=3,multicast_a=2,multicast_b=2,pack_ab=3",
                 "201x130x70 dtype=f16 ops=tn ldc=131"},
            Case{"block_k=64,block_m=128,block_n=64,swap_ab=1", "70x130x70 dtype=bf16 align=16 lda=72 ldb=136 ldc=131"},
            Case{"block_k=64,block_m=64,block_n=192", "70x257x70 dtype=bf16 align=16 lda=72 ldb=264 ldc=264 beta=1"},
            Case{"block_k=64,block_m=64,block_n=128,split_k=4", "64x130x560 dtype=bf16 align=16 ldb=136 ldc=136"},
            Case{"block_k=32,block_m=128,block_n=64,swap_ab=1", "70x161x44 compute=tf32 align=16 ldb=164 ldc=162"},
            Case{"block_k=64,block_m=64,block_n=192,warps_n=3,planes=2,promote_k=64", "70x257x70"},
            // An A that all of a batch share.
            Case{"block_k=64,block_m=64,block_n=80", "84x110x150 dtype=bf16 ops=nt batch=3 align=16 lda=152 ldb=152 stride_a=0"},
        });
}

TEST_CASE("a trimmed product is whole, whether its tiles take the operands as they are, padded, turned, in parts or swapped") {
    constexpr const char* kPadded = "block_m=64,block_n=64,block_k=64,stages=2,pack_ab=3,trim=1";
    check_right("", {
                        Case{kPadded, "65x66x70 dtype=bf16"},
                        Case{kPadded, "129x79x71 dtype=f16 ops=tt beta=1"},
                        Case{kPadded, "65x67x71 dtype=bf16 ctype=f32 ops=tn batch=3"},
                        Case{kPadded, "65x67x71 dtype=bf16 ops=nt batch=2"},
                        // One of the operands lies as TMA wants it; tiles reach past the edge one way.
                        Case{"block_m=64,block_n=64,block_k=64,stages=2,pack_ab=2,trim=1", "65x100x72 dtype=bf16 align=16 ldb=101"},
                        Case{"block_m=64,block_n=64,block_k=64,stages=2,trim=1", "100x65x72 dtype=bf16 ops=nt align=16 ldc=72 beta=1"},
                        // Of a transposed product rows are as many as the tile's columns.
                        Case{"block_m=64,block_n=24,block_k=64,stages=2,swap_ab=1,trim=1", "50x66x72 dtype=bf16 ops=nt align=16"},
                        Case{"block_m=64,block_n=40,block_k=64,stages=2,swap_ab=1,pack_ab=3,trim=1", "43x203x71 dtype=f16 ops=nt"},
                        Case{"block_m=64,block_n=64,block_k=64,stages=2,split_k=2,cluster=2,pack_ab=3,trim=1", "65x66x270 dtype=bf16"},
                        Case{"block_m=64,block_n=64,block_k=64,stages=2,split_k=4,pack_ab=3,trim=1", "65x66x270 dtype=bf16 beta=1"},
                        Case{"block_m=64,block_n=64,block_k=32,stages=2,pack_ab=3,trim=1", "65x66x41 compute=tf32 ops=tn"},
                        Case{"block_m=64,block_n=64,block_k=32,stages=2,swap_ab=1,pack_ab=3,trim=1", "66x65x41 compute=tf32 ops=tn"},
                    });
}

TEST_CASE("what blocks of the product pack is what it multiplies") {
    constexpr const char* kTile =
        "family=simt,vector_width=4,boundary=peeled,block_m=64,block_n=64,thread_m=8,thread_n=8,stages=3,async_copy=3,pack_ab=";
    // Rows that are aligned and turned, such as start anywhere, turned and straight; one operand, the other, both; whole squares, and parts
    // of them along each side.
    check_right(kTile, {
                           Case{"5,block_k=32", "130x132x448 align=16"},
                           Case{"5,block_k=32", "70x132x333 align=16 lda=336"},
                           Case{"6,block_k=32", "72x130x333 ops=tt align=16 ldb=336"},
                           Case{"7,block_k=32", "130x201x448 ops=nt align=16"},
                           Case{"7,block_k=32", "65x67x449"},
                           Case{"7,block_k=32", "129x67x321 ops=tn beta=1"},
                           Case{"5,block_k=32", "130x131x390 ldb=132 ldc=132"},
                           Case{"7,block_k=32,trim=1", "65x67x449"},
                           Case{"7,slice_k=2,block_k=64,min_blocks=2", "100x90x513"},
                       });
}

TEST_CASE("strips that are multiplied while their long operand is packed are whole, and so is the corner between them") {
    constexpr const char* kTile =
        "family=simt,vector_width=4,boundary=peeled,block_m=64,block_n=64,block_k=32,thread_m=8,thread_n=8,async_copy=3,trim=2,";
    check_right(kTile, {
                           // Every layout; one to four rows and columns; K of one square, and of parts of them.
                           Case{"stages=2,pack_ab=3", "65x65x65"},
                           Case{"stages=2,pack_ab=3", "68x66x200 ops=nt beta=1"},
                           Case{"stages=2,pack_ab=3", "131x195x64 ops=tn"},
                           Case{"stages=2,pack_ab=3", "65x132x3 ops=tt lda=67 ldb=7 ldc=140"},
                           Case{"stages=2,pack_ab=3", "66x67x129 batch=3 beta=1"},
                           // One side alone; tiles that reach past the other's edge.
                           Case{"stages=2,pack_ab=3", "66x64x70"},
                           Case{"stages=2,pack_ab=3", "100x65x70 ops=nt"},
                           // The other side's strip by a kernel of its own, which has the corner: too wide, or its operand is not packed.
                           Case{"stages=2,pack_ab=3", "66x72x70 beta=1"},
                           Case{"stages=2,pack_ab=3", "72x66x70"},
                           Case{"stages=2,pack_ab=1", "65x68x72 align=16"},
                           Case{"stages=2,pack_ab=2", "68x65x72 ops=tt align=16"},
                           // Slices, clusters, parts of K.
                           Case{"stages=2,pack_ab=3,slice_k=4", "65x66x200"},
                           Case{"stages=2,pack_ab=3,split_k=2,cluster=2", "65x66x200"},
                           Case{"stages=2,pack_ab=3,split_k=3", "65x66x200 beta=1"},
                       });
    check_right("family=simt,vector_width=4,boundary=exact,block_m=32,block_n=16,block_k=16,thread_m=4,thread_n=4,stages=2,async_copy=3,",
                {Case{"trim=2,pack_ab=3", "33x17x64"}, Case{"trim=2,pack_ab=1", "64x17x64 align=16 ldb=20"}});
    // More pieces of work than blocks that add up.
    check_right("family=simt,vector_width=4,boundary=peeled,block_m=32,block_n=16,block_k=32,thread_m=2,thread_n=2,stages=2,async_copy=3,",
                {Case{"trim=2,pack_ab=3", "321x209x385"}});
}

TEST_CASE("the last k are multiplied, however few of a tile, a slice, or a part of K they are") {
    constexpr const char* kTile =
        "family=simt,vector_width=4,boundary=peeled,block_m=64,block_n=64,thread_m=8,thread_n=8,stages=2,async_copy=3,";
    check_right(kTile, {
                           // Less than a tile in all; one k, half a tile, and one more, beyond whole ones.
                           Case{"block_k=32", "60x68x1 ops=tn align=16"},
                           Case{"block_k=32", "60x68x65 ops=tn align=16"},
                           Case{"block_k=32", "60x68x80 ops=tn align=16"},
                           Case{"block_k=32", "60x68x81 ops=tn align=16"},
                           // None for all slices but the first; half of the slices; a part of one.
                           Case{"block_k=64,slice_k=4", "60x68x129 ops=tn align=16"},
                           Case{"block_k=64,slice_k=4", "60x68x160 ops=tn align=16"},
                           Case{"block_k=64,slice_k=4", "60x68x149 ops=tn align=16"},
                           Case{"block_k=32,split_k=3", "60x68x197 ops=tn align=16"},
                           Case{"block_k=32,split_k=2,cluster=2", "60x68x197 ops=tn align=16"},
                           Case{"block_k=64,pack_ab=7", "60x68x451"},
                       });
}

TEST_CASE("where nothing is multiplied, nothing is packed, and C becomes zeros or beta times what it holds") {
    const DeviceInfo h200 = assumed_device("90");
    const TemporaryDirectory directory;
    KernelLoader loader(make_host_device_for(h200, "ascending"), make_host_compiler(), KernelCache(directory.path() / "kernels"));
    const GemmProblem problem = parse_shape("65x67x449 beta=1").problem;
    for (const char* packing : {"pack_ab=7", "pack_ab=3,trim=2"}) {
        CAPTURE(packing);
        const KernelConfig config = parse_config(
            std::string("family=simt,vector_width=4,boundary=peeled,block_m=64,block_n=64,block_k=32,thread_m=8,thread_n=8,stages=3,"
                        "async_copy=3,") +
            packing);
        CHECK(why_invalid(problem, config, h200).value_or("") == "");
        auto plan = ExecutablePlan::make(make_launch_plan(problem, config, h200), loader);
        REQUIRE(std::holds_alternative<ExecutablePlan>(plan));
        for (const double beta : {0.0, 0.75})
            CHECK(Verifier(loader, problem, {.alpha = 0, .beta = beta}).verify(std::get<ExecutablePlan>(plan)).detail == "");
    }
}

TEST_CASE("where nothing is multiplied, skinny leaves zeros, or beta times what C holds, whatever stands in A and B") {
    const DeviceInfo h200 = assumed_device("90");
    constexpr const char* kTile = "block_m=4,block_n=32,block_k=64,thread_m=4,thread_n=4,stages=3,slice_k=2";
    for (const char* changes : {"", ",split_k=3", ",swap_ab=1"}) {
        for (const char* text : {"7x70x300 ops=nt align=16", "7x70x300 ops=nt align=16 beta=1 batch=2"}) {
            CAPTURE(changes);
            CAPTURE(text);
            const TemporaryDirectory directory;
            KernelLoader loader(make_host_device_for(h200, "ascending"), make_host_compiler(), KernelCache(directory.path() / "kernels"));
            const GemmProblem problem = parse_shape(text).problem;
            const KernelConfig config = parse_config(std::string("family=skinny,vector_width=4,boundary=hardware,") + kTile + changes);
            CHECK(why_invalid(problem, config, h200).value_or("") == "");
            auto plan = ExecutablePlan::make(make_launch_plan(problem, config, h200), loader);
            REQUIRE(std::holds_alternative<ExecutablePlan>(plan));
            for (const double beta : {0.0, 0.75}) {
                if (beta != 0 && !problem.reads_c) continue;
                const VerificationOptions nothing{.alpha = 0, .beta = beta};
                CHECK(Verifier(loader, problem, nothing).verify(std::get<ExecutablePlan>(plan)).detail == "");
            }
        }
    }
}

TEST_CASE("more parts than tiles leave some of skinny's empty") {
    CHECK(wrong_with({.what = "",
                      .file = "",
                      .text = "",
                      .instead = "",
                      .config = "family=skinny,vector_width=4,boundary=hardware,block_m=4,block_n=32,block_k=64,thread_m=4,thread_n=4,"
                                "stages=3,slice_k=2,split_k=100",
                      .shape = "3x70x130 ops=nt align=16 lda=132 ldb=132"},
                     active_templates()) == "");
}

TEST_CASE("where nothing is multiplied, C becomes zeros, or beta times what it holds, whatever the sums hold") {
    const DeviceInfo h200 = assumed_device("90");
    const auto wrong_without_product = [&](const char* text, const std::string& changes, const TemplateFiles& files) -> std::string {
        const TemporaryDirectory directory;
        KernelLoader loader(make_host_device_for(h200, "ascending"), make_host_compiler(files), KernelCache(directory.path() / "kernels"));
        const GemmProblem problem = parse_shape(text).problem;
        const KernelConfig config = parse_config("family=wgmma,vector_width=8,boundary=hardware,block_m=64,stages=2" + changes);
        if (const auto invalid = why_invalid(problem, config, h200)) return "invalid: " + *invalid;
        auto plan = ExecutablePlan::make(make_launch_plan(problem, config, h200), loader);
        if (const auto* failure = std::get_if<CompileFailure>(&plan)) return "does not compile: " + failure->log;
        return Verifier(loader, problem, {.alpha = 0, .beta = 0.75}).verify(std::get<ExecutablePlan>(plan)).detail;
    };
    const TemplateFiles unset = templates_with_unset_sums();
    constexpr const char* kPlain = "70x136x90 dtype=bf16 align=16 lda=96";
    const std::string tile = ",block_n=64,block_k=64";
    for (const char* text : {kPlain, "70x136x90 dtype=bf16 align=16 lda=96 beta=1", "70x133x90 dtype=f16 align=16 lda=96 ldb=136",
                             "70x136x90 dtype=bf16 ctype=f32 align=16 lda=96"}) {
        for (const char* changes : {"", ",swap_ab=1", ",ping_pong=1", ",split_k=2,cluster=2", ",split_k=2"}) {
            CAPTURE(text);
            CAPTURE(changes);
            CHECK(wrong_without_product(text, tile + changes, unset) == "");
        }
    }
    CHECK(wrong_without_product("70x136x90 compute=tf32 align=16 lda=92", ",block_n=64,block_k=32,swap_ab=1", unset) == "");
    const TmaFault forgotten{.what = "what nothing was added to is stored",
                             .file = "tmm/wgmma_boxes.cuh",
                             .text = "item.tiles == 0",
                             .instead = "false",
                             .config = "",
                             .shape = ""};
    CHECK(wrong_without_product(kPlain, tile, with_fault(forgotten, unset)).find("C[0][0]") != std::string::npos);
}

// Every barrier of skinny's has one, and of simt's. What no emulation shows is left out: a missing wait for the kernel before
// (griddepcontrol.wait), for kernels run one after the other here, and a missing fence of barriers just made (fence.mbarrier_init).
TEST_CASE("each fault in how threads, barriers and copies meet is found on the emulated device") {
    const TemplateFiles unset = templates_with_unset_sums();
    std::set<std::pair<std::string, std::string>> seen_right;
    for (const TmaFault& fault : tma_faults()) {
        CAPTURE(std::string(fault.what));
        if (!fault.seen_emulated) continue;
        if (seen_right.insert({fault.config, fault.shape}).second) CHECK(wrong_with(fault, unset) == "");
        const std::string found = wrong_with(fault, with_fault(fault, unset));
        CHECK(found != "");
        CHECK(found.find("does not compile") == std::string::npos);
        CHECK(found.find("invalid") == std::string::npos);
        if (std::getenv("TMM_TEST_VERBOSE")) fmt::print("{}: {}\n", fault.what, found.substr(0, 200));
    }
}
