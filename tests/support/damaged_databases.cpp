#include "tests/support/damaged_databases.h"

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>
#include <fmt/core.h>
#include <sqlite3.h>

#include <array>
#include <random>

#include "db/store/fields.h"
#include "db/store/records.h"
#include "generator/choice/predicted_config.h"
#include "generator/text/text.h"
#include "tests/support/database_fixture.h"
#include "tests/support/hostile_files.h"

namespace tmm::testing {
namespace {

namespace fs = std::filesystem;
using Mode = TuningDatabase::Mode;

constexpr std::size_t kPage = 4096;

// A database's bytes, and those of the journals that a killed writer left.
struct Files {
    std::string database;
    std::string journal = {};
    std::string log = {};
};

void write(const Files& files, const fs::path& file) {
    write_file(file, files.database);
    if (!files.journal.empty()) write_file(file.string() + "-journal", files.journal);
    if (!files.log.empty()) write_file(file.string() + "-wal", files.log);
}

Environment host() {
    return {.device = host_device_info()};
}

Measurement measured_on_host(double us) {
    Measurement x = measured(us);
    x.kernel_name = "tmm_test";
    return x;
}

std::string database_with(int further_rows) {
    const TemporaryDirectory directory;
    const fs::path file = directory / "t.db";
    const char* const configs[] = {"naive 8x32x1", "tiled 8x8x8", "tiled 16x16x16", "simt 32x32x8 t4x4 s2 v4 peeled split3"};
    std::vector<TuningRecord> records;
    int number = 0;
    for (const std::string& shape : DamagedDatabases::shapes()) {
        const GemmProblem problem = problem_of(shape);
        TuningRecord decision{.kind = TuningRecord::Kind::selection, .environment = host(), .problem = problem, .candidates = 4};
        decision.reason = "fastest";
        for (const char* config : configs)
            records.push_back({.environment = host(),
                               .problem = problem,
                               .config = parse_config(config),
                               .time = 1'700'000'000 + number,
                               .measurement = measured_on_host(10 + number)});
        decision.config = number % 5 == 4 ? default_config(problem, host_device_info()) : parse_config(configs[number % 5]);
        decision.runner_up = parse_config(configs[(number + 1) % 4]);
        decision.runner_up_us = 12;
        decision.measurement.median_us = 10 + number++;
        records.push_back(decision);
    }
    for (int row = 0; row < further_rows; ++row)
        records.push_back({.environment = environment_of("NVIDIA H200"),
                           .problem = problem_of(fmt::format("64 64 {}", row + 1)),
                           .config = tiled_config(1 + row % 32),
                           .measurement = measured(10 + row)});
    {
        TuningDatabase database(file, Mode::read_write_create);
        database.set_environment(host());
        database.insert(records);
        database.announce(problem_of("8 8 8"), tiled_config(4), "tmm_tiled");
    }
    return read_file(file);
}

std::string older_database(const char* dump) {
    const TemporaryDirectory directory;
    SQLite::Database(directory / "t.db", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE)
        .exec(read_file(fs::path(TMM_SOURCE_DIR) / "tests/data" / dump));
    return read_file(directory / "t.db");
}

// The files as a writer leaves them that is killed in the middle of a transaction.
Files interrupted(const std::string& bytes, const char* journal_mode) {
    const TemporaryDirectory directory;
    const fs::path file = directory / "t.db";
    write_file(file, bytes);
    SQLite::Database raw(file, SQLite::OPEN_READWRITE);
    raw.exec(fmt::format("PRAGMA journal_mode = {}; PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = 1", journal_mode));
    raw.exec("UPDATE measurement SET samples = 7");
    raw.exec("BEGIN IMMEDIATE; UPDATE measurement SET samples = 1; DELETE FROM selection");
    for (int i = 0; i < 100; ++i) raw.exec("INSERT INTO policy (cold_l2, graph, data) VALUES (1, 1, hex(randomblob(45)))");
    Files files{.database = read_file(file)};
    if (fs::exists(file.string() + "-journal")) files.journal = read_file(file.string() + "-journal");
    if (fs::exists(file.string() + "-wal")) files.log = read_file(file.string() + "-wal");
    return files;
}

// The random choices of one case.
class Dice {
public:
    Dice(std::uint64_t seed, std::size_t number) : engine_(seed * 1'000'003 + number) {}
    std::size_t below(std::size_t end) { return static_cast<std::size_t>(engine_() % end); }
    bool one_in(std::size_t n) { return below(n) == 0; }
    template <typename Container>
    const auto& of(const Container& choices) {
        return choices[below(std::size(choices))];
    }

private:
    std::mt19937_64 engine_;
};

// The values that a column is set to, as SQL.
constexpr const char* kNumbers[] = {"-1",
                                    "0",
                                    "1",
                                    "2",
                                    "3",
                                    "4",
                                    "7",
                                    "8",
                                    "16",
                                    "17",
                                    "32",
                                    "64",
                                    "100",
                                    "128",
                                    "1024",
                                    "4096",
                                    "32768",
                                    "32769",
                                    "65536",
                                    "1048576",
                                    "2147483647",
                                    "2147483648",
                                    "-2147483648",
                                    "4294967296",
                                    "9223372036854775807",
                                    "-9223372036854775807"};
constexpr const char* kReals[] = {"0.0", "-0.5", "1e-3", "1e-300", "1e300", "9e999", "-9e999", "1.0"};
constexpr const char* kTexts[] = {"''",
                                  "'x'",
                                  "'host'",
                                  "'HOST'",
                                  "'user'",
                                  "'shipped'",
                                  "'normal'",
                                  "'%s%n'",
                                  "char(0)",
                                  "char(27) || '[31m'",
                                  "char(10)",
                                  "char(65533, 128512)",
                                  "CAST(x'fffe80' AS TEXT)",
                                  "'''; DROP TABLE selection; --'",
                                  "hex(zeroblob(1500))",
                                  "hex(zeroblob(40000))",
                                  "replace(hex(zeroblob(400000)), '00', 'a')"};
// Values that a config's fields may have.
constexpr const char* kConfigValues[] = {"0", "1", "2", "3", "4", "8", "16", "32"};
constexpr const char* kRowTables[] = {"device", "environment", "problem", "config", "policy", "measurement", "selection", "in_flight"};
constexpr const char* kNameTables[] = {"compute_mode", "outcome"};

std::vector<std::pair<std::string, std::string>> columns_of(SQLite::Database& raw, const std::string& table) {
    std::vector<std::pair<std::string, std::string>> columns;
    SQLite::Statement rows(raw, "SELECT name, type FROM pragma_table_info(?)");
    rows.bind(1, table);
    while (rows.executeStep()) columns.emplace_back(rows.getColumn(0).getString(), rows.getColumn(1).getString());
    return columns;
}

std::string value_for(Dice& dice, const std::string& table, const std::string& type) {
    if (type == "TEXT") return dice.of(kTexts);
    if (type == "REAL" && dice.one_in(2)) return dice.of(kReals);
    if (dice.one_in(20)) return "NULL";
    return table == "config" && !dice.one_in(3) ? dice.of(kConfigValues) : dice.of(kNumbers);
}

// A value or a name for one field of a config or problem; some are put where tmm would not write them, or are no field.
std::string fields_for(Dice& dice, const std::string& table) {
    std::vector<std::string> names = {"", "mine"};
    if (table == "config")
        for (const Parameter& parameter : kParameters) names.emplace_back(parameter.name);
    else
        for (const ProblemField& field : problem_fields()) names.emplace_back(field.name);
    constexpr const char* kOthers[] = {"NULL",    "1.5",   "json('[[1]]')", "json('{}')", "json('true')",
                                       "'wgmma'", "'f16'", "'hardware'",    "'t'"};
    const std::string value = dice.one_in(4) ? dice.of(kOthers) : dice.one_in(8) ? dice.of(kTexts) : value_for(dice, table, "INTEGER");
    const std::string path = fmt::format("'$.{}'", dice.of(names));
    switch (dice.below(8)) {
        case 0: return fmt::format("json_remove(fields, {})", path);
        case 1: return fmt::format("substr(fields, 1, {})", dice.below(60));
        case 2: return fmt::format("fields || {}", dice.of(kTexts));
        case 3: return fmt::format("json_array(json_set(fields, {}, {}))", path, value);
        default: return fmt::format("json_set(fields, {}, {})", path, value);
    }
}

std::string row_statement(Dice& dice, SQLite::Database& raw) {
    const std::string table = dice.one_in(12) ? dice.of(kNameTables) : dice.one_in(3) ? "config" : dice.of(kRowTables);
    const std::string some_row = fmt::format(
        "rowid = (SELECT rowid FROM {0} ORDER BY rowid LIMIT 1 OFFSET {1} % max(1, (SELECT count(*) "
        "FROM {0})))",
        table, dice.below(100));
    switch (dice.below(12)) {
        case 0: return fmt::format("DELETE FROM {} WHERE {}", table, some_row);
        case 1: return fmt::format("DELETE FROM {}", table);
        case 2: return fmt::format("UPDATE {0} SET rowid = {1} WHERE {2}", table, dice.of(kNumbers), some_row);
        // This takes another problem's winner.
        case 3: return fmt::format("UPDATE selection SET config_id = (SELECT id FROM config LIMIT 1 OFFSET {})", dice.below(5));
        case 4: return fmt::format("UPDATE selection SET problem_id = problem_id % 5 + 1, compute = {}", dice.below(5));
        default: break;
    }
    std::string assignments;
    const auto columns = columns_of(raw, table);
    // Files of older versions lack some of the tables.
    if (columns.empty()) return "SELECT 1";
    if (columns.back().first == "fields" && !dice.one_in(4))
        return fmt::format("UPDATE {} SET fields = {}{}", table, fields_for(dice, table), dice.one_in(2) ? "" : " WHERE " + some_row);
    for (std::size_t count = 1 + (dice.one_in(3) ? dice.below(4) : 0); count > 0; --count) {
        const auto& [name, type] = dice.of(columns);
        if (assignments.find(name + " =") == std::string::npos)
            assignments += fmt::format("{}{} = {}", assignments.empty() ? "" : ", ", name, value_for(dice, table, type));
    }
    return fmt::format("UPDATE {} SET {}{}", table, assignments, dice.one_in(2) ? "" : " WHERE " + some_row);
}

std::string damage_rows(Dice& dice, const fs::path& file) {
    SQLite::Database raw(file, SQLite::OPEN_READWRITE);
    raw.exec("PRAGMA ignore_check_constraints = ON; PRAGMA foreign_keys = OFF; PRAGMA synchronous = OFF");
    std::string done;
    for (std::size_t count = 1 + (dice.one_in(4) ? dice.below(4) : 0); count > 0; --count) {
        const std::string sql = row_statement(dice, raw);
        // A change that a constraint refuses is no damage.
        if (raw.tryExec(sql) == SQLITE_OK) done += sql + "; ";
    }
    return done.empty() ? "rows: nothing" : "rows: " + done;
}

std::string schema_statement(Dice& dice) {
    const std::string table = dice.one_in(4) ? dice.of(kNameTables) : dice.of(kRowTables);
    constexpr const char* kEndless = "WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r) SELECT";
    constexpr const char* kViews[] = {"problem_text", "config_text", "candidate", "current_selection", "winner"};
    constexpr const char* kObjects[] = {
        "problem_identity", "config_identity", "selection_by_problem", "measurement", "selection", "config", "problem", "winner",
        "device",           "outcome"};
    const char* const view = dice.of(kViews);
    const char* const object = dice.of(kObjects);
    switch (dice.below(24)) {
        case 0: return fmt::format("DROP VIEW {0}; CREATE VIEW {0} AS {1} * FROM r", view, kEndless);
        case 1: return fmt::format("DROP VIEW {}", view);
        case 2: return fmt::format("CREATE VIEW mine AS {} * FROM r", kEndless);
        case 3:
            return fmt::format("CREATE TRIGGER t{} AFTER INSERT ON {} BEGIN DELETE FROM selection; DELETE FROM measurement; END",
                               dice.below(9), table);
        case 4: return fmt::format("CREATE TRIGGER t BEFORE UPDATE ON {} BEGIN SELECT RAISE(ROLLBACK, 'no'); END", table);
        case 5:
            return fmt::format(
                "CREATE TRIGGER t AFTER INSERT ON {0} BEGIN INSERT INTO policy (cold_l2, graph, data) {1} 1, 1, x FROM r; END", table,
                kEndless);
        case 6: return fmt::format("DROP TABLE {}", table);
        case 7: return fmt::format("ALTER TABLE {} ADD COLUMN extra INTEGER AS (length(hex(zeroblob(1000)))) VIRTUAL", table);
        case 8: return fmt::format("ALTER TABLE {} ADD COLUMN extra TEXT DEFAULT 'x'", table);
        case 9: return fmt::format("CREATE UNIQUE INDEX mine ON {} (1)", table);
        case 10: return fmt::format("CREATE INDEX mine ON {} (rowid) WHERE abs(random()) > 3", table);
        case 11: return "CREATE TABLE notes (x); INSERT INTO notes VALUES (zeroblob(3000000))";
        case 12: return "CREATE VIRTUAL TABLE words USING fts5(x)";
        case 13: return fmt::format("DROP TABLE {0}; CREATE VIRTUAL TABLE {0} USING fts5(x)", table);
        case 14: return fmt::format("DROP TABLE {0}; CREATE VIEW {0} AS {1} * FROM r", table, kEndless);
        case 15: return fmt::format("PRAGMA user_version = {}", dice.of(kNumbers));
        case 16: return fmt::format("PRAGMA application_id = {}", dice.of(kNumbers));
        case 17:
            return fmt::format("PRAGMA writable_schema = ON; UPDATE sqlite_schema SET rootpage = {} WHERE name = '{}'", dice.below(40),
                               object);
        case 18:
            return fmt::format("PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, '{}', '{}')",
                               dice.one_in(2) ? "STRICT" : "INTEGER", dice.one_in(2) ? "" : "TEXT");
        case 19:
            return fmt::format("PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = {} WHERE name = '{}'", dice.of(kTexts), object);
        case 20:
            return fmt::format("PRAGMA writable_schema = ON; UPDATE sqlite_schema SET {} = {} WHERE name = '{}'",
                               dice.one_in(2) ? "name" : "tbl_name", dice.of(kTexts), object);
        case 21: return fmt::format("PRAGMA writable_schema = ON; DELETE FROM sqlite_schema WHERE name = '{}'", object);
        case 22: return fmt::format("PRAGMA page_size = {}; VACUUM", 512 << dice.below(8));
        default:
            return fmt::format("PRAGMA auto_vacuum = {}; VACUUM; PRAGMA journal_mode = {}", dice.below(3),
                               dice.one_in(2) ? "WAL" : "PERSIST");
    }
}

std::string damage_schema(Dice& dice, const fs::path& file) {
    SQLite::Database raw(file, SQLite::OPEN_READWRITE);
    raw.exec("PRAGMA foreign_keys = OFF; PRAGMA synchronous = OFF");
    std::string done;
    for (std::size_t count = 1 + (dice.one_in(4) ? 1 : 0); count > 0; --count) {
        const std::string sql = schema_statement(dice);
        if (raw.tryExec(sql) == SQLITE_OK) done += sql + "; ";
    }
    return done.empty() ? "schema: nothing" : "schema: " + done;
}

std::string change_bytes(Dice& dice, std::string& bytes, const std::string& other) {
    const std::size_t pages = bytes.size() / kPage;
    const auto at = [&] { return dice.one_in(3) ? dice.below(std::min<std::size_t>(bytes.size(), 2 * kPage)) : dice.below(bytes.size()); };
    switch (dice.below(9)) {
        case 0: {
            const std::size_t kept = dice.one_in(3) ? dice.below(pages + 1) * kPage : dice.below(bytes.size() + 1);
            bytes.resize(kept);
            return fmt::format("cut to {} bytes", kept);
        }
        case 1: bytes += other.substr(dice.below(other.size())); return "another's bytes behind the last";
        case 2: {
            const std::size_t begin = at(), length = std::min(bytes.size() - begin, 1 + dice.below(2 * kPage));
            const char fill = dice.one_in(2) ? '\0' : '\xff';
            bytes.replace(begin, length, length, fill);
            return fmt::format("{} bytes from {} filled", length, begin);
        }
        case 3: {
            const std::size_t from = dice.below(pages), to = dice.below(pages);
            bytes.replace(to * kPage, kPage, bytes.substr(from * kPage, kPage));
            return fmt::format("page {} copied to page {}", from + 1, to + 1);
        }
        case 4: {
            const std::size_t place = dice.below(100);
            bytes[place] = static_cast<char>(dice.below(256));
            return fmt::format("byte {} of the header", place);
        }
        case 5: {
            // The head of a page: its kind, its cells, and what it refers to.
            const std::size_t page = dice.below(pages), place = page * kPage + (page == 0 ? 100 : 0) + dice.below(40);
            bytes[place] = static_cast<char>(dice.one_in(3) ? dice.below(256) : dice.below(pages + 2));
            return fmt::format("byte {} of page {}'s head", place % kPage, page + 1);
        }
        default: {
            const std::size_t count = 1 + dice.below(dice.one_in(2) ? 4 : 64);
            const std::size_t begin = at();
            for (std::size_t i = 0; i < count; ++i) {
                const std::size_t place = dice.one_in(2) ? std::min(begin + i, bytes.size() - 1) : at();
                bytes[place] = static_cast<char>(bytes[place] ^ static_cast<char>(1 + dice.below(255)));
            }
            return fmt::format("{} bytes from about {} changed", count, begin);
        }
    }
}

std::string damage_bytes(Dice& dice, const fs::path& file, const std::string& other) {
    std::string bytes = read_file(file);
    constexpr const char* kEndless[] = {"selection", "measurement", "problem", "config", "device", "policy", "config_identity"};
    if (dice.one_in(50)) {
        const std::string name = dice.of(kEndless);
        make_endless(bytes, root_page(file, name));
        write_file(file, bytes);
        return name + " without end";
    }
    std::string done = "bytes: ";
    for (std::size_t count = 1 + (dice.one_in(3) ? dice.below(3) : 0); count > 0 && bytes.size() > 2 * kPage; --count)
        done += change_bytes(dice, bytes, other) + "; ";
    write_file(file, bytes);
    return done;
}

// The file has the database's own name, or one of its companions'.
std::string lay_beside(Dice& dice, const fs::path& file) {
    constexpr const char* kSuffixes[] = {"-journal", "-journal", "-wal", "-shm", ""};
    const std::string suffix = dice.of(kSuffixes);
    const fs::path path = file.string() + suffix, directory = file.parent_path();
    constexpr const char* kVictims[] = {"victim", "neighbour.db", "neighbour.db-journal"};
    // The database's name leads to the database.
    const fs::path victim = directory / (suffix.empty() ? "victim" : dice.of(kVictims));
    const std::string named = suffix.empty() ? "the database" : suffix;
    if (suffix == "-journal" && dice.one_in(3)) {
        write_file(path, journal_of_super_journal(victim.string(), fs::file_size(file)));
        return "a journal that names " + victim.filename().string();
    }
    if (!suffix.empty() && dice.one_in(3)) {
        std::string bytes = dice.one_in(2) ? std::string("\xd9\xd5\x05\xf9\x20\xa1\x63\xd7", 8) : std::string("\x37\x7f\x06\x82", 4);
        for (std::size_t i = dice.below(3000); i > 0; --i) bytes += static_cast<char>(dice.below(256));
        write_file(path, bytes);
        return fmt::format("{} bytes as {}", bytes.size(), suffix);
    }
    const Planted what = dice.of(kPlanted);
    fs::remove(path);
    plant(what, path, victim);
    return fmt::format("kind {} as {}", static_cast<int>(what), named);
}

// Puts a journal or a log there that SQLite made, with some of its bytes changed.
std::string damage_journal(Dice& dice, const Files& interrupted, const std::string& other, const fs::path& file) {
    Files files = interrupted;
    std::string done = files.journal.empty() ? "log of a killed writer" : "journal of a killed writer";
    std::string& bytes = files.journal.empty() ? files.log : files.journal;
    for (std::size_t count = dice.below(3); count > 0 && bytes.size() > 2 * kPage; --count) done += ", " + change_bytes(dice, bytes, other);
    if (dice.one_in(4)) done += ", and of the database: " + change_bytes(dice, files.database, other);
    write(files, file);
    return done;
}

}  // namespace

struct DamagedDatabases::Originals {
    std::string small = database_with(0);
    std::string large = database_with(1500);
    std::array<std::string, 3> older = {older_database("database_v1.sql"), older_database("database_v7.sql"),
                                        older_database("database_v11.sql")};
    Files journal = interrupted(small, "DELETE");
    Files log = interrupted(small, "WAL");
};

const std::vector<std::string>& DamagedDatabases::shapes() {
    static const auto* shapes = new std::vector<std::string>{"16x16x16", "17x5x9", "1x64x64", "24x8x40", "32x32x200"};
    return *shapes;
}

DamagedDatabases::DamagedDatabases(std::uint64_t seed) : seed_(seed), originals_(std::make_unique<Originals>()) {}
DamagedDatabases::~DamagedDatabases() = default;

std::string DamagedDatabases::make(std::size_t number, const fs::path& directory) const {
    Dice dice(seed_, number);
    const fs::path file = directory / "t.db";
    write_file(directory / "victim", std::string("\0precious", 9));
    write_file(directory / "neighbour.db", originals_->small);
    write_file(directory / "neighbour.db-journal", originals_->journal.journal);
    const bool is_older = dice.one_in(12);
    const std::string& original = is_older ? dice.of(originals_->older) : dice.one_in(6) ? originals_->large : originals_->small;
    write_file(file, original);
    std::string done = is_older ? "older; " : "";
    switch (dice.below(8)) {
        case 0:
        case 1:
        case 2: return done + damage_rows(dice, file);
        case 3: return done + damage_schema(dice, file);
        case 4:
        case 5: return done + damage_bytes(dice, file, originals_->large);
        case 6: return done + damage_journal(dice, dice.one_in(2) ? originals_->journal : originals_->log, originals_->large, file);
        default:
            if (dice.one_in(3)) done += damage_rows(dice, file) + " ";
            return done + lay_beside(dice, file);
    }
}

}  // namespace tmm::testing
