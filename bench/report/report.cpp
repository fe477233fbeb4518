// Table, CSV and JSON; see report.h.
#include "bench/report/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>

#include "base/text/printable.h"
#include "base/text/text_width.h"
#include "bench/report/result_file.h"
#include "db/store/fields.h"
#include "generator/text/text.h"

namespace tmm::bench {
namespace {

std::string time_text(double us) {
    if (us < 100) return fmt::format("{:.2f}", us);
    return fmt::format("{:.1f}", us);
}

std::string bytes_text(std::int64_t bytes) {
    if (bytes == 0) return "0";
    if (bytes < 1 << 20) return fmt::format("{:.0f}K", static_cast<double>(bytes) / 1024);
    return fmt::format("{:.0f}M", static_cast<double>(bytes) / (1 << 20));
}

std::string host_text(double us) {
    return us < 0 ? "-" : fmt::format("{:.1f}", us);
}

std::string interval_text(const Interval& interval) {
    return fmt::format("{:.3f} [{:.3f}, {:.3f}]", interval.value, interval.low, interval.high);
}

const PeerResult* peer_named(const ShapeResult& result, const std::string& name) {
    const auto found = std::find_if(result.peers.begin(), result.peers.end(), [&](const PeerResult& peer) { return peer.name == name; });
    return found == result.peers.end() || !found->skipped.empty() ? nullptr : &*found;
}

double host_cost_of(const ShapeResult& result, const std::string& name) {
    const PeerResult* peer = peer_named(result, name);
    return peer ? peer->host_us : -1;
}

// The times that the claimed ratio is of.
double claimed_us(const ShapeResult& result) {
    return result.between_us > 0 ? result.between_us : result.median_us;
}
double claimed_us(const PeerResult& peer) {
    return peer.between_us > 0 ? peer.between_us : peer.median_us;
}

std::string back_to_back_text(const ShapeResult& result) {
    const PeerResult* peer = peer_named(result, result.best_peer);
    return fmt::format("{}/{}", time_text(result.median_us), time_text(peer ? peer->median_us : 0));
}

std::string note_of(const ShapeResult& result) {
    if (!result.failure.empty()) return result.failure;
    std::string note;
    if (result.check.wrong()) note = "results differ: " + result.check.where();
    for (const PeerResult& peer : result.peers)
        if (!peer.skipped.empty()) note += fmt::format("{}{} skipped: {}", note.empty() ? "" : "; ", peer.name, peer.skipped);
    return note;
}

// A relative error in norm as text: "1.2e-06".
std::string error_text(std::optional<double> error) {
    return error ? fmt::format("{:.1e}", *error) : "-";
}

// "cublaslt: heuristic 3, own epilogue".
std::string way_of_best_peer(const ShapeResult& result) {
    const PeerResult* peer = peer_named(result, result.best_peer);
    if (!peer) return "-";
    return peer->detail.empty() ? peer->name : fmt::format("{}: {}", peer->name, peer->detail);
}

bool has_epilogue(const Shape& shape) {
    return shape.problem.epilogue != Epilogue::none;
}

std::optional<double> best_peer_error(const ShapeResult& result) {
    const PeerResult* peer = peer_named(result, result.best_peer);
    return peer ? std::optional(peer->error) : std::nullopt;
}

bool is_compared(const ShapeResult& result) {
    return result.failure.empty() && !result.ratios.empty();
}

bool in_means(const ShapeResult& result) {
    return is_compared(result) && !result.is_less_accurate();
}

std::size_t left_out_of_means(const std::vector<ShapeResult>& results) {
    return static_cast<std::size_t>(
        std::count_if(results.begin(), results.end(), [](const ShapeResult& one) { return is_compared(one) && one.is_less_accurate(); }));
}

// What marks the ratio of a shape that is left out.
constexpr const char* kLessAccurate = "*";

std::string less_accurate_text() {
    return fmt::format("tmm's error is more than {} times the best peer's", kMostOfPeerError);
}

// The ratios of the shapes that count in means: all, or those whose rows are aligned. of: the ratios of one shape; it is left out where
// there are none.
template <class Of>
std::vector<std::vector<double>> mean_ratios(const std::vector<ShapeResult>& results, bool aligned_only, const Of& of) {
    std::vector<std::vector<double>> ratios;
    for (const ShapeResult& result : results) {
        if (!in_means(result) || (aligned_only && !aligned(result.shape.problem))) continue;
        if (std::vector<double> of_shape = of(result); !of_shape.empty()) ratios.push_back(std::move(of_shape));
    }
    return ratios;
}

std::vector<double> claimed(const ShapeResult& result) {
    return result.claimed_ratios();
}
std::vector<double> back_to_back(const ShapeResult& result) {
    return result.ratios;
}
std::vector<double> between(const ShapeResult& result) {
    return result.between_ratios;
}

bool has_distance(const ShapeResult& result) {
    return result.failure.empty() && result.floor && result.floor->us > 0 && result.median_us > 0;
}

std::vector<double> tmm_distances(const ShapeResult& result) {
    std::vector<double> distances;
    for (const double us : result.samples_us) distances.push_back(us / result.floor->us);
    return distances;
}

// The fastest peer's time of each pair; where no peer was timed in pairs, its median.
std::vector<double> peer_distances(const ShapeResult& result) {
    if (result.ratios.size() != result.samples_us.size()) return {result.ratios.front() * result.median_us / result.floor->us};
    std::vector<double> distances = tmm_distances(result);
    for (std::size_t i = 0; i < distances.size(); ++i) distances[i] *= result.ratios[i];
    return distances;
}

ClassDistance mean_distance(std::optional<ShapeClass> shape_class, const std::vector<const ShapeResult*>& results) {
    ClassDistance mean{.shape_class = shape_class, .shapes = static_cast<int>(results.size()), .tmm = {}, .peer = {}};
    std::vector<std::vector<double>> tmm;
    std::vector<std::vector<double>> peer;
    for (const ShapeResult* result : results) {
        tmm.push_back(tmm_distances(*result));
        if (in_means(*result)) peer.push_back(peer_distances(*result));
    }
    mean.tmm = geometric_mean_interval(tmm);
    if (peer.size() == tmm.size()) mean.peer = geometric_mean_interval(peer);
    return mean;
}

void add_roofline_fields(const RunInfo& info, const ShapeResult& result, std::vector<std::string>& fields) {
    if (!has_distance(result)) {
        fields.resize(fields.size() + 9 + info.peers.size());
        return;
    }
    const Floor& floor = *result.floor;
    fields.push_back(csv_number(floor.read_us));
    fields.push_back(csv_number(floor.traffic_us, floor.traffic_us > 0));
    fields.push_back(csv_number(floor.fma_us, floor.fma_us > 0));
    fields.push_back(csv_number(floor.launch_us));
    fields.push_back(csv_number(floor.us));
    fields.emplace_back(name_of(floor.bound));
    fields.push_back(csv_number(result.median_us / floor.us));
    for (const std::string& name : info.peers) {
        const PeerResult* peer = peer_named(result, name);
        fields.push_back(peer ? csv_number(peer->median_us / floor.us) : "");
    }
    fields.push_back(csv_number(floor.read_us / result.median_us));
    fields.push_back(result.read_launch);
}

std::string name_of(const ClassDistance& mean) {
    return mean.shape_class ? std::string(name_of(*mean.shape_class)) : "all";
}

// Indent of a continuation line.
constexpr std::size_t kIndent = 4;

std::size_t prose_columns(const Screen& screen) {
    return screen.wide ? 0 : screen.columns;
}

std::size_t longest(const std::vector<std::string>& texts) {
    std::size_t width = 0;
    for (const std::string& text : texts) width = std::max(width, display_width(text));
    return width;
}

// As rows come one by one, widths are those of the longest shape, and of figures as they usually are.
TableLayout layout_of(const std::vector<Shape>& shapes, const RunInfo& info, const Screen& screen) {
    std::vector<std::string> names;
    for (const Shape& shape : shapes) names.push_back(to_text(shape.problem));
    std::vector<TableColumn> columns = {{"shape"}, {"tmm µs", true}};
    std::vector<std::size_t> widths = {longest(names), 9};
    const auto add = [&](TableColumn column, std::size_t width) {
        columns.push_back(std::move(column));
        widths.push_back(width);
    };
    for (const std::string& peer : info.peers) add({peer + " µs", true, 1}, 9);
    add({"ratio", true}, 7);
    add({.head = "95% interval", .rank = 2}, 16);
    add({"back to back", true, 3}, 12);
    // The emulated device's times say nothing about arithmetic.
    if (!info.device.emulated) add({"TFLOP/s", true, 4}, 7);
    add({"host µs", true, 5}, 11);
    add({"back to back µs", true, 4}, 15);
    add({"wksp", true, 7}, 5);
    add({"error", true, 6}, 7);
    add({"peer error", true, 9}, 7);
    add({"naive error", true, 10}, 7);
    // With an epilogue a peer may have served the shape in more than one way.
    if (std::any_of(shapes.begin(), shapes.end(), has_epilogue)) add({.head = "best peer", .rank = 4}, 44);
    add({.head = "match", .rank = 8}, 9);
    add({.head = "config", .rank = 3, .fit = TableColumn::Fit::wraps}, 60);
    return TableLayout(std::move(columns), std::move(widths), screen);
}

// What the columns mean that are shown.
std::vector<std::string> legend(const RunInfo& info, const std::vector<std::string>& left_out) {
    const auto shows = [&](const char* head) { return std::find(left_out.begin(), left_out.end(), head) == left_out.end(); };
    std::vector<std::string> lines;
    if (info.device.emulated) {
        lines.emplace_back("The emulated device: times are the CPU's and say nothing about a GPU.");
    } else {
        lines.emplace_back(
            "Times: device time of a replayed graph, operands rotated past the L2, with another kernel before each product, as programs "
            "have "
            "it, whose own time is taken off.");
        lines.push_back(fmt::format("ratio: fastest peer / tmm, the median of {} pairs; above 1 tmm is faster. {}: {}; no mean has it.",
                                    info.pairs, kLessAccurate, less_accurate_text()));
        if (shows("back to back"))
            lines.emplace_back("back to back: ratio, TFLOP/s and µs (tmm/best peer) of products that follow each other.");
        if (shows("host µs")) lines.emplace_back("host: a call's cost on the CPU, tmm/best peer.");
    }
    if (shows("error"))
        lines.emplace_back("error: ||C - exact|| / ||exact||, of tmm, the best peer and the naive kernel (FMAs in the order of k).");
    if (!left_out.empty()) lines.push_back(left_out_text(left_out));
    return lines;
}

}  // namespace

Table::Table(std::ostream& out, const std::vector<Shape>& shapes, const RunInfo& info, const Screen& screen)
    : out_(out),
      info_(info),
      epilogues_(std::any_of(shapes.begin(), shapes.end(), has_epilogue)),
      columns_(prose_columns(screen)),
      layout_(layout_of(shapes, info, screen)) {
    for (const std::string& line : legend(info, layout_.left_out())) out_ << comment(line, columns_);
    out_ << bound_line(info) << layout_.head() << std::flush;
}

void Table::row(const ShapeResult& result) {
    const std::string shape = to_text(result.shape.problem);
    if (!result.failure.empty()) {
        out_ << hanging(printable(fmt::format("{}  failed: {}", shape, result.failure)), columns_, kIndent) << '\n' << std::flush;
        return;
    }
    std::vector<std::string> cells = {shape, time_text(claimed_us(result))};
    for (const std::string& name : info_.peers) {
        const PeerResult* peer = peer_named(result, name);
        cells.push_back(peer ? time_text(claimed_us(*peer)) : "-");
    }
    const bool compared = !result.best_peer.empty();
    const Interval& ratio = result.claimed_ratio();
    std::string config = result.config;
    if (result.throttled) config += " (throttled)";
    if (!info_.device.emulated && !result.cold_l2) config += " (L2 warm)";
    cells.insert(cells.end(), {compared ? fmt::format("{:.3f}{}", ratio.value, result.is_less_accurate() ? kLessAccurate : "") : "-",
                               compared ? fmt::format("[{:.3f}, {:.3f}]", ratio.low, ratio.high) : "-",
                               compared ? fmt::format("{:.3f}", result.ratio.value) : "-"});
    if (!info_.device.emulated) cells.push_back(fmt::format("{:.2f}", result.tflops));
    cells.insert(cells.end(), {fmt::format("{}/{}", host_text(result.host_us), host_text(host_cost_of(result, result.best_peer))),
                               back_to_back_text(result), bytes_text(result.workspace_bytes), error_text(result.check.accuracy.error),
                               error_text(best_peer_error(result)), error_text(result.check.naive_error)});
    if (epilogues_) cells.push_back(way_of_best_peer(result));
    cells.insert(cells.end(), {result.match, config});
    out_ << layout_.row(cells);
    if (result.check.wrong())
        out_ << hanging(fmt::format("  WRONG: {} ({:.3g} times the bound)", result.check.where(), result.check.worst_of_bound()), columns_,
                        kIndent)
             << '\n';
    out_ << std::flush;
}

void print_means(std::ostream& out, const std::vector<ShapeResult>& results, const Screen& screen) {
    std::map<ShapeClass, std::vector<std::vector<double>>> by_class;
    const std::vector<std::vector<double>> all = mean_ratios(results, false, claimed);
    const std::vector<std::vector<double>> aligned_ones = mean_ratios(results, true, claimed);
    const ShapeResult* slowest = nullptr;
    int surely_slower = 0;
    const std::size_t left_out = left_out_of_means(results);
    const auto say_left_out = [&] {
        if (left_out > 0)
            out << hanging(fmt::format("left out: {} of {} shapes, marked {}; {}", left_out, left_out + all.size(), kLessAccurate,
                                       less_accurate_text()),
                           prose_columns(screen), kIndent)
                << '\n'
                << std::flush;
    };
    for (const ShapeResult& result : results) {
        if (!in_means(result)) continue;
        by_class[result.shape_class].push_back(result.claimed_ratios());
        if (result.claimed_ratio().high < 1) ++surely_slower;
        if (!slowest || result.claimed_ratio().value < slowest->claimed_ratio().value) slowest = &result;
    }
    if (all.empty()) return say_left_out();
    const auto line = [&out](std::string_view name, const std::vector<std::vector<double>>& ratios) {
        out << fmt::format("  {:13}  {:22}  {} shape{}\n", name, interval_text(geometric_mean_interval(ratios)), ratios.size(),
                           ratios.size() == 1 ? "" : "s");
    };
    out << "\ngeometric mean of peer / tmm, best peer of each shape:\n";
    for (const ShapeClass shape_class : kShapeClasses)
        if (const auto found = by_class.find(shape_class); found != by_class.end()) line(name_of(shape_class), found->second);
    if (!aligned_ones.empty() && aligned_ones.size() < all.size()) line("all aligned", aligned_ones);
    line("all", all);
    line("back to back", mean_ratios(results, false, back_to_back));
    out << hanging(fmt::format("slowest: {} at {}; {} of {} shapes are slower than the best peer beyond their interval",
                               to_text(slowest->shape.problem), interval_text(slowest->claimed_ratio()), surely_slower, all.size()),
                   prose_columns(screen), kIndent)
        << '\n'
        << std::flush;
    say_left_out();
}

std::vector<ClassDistance> mean_distances(const std::vector<ShapeResult>& results) {
    std::map<ShapeClass, std::vector<const ShapeResult*>> by_class;
    std::vector<const ShapeResult*> all;
    for (const ShapeResult& result : results) {
        if (!has_distance(result) || result.is_less_accurate()) continue;
        by_class[result.shape_class].push_back(&result);
        all.push_back(&result);
    }
    std::vector<ClassDistance> means;
    if (all.empty()) return means;
    for (const ShapeClass shape_class : kShapeClasses)
        if (const auto found = by_class.find(shape_class); found != by_class.end())
            means.push_back(mean_distance(shape_class, found->second));
    means.push_back(mean_distance(std::nullopt, all));
    return means;
}

namespace {

std::string ceilings_text(const DeviceCeilings& ceilings) {
    std::string text = fmt::format("ceilings: read {:.0f} GB/s on {} ({});", ceilings.read_bytes_per_us * 1e-3,
                                   bytes_text(ceilings.read_bytes), ceilings.read_launch);
    for (const auto& [arithmetic, rate] : ceilings.multiplying)
        text += fmt::format(" {} {:.2f} TFLOP/s ({}, {}{});", name_of(arithmetic), rate.flop_per_us * 1e-6, rate.instruction, rate.launch,
                            rate.clock_mhz > 0 ? fmt::format(", {} MHz", rate.clock_mhz) : "");
    return text + fmt::format(" launch gap {:.2f} µs", ceilings.launch_gap_us);
}

TextTable distances_table(const RunInfo& info, const std::vector<ShapeResult>& results) {
    std::vector<TableColumn> columns = {
        {"shape"},           {.head = "class", .rank = 4}, {"read µs", true, 5},         {"traffic µs", true, 6}, {"fma µs", true, 7},
        {"gap µs", true, 8}, {"floor µs", true},           {.head = "bound", .rank = 1}, {"tmm µs", true, 2},     {"tmm x", true}};
    for (const std::string& peer : info.peers) columns.push_back({peer + " x", true, 1});
    columns.push_back({"of read", true, 3});
    TextTable table(columns);
    for (const ShapeResult& result : results) {
        if (!has_distance(result)) continue;
        const Floor& floor = *result.floor;
        std::vector<std::string> cells = {to_text(result.shape.problem),
                                          std::string(name_of(result.shape_class)),
                                          time_text(floor.read_us),
                                          floor.traffic_us > 0 ? time_text(floor.traffic_us) : "-",
                                          floor.fma_us > 0 ? time_text(floor.fma_us) : "-",
                                          fmt::format("{:.2f}", floor.launch_us),
                                          time_text(floor.us),
                                          std::string(name_of(floor.bound)),
                                          time_text(result.median_us),
                                          fmt::format("{:.2f}", result.median_us / floor.us)};
        for (const std::string& name : info.peers) {
            const PeerResult* peer = peer_named(result, name);
            cells.push_back(peer ? fmt::format("{:.2f}", peer->median_us / floor.us) : "-");
        }
        cells.push_back(fmt::format("{:.1f}%", 100 * floor.read_us / result.median_us));
        table.add(std::move(cells));
    }
    return table;
}

}  // namespace

void print_roofline(std::ostream& out, const RunInfo& info, const std::vector<ShapeResult>& results, const Screen& screen) {
    if (!info.ceilings) return;
    const std::size_t columns = prose_columns(screen);
    out << '\n' << hanging(ceilings_text(*info.ceilings), columns, kIndent) << '\n';
    out << comment(
               "floor: the largest of read (the same bytes, read only, in the same rotation), traffic (with C written, at the read rate), "
               "fma and launch.",
               columns)
        << comment("x: time / floor. of read: the read floor's part of tmm's time.", columns)
        << distances_table(info, results).text(screen);
    const std::vector<ClassDistance> means = mean_distances(results);
    if (!means.empty()) {
        out << "geometric mean of time / floor, with the 95% interval of the times:\n";
        out << fmt::format("  {:13}  {:24}  {:24}\n", "", "tmm", "best peer");
    }
    for (const ClassDistance& mean : means)
        out << fmt::format("  {:13}  {:24}  {:24}  {} shape{}\n", name_of(mean), interval_text(mean.tmm),
                           mean.peer ? interval_text(*mean.peer) : "-", mean.shapes, mean.shapes == 1 ? "" : "s");
    out << std::flush;
}

std::string csv(const RunInfo& info, const std::vector<ShapeResult>& results) {
    std::string text = "# tmm-bench";
    for (const auto& [key, value] : circumstances(info)) text += fmt::format("\n# {}: {}", key, value);
    text += "\nshape,class,tmm_us,tflops";
    for (const std::string& peer : info.peers)
        text +=
            fmt::format(",{0}_us,{0}_ratio,{0}_ratio_low,{0}_ratio_high,{0}_host_us,{0}_between_us,{0}_workspace_bytes,{0}_detail", peer);
    text +=
        ",best_peer,ratio,ratio_low,ratio_high,tmm_host_us,tmm_between_us,between_ratio,between_ratio_low,between_ratio_high,"
        "tmm_workspace_bytes,match,config,launches,operand_sets,l2,difference,error,"
        "peer_error,less_accurate,naive_error,sm_clock_mhz,throttled,note";
    if (info.ceilings) {
        text += ",read_floor_us,traffic_floor_us,fma_floor_us,launch_gap_us,floor_us,bound,tmm_distance";
        for (const std::string& peer : info.peers) text += fmt::format(",{}_distance", peer);
        text += ",tmm_of_read_floor,read_launch";
    }
    text += '\n';
    for (const ShapeResult& result : results) {
        const bool timed = result.failure.empty();
        const bool compared = timed && !result.best_peer.empty();
        std::vector<std::string> fields = {to_text(result.shape.problem), std::string(name_of(result.shape_class)),
                                           csv_number(result.median_us, timed), csv_number(result.tflops, timed && result.tflops > 0)};
        for (const std::string& name : info.peers) {
            const PeerResult* peer = timed ? peer_named(result, name) : nullptr;
            if (!peer) {
                fields.resize(fields.size() + 8);
                continue;
            }
            fields.push_back(csv_number(peer->median_us));
            fields.push_back(csv_number(peer->ratio.value));
            fields.push_back(csv_number(peer->ratio.low, peer->in_pairs));
            fields.push_back(csv_number(peer->ratio.high, peer->in_pairs));
            fields.push_back(csv_number(peer->host_us, peer->host_us >= 0));
            fields.push_back(csv_number(peer->between_us, peer->between_us > 0));
            fields.push_back(std::to_string(peer->workspace_bytes));
            fields.push_back(peer->detail);
        }
        fields.push_back(result.best_peer);
        fields.push_back(csv_number(result.ratio.value, compared));
        fields.push_back(csv_number(result.ratio.low, compared));
        fields.push_back(csv_number(result.ratio.high, compared));
        fields.push_back(csv_number(result.host_us, timed && result.host_us >= 0));
        fields.push_back(csv_number(result.between_us, timed && result.between_us > 0));
        for (const double ratio : {result.between_ratio.value, result.between_ratio.low, result.between_ratio.high})
            fields.push_back(csv_number(ratio, timed && result.between_ratio.value > 0));
        fields.push_back(timed ? std::to_string(result.workspace_bytes) : "");
        fields.push_back(result.match);
        fields.push_back(config_fields(result.config));
        fields.push_back(timed ? std::to_string(result.launches) : "");
        fields.push_back(timed ? std::to_string(result.operand_sets) : "");
        fields.push_back(!timed || info.device.emulated ? "" : result.cold_l2 ? "cold" : "warm");
        fields.push_back(result.check.difference ? csv_number(result.check.difference->ratio) : "");
        fields.push_back(csv_number(result.check.accuracy.error, timed));
        const std::optional<double> peer_error = timed ? best_peer_error(result) : std::nullopt;
        fields.push_back(csv_number(peer_error.value_or(0), peer_error.has_value()));
        fields.push_back(!compared ? "" : result.is_less_accurate() ? "1" : "0");
        fields.push_back(csv_number(result.check.naive_error.value_or(0), result.check.naive_error.has_value()));
        fields.push_back(timed && result.sm_clock_mhz > 0 ? std::to_string(result.sm_clock_mhz) : "");
        fields.push_back(!timed || info.device.emulated ? "" : result.throttled ? "1" : "0");
        fields.push_back(note_of(result));
        if (info.ceilings) add_roofline_fields(info, result, fields);
        for (std::string& field : fields) field = csv_field(field);
        text += fmt::format("{}\n", fmt::join(fields, ","));
    }
    return text;
}

std::string json(const RunInfo& info, const std::vector<ShapeResult>& results) {
    const auto interval = [](const Interval& value) { return Json{{"value", value.value}, {"low", value.low}, {"high", value.high}}; };
    // JSON has no infinity: a value that is not finite is null.
    const auto number = [](double value) { return std::isfinite(value) ? Json(value) : Json(); };
    Json document;
    for (const auto& [key, value] : circumstances(info)) document["run"][key] = value;
    document["shapes"] = Json::array();
    for (const ShapeResult& result : results) {
        Json row = {{"shape", to_text(result.shape.problem)}, {"class", name_of(result.shape_class)}};
        if (!result.failure.empty()) {
            row["failure"] = result.failure;
            document["shapes"].push_back(row);
            continue;
        }
        row["tmm"] = {{"median_us", result.median_us},
                      {"tflops", result.tflops > 0 ? nlohmann::ordered_json(result.tflops) : nlohmann::ordered_json()},
                      {"workspace_bytes", result.workspace_bytes},
                      {"match", result.match},
                      {"config", result.config.empty() ? Json::object() : config_json(parse_config(result.config))},
                      {"why", result.why},
                      {"samples_us", result.samples_us},
                      {"error", number(result.check.accuracy.error)}};
        if (result.host_us >= 0) row["tmm"]["host_us"] = result.host_us;
        if (result.between_us > 0) row["tmm"]["between_us"] = result.between_us;
        row["peers"] = Json::array();
        for (const PeerResult& peer : result.peers) {
            Json entry = {{"name", peer.name}};
            if (!peer.skipped.empty()) {
                entry["skipped"] = peer.skipped;
            } else {
                entry.update({{"median_us", peer.median_us},
                              {"ratio", interval(peer.ratio)},
                              {"in_pairs", peer.in_pairs},
                              {"workspace_bytes", peer.workspace_bytes},
                              {"offers", peer.offers},
                              {"detail", peer.detail},
                              {"error", number(peer.error)},
                              {"samples_us", peer.samples_us}});
                if (peer.host_us >= 0) entry["host_us"] = peer.host_us;
                if (peer.between_us > 0) entry["between_us"] = peer.between_us;
            }
            row["peers"].push_back(entry);
        }
        if (!result.best_peer.empty()) {
            row["best_peer"] = result.best_peer;
            row["ratio"] = interval(result.ratio);
            row["less_accurate"] = result.is_less_accurate();
        }
        if (result.between_ratio.value > 0) row["between_ratio"] = interval(result.between_ratio);
        row["launches"] = result.launches;
        row["operand_sets"] = result.operand_sets;
        row["cold_l2"] = result.cold_l2;
        row["sm_clock_mhz"] = result.sm_clock_mhz;
        row["throttled"] = result.throttled;
        if (result.check.difference)
            row["difference"] = {{"of_bound", number(result.check.difference->ratio)}, {"where", result.check.difference->where}};
        row["accuracy"] = {{"checked_elements", result.check.checked_elements},
                           {"of_bound", number(result.check.accuracy.ratio)},
                           {"where", result.check.accuracy.where}};
        if (result.check.naive_error) row["naive_error"] = number(*result.check.naive_error);
        if (has_distance(result)) {
            const Floor& floor = *result.floor;
            Json& entry = row["roofline"];
            entry["read_floor_us"] = floor.read_us;
            if (floor.traffic_us > 0) entry["traffic_floor_us"] = floor.traffic_us;
            entry["fma_floor_us"] = floor.fma_us;
            entry["launch_gap_us"] = floor.launch_us;
            entry["floor_us"] = floor.us;
            entry["bound"] = name_of(floor.bound);
            entry["tmm_distance"] = result.median_us / floor.us;
            for (const PeerResult& peer : result.peers)
                if (peer.skipped.empty()) entry[peer.name + "_distance"] = peer.median_us / floor.us;
            entry["tmm_of_read_floor"] = floor.read_us / result.median_us;
            entry["read_launch"] = result.read_launch;
        }
        document["shapes"].push_back(row);
    }
    if (const auto all = mean_ratios(results, false, back_to_back); !all.empty())
        document["geometric_mean"] = interval(geometric_mean_interval(all));
    if (const auto all = mean_ratios(results, false, between); !all.empty())
        document["geometric_mean_between"] = interval(geometric_mean_interval(all));
    if (const auto some = mean_ratios(results, true, back_to_back); !some.empty())
        document["geometric_mean_aligned"] = interval(geometric_mean_interval(some));
    document["left_out_of_means"] = left_out_of_means(results);
    for (const ClassDistance& mean : mean_distances(results)) {
        Json entry = {{"class", name_of(mean)}, {"shapes", mean.shapes}, {"tmm", interval(mean.tmm)}};
        if (mean.peer) entry["best_peer"] = interval(*mean.peer);
        document["mean_distance"].push_back(entry);
    }
    return document.dump(1) + "\n";
}

}  // namespace tmm::bench
