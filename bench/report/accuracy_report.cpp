// Table, CSV and JSON of accuracies; see accuracy_report.h.
#include "bench/report/accuracy_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <ostream>

#include "bench/report/result_file.h"
#include "generator/text/text.h"

namespace tmm::bench {
namespace {

bool asks_cublas(const RunInfo& info) {
    return !info.peers.empty();
}

const ErrorMeasure* cublas_of(const FamilyAccuracy& accuracy) {
    return accuracy.cublas ? &*accuracy.cublas : nullptr;
}

}  // namespace

AccuracyTable::AccuracyTable(std::ostream& out, const std::vector<Shape>& shapes, const RunInfo& info, const Screen& screen)
    : out_(out), shape_width_(5), columns_(screen.wide ? 0 : screen.columns), has_cublas_(asks_cublas(info)) {
    for (const Shape& shape : shapes) shape_width_ = std::max(shape_width_, static_cast<int>(to_text(shape.problem).size()));
    out_ << "# An element's error is (C - A B) / (|A| |B|), against FP64, in units of 2^-24.\n"
            "# rms: the root of the mean square. worst: the largest of 256 elements, on\n"
            "# average. bias: sum(sign(A B) (C - A B)) / sum(|A B|). loop: FP32 FMAs in the\n"
            "# order of k. Small products are drawn until there are elements enough.\n"
         << fmt::format(
                "# ok: rms at most {} times the loop's and worst at most {} times, but for\n"
                "# {} standard deviations of the ratio; no element {} times as far off as any of\n"
                "# the loop's; Inf and NaN in the same places (docs/accuracy.md).\n",
                kMostRmsRatio, kMostWorstRatio, kDeviations, kMostLargestRatio)
         << bound_line(info);
    out_ << fmt::format("{:10} {:>8} {:>8}{} {:>6} {:>8} {:>8} {:>6} {:>8}  ok\n", "family", "tmm rms", "loop rms",
                        has_cublas_ ? "   cublas" : "", "ratio", "worst", "loop's", "ratio", "bias")
         << std::flush;
}

void AccuracyTable::row(const ShapeAccuracy& result) {
    const FamilyAccuracy& one = result.families.back();
    if (result.families.size() == 1)
        out_ << comment(fmt::format("{}: {} ({})", to_text(result.problem), result.config, result.match), columns_);
    const std::string cublas = !has_cublas_ ? "" : one.cublas ? fmt::format(" {:>8.3g}", one.cublas->rms) : fmt::format(" {:>8}", "-");
    out_ << fmt::format("{:10} {:>8.3g} {:>8.3g}{} {:>6.3f} {:>8.3g} {:>8.3g} {:>6.3f} {:>+8.0e}  {}\n", name_of(one.family), one.tmm.rms,
                        one.loop.rms, cublas, one.rms_ratio.value, one.tmm.worst, one.loop.worst, one.worst_ratio.value, one.tmm.bias,
                        one.holds() ? "yes" : "NO");
    if (!one.holds()) out_ << comment(fmt::format("{}: {}", name_of(one.family), verdict(one)), columns_);
    out_ << std::flush;
}

void AccuracyTable::end(const ShapeAccuracy& result) {
    if (!result.failure.empty())
        out_ << fmt::format("{:{}}  failed: {}\n", to_text(result.problem), shape_width_, result.failure) << std::flush;
}

void print_verdicts(std::ostream& out, const std::vector<ShapeAccuracy>& results) {
    std::size_t rows = 0;
    std::ptrdiff_t good = 0;
    for (const ShapeAccuracy& result : results) {
        rows += result.families.size();
        good += std::count_if(result.families.begin(), result.families.end(), [](const FamilyAccuracy& one) { return one.holds(); });
    }
    const auto failed = std::count_if(results.begin(), results.end(), [](const ShapeAccuracy& one) { return !one.failure.empty(); });
    out << fmt::format("\n{} of {} rows are ok", good, rows) << (failed > 0 ? fmt::format(", {} failed", failed) : "") << '\n'
        << std::flush;
}

std::string accuracy_csv(const RunInfo& info, const std::vector<ShapeAccuracy>& results) {
    const bool has_cublas = asks_cublas(info);
    std::string text = "# tmm-bench --accuracy";
    for (const auto& [key, value] : circumstances(info)) text += fmt::format("\n# {}: {}", key, value);
    text += "\nshape,family";
    for (const char* who : {"tmm", "loop", "cublas"})
        if (has_cublas || std::string_view(who) != "cublas") text += fmt::format(",{0}_rms,{0}_worst,{0}_largest,{0}_bias,{0}_norm", who);
    text += ",rms_ratio,rms_deviation,worst_ratio,worst_deviation,misplaced,draws,elements,ok,match,config,note\n";
    const auto add_row = [&](const std::vector<std::string>& fields) {
        std::vector<std::string> quoted;
        for (const std::string& field : fields) quoted.push_back(csv_field(field));
        text += fmt::format("{}\n", fmt::join(quoted, ","));
    };
    for (const ShapeAccuracy& result : results) {
        for (const FamilyAccuracy& one : result.families) {
            std::vector<std::string> fields = {to_text(result.problem), std::string(name_of(one.family))};
            std::vector<const ErrorMeasure*> measures = {&one.tmm, &one.loop};
            if (has_cublas) measures.push_back(cublas_of(one));
            for (const ErrorMeasure* measure : measures)
                for (const auto figure :
                     {&ErrorMeasure::rms, &ErrorMeasure::worst, &ErrorMeasure::largest, &ErrorMeasure::bias, &ErrorMeasure::norm})
                    fields.push_back(measure ? csv_number(measure->*figure) : "");
            for (const Ratio& ratio : {one.rms_ratio, one.worst_ratio}) {
                fields.push_back(csv_number(ratio.value));
                fields.push_back(csv_number(ratio.deviation));
            }
            fields.push_back(std::to_string(one.misplaced.count));
            fields.push_back(std::to_string(one.draws));
            fields.push_back(std::to_string(one.elements));
            fields.emplace_back(one.holds() ? "1" : "0");
            fields.push_back(result.match);
            fields.push_back(result.config);
            fields.push_back(one.holds() ? "" : verdict(one));
            add_row(fields);
        }
        if (!result.failure.empty()) {
            std::vector<std::string> fields = {to_text(result.problem)};
            fields.resize(has_cublas ? 27 : 22);
            fields.push_back(result.failure);
            add_row(fields);
        }
    }
    return text;
}

std::string accuracy_json(const RunInfo& info, const std::vector<ShapeAccuracy>& results) {
    using Json = nlohmann::ordered_json;
    // JSON has no infinity: a value that is not finite is null.
    const auto finite = [](double value) { return std::isfinite(value) ? Json(value) : Json(); };
    const auto figures = [&](const ErrorMeasure& measure) {
        return Json{{"rms", finite(measure.rms)},
                    {"worst", finite(measure.worst)},
                    {"largest", finite(measure.largest)},
                    {"bias", finite(measure.bias)},
                    {"norm", finite(measure.norm)}};
    };
    Json document;
    for (const auto& [key, value] : circumstances(info)) document["run"][key] = value;
    document["shapes"] = Json::array();
    for (const ShapeAccuracy& result : results) {
        Json shape = {{"shape", to_text(result.problem)}, {"match", result.match}, {"config", result.config}, {"why", result.why}};
        if (!result.failure.empty()) shape["failure"] = result.failure;
        if (!result.cublas_skipped.empty()) shape["cublas_skipped"] = result.cublas_skipped;
        shape["families"] = Json::array();
        for (const FamilyAccuracy& one : result.families) {
            Json row = {{"family", name_of(one.family)}, {"tmm", figures(one.tmm)}, {"loop", figures(one.loop)}};
            if (one.cublas) row["cublas"] = figures(*one.cublas);
            row["rms_ratio"] = finite(one.rms_ratio.value);
            row["rms_deviation"] = finite(one.rms_ratio.deviation);
            row["worst_ratio"] = finite(one.worst_ratio.value);
            row["worst_deviation"] = finite(one.worst_ratio.deviation);
            row["largest_where"] = one.largest_where;
            row["draws"] = one.draws;
            row["elements"] = one.elements;
            row["misplaced"] = one.misplaced.count;
            row["ok"] = one.holds();
            row["verdict"] = verdict(one);
            shape["families"].push_back(row);
        }
        document["shapes"].push_back(shape);
    }
    return document.dump(1) + "\n";
}

}  // namespace tmm::bench
