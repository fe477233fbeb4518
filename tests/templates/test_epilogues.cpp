// Every epilogue, in every kernel that writes C, against a plain loop in double precision, on the emulated device.
#include <doctest/doctest.h>

#include <cstddef>
#include <exception>
#include <string>
#include <utility>

#include "generator/machine/assumed_device.h"
#include "runtime/device/sanitizer.h"
#include "runtime/emulation/host_device.h"
#include "tests/support/kernels/epilogues.h"
#include "tests/support/kernels/tma_faults.h"
#include "tests/support/slice.h"
#include "tests/support/writers.h"

using namespace tmm;
using namespace tmm::testing;

namespace {

// Under AddressSanitizer kernels take three times as long to be compiled and run, and a third of them has to do.
constexpr std::size_t kSlower = sanitizer::kActive ? 3 : 1;

std::string wrong_on_host(const Writer& writer, const Epilogued& epilogue, const TemplateFiles& files = active_templates(),
                          EpiloguePlace place = EpiloguePlace::kernel) {
    const DeviceInfo h200 = assumed_device("90");
    return wrong_element(writer, epilogue, make_host_device_for(h200, "ascending"), h200, make_host_compiler(files), place);
}

}  // namespace

TEST_CASE("every kernel that writes C applies every epilogue") {
    std::size_t index = 0;
    for (const Writer& writer : writers()) {
        for (Epilogued epilogue : epilogues()) {
            if (!in_slice(index++ * 7, 29 * kSlower)) continue;
            epilogue.text = with_room(epilogue.text, writer);
            CAPTURE(std::string(writer.shape));
            CAPTURE(writer.config);
            CAPTURE(epilogue.text);
            CAPTURE(epilogue.expression);
            CHECK(wrong_on_host(writer, epilogue) == "");
        }
    }
}

TEST_CASE("a step applies every epilogue to the sums of every kernel") {
    std::size_t index = 0;
    int served = 0;
    for (const Writer& writer : writers()) {
        for (Epilogued epilogue : epilogues()) {
            if (!in_slice(index++ * 7, 59 * kSlower)) continue;
            epilogue.text = with_room(epilogue.text, writer);
            CAPTURE(std::string(writer.shape));
            CAPTURE(writer.config);
            CAPTURE(epilogue.text);
            CAPTURE(epilogue.expression);
            const std::string wrong = wrong_on_host(writer, epilogue, active_templates(), EpiloguePlace::step);
            // Some configs hold only results of 16 bits.
            if (wrong.starts_with("invalid: ")) continue;
            ++served;
            CHECK(wrong == "");
        }
    }
    CHECK(served > 0);
}

TEST_CASE("a step finishes sums of every type and alignment, in blocks of any shape") {
    std::size_t index = 0;
    for (const char* const shape : shapes_behind_product())
        for (Epilogued epilogue : epilogues()) {
            const Writer writer{shape, "family=naive,block_m=4,block_n=8"};
            epilogue.text = with_room(epilogue.text, writer);
            // The fewer SMs are to be filled, the more rows a thread has, and the more threads a block. A bias may begin anywhere.
            for (const auto& [sms, offset_of_bias] : {std::pair{1, 0}, std::pair{4, 1}, std::pair{132, 4}}) {
                if (!in_slice(index++, 47)) continue;
                CAPTURE(std::string(shape));
                CAPTURE(epilogue.text);
                CAPTURE(epilogue.expression);
                CAPTURE(sms);
                CAPTURE(offset_of_bias);
                DeviceInfo device = assumed_device("90");
                device.sm_count = sms;
                CHECK(wrong_element(writer, epilogue, make_host_device_for(device, "ascending"), device, make_host_compiler(),
                                    EpiloguePlace::step, offset_of_bias) == "");
            }
        }
}

// A fault may read what no kernel may.
TEST_CASE("faults in epilogues are found" * doctest::skip(sanitizer::kActive)) {
    constexpr const char* kSplit =
        "family=simt,vector_width=4,block_m=32,block_n=64,block_k=16,thread_m=4,thread_n=4,stages=1,boundary=guarded,split_k=2";
    constexpr const char* kWgmma = "family=wgmma,vector_width=8,boundary=hardware,block_m=64,block_n=64,block_k=64,stages=3";
    constexpr const char* kHalved = "family=wgmma,vector_width=8,boundary=hardware,block_m=64,block_n=128,block_k=64,stages=3";
    constexpr const char* kManySums = "family=wgmma,vector_width=8,boundary=hardware,block_m=128,block_n=192,block_k=64,stages=3";
    constexpr const char* kRows = "family=wgmma,vector_width=8,boundary=hardware,block_m=128,block_n=64,block_k=64,stages=3";
    constexpr const char* kNaive = "family=naive,block_m=4,block_n=8";
    constexpr const char* kSimt =
        "family=simt,vector_width=4,block_m=32,block_n=64,block_k=16,thread_m=4,thread_n=4,stages=1,boundary=guarded";
    struct Fault {
        const char* what;
        const char* file;
        const char* text;
        const char* instead;
        const char* config;
        const char* shape;
        Epilogued epilogue;
        EpiloguePlace place = EpiloguePlace::kernel;
    };
    constexpr const char* kEpilogue = "tmm/output/epilogue.cuh";
    const Fault faults[] = {
        {"the bias by the row",
         kEpilogue,
         "Kernel::signature.bias == BiasAxis::rows ? row : column",
         "Kernel::signature.bias == BiasAxis::rows ? column : row",
         kSimt,
         "45x75x21",
         {"epilogue=bias"}},
        {"the bias behind the activation",
         kEpilogue,
         "activate<Kernel::signature.activation>(biased)",
         "(activate<Kernel::signature.activation>(x) + (Kernel::signature.bias == BiasAxis::none ? 0.0f : bias))",
         kSimt,
         "45x75x21",
         {"epilogue=bias+relu"}},
        {"the residual before the activation",
         kEpilogue,
         "Kernel::signature.residual ? activated + residual : activated",
         "activate<Kernel::signature.activation>(biased + residual)",
         kSimt,
         "45x75x21",
         {"epilogue=relu+residual"}},
        {"the residual's rows", kEpilogue, "row * args.ldr", "row * (args.ldr - 5)", kSimt, "45x75x21", {"epilogue=residual"}},
        {"the residual's members",
         kEpilogue,
         "batch * args.stride_r",
         "batch * (args.stride_r - 3)",
         kSimt,
         "45x75x21 batch=2",
         {"epilogue=residual"}},
        {"the bias's type",
         kEpilogue,
         "ElementOfBias<Kernel>",
         "ElementOfC<Kernel>",
         kWgmma,
         "70x136x64 dtype=bf16 align=16",
         {"epilogue=bias bias_type=f16"}},
        {"beta behind the epilogue",
         "tmm/output/output.cuh",
         "over ? multiply_add(beta, to_number<Scalar>(before), alpha * to_number<Scalar>(sum))",
         "over ? alpha * to_number<Scalar>(sum)",
         kSimt,
         "45x75x21 beta=1",
         {"epilogue=relu"}},
        {"alpha behind the epilogue",
         "tmm/output/output.cuh",
         ": alpha * to_number<Scalar>(sum);",
         ": to_number<Scalar>(sum);",
         kSimt,
         "45x75x21",
         {"epilogue=relu"}},
        {"a box's sum twice",
         "tmm/families/wgmma/boxes.cuh",
         "item.batch, sum, before);\n            else",
         "item.batch, 2 * sum, before);\n            else",
         kWgmma,
         "72x136x64 dtype=bf16 align=16",
         {"epilogue=residual"}},
        {"a box's bias by its own columns",
         "tmm/families/wgmma/boxes.cuh",
         "(to.x + column, columns_)",
         "(column, columns_)",
         kManySums,
         "130x200x64 dtype=bf16 align=16",
         {"epilogue=bias"}},
        {"the bias of a tile's first columns for all of them",
         "tmm/families/wgmma/finish.cuh",
         "item.right0 + group_column + column",
         "group_column + column",
         kWgmma,
         "72x136x64 dtype=bf16 align=16",
         {"epilogue=bias"}},
        {"the bias of a last slab, which ends with the matrix, as if it did not",
         "tmm/families/wgmma/finish.cuh",
         "P::right_slab(args, item.right0 + group_column + column - in_slab)",
         "item.right0 + group_column + column - in_slab",
         kWgmma,
         "72x136x64 dtype=bf16 align=16",
         {"epilogue=bias"}},
        {"sums finished without alpha",
         "tmm/families/wgmma/finish.cuh",
         "scalars.alpha, scalars.beta",
         "1.0f, scalars.beta",
         kWgmma,
         "72x136x64 dtype=bf16 align=16",
         {"epilogue=bias+relu"}},
        {"alpha once in registers and once in boxes",
         "tmm/families/wgmma/boxes.cuh",
         "return {1, 0};",
         "return output_scalars<Kernel>(args);",
         kWgmma,
         "72x136x64 dtype=bf16 align=16",
         {"epilogue=bias+residual"}},
        {"a logistic of the other sign",
         "tmm/output/activation.cuh",
         "return x * logistic(-log2_e * x);",
         "return x * logistic(log2_e * x);",
         kSimt,
         "45x75x21",
         {"epilogue=silu"}},
        {"a gate's bias twice", kEpilogue, "columns_of_c<Kernel>(args) + column", "column", kSimt, "45x75x21", {"epilogue=bias+swiglu"}},
        {"what a gate is for without alpha",
         kEpilogue,
         "    value *= static_cast<ScalarOf<Kernel>>(args.alpha);\n",
         "",
         kSimt,
         "45x75x21",
         {"epilogue=swiglu"}},
        {"a gate of itself", "tmm/steps/reduce/kernel.cuh", "part + half + split", "part + split", kSplit, "45x75x40", {"epilogue=swiglu"}},
        {"a gate of itself in a step",
         "tmm/steps/finishing/kernel.cuh",
         "row * args.ld_sums + half",
         "row * args.ld_sums",
         kSimt,
         "45x75x21",
         {"epilogue=swiglu"}},
        {"sums of another row",
         "tmm/steps/finishing/kernel.cuh",
         "sums + row * args.ld_sums, true",
         "sums + row * (args.ld_sums - 4), true",
         kSimt,
         "45x75x21",
         {"epilogue=swiglu"}},
        {"sums of another member",
         "tmm/steps/finishing/kernel.cuh",
         "batch * args.stride_sums",
         "0",
         kSimt,
         "45x75x21 batch=2",
         {"epilogue=swiglu"}},
        {"a residual by C's rows in a step",
         "tmm/output/rows.cuh",
         "row * args.ldr + column",
         "row * (args.ldr - 5) + column",
         kSimt,
         "45x75x21",
         {"epilogue=swiglu+residual"}},
        {"a residual of another member in a step",
         "tmm/output/rows.cuh",
         "batch * args.stride_r",
         "batch * (args.stride_r - 3)",
         kSimt,
         "45x75x21 batch=2",
         {"epilogue=swiglu+residual"}},
        {"a step without beta",
         "tmm/output/rows.cuh",
         "results.scalars.beta, row",
         "0.0f, row",
         kNaive,
         "45x72x21 dtype=bf16 align=16 beta=1",
         {"epilogue=bias+relu"},
         EpiloguePlace::step},
        {"C's old value for the residual in a step",
         "tmm/output/rows.cuh",
         "to_number<Scalar>(residual[i].element[j])",
         "to_number<Scalar>(elements[i].element[j])",
         kNaive,
         "45x72x21 dtype=bf16 align=16 beta=1",
         {"epilogue=relu+residual"},
         EpiloguePlace::step},
        {"a gate's rows taken for columns",
         "tmm/steps/reduce/kernel.cuh",
         "of_rows ? rows_of_c<Kernel>(args) * ld : columns",
         "columns",
         kSplit,
         "45x75x40",
         {"epilogue=swiglu_rows"}},
        {"rows that are one short of half of them",
         "tmm/steps/reduce/kernel.cuh",
         "of_rows ? rows_of_c<Kernel>(args) * ld : columns",
         "of_rows ? (rows_of_c<Kernel>(args) - 1) * ld : columns",
         kSplit,
         "45x75x50 batch=2",
         {"epilogue=bias+swiglu_rows"}},
        {"a gate's rows taken for columns in a step",
         "tmm/steps/finishing/kernel.cuh",
         "of_rows ? output.rows * args.ld_sums : output.columns",
         "output.columns",
         kSimt,
         "45x75x21",
         {"epilogue=swiglu_rows"}},
        {"the second half for the gate",
         kEpilogue,
         "activate<Activation::silu>(gate) * value",
         "activate<Activation::silu>(value) * gate",
         kSimt,
         "45x75x21",
         {"epilogue=swiglu_rows"}},
        {"a gate's bias of rows twice",
         kEpilogue,
         "of_rows ? rows_of_c<Kernel>(args) + row : row",
         "row",
         kSimt,
         "45x75x21",
         {"epilogue=bias_rows+swiglu_rows"}},
        {"halves of a tile that follow each other",
         "tmm/families/wgmma/pipeline.cuh",
         "static_cast<int>(extent / 2) : 0",
         "group / 2 : 0",
         kHalved,
         "70x144x64 dtype=bf16 align=16",
         {"epilogue=swiglu"}},
        {"halves of a tile of A that follow each other",
         "tmm/families/wgmma/pipeline.cuh",
         "static_cast<int>(extent / 2) : 0",
         "group / 2 : 0",
         kRows,
         "144x70x64 dtype=bf16 align=16 ldb=72 ldc=72",
         {"epilogue=swiglu_rows"}},
        {"rows of results where their sums begin",
         "tmm/families/wgmma/gate.cuh",
         "item.left0 /= 2",
         "item.left0 /= 1",
         kRows,
         "272x72x64 dtype=bf16 align=16",
         {"epilogue=swiglu_rows"}},
        {"a tile's results where its sums begin",
         "tmm/families/wgmma/gate.cuh",
         "item.right0 /= 2",
         "item.right0 /= 1",
         kHalved,
         "70x272x64 dtype=bf16 align=16",
         {"epilogue=swiglu"}},
        {"the upper rows' halves for the lower ones",
         "tmm/families/wgmma/finish.cuh",
         "sum / 2 % 2 * 8",
         "0",
         kHalved,
         "70x144x64 dtype=bf16 align=16",
         {"epilogue=bias_rows+swiglu"}},
        {"gelu's slope", "tmm/output/activation.cuh", "-0.071354816272f", "-0.0763f", kSimt, "45x75x21", {"epilogue=gelu_tanh"}},
    };
    std::size_t index = 0;
    for (const Fault& fault : faults) {
        CAPTURE(std::string(fault.what));
        // Each has a text to stand in, whichever part of them is planted.
        const TemplateFiles faulty =
            with_fault({.what = fault.what, .file = fault.file, .text = fault.text, .instead = fault.instead, .config = "", .shape = ""});
        if (!in_slice(index++, 3)) continue;
        const Writer writer{fault.shape, fault.config};
        Epilogued epilogue = fault.epilogue;
        // Rows of whole vectors, so that boxes bring the residual.
        epilogue.text = std::string(fault.config) != kSimt ? epilogue.text : with_room(epilogue.text, writer);
        CHECK(wrong_on_host(writer, epilogue, active_templates(), fault.place) == "");
        // A fault may also make an access that faults on a GPU, which the emulated device says by an exception.
        const auto seen = [&] {
            try {
                return wrong_on_host(writer, epilogue, faulty, fault.place);
            } catch (const std::exception& error) {
                return std::string(error.what());
            }
        };
        CHECK(seen() != "");
    }
}
