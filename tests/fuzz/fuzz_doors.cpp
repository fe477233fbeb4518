#include "tests/fuzz/fuzz_doors.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "base/command_line/command_line.h"
#include "base/command_line/tool_help.h"
#include "base/error.h"
#include "base/text/printable.h"
#include "db/store/fields.h"
#include "db/store/record_text.h"
#include "db/store/records.h"
#include "generator/choice/predicted_config.h"
#include "generator/choice/validity.h"
#include "generator/machine/assumed_device.h"
#include "generator/plan/launch_plan.h"
#include "generator/text/shape_overrides.h"
#include "generator/text/shapes_file.h"
#include "generator/text/text.h"
#include "runtime/api/gpu_choice.h"
#include "runtime/bundle/bundle.h"
#include "runtime/bundle/bundle_choice.h"
#include "runtime/select/selection.h"
#include "tests/support/temporary_directory.h"
#include "tools/tmm_bench/bench_tool.h"
#include "tools/tmm_db/db_tool.h"
#include "tools/tmm_gen/gen_tool.h"
#include "tools/tmm_tune/tune_tool.h"
#include "tuner/search/candidates.h"

namespace tmm::testing {
namespace {

constexpr std::size_t kMostPlanned = 3;
constexpr int kMostThreads = 1024;

std::uint64_t hash_of(std::string_view text) {
    std::uint64_t hash = 0xcbf29ce484222325U;
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
    return hash >> 16;
}

const std::vector<DeviceInfo>& devices() {
    static const auto* infos = new std::vector<DeviceInfo>{assumed_device("90"), host_device_info(), assumed_device("75")};
    return *infos;
}

// Does the body refuse its input as it should: by an Error of that status, with a place that begins so, in one printable line?
template <typename Body>
std::optional<std::string> refusal(const Body& body, ExitStatus status, std::string_view place) {
    try {
        body();
        return std::nullopt;
    } catch (const Error& error) {
        const std::string what = error.what();
        if (error.status() != status) return fmt::format("refused with status {}: {}", static_cast<int>(error.status()), what);
        if (!error.where().starts_with(place)) return fmt::format("refused at '{}', not at {}…: {}", error.where(), place, what);
        if (printable(what) != what) return "refused with what a terminal obeys: " + printable(what);
        if (what.empty()) return "refused without a word";
        return std::string();
    }
}

// Any row may stand before a problem's own: what serves it in the end is valid, and can be planned.
std::string complaint_about_choice(const GemmProblem& problem, const std::vector<WinnerRow>& winners, const DeviceInfo& device) {
    if (why_invalid(problem, fallback_config(), device)) return {};
    const Selection selection = Winners(winners, device).select(problem);
    const auto complain = [&](const std::string& what) {
        return fmt::format("{} of {}: {}", to_text(selection.config), to_text(problem), what);
    };
    if (const auto reason = rejection_reason(problem, selection.config, device)) return complain(*reason);
    const LaunchPlan plan = make_launch_plan(problem, selection.config, device);
    if (plan.workspace_bytes < 0) return complain(fmt::format("{} bytes of workspace", plan.workspace_bytes));
    for (const LaunchStep& step : plan.steps)
        if (step.grid < 1 || step.threads < 1 || step.threads > kMostThreads || step.shared_bytes < 0)
            return complain(fmt::format("{} blocks of {} threads with {} bytes", step.grid, step.threads, step.shared_bytes));
    return {};
}

std::string complaint_about_shape(const Shape& shape) {
    if (const std::string fault = why_inconsistent(shape.problem); !fault.empty()) return fault;
    const std::string text = to_text(shape);
    const Shape again = parse_shape(text);
    if (again.problem != shape.problem || again.alpha != shape.alpha || again.beta != shape.beta)
        return fmt::format("'{}' reads as '{}'", text, to_text(again));
    return {};
}

std::vector<std::string> lines_of(std::string_view text) {
    std::vector<std::string> lines;
    while (!text.empty()) {
        const auto end = std::min(text.find('\n'), text.size());
        // An argument of main() ends at a zero.
        lines.emplace_back(text.substr(0, std::min(end, text.find('\0'))));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return lines;
}

// Reads the arguments as the tools do before they open anything.
void read_arguments(const CommandLine& line) {
    for (const OptionDescription& option : line.tool().options) {
        if (!line.has(option.name)) continue;
        if (option.name == "shape") (void)parse_shape(line.text("shape"), parse_overrides(line.values("set")));
        if (option.name == "set") (void)parse_overrides(line.values("set"));
        if (option.name == "config") (void)parse_config(line.text("config"));
        if (option.name == "effort") (void)parse_effort(line.text("effort"));
        if (option.name == "budget") (void)line.number("budget", 0.001, 1e9);
    }
    if (line.command() == "show" || line.command() == "candidates") (void)parse_shape(line.words().front());
    if (line.tool().name == "tmm-bench" && !line.has("help") && !line.has("version")) (void)bench::arguments_of(line);
}

std::string complaint_about_shapes(const std::vector<Shape>& shapes, std::uint64_t number) {
    if (shapes.empty()) return "taken, but there is no shape";
    // Ranges may give a million.
    for (std::size_t i = 0; i < shapes.size(); i += 1 + shapes.size() / 50)
        if (const std::string complaint = complaint_about_shape(shapes[i]); !complaint.empty()) return complaint;
    for (std::size_t i = 0; i < std::min(kMostPlanned, shapes.size()); ++i) {
        const DeviceInfo& device = devices()[(number + i) % devices().size()];
        if (const std::string complaint = complaint_about_choice(shapes[i].problem, {}, device); !complaint.empty()) return complaint;
    }
    return {};
}

std::string complaint_about_spelling(const KernelConfig& config) {
    if (parse_config(to_text(config)) != config) return fmt::format("'{}' reads as another config", to_text(config));
    // The fields' spelling leaves out neutral values, which are not what wgmma and skinny take where nothing is said.
    KernelConfig expected = config;
    for (const Parameter& parameter : kParameters)
        if (config.*parameter.member == parameter.neutral) expected.*parameter.member = unwritten_value(parameter, config.family);
    return parse_config(fields_text(config)) == expected ? "" : fmt::format("'{}' reads as another config", fields_text(config));
}

// The config as the winner of its own problem, which is also near to another one.
std::string complaint_about_winner(const KernelConfig& config, const GemmProblem& problem, const DeviceInfo& device) {
    const WinnerRow row{.problem = problem,
                        .device = device.name,
                        .compute_capability = device.compute_capability(),
                        .sm_count = device.sm_count,
                        .config = config,
                        .median_us = 1,
                        .origin = "user"};
    GemmProblem near = problem;
    near.k += near.k < 1000 ? 1 : 0;
    near.lda = std::max(near.lda, stored_columns_a(near));
    near.ldb = std::max(near.ldb, stored_columns_b(near));
    const std::string complaint = complaint_about_choice(problem, {row}, device);
    return complaint.empty() ? complaint_about_choice(near, {row}, device) : complaint;
}

std::string complaint_about_config(const KernelConfig& config, std::uint64_t number) {
    static const auto& problems = *new std::vector<GemmProblem>{parse_shape("64 64 64").problem,
                                                                parse_shape("1 500 33 ops=nt align=4").problem,
                                                                parse_shape("256 129 4096 dtype=bf16").problem,
                                                                parse_shape("1 1 2305843009213693951 beta=1").problem,
                                                                parse_shape("2305843009213693951 1 1").problem,
                                                                parse_shape("300 2147483647 3 batch=1000 compute=tf32").problem};
    std::string complaint = complaint_about_spelling(config);
    const DeviceInfo& device = devices()[number % devices().size()];
    if (complaint.empty()) complaint = complaint_about_winner(config, problems[number / devices().size() % problems.size()], device);
    return complaint;
}

std::string complaint_about_stored(const std::vector<TuningRecord>& records) {
    const TemporaryDirectory directory;
    TuningDatabase database(directory.path() / "tmm.db", TuningDatabase::Mode::read_write_create);
    database.insert(records);
    if (const auto faults = database.verify(); !faults.empty()) return fmt::format("stored, verify() says {}", fmt::join(faults, "; "));
    return records.empty() || !database.records().empty() ? "" : "taken, but not stored";
}

std::string complaint_about_records(const std::vector<TuningRecord>& records, std::uint64_t number) {
    const std::string csv = to_csv(records), json = to_json(records);
    if (to_csv(parse_records(csv, "csv")) != csv) return "comes back otherwise as CSV";
    if (to_json(parse_records(json, "json")) != json) return "comes back otherwise as JSON";
    if (to_csv(parse_records(json, "json")) != csv) return "CSV and JSON hold different records";
    for (const TuningRecord& record : records) {
        const DeviceInfo device = record.environment.device.name == "host" ? host_device_info() : assumed_device("90");
        if (const std::string complaint = complaint_about_winner(record.config, record.problem, device); !complaint.empty())
            return complaint;
    }
    return number % 16 == 0 ? complaint_about_stored(records) : "";
}

// A bundle with the right hash, of which the input is the rest.
std::string bundle_of(std::string_view input) {
    constexpr std::size_t kHeader = 48, kKernels = 12, kManifestBytes = 24, kRow = 48;
    const std::string_view manifest = input.substr(0, input.find('\0'));
    const std::string_view table = manifest.size() < input.size() ? input.substr(manifest.size() + 1) : "";
    std::string bytes = encoded_bundle(model_of(host_device_info()), {}, {});
    if (manifest.starts_with("device ")) bytes.resize(bytes.find("device "));
    bytes.append(manifest);
    if (!manifest.empty() && manifest.back() != '\n') bytes += '\n';
    const std::uint64_t manifest_bytes = bytes.size() - kHeader;
    const auto kernels = static_cast<std::uint32_t>(table.size() / kRow);
    bytes.append(table);
    std::memcpy(bytes.data() + kKernels, &kernels, sizeof kernels);
    std::memcpy(bytes.data() + kManifestBytes, &manifest_bytes, sizeof manifest_bytes);
    return sealed_bundle(std::move(bytes));
}

// Anything may stand in a bundle whose hash is right: what serves a problem in the end is valid.
std::string complaint_about_bundle(const Bundle& bundle, std::uint64_t number) {
    const DeviceInfo& device = devices()[number % devices().size()];
    for (std::size_t i = 0; i < std::min(kMostPlanned, bundle.entries().size()); ++i) {
        const BundleEntry& entry = bundle.entries()[i];
        if (const std::string fault = why_inconsistent(entry.problem); !fault.empty()) return fault;
        for (const auto& choice :
             {held_choice(bundle, entry.problem, kAnyWorkspace, device), nearest_choice(bundle, entry.problem, kAnyWorkspace, device)})
            if (choice && rejection_reason(choice->problem, choice->selection.config, device)) return "chosen, and not valid";
    }
    const Bundle again = Bundle::decoded(encoded_bundle(bundle.device(), bundle.entries(), {}), "again.tmm");
    return again.entries() == bundle.entries() && again.device() == bundle.device() ? "" : "comes back otherwise";
}

}  // namespace

Answer answer_to_bundle(std::string_view input) {
    std::optional<Bundle> bundle;
    if (auto refused = refusal([&] { bundle = Bundle::decoded(bundle_of(input), "app.tmm"); }, ExitStatus::bad_input, "app.tmm"))
        return {.complaint = std::move(*refused)};
    return {.taken = true, .complaint = complaint_about_bundle(*bundle, hash_of(input))};
}

Answer answer_to_shapes(std::string_view input) {
    std::vector<Shape> shapes;
    if (auto refused = refusal([&] { shapes = parse_shapes(input, "shapes.txt"); }, ExitStatus::bad_input, "shapes.txt:"))
        return {.complaint = std::move(*refused)};
    return {.taken = true, .complaint = complaint_about_shapes(shapes, hash_of(input))};
}

Answer answer_to_lists(std::string_view input) {
    ShapeList list;
    if (auto refused = refusal([&] { list = parse_shape_list(input, "list.txt"); }, ExitStatus::bad_input, "list.txt:"))
        return {.complaint = std::move(*refused)};
    if (list.remarks.size() > list.left_out) return {.complaint = "more lines are left out than are"};
    for (const ShapeRemark& remark : list.remarks)
        if (!remark.where.starts_with("list.txt:") || remark.what.empty())
            return {.complaint = "a line is left out without place or reason"};
    return {.taken = true, .complaint = complaint_about_shapes(list.shapes, hash_of(input))};
}

Answer answer_to_config(std::string_view input) {
    KernelConfig config;
    if (auto refused = refusal([&] { config = parse_config(input); }, ExitStatus::usage, "")) return {.complaint = std::move(*refused)};
    return {.taken = true, .complaint = complaint_about_config(config, hash_of(input))};
}

Answer answer_to_import(std::string_view input) {
    std::vector<TuningRecord> records;
    if (auto refused = refusal([&] { records = parse_records(input, "export"); }, ExitStatus::bad_input, "export:"))
        return {.complaint = std::move(*refused)};
    return {.taken = true, .complaint = complaint_about_records(records, hash_of(input))};
}

Answer answer_to_arguments(std::string_view input) {
    const std::vector<std::string> arguments = lines_of(input);
    Answer answer;
    for (const ToolDescription* tool : {&tune_tool(), &db_tool(), &gen_tool(), &bench::bench_tool()}) {
        const auto refused = refusal([&] { read_arguments(CommandLine(*tool, arguments)); }, ExitStatus::usage, "");
        if (!refused) answer.taken = true;
        if (refused && !refused->empty()) answer.complaint = tool->name + ": " + *refused;
    }
    return answer;
}

const std::vector<FuzzDoor>& fuzz_doors() {
    static const auto* doors = new std::vector<FuzzDoor>{{"shapes", answer_to_shapes, 50},       {"lists", answer_to_lists, 50},
                                                         {"config", answer_to_config, 25},       {"import", answer_to_import, 20},
                                                         {"arguments", answer_to_arguments, 20}, {"bundle", answer_to_bundle, 25},
                                                         {"call", answer_to_call, 100}};
    return *doors;
}

}  // namespace tmm::testing
