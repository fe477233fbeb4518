// Table, CSV and JSON of accuracies; see accuracy_report.h.
#include "bench/accuracy_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <ostream>

#include "bench/result_file.h"
#include "generator/text.h"

namespace tmm::bench {
namespace {

bool asks_cublas(const RunInfo& info) {
    return !info.peers.empty();
}

std::string number(const ErrorMeasure* measure, double ErrorMeasure::*figure, const char* form) {
    return measure ? fmt::format(fmt::runtime(form), measure->*figure) : "-";
}

const ErrorMeasure* cublas_of(const FamilyAccuracy& accuracy) {
    return accuracy.cublas ? &*accuracy.cublas : nullptr;
}

}  // namespace

AccuracyTable::AccuracyTable(std::ostream& out, const std::vector<Shape>& shapes, const RunInfo& info)
    : out_(out), shape_width_(5), has_cublas_(asks_cublas(info)) {
    for (const Shape& shape : shapes) shape_width_ = std::max(shape_width_, static_cast<int>(to_text(shape.problem).size()));
    out_ << "# error = C - A B, against FP64. norm: ||error|| / ||A B||. worst: the largest |error| / (|A| |B|), in units of 2^-24. bias: "
            "sum(sign(A B) error) / sum(|A B|).\n"
         << fmt::format(
                "# loop: FP32 FMAs in the order of k. ok: norm at most the loop's, worst at most {} times, Inf and NaN in the same "
                "places.\n",
                kMostWorstRatio)
         << bound_line(info);
    std::string line = fmt::format("{:{}}  {:10}", "shape", shape_width_, "family");
    for (const char* figure : {"norm", "worst", "bias"}) {
        line += fmt::format("  {:>9}  {:>10}", fmt::format("tmm {}", figure), fmt::format("loop {}", figure));
        if (std::string_view(figure) == "worst")
            line += fmt::format("  {:>8}", "tmm/loop");
        else if (has_cublas_)
            line += fmt::format("  {:>11}", fmt::format("cublas {}", figure));
    }
    out_ << line << "  verdict\n" << std::flush;
}

void AccuracyTable::row(const ShapeAccuracy& result) {
    const FamilyAccuracy& one = result.families.back();
    const std::string shape = to_text(result.problem);
    if (result.families.size() == 1) out_ << fmt::format("# {}: {} ({})\n", shape, result.config, result.match);
    const auto columns = [&](double ErrorMeasure::*figure, const char* form) {
        return fmt::format("  {:>9}  {:>10}", number(&one.tmm, figure, form), number(&one.loop, figure, form));
    };
    const auto cublas = [&](double ErrorMeasure::*figure, const char* form) {
        return has_cublas_ ? fmt::format("  {:>11}", number(cublas_of(one), figure, form)) : "";
    };
    std::string line = fmt::format("{:{}}  {:10}", shape, shape_width_, name_of(one.family));
    line += columns(&ErrorMeasure::norm, "{:.2e}") + cublas(&ErrorMeasure::norm, "{:.2e}");
    line += columns(&ErrorMeasure::worst, "{:.4g}") + fmt::format("  {:>8.3g}", one.worst_ratio());
    line += columns(&ErrorMeasure::bias, "{:+.1e}") + cublas(&ErrorMeasure::bias, "{:+.1e}");
    out_ << line << "  " << verdict(one) << '\n' << std::flush;
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
        if (has_cublas || std::string_view(who) != "cublas") text += fmt::format(",{0}_norm,{0}_worst,{0}_bias", who);
    text += ",norm_ratio,worst_ratio,misplaced,ok,match,config,note\n";
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
                for (const auto figure : {&ErrorMeasure::norm, &ErrorMeasure::worst, &ErrorMeasure::bias})
                    fields.push_back(measure ? csv_number(measure->*figure) : "");
            fields.push_back(csv_number(one.norm_ratio()));
            fields.push_back(csv_number(one.worst_ratio()));
            fields.push_back(std::to_string(one.misplaced.count));
            fields.emplace_back(one.holds() ? "1" : "0");
            fields.push_back(result.match);
            fields.push_back(result.config);
            fields.push_back(one.holds() ? "" : verdict(one));
            add_row(fields);
        }
        if (!result.failure.empty()) {
            std::vector<std::string> fields = {to_text(result.problem)};
            fields.resize(has_cublas ? 17 : 14);
            fields.push_back(result.failure);
            add_row(fields);
        }
    }
    return text;
}

std::string accuracy_json(const RunInfo& info, const std::vector<ShapeAccuracy>& results) {
    using Json = nlohmann::ordered_json;
    // JSON has no infinity: what is not finite is null.
    const auto finite = [](double value) { return std::isfinite(value) ? Json(value) : Json(); };
    const auto figures = [&](const ErrorMeasure& measure) {
        return Json{{"norm", finite(measure.norm)}, {"worst", finite(measure.worst)}, {"bias", finite(measure.bias)}};
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
            row["norm_ratio"] = finite(one.norm_ratio());
            row["worst_ratio"] = finite(one.worst_ratio());
            row["worst_where"] = one.worst_where;
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
