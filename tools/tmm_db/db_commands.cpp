#include "tools/tmm_db/db_commands.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text/environment.h"
#include "base/text/printable.h"
#include "base/text/terminal.h"
#include "base/text/text_width.h"
#include "db/store/record_text.h"
#include "db/store/tuning_database.h"
#include "generator/text/shapes_file.h"
#include "generator/text/text.h"
#include "tools/tmm_db/device_filter.h"
#include "tools/tmm_db/html_report/html_report.h"
#include "tools/tmm_db/list_keys.h"
#include "tools/tmm_db/problem_report.h"
#include "tools/tmm_db/report.h"
#include "tools/tmm_db/report_json.h"
#include "tools/tmm_db/winner_difference.h"
#include "tools/tmm_db/winner_list.h"

namespace tmm {
namespace {

using Mode = TuningDatabase::Mode;

std::filesystem::path database_file(const CommandLine& line) {
    return line.has("db") ? std::filesystem::path(line.text("db")) : default_database_path();
}

std::string database_name(const CommandLine& line) {
    return printable(database_file(line).string());
}

std::vector<std::string> names_of(const std::vector<DeviceModel>& devices) {
    std::vector<std::string> names;
    for (const DeviceModel& device : devices) names.push_back(device.name);
    return names;
}

std::vector<std::string> names_of_shipped() {
    std::vector<std::string> names;
    for (const WinnerRow& winner : shipped_winners()) names.push_back(winner.device);
    return names;
}

// known: the devices that --gpu may name.
ReportOptions report_options(const CommandLine& line, const std::vector<std::string>& known, LibraryChooser choose = {}) {
    ReportOptions options{.devices = DeviceFilter(line.text("gpu"), known), .screen = screen_of(stdout), .choose = std::move(choose)};
    options.screen.wide = line.has("wide");
    return options;
}

// The database that was named, or the user's own where there is one.
std::optional<TuningDatabase> database_if_any(const CommandLine& line) {
    std::error_code ignored;
    if (!line.has("db") && !std::filesystem::exists(default_database_path(), ignored)) return std::nullopt;
    return TuningDatabase(database_file(line), Mode::read_only);
}

void print(const std::string& text) {
    std::fwrite(text.data(), 1, text.size(), stdout);
}

GemmProblem problem_of(const CommandLine& line) {
    std::string text;
    for (const auto& word : line.words()) text += (text.empty() ? "" : " ") + word;
    return parse_shape(text).problem;
}

// Says what of the file was left out; the command then has done the rest.
ExitStatus told_status(const CommandLine& line, const std::filesystem::path& file, const LeftOut& left_out) {
    if (!left_out.any()) return ExitStatus::done;
    std::fflush(stdout);
    const std::string name = printable(file.string());
    fmt::print(stderr, "{}: {}: {}; 'tmm-db verify --db {}' names all\n", line.tool().name, name, printable(to_text(left_out)), name);
    return ExitStatus::bad_input;
}

std::vector<ListedWinner> chosen(const CommandLine& line, const std::vector<WinnerRow>& rows, const ReportOptions& options) {
    auto winners = with_conditions(listed(rows, options.choose), line.values("where"));
    if (line.has("sort")) sort_by(winners, line.text("sort"));
    return winners;
}

ExitStatus list(const CommandLine& line, const LibraryChooserMaker& make_chooser) {
    TuningDatabase database(database_file(line), Mode::read_only);
    const auto options = report_options(line, names_of(database.devices()), make_chooser(database_file(line)));
    const auto winners = chosen(line, winners_of(database, options.devices), options);
    if (line.has("json"))
        print(winners_json(winners));
    else if (winners.empty())
        print(fmt::format("no winners{} yet; run tmm-tune\n", on_named(options.devices)));
    else
        print(winners_report(winners, "user", options));
    return ExitStatus::done;
}

ExitStatus shipped(const CommandLine& line, const LibraryChooserMaker& make_chooser) {
    const auto options = report_options(line, names_of_shipped(), make_chooser(std::nullopt));
    const auto winners = chosen(line, shipped_winners_of(options.devices), options);
    print(line.has("json") ? winners_json(winners) : winners_report(winners, "shipped", options));
    return ExitStatus::done;
}

ExitStatus show(const CommandLine& line, const LibraryChooserMaker& make_chooser) {
    const auto problem = problem_of(line);
    std::optional<TuningDatabase> opened = database_if_any(line);
    TuningDatabase* const database = opened ? &*opened : nullptr;
    const auto options =
        report_options(line, known_devices(database), make_chooser(database ? std::optional(database_file(line)) : std::nullopt));
    const ProblemQuery query{.problem = problem, .devices = options.devices, .choose = options.choose};
    const auto devices = look_up(database, query);
    print(line.has("json") ? problem_json(devices, problem) : problem_report(devices, problem, options));
    if (std::ranges::none_of(devices, [](const ProblemOnDevice& known) { return known.serving() || known.is_tuned(); }))
        fail_untuned(database, query);
    return ExitStatus::done;
}

ExitStatus candidates(const CommandLine& line, const LibraryChooserMaker& make_chooser) {
    const auto problem = problem_of(line);
    TuningDatabase database(database_file(line), Mode::read_only);
    const auto options = report_options(line, known_devices(&database), make_chooser(database_file(line)));
    const auto devices = candidates_of(database, {.problem = problem, .devices = options.devices, .choose = options.choose});
    print(line.has("json") ? candidates_json(devices, problem) : candidates_report(devices, problem, options));
    return ExitStatus::done;
}

ExitStatus diff(const CommandLine& line, const LibraryChooserMaker&) {
    TuningDatabase a(line.words()[0], Mode::read_only);
    TuningDatabase b(line.words()[1], Mode::read_only);
    auto known = names_of(a.devices());
    std::ranges::copy(names_of(b.devices()), std::back_inserter(known));
    const auto options = report_options(line, known);
    const bool across = line.has("against");
    const DeviceFilter of_b = across ? DeviceFilter(line.text("against"), names_of(b.devices())) : options.devices;
    const WinnerDifference difference = winner_difference(a, b, options.devices, of_b, across);
    print(line.has("json") ? difference_json(difference) : difference_report(difference, options));
    return ExitStatus::done;
}

// Decisions are exported as they were made: which of them run is for whoever reads them to choose.
void say_what_does_not_run(const CommandLine& line, const std::vector<TuningRecord>& decisions, const LibraryChooser& choose) {
    const auto runs = [&](const TuningRecord& decision) {
        if (decision.predicted) return true;
        const auto choice = choose(model_of(decision.environment.device), decision.problem, ChoiceFrom::all);
        return !choice || choice->config == decision.config;
    };
    const auto others = decisions.size() - static_cast<std::size_t>(std::ranges::count_if(decisions, runs));
    if (others == 0) return;
    fmt::print(stderr, "{}: {} of these winners do{} not run, since a faster one keeps the promise; '{} ls' names what does\n",
               line.tool().name, others, others == 1 ? "es" : "", line.tool().name);
}

ExitStatus export_records(const CommandLine& line, const LibraryChooserMaker& make_chooser) {
    if (line.has("csv") == line.has("json"))
        throw Error(ExitStatus::usage, "'export' needs one of --csv and --json", {}, "give one of them");
    TuningDatabase database(database_file(line), Mode::read_only);
    const DeviceFilter devices(line.text("gpu"), names_of(database.devices()));
    LeftOut left_out;
    auto records = database.records({}, &left_out);
    std::erase_if(records, [&](const auto& record) { return !devices.takes(record.environment.device.name); });
    if (line.has("winners")) {
        records = newest_decisions(records);
        say_what_does_not_run(line, records, make_chooser(database_file(line)));
    }
    print(line.has("csv") ? to_csv(records) : to_json(records));
    return told_status(line, database_file(line), left_out);
}

ExitStatus import_records(const CommandLine& line, const LibraryChooserMaker&) {
    const auto records = read_records(line.words()[0]);
    TuningDatabase database(database_file(line), Mode::read_write_create);
    const auto inserted = database.insert(records);
    print(fmt::format("{} of {} records were new: {} measurements and {} decisions went into {}\n",
                      inserted.measurements + inserted.selections, records.size(), inserted.measurements, inserted.selections,
                      database_name(line)));
    return ExitStatus::done;
}

ExitStatus merge(const CommandLine& line, const LibraryChooserMaker&) {
    ExitStatus status = ExitStatus::done;
    for (const auto& file : line.words()) {
        // This file is looked at first, so that a mistyped name makes no database.
        TuningDatabase(file, Mode::read_only);
        TuningDatabase database(database_file(line), Mode::read_write_create);
        const auto inserted = database.merge(file);
        const std::string profiles =
            inserted.rates > 0 ? fmt::format(" and {} machine profile{}", inserted.rates, inserted.rates == 1 ? "" : "s") : "";
        print(fmt::format("{}: {} new measurements and {} new decisions{} went into {}\n", printable(file), inserted.measurements,
                          inserted.selections, profiles, database_name(line)));
        status = std::max(status, told_status(line, file, inserted.left_out));
    }
    return status;
}

std::string counted(const TuningDatabase::Forgotten& forgotten) {
    std::vector<std::string> parts;
    for (const auto& [count, name] : {std::pair{forgotten.measurements, "measurement"},
                                      {forgotten.decisions, "decision"},
                                      {forgotten.announcements, "unfinished run"},
                                      {forgotten.profiles, "machine profile"}})
        if (count > 0) parts.push_back(fmt::format("{} {}{}", count, name, count == 1 ? "" : "s"));
    return parts.empty() ? "nothing" : fmt::format("{}", fmt::join(parts, ", "));
}

ExitStatus forget(const CommandLine& line, const LibraryChooserMaker&) {
    if (line.words().empty() && !line.has("gpu") && !line.has("remeasured"))
        throw Error(ExitStatus::usage, "'forget' needs a shape, --gpu or --remeasured", {}, "say what to forget; --dry-run only counts it");
    TuningDatabase::ForgetRequest request{.only_superseded = line.has("remeasured"), .only_count = line.has("dry-run")};
    if (!line.words().empty()) request.problem = problem_of(line);
    const std::filesystem::path file = database_file(line);
    TuningDatabase database(file, request.only_count ? Mode::read_only : Mode::read_write);
    request.devices = database.devices();
    const DeviceFilter filter(line.text("gpu"), names_of(request.devices));
    std::erase_if(request.devices, [&](const DeviceModel& device) { return !filter.takes(device.name); });
    const auto kilobytes = [&] {
        std::error_code ignored;
        return static_cast<double>(std::filesystem::file_size(file, ignored)) * 1e-3;
    };
    const double before = kilobytes();
    const auto forgotten = database.forget(request);
    const std::string replaced = request.only_superseded ? " that later ones have taken the place of" : "";
    const std::string what = counted(forgotten) + replaced;
    if (request.problem && forgotten.is_nothing())
        throw Error(ExitStatus::no_winner, fmt::format("{} is known of '{}'{}", what, to_text(*request.problem), on_named(filter)),
                    database_name(line), "'tmm-db ls' lists what is");
    if (request.only_count)
        print(fmt::format("would be forgotten: {}\n", what));
    else
        print(fmt::format("forgotten: {}; {} has {:.0f} kB, it had {:.0f}\n", what, database_name(line), kilobytes(), before));
    return ExitStatus::done;
}

ExitStatus verify(const CommandLine& line, const LibraryChooserMaker&) {
    TuningDatabase database(database_file(line), Mode::read_only);
    const auto faults = database.verify();
    const bool json = line.has("json");
    if (json && !faults.empty()) print(verification_json(database_file(line), faults, 0, 0));
    if (!json)
        for (const auto& fault : faults) print(hanging(printable(fault), screen_of(stdout).columns, 4) + "\n");
    if (!faults.empty())
        throw Error(ExitStatus::database, fmt::format("{} fault{} found", faults.size(), faults.size() == 1 ? "" : "s"),
                    database_name(line), "'tmm-db export' saves the rows that are sound; 'tmm-db import' puts them into a new file");
    const auto records = database.records();
    const auto measurements =
        std::count_if(records.begin(), records.end(), [](const auto& record) { return record.kind == TuningRecord::Kind::measurement; });
    const auto decisions = static_cast<std::ptrdiff_t>(records.size()) - measurements;
    if (json)
        print(verification_json(database_file(line), {}, static_cast<std::size_t>(measurements), static_cast<std::size_t>(decisions)));
    else
        print(hanging(fmt::format("{} is sound: {} measurements, {} decisions", database_name(line), measurements, decisions),
                      screen_of(stdout).columns, 4) +
              "\n");
    return ExitStatus::done;
}

ExitStatus report(const CommandLine& line, const LibraryChooserMaker& make_chooser) {
    HtmlReportOptions options;
    if (line.has("ceilings")) options.ceilings = read_ceilings(line.text("ceilings"));
    TuningDatabase database(database_file(line), Mode::read_only);
    options.devices = DeviceFilter(line.text("gpu"), names_of(database.devices()));
    options.choose = make_chooser(database_file(line));
    const ReportContent content = read_report_content(database, options);
    write_html_report(content, line.text("html"));
    std::size_t candidates = 0;
    for (const auto& group : content.groups) candidates += group.measured;
    print(fmt::format("{}: {} winners and {} candidates\n", printable(line.text("html")), content.winners.size(), candidates));
    return ExitStatus::done;
}

struct Command {
    const char* name;
    ExitStatus (*run)(const CommandLine& line, const LibraryChooserMaker& make_chooser);
};
constexpr Command kCommands[] = {{"ls", list},
                                 {"shipped", shipped},
                                 {"show", show},
                                 {"candidates", candidates},
                                 {"diff", diff},
                                 {"export", export_records},
                                 {"import", import_records},
                                 {"merge", merge},
                                 {"forget", forget},
                                 {"verify", verify},
                                 {"report", report}};

}  // namespace

ExitStatus run_db_command(const CommandLine& line, const LibraryChooserMaker& make_chooser) {
    for (const Command& command : kCommands)
        if (line.command() == command.name) return command.run(line, make_chooser);
    throw std::logic_error("nothing runs the command " + line.command());
}

}  // namespace tmm
