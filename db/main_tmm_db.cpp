// tmm-db: looks into a tuning database, and moves results between databases.
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <boost/program_options.hpp>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "db/record_text.h"
#include "db/report.h"
#include "db/tuning_database.h"
#include "generator/environment.h"
#include "generator/error.h"
#include "generator/nearest_name.h"
#include "generator/shapes_file.h"
#include "generator/tool_main.h"

namespace {

namespace fs = std::filesystem;
namespace po = boost::program_options;
using tmm::Error;
using tmm::ExitStatus;
using tmm::TuningDatabase;
using Mode = TuningDatabase::Mode;

constexpr const char* kUsage =
    R"(usage: tmm-db COMMAND [--db FILE] [--gpu NAME]

  ls                    the winner of every problem
  show SHAPE            the winner of one problem, why it won and what it was chosen from
  candidates SHAPE      every candidate of one problem, the fastest first
  diff A B              where the winners of two databases differ
  export --csv|--json   every measurement and decision, on stdout
  import FILE           stores what an export holds
  merge FILE…           stores what other databases hold
  verify                checks the file, every row of it

SHAPE is written as in a shapes file: 1024x1024x1024, or 16 4096 4096 ops=nt

)";

struct CommandLine {
    std::string command;
    std::vector<std::string> words;
    fs::path database;
    bool names_database = false;
    tmm::ReportOptions report;
    bool csv = false;
    bool json = false;
    bool winners = false;
    bool help = false;
};

[[noreturn]] void fail_usage(const std::string& what) {
    throw Error(ExitStatus::usage, what, {}, "see tmm-db --help");
}

po::options_description visible_options(CommandLine& line, std::string& database) {
    po::options_description options("options");
    options.add_options()("db", po::value(&database)->value_name("FILE"),
                          "the database; else what TMM_DB names, else ~/.local/share/tmm/tmm.db")(
        "gpu", po::value(&line.report.device)->value_name("NAME"), "only devices whose name holds NAME ('H200', 'host')")(
        "csv", po::bool_switch(&line.csv), "export as CSV")("json", po::bool_switch(&line.json), "export as JSON")(
        "winners", po::bool_switch(&line.winners), "export the newest decision of each problem and device only")(
        "help,h", po::bool_switch(&line.help), "print this");
    return options;
}

CommandLine parse_command_line(int argc, char** argv) {
    CommandLine line;
    std::string database;
    po::options_description all = visible_options(line, database);
    std::vector<std::string> words;
    all.add_options()("words", po::value(&words));
    po::positional_options_description positional;
    positional.add("words", -1);
    try {
        po::variables_map values;
        po::store(po::command_line_parser(argc, argv)
                      .options(all)
                      .positional(positional)
                      .style(po::command_line_style::default_style & ~po::command_line_style::allow_guessing)
                      .run(),
                  values);
        po::notify(values);
        line.names_database = values.count("db") != 0;
    } catch (const po::error& error) {
        fail_usage(error.what());
    }
    if (line.names_database && database.empty()) fail_usage("--db: the file's name is empty");
    line.database = line.names_database ? fs::path(database) : tmm::default_database_path();
    line.report.color = isatty(STDOUT_FILENO) && !tmm::color_forbidden();
    if (words.empty()) return line;
    line.command = words.front();
    line.words.assign(words.begin() + 1, words.end());
    return line;
}

void print(const std::string& text) {
    std::fwrite(text.data(), 1, text.size(), stdout);
}

tmm::GemmProblem problem_of(const CommandLine& line) {
    if (line.words.empty()) fail_usage(fmt::format("'{}' needs a shape, like 1024x1024x1024", line.command));
    std::string text;
    for (const auto& word : line.words) text += (text.empty() ? "" : " ") + word;
    return tmm::parse_shape(text).problem;
}

void expect_words(const CommandLine& line, std::size_t least, std::size_t most, const char* what) {
    if (line.words.size() < least) fail_usage(fmt::format("'{}' needs {}", line.command, what));
    if (line.words.size() > most) fail_usage(fmt::format("'{}' does not take '{}'", line.command, line.words[most]));
}

ExitStatus list(const CommandLine& line) {
    expect_words(line, 0, 0, "");
    TuningDatabase database(line.database, Mode::read_write);
    print(tmm::winners_report(database, line.report));
    return ExitStatus::done;
}

ExitStatus show(const CommandLine& line) {
    const auto problem = problem_of(line);
    TuningDatabase database(line.database, Mode::read_write);
    print(tmm::problem_report(database, problem, line.report));
    return ExitStatus::done;
}

ExitStatus candidates(const CommandLine& line) {
    const auto problem = problem_of(line);
    TuningDatabase database(line.database, Mode::read_write);
    print(tmm::candidates_report(database, problem, line.report));
    return ExitStatus::done;
}

ExitStatus diff(const CommandLine& line) {
    expect_words(line, 2, 2, "two database files");
    TuningDatabase a(line.words[0], Mode::read_write);
    TuningDatabase b(line.words[1], Mode::read_write);
    print(tmm::difference_report(a, b, line.report));
    return ExitStatus::done;
}

ExitStatus export_records(const CommandLine& line) {
    expect_words(line, 0, 0, "");
    if (line.csv == line.json) fail_usage("'export' needs one of --csv and --json");
    TuningDatabase database(line.database, Mode::read_write);
    auto records = database.records();
    std::erase_if(records, [&](const auto& record) { return !tmm::names_device(line.report, record.environment.device.name); });
    if (line.winners) records = tmm::newest_decisions(records);
    print(line.csv ? tmm::to_csv(records) : tmm::to_json(records));
    return ExitStatus::done;
}

ExitStatus import_records(const CommandLine& line) {
    expect_words(line, 1, 1, "the file of an export");
    const auto records = tmm::read_records(line.words[0]);
    TuningDatabase database(line.database, Mode::read_write_create);
    const auto inserted = database.insert(records);
    print(fmt::format("{} of {} records were new: {} measurements and {} decisions went into {}\n",
                      inserted.measurements + inserted.selections, records.size(), inserted.measurements, inserted.selections,
                      line.database.string()));
    return ExitStatus::done;
}

ExitStatus merge(const CommandLine& line) {
    expect_words(line, 1, line.words.size(), "at least one database file");
    for (const auto& file : line.words) {
        // Looked at first, so that a mistyped name makes no database.
        TuningDatabase(file, Mode::read_write);
        TuningDatabase database(line.database, Mode::read_write_create);
        const auto inserted = database.merge(file);
        print(fmt::format("{}: {} new measurements and {} new decisions went into {}\n", file, inserted.measurements, inserted.selections,
                          line.database.string()));
    }
    return ExitStatus::done;
}

ExitStatus verify(const CommandLine& line) {
    expect_words(line, 0, 0, "");
    TuningDatabase database(line.database, Mode::read_write);
    const auto faults = database.verify();
    for (const auto& fault : faults) print(fault + "\n");
    if (!faults.empty())
        throw Error(ExitStatus::database, fmt::format("{} fault{} found", faults.size(), faults.size() == 1 ? "" : "s"),
                    line.database.string(), "'tmm-db export' saves the rows that are sound; 'tmm-db import' puts them into a new file");
    const auto records = database.records();
    const auto measurements = std::count_if(records.begin(), records.end(),
                                            [](const auto& record) { return record.kind == tmm::TuningRecord::Kind::measurement; });
    print(fmt::format("{} is sound: {} measurements, {} decisions\n", line.database.string(), measurements,
                      static_cast<std::ptrdiff_t>(records.size()) - measurements));
    return ExitStatus::done;
}

struct Command {
    const char* name;
    ExitStatus (*run)(const CommandLine& line);
};
constexpr Command kCommands[] = {
    {"ls", list},     {"show", show},    {"candidates", candidates}, {"diff", diff}, {"export", export_records}, {"import", import_records},
    {"merge", merge}, {"verify", verify}};

ExitStatus run(int argc, char** argv) {
    const CommandLine line = parse_command_line(argc, argv);
    if (line.help) {
        CommandLine unused;
        std::string database;
        print(kUsage);
        print(fmt::format("{}", (std::ostringstream() << visible_options(unused, database)).str()));
        return ExitStatus::done;
    }
    if (line.command.empty()) fail_usage("what to do is missing: ls, show, candidates, diff, export, import, merge or verify");
    if ((line.csv || line.json || line.winners) && line.command != "export") fail_usage("--csv, --json and --winners belong to 'export'");
    if (!line.report.device.empty() && (line.command == "import" || line.command == "merge" || line.command == "verify"))
        fail_usage(fmt::format("'{}' takes all devices; --gpu belongs to ls, show, candidates, diff and export", line.command));
    if (line.names_database && line.command == "diff") fail_usage("'diff' takes the two databases that follow it, not --db");
    std::vector<std::string_view> names;
    for (const auto& command : kCommands) {
        if (line.command == command.name) return command.run(line);
        names.emplace_back(command.name);
    }
    const auto nearest = tmm::nearest_name(line.command, names);
    fail_usage(fmt::format("'{}' is no command{}", line.command, nearest ? fmt::format("; did you mean '{}'?", *nearest) : ""));
}

}  // namespace

int main(int argc, char** argv) {
    return tmm::tool_main("tmm-db", [&] { return run(argc, argv); });
}
