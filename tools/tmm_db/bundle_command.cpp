#include "tools/tmm_db/bundle_command.h"

#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/files/output_file.h"
#include "base/text/environment.h"
#include "base/text/printable.h"
#include "db/store/records.h"
#include "db/store/tuning_database.h"
#include "generator/choice/predicted_config.h"
#include "generator/machine/assumed_device.h"
#include "generator/machine/device_info.h"
#include "generator/problem/problem_forms.h"
#include "generator/text/shapes_file.h"
#include "runtime/device/device.h"
#include "runtime/plan/plan.h"
#include "runtime/select/read_winners.h"
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

namespace {

// Stands in for a GPU that is not there: kernels are loaded, and never launched.
class AbsentDevice : public Device {
public:
    explicit AbsentDevice(DeviceInfo info) : info_(std::move(info)) {}

    const DeviceInfo& info() const override { return info_; }
    std::shared_ptr<const LoadedKernel> load(const CompiledKernel&, const std::string&) override {
        return std::make_shared<const LoadedKernel>();
    }
    int blocks_per_sm(const LoadedKernel&, int, std::int64_t) override { return 0; }
    DeviceState state() override { return {}; }
    void release(void*) noexcept override {}

    void* allocate(std::size_t) override { refuse(); }
    void copy_to_device(void*, const void*, std::size_t) override { refuse(); }
    void copy_to_host(void*, const void*, std::size_t) override { refuse(); }
    void fill_bytes(void*, unsigned char, std::size_t) override { refuse(); }
    void launch(const LoadedKernel&, const LaunchShape&, const void*, std::size_t, Stream) override { refuse(); }
    // A plan's maps are encoded when it is made, though nothing launches it here.
    void encode_tensor_map(const TensorMapRequest&, void*) const override {}
    void set_address(void*, const void*) const override { refuse(); }
    void synchronize(Stream) override { refuse(); }
    std::unique_ptr<Replay> record(const std::function<void(Stream)>&) override { refuse(); }

private:
    [[noreturn]] static void refuse() { throw std::logic_error("a device that is not there runs nothing"); }

    DeviceInfo info_;
};

// Calls body(i) for each i below count, on all cores; what one throws ends the others.
template <typename Body>
void for_each_at_once(std::size_t count, const Body& body) {
    std::atomic<std::size_t> next = 0;
    std::mutex mutex;
    std::exception_ptr failure;
    const auto work = [&] {
        for (std::size_t i; (i = next++) < count;) {
            try {
                body(i);
            } catch (...) {
                next = count;
                const std::lock_guard lock(mutex);
                if (!failure) failure = std::current_exception();
            }
        }
    };
    std::vector<std::thread> threads;
    const std::size_t cores = std::max(1u, std::thread::hardware_concurrency());
    try {
        for (std::size_t i = 1; i < std::min(cores, count); ++i) threads.emplace_back(work);
    } catch (const std::system_error&) {
        // Where no more threads can be had, those that there are do it.
    }
    work();
    for (std::thread& thread : threads) thread.join();
    if (failure) std::rethrow_exception(failure);
}

// How the config was found that runs for any pointers.
Match match_of(const GemmProblem& problem, const KernelConfig& config, const Winners& winners) {
    if (const Selection selection = winners.select(problem); selection.config == config) return selection.match;
    return config == fallback_config() ? Match::fallback : Match::predicted;
}

void compile_fallbacks(const GemmProblem& problem, KernelLoader& loader) {
    // One that reads C serves where C isn't read, too.
    for (const bool reads_c : {problem.reads_c, true}) {
        PlanRequest request{.problem = problem};
        request.problem.reads_c = reads_c;
        (void)RuntimePlan::make_fallback(request, loader, RuntimePlan::Pointers::aligned_as_promised, "it is bundled");
    }
}

struct BundledPair {
    BundleEntry aligned;
    std::optional<BundleEntry> any;
};

BundledPair chosen_for(const GemmProblem& asked, const Winners& winners, KernelLoader& loader) {
    const GemmProblem problem = with_alignment(asked, asked.alignment);
    const RuntimePlan plan =
        RuntimePlan::make({.problem = problem}, winners, loader, RuntimePlan::Pointers::any, nullptr, RuntimePlan::Epilogues::in_kernel);
    compile_fallbacks(problem, loader);
    const Selection& selection = plan.selection();
    BundledPair pair{
        .aligned = {.problem = problem, .config = selection.config, .match = selection.match, .measured_us = selection.measured_us},
        .any = {}};
    const GemmProblem any = with_alignment(problem, 1);
    if (const KernelConfig* const config = plan.config_of_any_pointers())
        pair.any = BundleEntry{.problem = any, .config = *config, .match = match_of(any, *config, winners)};
    return pair;
}

void add_if_new(std::vector<BundleEntry>& entries, const BundleEntry& entry) {
    if (std::none_of(entries.begin(), entries.end(), [&](const BundleEntry& other) { return other.problem == entry.problem; }))
        entries.push_back(entry);
}

}  // namespace

BundleContent make_bundle(const std::vector<GemmProblem>& problems, const Winners& winners, std::shared_ptr<const Compiler> compiler,
                          const KernelCache& cache) {
    KernelLoader loader(std::make_shared<AbsentDevice>(winners.device()), std::move(compiler), cache);
    std::vector<BundledPair> pairs(problems.size());
    for_each_at_once(problems.size(), [&](std::size_t i) { pairs[i] = chosen_for(problems[i], winners, loader); });

    BundleContent content;
    for (const BundledPair& pair : pairs) add_if_new(content.entries, pair.aligned);
    content.problems = content.entries.size();
    for (const BundledPair& pair : pairs)
        if (pair.any) add_if_new(content.entries, *pair.any);
    content.kernels = loader.kernels();
    return content;
}

}  // namespace tmm
