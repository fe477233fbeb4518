// Tests that a spill which the assembler stores under a lost predicate is found in machine code, and that no kernel comes with one.
#include "generator/compile/spill_guards.h"

#include <doctest/doctest.h>
#include <elf.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "generator/compile/compiler.h"
#include "generator/machine/assumed_device.h"
#include "generator/plan/launch_plan.h"
#include "generator/text/shapes_file.h"
#include "generator/text/text.h"
#include "tests/support/cubin.h"

using namespace tmm;
using namespace tmm::testing;

namespace {

// More machine code of sm_90.
constexpr Words kGuarded{0x000000aba7ab1211, 0x000fe400028f34a6};          // @P1 LEA.HI.X R171, R167, R171, R166, 0x6, P5
constexpr Words kOtherGuarded{0x00000025acac2c10, 0x002fe4000ffde0ff};     // @P2 IADD3 R172, P6, R172, UR37, RZ
constexpr Words kCopiesPredicate{0x000000000000781c, 0x000fe40003faf018};  // PLOP3.LUT P5, PT, PT, PT, UP1, 0x80, 0x0
constexpr Words kTakesPredicates{0x00000022ce007804, 0x000fe60000000000};  // R2P PR, R206, 0x22
constexpr Words kInverseStore{0x0000a8ac0100d387, 0x0003e20000100800};     // @!P5 STL [R1+0xa8], R172
constexpr Words kStoreOfNext{0x0000a4ab01001387, 0x0003e20000100800};      // @P1 STL [R1+0xa4], R171

bool is_found(const std::vector<Words>& code) {
    return has_overwritten_spill_guard(cubin(code));
}

}  // namespace

TEST_CASE("a spill whose predicate was overwritten is found, and no other") {
    CHECK(is_found({kGuardedCarry, kStore}));
    CHECK(is_found({kGuarded, kGuardedCarry, kGuarded, kStoreOfNext, kStore, kStoreOfNext}));
    CHECK(is_found({kGuardedCarry, kFreeStore, kCopiesPredicate, kGuardedCarry, kStore}));

    CHECK(!is_found({}));
    CHECK(!is_found({kStore}));
    CHECK(!is_found({kGuardedCarry, kFreeStore}));
    CHECK(!is_found({kGuardedCarry, kInverseStore}));
    CHECK(!is_found({kOtherGuarded, kStore}));
    CHECK(!is_found({kGuarded, kStoreOfNext}));
    // The value was made under another predicate, or the predicate was overwritten before.
    CHECK(!is_found({kGuardedCarry, kFreeStore, kOtherGuarded, kCopiesPredicate, kStore}));
    CHECK(!is_found({kTakesPredicates, kGuarded, kStoreOfNext}));
    // Another instruction than the one that made the value overwrites the predicate.
    CHECK(is_found({kGuarded, Words{0x00000002ce007804, 0x000fe60000000000}, kStoreOfNext}));
    CHECK(!is_found({kGuarded, Words{0x00000020ce007804, 0x000fe60000000000}, kStoreOfNext}));
}

TEST_CASE("what is no cubin, or a part of one, has no spills") {
    const std::vector<std::byte> whole = cubin({kGuardedCarry, kStore});
    CHECK(has_overwritten_spill_guard(whole));
    for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
        CAPTURE(bytes);
        CHECK(!has_overwritten_spill_guard({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(bytes)}));
    }
    std::vector<std::byte> foreign = whole;
    foreign[offsetof(Elf64_Ehdr, e_machine)] = std::byte{EM_X86_64};
    CHECK(!has_overwritten_spill_guard(foreign));
    std::vector<std::byte> far = whole;
    std::memset(far.data() + offsetof(Elf64_Ehdr, e_shoff), 0xff, sizeof(Elf64_Off));
    CHECK(!has_overwritten_spill_guard(far));
}

TEST_CASE("a kernel whose spills NVRTC gets wrong is compiled another way") {
    if (nvrtc_version() == 0) {
        MESSAGE("skipped: libnvrtc was not found");
        return;
    }
    // By ptxas 12.0 to 13.3 the second tile of B took the place of the third and all that follow.
    const GemmProblem problem = parse_shape("255x1x197 dtype=bf16 ops=tn batch=3 lda=257 ldb=8 ldc=5 stride_a=0 align=8 beta=1").problem;
    const KernelConfig config = parse_config("mma 256x64x32 w4 s2 async v8 split3 raster8");
    const LaunchStep step = make_launch_plan(problem, config, assumed_device("90")).steps.front();
    const CompileResult result = make_nvrtc_compiler(90)->compile(make_kernel_source(step.signature, step.kernel));
    if (const auto* failure = std::get_if<CompileFailure>(&result)) FAIL(failure->log);
    CHECK(!has_overwritten_spill_guard(std::get<CompiledKernel>(result).image));
}
