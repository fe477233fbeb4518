// The views for the sqlite3 shell say all that tells two problems apart, in the words of the shapes file.
#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>

#include "db/store/fields.h"
#include "db/store/records.h"
#include "generator/text/shapes_file.h"
#include "generator/text/text.h"
#include "tests/support/database_fixture.h"
#include "tmm/vocabulary/problem_fields.h"

using namespace tmm;
using namespace tmm::testing;
using Mode = TuningDatabase::Mode;

namespace {

class RandomProblems {
public:
    // Small numbers, so that problems often differ in one field alone.
    GemmProblem next() {
        while (true) {
            GemmProblem p{.m = below(3), .n = below(3), .k = below(3), .batch = below(4)};
            p.activation = static_cast<Activation>(below(kActivations.count));
            p.m *= products_of_row(p.activation);
            p.n *= products_of_column(p.activation);
            for (ElementType* type : {&p.type_a, &p.type_b, &p.type_c}) *type = static_cast<ElementType>(below(4));
            p.compute = static_cast<ComputeMode>(below(4));
            p.op_a = static_cast<Operation>(below(2));
            p.op_b = static_cast<Operation>(below(2));
            p.lda = stored_columns_a(p) + below(2);
            p.ldb = stored_columns_b(p) + below(2);
            p.ldc = columns_of_c(p) + below(8);
            if (p.batch > 1) {
                p.stride_a = maybe(stored_rows_a(p) * p.lda);
                p.stride_b = maybe(stored_rows_b(p) * p.ldb);
                p.stride_c = maybe(rows_of_c(p) * p.ldc);
            }
            p.alignment = 1 << below(6);
            p.reads_c = below(2) == 1;
            p.bias = static_cast<BiasAxis>(below(3));
            p.residual = below(2) == 1;
            p.epilogue = epilogue_class(p.bias, p.activation, p.residual);
            if (p.bias != BiasAxis::none) p.type_bias = static_cast<ElementType>(below(4));
            if (p.residual) p.ldr = columns_of_c(p) + below(8);
            if (p.residual && p.batch > 1) p.stride_r = maybe(rows_of_c(p) * p.ldr);
            if (why_inconsistent(p).empty()) return p;
        }
    }

private:
    i64 below(int limit) { return static_cast<i64>(random_() % static_cast<unsigned>(limit)); }
    i64 maybe(i64 usual) { return below(2) == 0 ? usual : below(9); }

    std::mt19937 random_{11};
};

std::multiset<std::string> column(SQLite::Database& database, const std::string& sql) {
    std::multiset<std::string> values;
    SQLite::Statement rows(database, sql);
    while (rows.executeStep()) values.insert(rows.getColumn(0).getString());
    return values;
}

std::string shape_of(SQLite::Database& database, const char* view) {
    const auto shapes = column(database, std::string("SELECT shape FROM ") + view);
    return shapes.size() == 1 ? *shapes.begin() : "";
}

}  // namespace

TEST_CASE("views spell leading dimensions and strides where they are not those of matrices without gaps, and nowhere else") {
    const TemporaryDirectory directory;
    TuningDatabase database(directory / "tmm.db", Mode::read_write_create);
    database.set_environment(environment_of("host", 80, 1));
    // As the views are to spell them. Of row-major matrices, since the database has no other layout.
    std::multiset<std::string> shapes;
    for (const std::string epilogue : {"", " epilogue=bias+relu+residual", " epilogue=swiglu", " epilogue=bias+swiglu+residual",
                                       " epilogue=swiglu_rows", " epilogue=bias_rows+swiglu_rows+residual"})
        for (const std::string operations : {"", " ops=nt", " ops=tn", " ops=tt"})
            for (const std::string gaps : {"", " lda=99", " ldb=99", " ldc=99", " stride_a=9999", " stride_b=9999", " stride_c=9999"}) {
                const bool is_stride = gaps.rfind(" stride", 0) == 0;
                shapes.insert("16x41x64" + operations + (is_stride ? " batch=3" : "") + gaps + epilogue);
            }
    for (const char* text : {"16x40x64 epilogue=swiglu+residual ldr=44", "16x40x64 batch=2 epilogue=swiglu+residual stride_r=4096"})
        shapes.insert(text);
    for (const std::string& text : shapes) database.decide(parse_shape(text).problem, {}, {.config = tiled_config(16), .median_us = 1});
    // A column-major product is the row-major one of swapped operands.
    database.decide(parse_shape("24x16x64 ops=nt layout=col epilogue=bias").problem, {}, {.config = tiled_config(16), .median_us = 1});
    shapes.insert("16x24x64 ops=tn epilogue=bias_rows");
    database.decide(parse_shape("40x12x64 ops=nt layout=col ldb=96 epilogue=bias+swiglu").problem, {},
                    {.config = tiled_config(16), .median_us = 1});
    shapes.insert("12x40x64 ops=tn lda=96 epilogue=bias_rows+swiglu_rows");
    SQLite::Database raw(directory / "tmm.db");
    CHECK(column(raw, "SELECT shape FROM winner") == shapes);
}

TEST_CASE("views of a database that an earlier tmm left spell gates of rows, too") {
    const TemporaryDirectory directory;
    const auto file = directory / "tmm.db";
    SQLite::Database(file, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE)
        .exec(read_file(std::filesystem::path(TMM_SOURCE_DIR) / "tests/data/database_v11.sql"));
    TuningDatabase database(file, Mode::read_write);
    database.set_environment(environment_of("host", 80, 1));
    database.decide(parse_shape("16x24x64 ops=tn epilogue=swiglu_rows").problem, {}, {.config = tiled_config(16), .median_us = 1});
    SQLite::Database raw(file);
    CHECK(column(raw, "SELECT shape FROM winner") ==
          std::multiset<std::string>{"16x16x16", "1x64x32 ops=nt", "16x24x64 ops=tn epilogue=swiglu_rows"});
    CHECK(database.verify().empty());
}

TEST_CASE("views show the rate of the whole product, a gate's two of each column or row of C included") {
    const TemporaryDirectory directory;
    TuningDatabase database(directory / "tmm.db", Mode::read_write_create);
    database.set_environment(environment_of("host", 80, 1));
    for (const char* text : {"512x256x64 batch=3", "512x256x64 batch=3 epilogue=bias+silu", "512x256x64 batch=3 epilogue=swiglu",
                             "512x256x64 ops=nt batch=3 epilogue=bias_rows+swiglu+residual", "512x256x64 batch=3 epilogue=swiglu_rows"}) {
        CAPTURE(std::string(text));
        const GemmProblem problem = parse_shape(text).problem;
        database.record(problem, tiled_config(16), {}, measured(2));
        database.decide(problem, {}, {.config = tiled_config(16), .median_us = 2});
        // 2 operations for each of 512 · 256 · 64 · 3 products of an element of C, in 2 µs.
        const double of_one_product = 25.165824;
        const double expected = std::string(text).find("swiglu") == std::string::npos ? of_one_product : 2 * of_one_product;
        SQLite::Database raw(directory / "tmm.db");
        for (const char* view : {"winner", "candidate"}) {
            SQLite::Statement rate(raw, std::string("SELECT tflops FROM ") + view + " WHERE shape = ?");
            rate.bind(1, text);
            REQUIRE(rate.executeStep());
            CHECK(rate.getColumn(0).getDouble() == doctest::Approx(expected));
        }
    }
}

TEST_CASE("views spell every problem as the program does, in every field") {
    const TemporaryDirectory directory;
    TuningDatabase database(directory / "tmm.db", Mode::read_write_create);
    database.set_environment(environment_of("host", 80, 1));
    RandomProblems random;
    std::vector<TuningRecord> records;
    std::multiset<std::string> winners, candidates;
    std::vector<GemmProblem> seen;
    while (seen.size() < 1500) {
        const GemmProblem problem = random.next();
        if (std::find(seen.begin(), seen.end(), problem) != seen.end()) continue;
        seen.push_back(problem);
        winners.insert(to_text(problem));
        GemmProblem measured_problem = problem;
        measured_problem.compute = default_compute(problem.type_a);
        candidates.insert(to_text(measured_problem));
        TuningRecord record{
            .environment = environment_of("host", 80, 1), .problem = problem, .config = tiled_config(16), .measurement = measured(1)};
        record.time = static_cast<std::int64_t>(seen.size());
        records.push_back(record);
        record.kind = TuningRecord::Kind::selection;
        records.push_back(record);
    }
    database.insert(records);
    SQLite::Database raw(directory / "tmm.db");
    CHECK(column(raw, "SELECT shape FROM winner") == winners);
    CHECK(column(raw, "SELECT shape FROM candidate") == candidates);
    // No two problems have one text.
    CHECK(std::set<std::string>(winners.begin(), winners.end()).size() == seen.size());
    CHECK(database.verify().empty());
}

TEST_CASE("a change of any one field of a problem changes its text in the views") {
    GemmProblem base = problem_of("6 6 6 batch=2 lda=8 ldb=8 ldc=8 epilogue=bias+relu+residual bias_type=f16 ldr=8");
    base.stride_a = base.stride_b = base.stride_c = base.stride_r = 64;
    for (const auto& field : problem_fields()) {
        CAPTURE(std::string(field.name));
        // It follows from the other fields of an epilogue.
        if (std::string(field.name) == "epilogue") continue;
        const TemporaryDirectory directory;
        GemmProblem changed = base;
        const std::int64_t value = field.get(base);
        if (!field.is_named() && field.range.most > 1)
            field.set(changed, field.range.power_of_two ? value / 2 : value + 1);
        else
            field.set(changed, value == 0 || field.values.count > 2 ? value + 1 : value - 1);
        changed.epilogue = epilogue_class(changed.bias, changed.activation, changed.residual);
        if (!changed.residual) changed.ldr = changed.stride_r = 0;
        // With a bias no result is symmetric, and addresses have no strides.
        if (changed.result == Result::symmetric) changed.result = Result::lower;
        if (changed.pointers) changed.stride_a = changed.stride_b = changed.stride_c = 0;
        REQUIRE(why_inconsistent(changed) == "");
        std::set<std::string> winners, candidates;
        for (const auto& problem : {base, changed}) {
            const auto file = directory / (problem == base ? "base.db" : "changed.db");
            TuningDatabase database(file, Mode::read_write_create);
            database.set_environment(environment_of("host", 80, 1));
            database.record(problem, tiled_config(16), {}, measured(1));
            database.decide(problem, {}, {.config = tiled_config(16), .median_us = 1});
            SQLite::Database raw(file);
            winners.insert(shape_of(raw, "winner"));
            candidates.insert(shape_of(raw, "candidate"));
            CHECK(shape_of(raw, "winner") == to_text(problem));
        }
        CHECK(winners.size() == 2);
        CHECK(candidates.size() == 2);
    }
}

TEST_CASE("the view of winners has every field of the problem in a column") {
    const TemporaryDirectory directory;
    TuningDatabase(directory / "tmm.db", Mode::read_write_create);
    SQLite::Database raw(directory / "tmm.db");
    const auto columns = column(raw, "SELECT name FROM pragma_table_info('winner')");
    for (const auto& field : problem_fields()) {
        const std::string name = field.name;
        CHECK(columns.count(name == "op_a" || name == "op_b" ? "ops" : name) == 1);
    }
}
