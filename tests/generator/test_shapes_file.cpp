// The shapes file: what each line means, and that every fault has its place, its reason and a way out.
#include <doctest/doctest.h>
#include <fmt/core.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <random>
#include <string>

#include "base/error.h"
#include "generator/text/shapes_file.h"
#include "generator/text/text.h"

using namespace tmm;

namespace {

GemmProblem problem(const std::string& line) {
    return parse_shape(line).problem;
}

// The error that the action throws; a status of done where it throws none.
Error error_of(const std::function<void()>& action) {
    try {
        action();
    } catch (const Error& error) {
        return error;
    }
    return Error(ExitStatus::done, "no error");
}

Error file_error(const std::string& text) {
    return error_of([&] { parse_shapes(text, "shapes.txt"); });
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

std::filesystem::path scratch_file(const std::string& name) {
    return std::filesystem::temp_directory_path() / fmt::format("tmm-{}-{}", getpid(), name);
}

}  // namespace

TEST_CASE("a line is M N K and keys") {
    const GemmProblem p = problem("100 90 80");
    CHECK(p.m == 100);
    CHECK(p.n == 90);
    CHECK(p.k == 80);
    CHECK(p.batch == 1);
    CHECK(p.lda == 80);
    CHECK(p.ldb == 90);
    CHECK(p.ldc == 90);
    CHECK(p.stride_a == 0);
    CHECK(p.alignment == 16);
    CHECK_FALSE(p.reads_c);
    CHECK(problem("100x90x80") == p);
    CHECK(problem("\t100  90\t80 \r") == p);
    CHECK(problem("100 90 80 # comment key=value") == p);
    CHECK(problem("100 90 80 beta=0 alpha=2") == p);
}

TEST_CASE("keys change the problem") {
    CHECK(problem("8 8 8 beta=0.5").reads_c);
    CHECK(parse_shape("8 8 8 alpha=-2.5e1 beta=0.5").alpha == -25);
    CHECK(parse_shape("8 8 8 alpha=-2.5e1 beta=0.5").beta == 0.5);
    CHECK(problem("8 8 8 align=4").alignment == 4);
    // A pointer to larger elements is a multiple of their size all the same, as the C interface takes it.
    CHECK(problem("8 8 8 align=1") == problem("8 8 8 align=4"));
    CHECK(problem("8 8 8 dtype=f16 ctype=f32 align=1").alignment == 2);
    CHECK(problem("8 8 8 align=4096").alignment == 4096);
    CHECK(problem("8 8 8 compute=f32_strict").compute == ComputeMode::f32_strict);

    const GemmProblem half = problem("8 8 8 dtype=bf16 ctype=f32");
    CHECK(half.type_a == ElementType::bf16);
    CHECK(half.type_b == ElementType::bf16);
    CHECK(half.type_c == ElementType::f32);
    CHECK(half.compute == ComputeMode::f32);
    CHECK(problem("8 8 8 dtype=f16").type_c == ElementType::f16);
    CHECK(problem("8 8 8 dtype=f64").compute == ComputeMode::f64);

    // A transposed operand's rows have the other extent.
    const GemmProblem tt = problem("100 90 80 ops=tt");
    CHECK(tt.lda == 100);
    CHECK(tt.ldb == 80);

    const GemmProblem batched = problem("10 20 30 batch=4 lda=32");
    CHECK(batched.batch == 4);
    CHECK(batched.stride_a == 10 * 32);
    CHECK(batched.stride_b == 30 * 20);
    CHECK(batched.stride_c == 10 * 20);
}

TEST_CASE("a column-major line is the row-major problem over the same memory") {
    const GemmProblem p = problem("100 90 80 layout=col ops=nt lda=104 ldb=96 ldc=112 batch=2");
    CHECK(p.m == 90);
    CHECK(p.n == 100);
    CHECK(p.k == 80);
    // Row-major, the old B is stored 80 x 90 and stands transposed on the left; the old A is 80 x 100.
    CHECK(p.op_a == Operation::transpose);
    CHECK(p.op_b == Operation::none);
    CHECK(p.lda == 96);
    CHECK(p.ldb == 104);
    CHECK(p.ldc == 112);
    CHECK(p.stride_a == 80 * 96);
    CHECK(p.stride_b == 80 * 104);
    CHECK(p.stride_c == 90 * 112);
    CHECK(problem("64 64 64 layout=col") == problem("64 64 64"));
    CHECK(problem("100 90 80 layout=col") == problem("90 100 80"));
    CHECK(problem("100 90 80 layout=col ops=tn") == problem("90 100 80 ops=nt"));
}

TEST_CASE("values are read however they are plainly written, and written as tmm has them") {
    for (const char* half : {"f16", "fp16", "FP16", "half", "Half", "float16", "torch.float16", "torch.half"}) {
        CAPTURE(half);
        CHECK(problem(std::string("8 8 8 dtype=") + half) == problem("8 8 8 dtype=f16"));
    }
    for (const char* brain : {"bfloat16", "BF16", "BFloat16", "torch.bfloat16"})
        CHECK(problem(std::string("8 8 8 dtype=") + brain + " ctype=float") == problem("8 8 8 dtype=bf16 ctype=f32"));
    for (const char* single : {"float", "float32", "FP32", "single", "F32"})
        CHECK(problem(std::string("8 8 8 dtype=") + single) == problem("8 8 8"));
    CHECK(problem("8 8 8 dtype=double").type_a == ElementType::f64);
    CHECK(problem("8 9 8 ops=NT compute=TF32 Layout=COL EPILOGUE=Bias_Rows+ReLU LDA=16") ==
          problem("8 9 8 ops=nt compute=tf32 layout=col epilogue=bias_rows+relu lda=16"));
    CHECK(problem("8 9 8 layout=column_major") == problem("8 9 8 layout=col"));
    CHECK(problem("8 9 8 layout=RowMajor") == problem("8 9 8"));
    CHECK(parse_shapes("8 8 8", "s", {{"DTYPE", "Half"}})[0].problem == problem("8 8 8 dtype=f16"));
    CHECK(to_text(problem("8 8 8 dtype=bfloat16 ops=NT")) == "8x8x8 dtype=bf16 ops=nt");
    // Letters are BLAS's own, and h may be anybody's.
    CHECK(file_error("8 8 8 dtype=h").status() == ExitStatus::bad_input);
}

TEST_CASE("ranges multiply out, both ends included") {
    const auto shapes = parse_shapes("128:384:128 64 10:11\n", "shapes.txt");
    REQUIRE(shapes.size() == 6);
    CHECK(shapes[0].problem == problem("128 64 10"));
    CHECK(shapes[1].problem == problem("128 64 11"));
    CHECK(shapes[5].problem == problem("384 64 11"));
    CHECK(parse_shapes("100:250:100x1x1", "s").size() == 2);
    CHECK(parse_shapes("1:1000000 1 1", "s").size() == 1000000);
    CHECK(contains(file_error("8 8 8\n1:1001 1:1000 1").what(), "shapes.txt:2:1"));
    CHECK(contains(file_error("1:9223372036854775807 1:9223372036854775807 1:9223372036854775807").what(), "more than 1000000"));
}

TEST_CASE("a size may vary where the reader picks the sizes, and what the line says holds for each") {
    const std::vector<Shape> shapes = parse_shapes("1:8192:auto 64:128:64 32 ops=nt beta=1\n5 6 7\n", "shapes.txt", {}, Varying::allowed);
    REQUIRE(shapes.size() == 3);
    REQUIRE(shapes[1].varying);
    CHECK_FALSE(shapes[2].varying);
    const VaryingSize& varying = *shapes[1].varying;
    CHECK(varying.name == 'M');
    CHECK(varying.first == 1);
    CHECK(varying.last == 8192);
    CHECK(shapes[1].problem == varying.problem_of(8192));
    CHECK(varying.problem_of(100) == problem("100 128 32 ops=nt beta=1"));
    CHECK(parse_shapes("8 1:4:auto 8 layout=col", "s", {}, Varying::allowed)[0].varying->problem_of(3) == problem("8 3 8 layout=col"));
    CHECK(parse_shapes("8 8 1:4:auto batch=2", "s", {}, Varying::allowed)[0].varying->problem_of(3) == problem("8 8 3 batch=2"));

    CHECK(contains(file_error("1:8:auto 8 8").what(), "is for tmm-tune"));
    const auto fault = [](const std::string& text) { return error_of([&] { parse_shapes(text, "s", {}, Varying::allowed); }); };
    CHECK(contains(fault("1:8:auto 1:8:auto 8").what(), "s:1:10"));
    CHECK(contains(fault("8:1:auto 8 8").what(), "ends at 1, before it begins at 8"));
    CHECK(contains(fault("1:8:automatic 8 8").what(), "not a whole number"));
    // The largest size must do with what is written down.
    CHECK(contains(fault("8 1:64:auto 8 ldb=32").what(), "shorter than a stored row"));
}

TEST_CASE("comments, empty lines, CRLF, a byte order mark and a missing last newline are fine") {
    const auto shapes = parse_shapes("\xef\xbb\xbf# shapes\r\n\r\n  8 8 8 # small\r\n\t\n9 9 9", "shapes.txt");
    REQUIRE(shapes.size() == 2);
    CHECK(shapes[0].problem == problem("8 8 8"));
    CHECK(shapes[0].line == 3);
    CHECK(shapes[1].line == 5);
}

TEST_CASE("equal problems are kept once, in order of first appearance") {
    const auto shapes = parse_shapes("9 9 9\n8 8 8\n9x9x9 alpha=2\n8 8 8 lda=8\n8 8 8 lda=9\n", "shapes.txt");
    REQUIRE(shapes.size() == 3);
    CHECK(shapes[0].line == 1);
    CHECK(shapes[1].line == 2);
    CHECK(shapes[2].line == 5);
}

TEST_CASE("--set wins over a line's own keys") {
    const auto shapes = parse_shapes("8 8 8 dtype=bf16\n8 8 8 ops=nt", "shapes.txt", {{"dtype", "f16"}, {"beta", "1"}});
    REQUIRE(shapes.size() == 2);
    CHECK(shapes[0].problem.type_a == ElementType::f16);
    CHECK(shapes[1].problem.type_a == ElementType::f16);
    CHECK(shapes[1].problem.op_b == Operation::transpose);
    CHECK(shapes[0].problem.reads_c);

    const Error error = error_of([] { parse_shapes("8 8 8", "shapes.txt", {{"dtyp", "f16"}}); });
    CHECK(error.status() == ExitStatus::usage);
    CHECK(contains(error.what(), "--set dtyp=f16"));
    CHECK(contains(error.what(), "did you mean dtype?"));
}

TEST_CASE("every fault has its place, its reason and a way out") {
    struct Bad {
        const char* text;
        const char* place;
        const char* reason;
    };
    const Bad bads[] = {
        {"8 8 8\n8 8x 8\n", "shapes.txt:2:5", "K is missing its number"},
        {"12 1o0 7", "shapes.txt:1:4", "N = '1o0' is not a whole number"},
        {"1.5 8 8", "shapes.txt:1:1", "not a whole number"},
        {"1e3 8 8", "shapes.txt:1:1", "not a whole number"},
        {"8 8 -8", "shapes.txt:1:5", "K = -8 is negative"},
        {"8 0 8", "shapes.txt:1:3", "N = 0 is too small"},
        {"8 8 99999999999999999999", "shapes.txt:1:5", "does not fit in 64 bits"},
        {"8 8", "shapes.txt:1:4", "K is missing"},
        {"# c\n\n8 ops=nt", "shapes.txt:3:3", "N is missing"},
        {"8 8 8 8", "shapes.txt:1:7", "is not key=value"},
        {"8x8x8x8", "shapes.txt:1:7", "more than three sizes"},
        {"8 8 8 opps=nt", "shapes.txt:1:7", "no key 'opps'"},
        {"8 8 8 =nt", "shapes.txt:1:7", "no key ''"},
        {"8 8 8 ops=", "shapes.txt:1:11", "ops = '' is not one of its values"},
        {"8 8 8 ops=nx", "shapes.txt:1:11", "ops = 'nx'"},
        {"8 8 8 dtype=bf17", "shapes.txt:1:13", "dtype = 'bf17' is not one of its values"},
        {"8 8 8 dtype=float8_e4m3fn", "shapes.txt:1:13", "is FP8, which tmm does not have"},
        {"8 8 8 compute=fast", "shapes.txt:1:15", "'fast'"},
        {"8 8 8 layout=diagonal", "shapes.txt:1:14", "'diagonal'"},
        {"8 8 8 batch=0", "shapes.txt:1:13", "batch = 0 is too small"},
        {"8 8 8 beta=one", "shapes.txt:1:12", "beta = 'one' is not a finite number"},
        {"8 8 8 alpha=inf", "shapes.txt:1:13", "not a finite number"},
        {"8 8 8 align=12", "shapes.txt:1:13", "not a power of two"},
        {"8 8 8 align=2097152", "shapes.txt:1:13", "not a power of two up to 1048576"},
        {"8 8 8 lda=7", "shapes.txt:1:7", "lda = 7 is shorter than a stored row of 8 elements"},
        {"8 9 10 layout=col ldc=7", "shapes.txt:1:19", "ldc = 7 is shorter than a stored column of 8 elements"},
        {"8 8 8 lda=8 lda=8", "shapes.txt:1:13", "lda is given twice"},
        {"8 8 8 batch=2 stride_c=63", "shapes.txt:1:15", "overlap"},
        {"4000000000 4000000000 4000000000", "shapes.txt:1:1", "does not fit in 64 bits"},
        {"1000000000 1000000000 4 batch=1000", "shapes.txt:1:1", "does not fit in 64 bits"},
        {"8 8 8 lda=9000000000000000000", "shapes.txt:1:7", "does not fit in 64 bits"},
        {"9:8 8 8", "shapes.txt:1:3", "before it begins"},
        {"1:9:0 8 8", "shapes.txt:1:5", "the step of M = 0 is too small"},
        {"1:2:3:4 8 8", "shapes.txt:1:1", "too many colons"},
        {"1: 8 8", "shapes.txt:1:3", "M is missing its number"},
        {"\x7f"
         "ELF\x02\x01\x01",
         "shapes.txt:1:1", "'\\x7fELF\\x02\\x01\\x01' is not a whole number"},
        {"", "shapes.txt:1:1", "no shape"},
        {"# nothing\n\n", "shapes.txt:2:1", "no shape"},
    };
    for (const Bad& bad : bads) {
        CAPTURE(bad.text);
        const Error error = file_error(bad.text);
        CHECK(error.status() == ExitStatus::bad_input);
        CHECK(error.where() == bad.place);
        CHECK_MESSAGE(contains(error.what(), bad.reason), error.what());
        CHECK_FALSE(error.remedy().empty());
    }
    CHECK(contains(file_error("8 8 8 opps=nt").what(), "did you mean ops?"));
    CHECK(contains(file_error("8 8 8 colour=red").what(), "the keys are batch, dtype"));
    for (const char* separated : {"16,96,64", "16, 96, 64", "16;96;64", "16x96x64,", "8 8 8 lda=1,024"})
        CHECK(contains(file_error(separated).what(), "write digits only, like 1024, and nothing but blanks between sizes"));
    CHECK(contains(file_error("8 8 8 dtype=bf17").what(), "did you mean bf16? One of f32, f16, bf16"));
    CHECK(contains(file_error("8 8 8 compute=f32_strickt").what(), "did you mean f32_strict?"));
    CHECK(file_error(std::string("8 8 8\n8\0 8 8\n", 13)).where() == "shapes.txt:2:2");
    CHECK(contains(file_error("8 8 8\n8 8\n8\n9 9 9\nx\n").what(), "(3 lines have faults in all)"));
}

TEST_CASE("a shape of the command line names its column") {
    const Error error = error_of([] { parse_shape("1000x1o00x1000"); });
    CHECK(error.status() == ExitStatus::usage);
    CHECK(contains(error.what(), "shape '1000x1o00x1000', column 6"));
    CHECK(error_of([] { parse_shape(""); }).status() == ExitStatus::usage);
    CHECK(error_of([] { parse_shape("1:3 1 1"); }).status() == ExitStatus::usage);
    CHECK(error_of([] { parse_shape("1 1 1\n2 2 2"); }).status() == ExitStatus::usage);
}

TEST_CASE("files that can't be read say why") {
    const Error directory = error_of([] { read_shapes(std::filesystem::temp_directory_path()); });
    CHECK(directory.status() == ExitStatus::bad_input);
    CHECK(contains(directory.what(), "directory"));

    const Error missing = error_of([] { read_shapes("/nonexistent/shapes.txt"); });
    CHECK(missing.status() == ExitStatus::bad_input);
    CHECK(contains(missing.what(), "/nonexistent/shapes.txt"));
    CHECK(contains(missing.what(), "No such file"));

    CHECK(contains(error_of([] { read_shapes("/dev/zero"); }).what(), "larger than"));

    if (geteuid() != 0) {
        const auto path = scratch_file("unreadable.txt");
        std::ofstream(path) << "8 8 8\n";
        std::filesystem::permissions(path, std::filesystem::perms::none);
        CHECK(contains(error_of([&] { read_shapes(path); }).what(), "Permission denied"));
        std::filesystem::remove(path);
    }
}

TEST_CASE("ten megabytes of lines, good or bad") {
    constexpr std::size_t kBytes = 10 << 20;
    std::string good;
    for (int i = 1; good.size() < kBytes; ++i)
        good += fmt::format("{} {} {} ops=nt lda=20000 # line\n", i % 10000 + 1, i / 10000 + 1, i % 7 + 1);
    const auto path = scratch_file("good.txt");
    std::ofstream(path) << good;
    const auto shapes = read_shapes(path);
    std::filesystem::remove(path);
    CHECK(shapes.size() > 200000);

    std::string bad;
    while (bad.size() < kBytes) bad += "8 8 x\n";
    const Error error = file_error(bad);
    CHECK(error.where() == "shapes.txt:1:5");
    CHECK(contains(error.what(), "1000 and more lines have faults"));
    CHECK(std::string(error.what()).size() < 500);

    const Error one_line = file_error(std::string(kBytes, 'x'));
    CHECK(one_line.where() == "shapes.txt:1:1");
    CHECK(std::string(one_line.what()).size() < 500);
}

TEST_CASE("mutilated files give problems or an error, and what parses is written as text that parses to the same") {
    const std::string alphabet = "0123456789 xX:=-#.\n\t\rnt\\\"'abckdlrowyp_f3264";
    const std::string start =
        "128 256 64 ops=nt lda=72\n100x90x80 batch=3 beta=0.5 ldc=112 layout=col\n1:3 5:9:2 7 dtype=bf16 ctype=f32 align=4\n";
    std::mt19937 random(20240607);
    int parsed = 0;
    int refused = 0;
    for (int round = 0; round < 3000; ++round) {
        std::string text = start;
        for (unsigned edits = 1 + random() % 2; edits > 0; --edits) {
            const std::size_t at = random() % text.size();
            switch (random() % 4) {
                case 0: text[at] = alphabet[random() % alphabet.size()]; break;
                case 1: text.insert(at, 1, alphabet[random() % alphabet.size()]); break;
                case 2: text.erase(at, 1 + random() % 5); break;
                default: text[at] = static_cast<char>(random() & 0xff); break;
            }
        }
        try {
            for (const Shape& shape : parse_shapes(text, "shapes.txt"))
                REQUIRE(parse_shape(to_text(shape.problem)).problem == shape.problem);
            ++parsed;
        } catch (const Error& error) {
            REQUIRE(error.status() == ExitStatus::bad_input);
            REQUIRE(error.where().starts_with("shapes.txt:"));
            REQUIRE_FALSE(error.remedy().empty());
            ++refused;
        }
    }
    CHECK(parsed > 50);
    CHECK(refused > 100);
}

TEST_CASE("the shapes that come with tmm parse") {
    for (const char* name : {"f32.txt", "bf16.txt", "tf32.txt", "seeds.txt", "smoke.txt"}) {
        CAPTURE(name);
        CHECK_FALSE(read_shapes(std::string(TMM_SOURCE_DIR "/bench/shapes/") + name).empty());
    }
}
