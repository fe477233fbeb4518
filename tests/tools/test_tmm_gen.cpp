// tmm-gen as a user runs it: what it prints, and how it fails.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <sstream>
#include <string>

#include "base/text/text_width.h"
#include "generator/compile/compiler.h"
#include "generator/text/text.h"

using namespace tmm;

namespace {

struct Run {
    int status = -1;
    std::string out;
    std::string err;
};

Run tmm_gen(const std::string& arguments, const std::string& environment = "") {
    const std::string err = (std::filesystem::temp_directory_path() / ("tmm-gen-" + std::to_string(getpid()) + ".err")).string();
    const std::string command = environment + " '" TMM_BINARY_DIR "/tools/tmm-gen' " + arguments + " 2>'" + err + "'";
    Run run;
    FILE* pipe = popen(command.c_str(), "r");
    REQUIRE(pipe != nullptr);
    char buffer[4096];
    while (const std::size_t count = fread(buffer, 1, sizeof buffer, pipe)) run.out.append(buffer, count);
    const int status = pclose(pipe);
    run.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
    std::ifstream file(err);
    run.err.assign(std::istreambuf_iterator<char>(file), {});
    std::filesystem::remove(err);
    return run;
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

// The text behind a label of --explain, where the label comes first.
std::string value_of(const std::string& text, const std::string& label) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        const auto first = line.find_first_not_of(' ');
        if (first == std::string::npos || line.compare(first, label.size(), label) != 0) continue;
        const auto value = line.find_first_not_of(' ', first + label.size());
        return value == std::string::npos ? "" : line.substr(value);
    }
    return "(no such line)";
}

constexpr const char* kNoNvrtc = "TMM_NVRTC=/nonexistent/libnvrtc.so";
constexpr const char* kTiled16 = "--shape 1000x1000x1000 --config family=tiled,block_m=16,block_n=16,block_k=16";

}  // namespace

TEST_CASE("the stub and the source need neither a driver nor NVRTC") {
    const Run stub = tmm_gen(kTiled16, kNoNvrtc);
    CHECK(stub.status == 0);
    CHECK(stub.err == "");
    CHECK(contains(stub.out, "#include \"tmm/families/tiled/kernel.cuh\""));
    CHECK(contains(stub.out, "tmm_tiled_f32_nn_16x16x16_guarded(const __grid_constant__ tmm::GemmArgs args)"));
    CHECK(tmm_gen(std::string(kTiled16) + " --stub").out == stub.out);

    const Run source = tmm_gen(std::string(kTiled16) + " --source", kNoNvrtc);
    CHECK(source.status == 0);
    CHECK_FALSE(contains(source.out, "#include"));
    CHECK(contains(source.out, "struct GemmArgs"));
    CHECK(contains(source.out, "tmm_tiled_f32_nn_16x16x16_guarded"));
}

TEST_CASE("the whole source compiles by itself, to the PTX that --ptx prints") {
    if (nvrtc_version() == 0) {
        MESSAGE("skipped: libnvrtc was not found");
        return;
    }
    const Run source = tmm_gen(std::string(kTiled16) + " --source");
    const Run ptx = tmm_gen(std::string(kTiled16) + " --ptx --gpu-arch 80");
    CHECK(ptx.status == 0);
    CHECK(contains(ptx.out, ".target sm_80"));
    CHECK(contains(ptx.out, ".entry tmm_tiled_f32_nn_16x16x16_guarded"));
    CHECK(compile_to_ptx({.name = "whole", .text = source.out, .entries = {}}, 80).size() > 1000);
}

TEST_CASE("--explain tells the numbers of a tiled kernel") {
    for (const int width : {4, 8, 16, 32}) {
        const std::string w = std::to_string(width);
        CAPTURE(width);
        const Run run = tmm_gen("--explain --shape 1000x1000x1000 --config family=tiled,block_m=" + w + ",block_n=" + w + ",block_k=" + w);
        CHECK(run.status == 0);
        CHECK(value_of(run.out, "problem") == "1000x1000x1000");
        CHECK(value_of(run.out, "threads per block") == std::to_string(width * width));
        CHECK(value_of(run.out, "shared bytes per block") == std::to_string(2 * 4 * width * width));
        CHECK(value_of(run.out, "loads per phase") == "2 per thread, " + std::to_string(2 * width * width) + " per block");
        CHECK(value_of(run.out, "FLOP per load") == w);
        const int tiles = (1000 + width - 1) / width;
        CHECK(value_of(run.out, "grid") == std::to_string(tiles * tiles) + " blocks");
        CHECK(value_of(run.out, "steps") == "1");
        CHECK(value_of(run.out, "workspace") == "0 bytes");
        if (nvrtc_version() != 0) {
            CHECK(std::stoi(value_of(run.out, "registers per thread")) > 8);
            CHECK(value_of(run.out, "spill bytes per thread") == "0");
            CHECK(std::stoi(value_of(run.out, "blocks per SM")) > 0);
        }
    }
}

TEST_CASE("--explain counts loads of the step that multiplies, and of no other") {
    const Run run = tmm_gen("--shape 4096x4096x4096 --explain --config 'wgmma 128x112x64 w2 s3 planes2 promote64 swap'", kNoNvrtc);
    CHECK(value_of(run.out, "steps") == "3");
    CHECK(contains(run.out, "30720 per block, by TMA"));
    CHECK(!contains(run.out, "0 per thread, 0 per block"));
    CHECK(value_of(run.out, "FLOP per load").substr(0, 4) == "119.");
}

TEST_CASE("--explain tells the predicted time in terms, whose figures add up") {
    for (const std::string arguments : {"--shape '16x4096x4096 dtype=bf16 ops=nt'", "--shape 4096x4096x4096",
                                        "--shape 1000x1000x1000 --config 'tiled 16x16x16'", "--shape 1000x1000x1000 --gpu-arch 80"}) {
        CAPTURE(arguments);
        const std::string predicted = value_of(tmm_gen(arguments + " --explain", kNoNvrtc).out, "predicted");
        const auto equals = predicted.find(" µs = ");
        REQUIRE(equals != std::string::npos);
        double sum = 0;
        int terms = 0;
        for (auto at = equals; at != std::string::npos; at = predicted.find(" + ", at + 1), ++terms)
            sum += std::stod(predicted.substr(predicted.find_first_of("0123456789", at)));
        // Each figure is rounded.
        const auto point = predicted.find('.');
        const double unit = point < equals ? std::pow(10.0, -static_cast<double>(equals - point - 1)) : 1;
        CHECK(std::abs(sum - std::stod(predicted)) <= 0.51 * unit * (terms + 1));
        CHECK(terms >= 2);
        CHECK(predicted.size() + 11 <= 100);
    }
}

TEST_CASE("--explain keeps to the columns of the terminal, but for kernels' names") {
    const std::string narrow = tmm_gen("--shape 1000x1000x1000 --explain", std::string(kNoNvrtc) + " COLUMNS=60").out;
    REQUIRE(contains(narrow, "predicted  "));
    std::istringstream lines(narrow);
    for (std::string line; std::getline(lines, line);)
        if (!line.starts_with("step ") && !contains(line, "registers per thread")) CHECK_MESSAGE(display_width(line) <= 60, line);
}

TEST_CASE("--explain without NVRTC tells what it can") {
    const Run run = tmm_gen(std::string(kTiled16) + " --explain", kNoNvrtc);
    CHECK(run.status == 0);
    CHECK(contains(value_of(run.out, "registers per thread"), "unknown: libnvrtc"));
    CHECK(contains(value_of(run.out, "blocks per SM"), "at most 8"));
    CHECK(value_of(run.out, "FLOP per load") == "16");
}

TEST_CASE("without --config it is the config that an untuned problem gets, on the device that it says it assumes") {
    const Run run = tmm_gen("--shape 1000x1000x1000 --explain", kNoNvrtc);
    CHECK(run.status == 0);
    CHECK(contains(run.out, "assumed: NVIDIA H200, compute capability 9.0"));
    CHECK(value_of(run.out, "chosen by") == "tmm, as for an untuned problem");
    CHECK(contains(tmm_gen("--shape 64x64x64 --gpu-arch 75 --explain", kNoNvrtc).out, "compute capability 7.5"));
}

TEST_CASE("a config whose blocks pack operands, or add up strips, says how many do") {
    CHECK(contains(tmm_gen("--shape '2048x2048x2048 compute=f32_strict' --explain --config family=simt,block_m=128,block_n=128,block_k=32,"
                           "thread_m=8,thread_n=16,stages=3,async_copy=3,vector_width=4,min_blocks=2,pack_ab=5",
                           kNoNvrtc)
                       .out,
                   "264 blocks\n  of these pack           8,"));
    CHECK(contains(
        tmm_gen("--shape '1025x1025x1025 compute=f32_strict' --explain --config family=simt,block_m=64,block_n=64,block_k=64,"
                "thread_m=8,thread_n=8,stages=2,async_copy=3,vector_width=4,boundary=peeled,min_blocks=2,pack_ab=3,trim=2,slice_k=4",
                kNoNvrtc)
            .out,
        "264 blocks\n  of these add up         8,"));
}

TEST_CASE("a config that splits K shows both steps") {
    const std::string arguments =
        "--shape 64x64x8192 --config "
        "family=simt,block_m=64,block_n=64,block_k=16,thread_m=4,thread_n=4,stages=2,vector_width=4,split_k=16";
    const Run stub = tmm_gen(arguments);
    CHECK(stub.status == 0);
    CHECK(contains(stub.out, "// Step 1 of 2: tmm_simt_"));
    CHECK(contains(stub.out, "// Step 2 of 2: tmm_reduce_"));
    CHECK(contains(stub.out, "tmm::reduce::kernel<Kernel>"));
    const Run explained = tmm_gen(arguments + " --explain", kNoNvrtc);
    CHECK(value_of(explained.out, "steps") == "2");
    CHECK(value_of(explained.out, "workspace") == std::to_string(16 * 64 * 64 * 4) + " bytes");

    const Run three = tmm_gen(arguments + ",pack_ab=3 --explain", kNoNvrtc);
    CHECK(value_of(three.out, "steps") == "3");
    // The text about products does not fit copies and sums.
    CHECK(three.out.find("FLOP per load") == three.out.rfind("FLOP per load"));
    CHECK(contains(tmm_gen(arguments + ",pack_ab=3").out, "tmm::pack::kernel<Kernel>"));

    // A step is part of plans, and no config of its own.
    const Run reduce = tmm_gen("--shape 64x64x64 --config family=reduce");
    CHECK(reduce.status == 1);
    CHECK(contains(reduce.err, "one of naive, tiled, simt"));
}

TEST_CASE("a config that can't serve the problem says why") {
    const std::string narrow = "--shape 1000x1000x1000 --config family=tiled,block_m=16,block_n=16";
    const Run explained = tmm_gen(narrow + " --explain");
    CHECK(explained.status == 1);
    CHECK(contains(value_of(explained.out, "invalid"), "square"));
    const Run stub = tmm_gen(narrow);
    CHECK(stub.status == 1);
    CHECK(stub.out == "");
    CHECK(contains(stub.err, "square"));
    CHECK(std::count(stub.err.begin(), stub.err.end(), '\n') == 1);

    const Run exact = tmm_gen(std::string(kTiled16) + ",boundary=exact --explain");
    CHECK(exact.status == 1);
    CHECK(value_of(exact.out, "invalid") != "");
    const Run old_gpu = tmm_gen(
        "--gpu-arch 75 --explain --shape 64x64x64 --config "
        "family=simt,block_m=64,block_n=64,block_k=16,thread_m=4,thread_n=4,stages=3,async_copy=1,vector_width=4");
    CHECK(old_gpu.status == 1);
    CHECK(value_of(old_gpu.out, "invalid") != "(no such line)");

    // Nobody named a config here, so none is to be blamed.
    const Run unserved = tmm_gen("--shape '64x64x64 dtype=f64 ctype=f32'");
    CHECK(unserved.status == 1);
    CHECK(contains(unserved.err, "64x64x64 dtype=f64 ctype=f32"));
    CHECK(contains(unserved.err, "no kernel serves this problem"));
    CHECK(!contains(unserved.err, "config"));
    CHECK(contains(tmm_gen("--shape '16x16x16 dtype=f16 compute=tf32'").err, "operands of f16 are not multiplied with compute=tf32"));
}

TEST_CASE("kernels of 16-bit operands are named and explained by their types") {
    const Run split = tmm_gen(
        "--shape '8x64x4096 dtype=bf16 ops=nt' --explain --config "
        "family=gemv,block_m=8,block_n=8,block_k=256,thread_n=2,vector_width=8,boundary=peeled,split_k=2");
    CHECK(split.status == 0);
    CHECK(value_of(split.out, "step 1") == "tmm_gemv_bf16_nt_a16b16c16_8x8x256_t1x2_v8_peeled_split");
    // The second kernel adds up floats and writes bf16.
    CHECK(contains(value_of(split.out, "step 2"), "tmm_reduce_bf16_nn_"));
    CHECK(value_of(split.out, "workspace") == "4096 bytes");
    const Run wide = tmm_gen("--shape '8x64x64 align=2' --set dtype=f16 --set ctype=f32 --config family=naive,block_m=8,block_n=32");
    CHECK(wide.status == 0);
    CHECK(contains(wide.out, "tmm_naive_f16f16f32_nn_"));
    CHECK(contains(wide.out, ".align_a = 2, .align_b = 2, .align_c = 4"));
    // Without a config, tensor cores are used.
    CHECK(contains(tmm_gen("--shape '64x64x64 dtype=bf16'").out, "tmm_wgmma_bf16_nn_"));
    CHECK(contains(tmm_gen("--shape '64x64x64 dtype=bf16' --gpu-arch 80").out, "tmm_mma_bf16_nn_"));
}

TEST_CASE("--set wins over the shape's own keys") {
    const Run run = tmm_gen("--shape '64x64x64 ops=nn' --set ops=tt --config family=naive,block_m=16,block_n=16");
    CHECK(run.status == 0);
    CHECK(contains(run.out, "tmm_naive_f32_tt"));
}

TEST_CASE("help and version") {
    const Run help = tmm_gen("--help", kNoNvrtc);
    CHECK(help.status == 0);
    for (const char* word : {"--shape", "--config", "--source", "--stub", "--ptx", "--explain", "--gpu-arch", "--set", "--version"})
        CHECK_MESSAGE(contains(help.out, word), word);
    // The help breaks lines between words.
    const std::string in_one_line = std::regex_replace(help.out, std::regex("\\s+"), " ");
    for (const ConfigFieldHelp& field : config_field_help()) CHECK_MESSAGE(contains(in_one_line, field.help), field.name);
    const Run version = tmm_gen("--version");
    CHECK(version.status == 0);
    CHECK(contains(version.out, "tmm-gen "));
}

TEST_CASE("faults are one line on stderr, with a way out, and the exit status says what kind") {
    struct Fault {
        const char* arguments;
        int status;
        const char* message;
    };
    const Fault faults[] = {
        {"", 1, "--shape is missing"},
        {"--shape", 1, "--shape"},
        {"--shape 8x8", 1, "column 4: K is missing"},
        {"--shape 8x8x8 --colour", 1, "--colour"},
        {"--shape 8x8x8 --expl", 1, "--expl"},
        {"--shape 8x8x8 extra", 1, "tmm-gen --help"},
        {"--shape 8x8x8 --stub --ptx", 1, "exclude each other"},
        {"--shape 8x8x8 --shape 9x9x9", 1, "shape"},
        {"--shape 8x8x8 --config block_m", 1, "block_m"},
        {"--shape 8x8x8 --config 'simt 128x128x8 tt8x8'", 1, "no field 'tt8x8'"},
        {"--shape 8x8x8 --config blok_m=8", 1, "did you mean block_m?"},
        {"--shape 8x8x8 --config foo", 1, "write it like 'simt"},
        {"--shape 8x8x8 --config block_m=99999999", 1, "block_m"},
        {"--shape 8x8x8 --set colour", 1, "key=value"},
        {"--shape 8x8x8 --set colour=red", 1, "--set colour=red"},
        {"--shape 8x8x8 --gpu-arch 42", 1, "75, 80"},
    };
    for (const Fault& fault : faults) {
        CAPTURE(fault.arguments);
        const Run run = tmm_gen(fault.arguments);
        CHECK(run.status == fault.status);
        CHECK(run.out == "");
        CHECK_MESSAGE(contains(run.err, fault.message), run.err);
        CHECK(run.err.substr(0, 9) == "tmm-gen: ");
        CHECK(std::count(run.err.begin(), run.err.end(), '\n') == 1);
    }
    const Run no_compiler = tmm_gen(std::string(kTiled16) + " --ptx", kNoNvrtc);
    CHECK(no_compiler.status == 4);
    CHECK(contains(no_compiler.err, "/nonexistent/libnvrtc.so"));
    CHECK(contains(no_compiler.err, "TMM_NVRTC"));
    CHECK(tmm_gen(std::string(kTiled16) + " >/dev/full").status == 1);
    CHECK(tmm_gen("--shape 8x8x8 --source", "TMM_TEMPLATES=/nonexistent").status != 0);
}
