#include "tools/tmm_db/bundle_command.h"

#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "base/files/output_file.h"
#include "base/text/environment.h"
#include "base/text/printable.h"
#include "db/store/records.h"
#include "db/store/tuning_database.h"
#include "generator/machine/assumed_device.h"
#include "generator/machine/device_model.h"
#include "generator/text/shapes_file.h"
#include "runtime/select/read_winners.h"
#include "tools/tmm_db/bundle_maker.h"
#include "tools/tmm_db/device_filter.h"

namespace tmm {
namespace {

namespace fs = std::filesystem;

// The database that was named, or the user's own where there is one.
std::optional<fs::path> database_of(const CommandLine& line) {
    if (line.has("db")) return fs::path(line.text("db"));
    const fs::path own = default_database_path();
    std::error_code ignored;
    return fs::exists(own, ignored) ? std::optional(own) : std::nullopt;
}

std::vector<WinnerRow> known_winners(const std::optional<fs::path>& database) {
    if (!database) return shipped_winners();
    return with_shipped(TuningDatabase(*database, TuningDatabase::Mode::read_only).winners());
}

// The models that have winners, and the emulated device.
std::vector<DeviceModel> known_models(const std::vector<WinnerRow>& winners) {
    std::vector<DeviceModel> models{model_of(host_device_info())};
    for (const WinnerRow& row : winners)
        if (std::find(models.begin(), models.end(), model_of(row)) == models.end()) models.push_back(model_of(row));
    return models;
}

DeviceModel named_model(const std::string& name, const std::vector<WinnerRow>& winners) {
    std::vector<DeviceModel> found = known_models(winners);
    std::vector<std::string> names;
    for (const DeviceModel& model : found) names.push_back(model.name);
    const DeviceFilter filter(name, names);
    std::erase_if(found, [&](const DeviceModel& model) { return !filter.takes(model.name); });
    // Emulated devices of other machines have the name of this one's, which comes first.
    if (std::all_of(found.begin(), found.end(), [&](const DeviceModel& model) { return model.name == found.front().name; }))
        return found.front();
    names.clear();
    for (const DeviceModel& model : found) names.push_back(model.name);
    throw Error(ExitStatus::usage, fmt::format("{} names several devices", in_quotes(name)), "--gpu",
                fmt::format("write more of the name: {}", listed_names(names)));
}

DeviceInfo known_device(const DeviceModel& model) {
    if (const std::optional<DeviceInfo> device = remembered_device(device_of(model))) return *device;
    throw Error(ExitStatus::usage, fmt::format("compute capability {} is none that tmm knows", model.compute_capability), "--gpu");
}

// Those of the shapes file, else all that have a winner.
std::vector<GemmProblem> problems_of(const CommandLine& line, const DeviceModel& model, const std::vector<WinnerRow>& winners) {
    std::vector<GemmProblem> problems;
    if (line.has("shapes")) {
        for (const Shape& shape : read_shapes(line.text("shapes"))) problems.push_back(shape.problem);
        return problems;
    }
    for (const WinnerRow& row : winners)
        if (model_of(row) == model) problems.push_back(row.problem);
    if (problems.empty())
        throw Error(ExitStatus::no_winner, fmt::format("nothing was tuned on {}", printable(model.name)), {},
                    "name the problems: --shapes FILE");
    return problems;
}

std::string summary(const BundleContent& content, const DeviceModel& model, const fs::path& file, std::size_t bytes) {
    std::size_t counts[4] = {};
    for (std::size_t i = 0; i < content.problems; ++i) ++counts[static_cast<std::size_t>(content.entries[i].match)];
    std::string matches;
    for (const Match match : {Match::exact, Match::near, Match::predicted, Match::fallback})
        if (const std::size_t count = counts[static_cast<std::size_t>(match)])
            matches += fmt::format("{}{} {}", matches.empty() ? "" : ", ", count, name_of(match));
    return fmt::format("{}: {} problem{} ({}), {} kernels, {:.2f} MB, for {}\n", printable(file.string()), content.problems,
                       content.problems == 1 ? "" : "s", matches, content.kernels.size(), static_cast<double>(bytes) * 1e-6,
                       printable(model.name));
}

}  // namespace

ExitStatus run_bundle_command(const CommandLine& line) {
    if (!line.has("gpu"))
        throw Error(ExitStatus::usage, "'bundle' needs the GPU's name", "--gpu", "write --gpu H200, or --gpu host for the emulated device");
    const std::optional<fs::path> database = database_of(line);
    const std::vector<WinnerRow> known = known_winners(database);
    const DeviceModel model = named_model(line.text("gpu"), known);
    const DeviceInfo device = known_device(model);
    const Winners winners = database ? read_winners(*database, device) : Winners(shipped_winners(), device);
    const std::vector<GemmProblem> problems = problems_of(line, model, known);
    const BundleContent content = make_bundle(problems, winners, make_compiler(device), KernelCache(default_cache_directory()));
    const std::string bytes = encoded_bundle(model, content.entries, content.kernels);
    const fs::path file = line.text("out");
    publish_file(file, bytes, {.what = "the bundle", .mode = 0644, .withheld = S_IWGRP | S_IWOTH});
    const std::string text = summary(content, model, file, bytes.size());
    std::fwrite(text.data(), 1, text.size(), stdout);
    return ExitStatus::done;
}

}  // namespace tmm
