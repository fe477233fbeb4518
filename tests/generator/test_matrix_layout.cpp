// Tests whether two elements of C share a place, against trying every element; and that all interfaces ask the same function.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <algorithm>
#include <random>
#include <vector>

#include "base/error.h"
#include "db/store/fields.h"
#include "generator/problem/matrix_layout.h"
#include "generator/text/shapes_file.h"
#include "runtime/api/validate.h"

using namespace tmm;

namespace {

bool overlap_tried_out(const MatrixLayout& x) {
    std::vector<bool> taken(static_cast<std::size_t>((x.batch - 1) * x.stride + (x.rows - 1) * x.ld + x.columns));
    for (i64 member = 0; member < x.batch; ++member)
        for (i64 row = 0; row < x.rows; ++row)
            for (i64 column = 0; column < x.columns; ++column) {
                const auto place = static_cast<std::size_t>(member * x.stride + row * x.ld + column);
                if (taken[place]) return true;
                taken[place] = true;
            }
    return false;
}

bool shapes_file_takes(const std::string& line) {
    try {
        (void)parse_shape(line);
        return true;
    } catch (const Error&) {
        return false;
    }
}

bool c_api_takes(const tmmGemmProblem_t& problem) {
    try {
        (void)check_problem(&problem);
        return true;
    } catch (const StatusError& error) {
        CHECK(error.status() == TMM_STATUS_INVALID_STRIDE);
        return false;
    }
}

}  // namespace

TEST_CASE("elements overlap exactly where two of them stand in one place") {
    int overlapping = 0, apart = 0;
    for (i64 rows = 1; rows <= 5; ++rows)
        for (i64 columns = 1; columns <= 4; ++columns)
            for (i64 ld = columns; ld <= columns + 9; ++ld)
                for (i64 batch = 1; batch <= 6; ++batch)
                    for (i64 stride = 0; stride <= rows * ld + 2; ++stride) {
                        const MatrixLayout layout{.rows = rows, .columns = columns, .ld = ld, .stride = stride, .batch = batch};
                        const bool expected = overlap_tried_out(layout);
                        if (elements_overlap(layout) != expected)
                            FAIL_CHECK(fmt::format("{}x{} ld={} stride={} batch={}: {}", rows, columns, ld, stride, batch, expected));
                        ++(expected ? overlapping : apart);
                    }
    CHECK(overlapping > 1000);
    CHECK(apart > 1000);
}

TEST_CASE("larger layouts whose rows and members lie within each other") {
    std::mt19937_64 random(3);
    const auto below = [&](i64 limit) { return static_cast<i64>(random() % static_cast<std::uint64_t>(limit)); };
    int overlapping = 0, apart = 0;
    for (int round = 0; round < 3000; ++round) {
        MatrixLayout layout{.rows = 1 + below(60), .columns = 1 + below(round % 3 ? 4 : 30), .batch = 1 + below(60)};
        layout.ld = layout.columns + below(round % 2 ? 2000 : 60);
        layout.stride = below(layout.ld * std::min<i64>(layout.rows + 1, 12));
        const bool expected = overlap_tried_out(layout);
        CHECK(elements_overlap(layout) == expected);
        ++(expected ? overlapping : apart);
    }
    CHECK(overlapping > 300);
    CHECK(apart > 300);
}

TEST_CASE("sizes that nobody can try out are decided at once") {
    constexpr i64 large = i64{1} << 40;
    // The members lie side by side, and then there is one too many.
    CHECK_FALSE(elements_overlap({.rows = large, .columns = 1, .ld = 1 << 20, .stride = 1, .batch = 1 << 20}));
    CHECK(elements_overlap({.rows = large, .columns = 1, .ld = 1 << 20, .stride = 1, .batch = (1 << 20) + 1}));
    CHECK_FALSE(elements_overlap({.rows = 2, .columns = 1, .ld = large + 1, .stride = large, .batch = 1}));
    // Only the last row of the first member meets the first row of the last one.
    CHECK_FALSE(elements_overlap({.rows = large, .columns = 1, .ld = 3, .stride = 3 * large, .batch = large}));
    CHECK(elements_overlap({.rows = large + 1, .columns = 1, .ld = 3, .stride = 3 * large, .batch = large}));
    CHECK_FALSE(elements_overlap({.rows = 1000, .columns = 1, .ld = 999'983, .stride = 1'000'003, .batch = 1000}));
    CHECK_FALSE(extent_in_bytes({.rows = large, .columns = 1, .ld = large}));
    CHECK_FALSE(extent_in_bytes({.rows = 2, .columns = 1, .ld = (i64{1} << 61)}));
    CHECK(extent_in_bytes({.rows = 2, .columns = 1, .ld = (i64{1} << 61) - 2}) == 4 * ((i64{1} << 61) - 1));
    CHECK(extent_in_bytes({.rows = 0, .columns = 1, .ld = large, .stride = large, .batch = large}) == 0);
}

TEST_CASE("the shapes file, the C interface and the database take the same batches") {
    int taken = 0, refused = 0;
    for (const char* layout : {"row", "col"})
        for (i64 m : {1, 3, 4})
            for (i64 n : {1, 5})
                for (i64 batch : {1, 2, 3, 5})
                    for (i64 pad : {0, 1, 10, 20})
                        for (i64 stride_c = 0; stride_c < 40; ++stride_c) {
                            const bool row = std::string_view(layout) == "row";
                            const i64 ldc = (row ? n : m) + pad;
                            const std::string line =
                                fmt::format("{} {} 2 layout={} batch={} ldc={} stride_c={}", m, n, layout, batch, ldc, stride_c);
                            tmmGemmProblem_t problem{};
                            problem.struct_size = sizeof problem;
                            problem.layout = row ? TMM_ROW_MAJOR : TMM_COL_MAJOR;
                            problem.op_a = problem.op_b = TMM_NO_TRANS;
                            problem.m = m;
                            problem.n = n;
                            problem.k = 2;
                            problem.batch = batch;
                            problem.lda = row ? 2 : m;
                            problem.ldb = row ? n : 2;
                            problem.ldc = ldc;
                            problem.stride_c = stride_c;
                            problem.alignment = 16;
                            const bool expected = c_api_takes(problem);
                            if (shapes_file_takes(line) != expected) FAIL_CHECK(line);
                            GemmProblem stored{.m = row ? m : n, .n = row ? n : m, .k = 2, .batch = batch};
                            stored.lda = 2;
                            stored.ldb = stored.n;
                            stored.ldc = ldc;
                            stored.stride_c = batch > 1 ? stride_c : 0;
                            if (why_inconsistent(stored).empty() != expected) FAIL_CHECK(line);
                            ++(expected ? taken : refused);
                        }
    CHECK(taken > 500);
    CHECK(refused > 500);
}

TEST_CASE("two matrices meet exactly where they share a byte") {
    std::mt19937 random(11);
    const auto below = [&](i64 bound) { return static_cast<i64>(random() % static_cast<unsigned>(bound)); };
    std::vector<char> memory(4000);
    const auto bytes_of = [&](i64 from, const MatrixLayout& x) {
        std::vector<char> taken(memory.size());
        for (i64 member = 0; member < x.batch; ++member)
            for (i64 row = 0; row < x.rows; ++row) {
                const i64 first = from + (member * x.stride + row * x.ld) * size_of(x.type);
                std::fill_n(taken.begin() + first, x.columns * size_of(x.type), 1);
            }
        return taken;
    };
    int meeting = 0, apart_within = 0;
    const i64 distances[] = {8, 8, 12, 16, 24};
    for (int round = 0; round < 20'000; ++round) {
        MatrixLayout x[2];
        i64 from[2];
        for (int i = 0; i < 2; ++i) {
            x[i].type = below(2) ? ElementType::f32 : ElementType::f16;
            x[i].ld = distances[below(5)];
            x[i].columns = 1 + below(x[i].ld);
            x[i].rows = below(7);
            x[i].batch = 1 + below(3);
            x[i].stride = below(4) * x[i].ld + below(2) * 4;
            from[i] = below(100) * size_of(x[i].type);
        }
        const std::vector<char> first = bytes_of(from[0], x[0]), second = bytes_of(from[1], x[1]);
        bool expected = false;
        for (std::size_t i = 0; i < first.size(); ++i) expected |= first[i] && second[i];
        const bool found = matrices_meet(memory.data() + from[0], x[0], memory.data() + from[1], x[1]);
        if (found != expected) FAIL_CHECK(fmt::format("round {}: {} instead of {}", round, found, expected));
        meeting += expected;
        apart_within += !expected && x[0].rows > 1 && x[1].rows > 1;
    }
    CHECK(meeting > 1000);
    CHECK(apart_within > 1000);
}

TEST_CASE("matrices of any size are told apart at once") {
    char memory[16];
    const MatrixLayout large{.rows = 1 << 30, .columns = 1 << 20, .ld = 1 << 21, .batch = 1};
    CHECK(matrices_meet(memory, large, memory + 4, large));
    CHECK_FALSE(matrices_meet(memory, large, memory + (i64{4} << 20), large));
    CHECK_FALSE(matrices_meet(memory, {.rows = 0, .columns = 3, .ld = 3}, memory, large));
    // Rows at other distances, of which too many would have to be tried: they count as apart.
    const MatrixLayout odd{.rows = 1 << 30, .columns = 1, .ld = (1 << 21) + 1, .batch = 1};
    CHECK_FALSE(matrices_meet(memory, {.rows = 1 << 30, .columns = 1, .ld = 1 << 21}, memory + 4, odd));
}

TEST_CASE("a batch whose results overlap is refused with what would do") {
    CHECK_NOTHROW(parse_shape("64 64 64 batch=4 ldc=256 stride_c=64"));
    try {
        (void)parse_shape("64 64 64 batch=4 ldc=255 stride_c=64");
        FAIL("it was taken");
    } catch (const Error& error) {
        CHECK(std::string(error.what()).find("makes the results of the batch overlap") != std::string::npos);
        CHECK(error.remedy().find("at least 16129; or 64, where ldc is at least batch times that") != std::string::npos);
    }
}
