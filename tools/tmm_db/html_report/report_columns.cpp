#include "tools/tmm_db/html_report/report_columns.h"

#include <fmt/chrono.h>
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <map>
#include <nlohmann/json.hpp>

#include "db/store/fields.h"
#include "generator/choice/search_space.h"
#include "generator/text/text.h"
#include "tools/tmm_db/html_report/string_list.h"

namespace tmm {
namespace {

using nlohmann::json;

constexpr std::size_t kMostFailures = 1'000;

// Rounds to that many digits; a value that is not known is 0. A whole number is written without a point.
json rounded(double value, int digits) {
    if (!(value > 0) || !std::isfinite(value)) return 0;
    const double scale = std::pow(10.0, digits - 1 - std::floor(std::log10(value)));
    const double result = std::round(value * scale) / scale;
    if (result < 1e15 && result == std::floor(result)) return static_cast<std::int64_t>(result);
    return result;
}

// The bytes of A, B and C that have to move once.
double bytes_of(const GemmProblem& p) {
    const auto matrix = [](i64 rows, i64 columns, ElementType type) {
        return static_cast<double>(rows) * static_cast<double>(columns) * size_of(type);
    };
    const auto batch = static_cast<double>(p.batch);
    // A stride of 0 gives all members of a batch the same operand.
    const double a = matrix(p.m, p.k, p.type_a) * (p.stride_a == 0 ? 1 : batch);
    const double b = matrix(p.k, p.n, p.type_b) * (p.stride_b == 0 ? 1 : batch);
    return a + b + matrix(rows_of_c(p), columns_of_c(p), p.type_c) * batch * (p.reads_c ? 2 : 1);
}

// Names the ceiling of the unit that multiplies.
std::string arithmetic_of(const GemmProblem& p) {
    if (p.type_a == ElementType::f32) return p.compute == ComputeMode::tf32 ? "tf32" : "ffma";
    return std::string(name_of(p.type_a));
}

std::string class_of(const GemmProblem& p) {
    std::string text(name_of(p.type_a));
    if (p.type_c != p.type_a) text += fmt::format(" to {}", name_of(p.type_c));
    if (p.compute != default_compute(p.type_a)) text += fmt::format(" ({})", name_of(p.compute));
    return text;
}

std::string in_base_36(int value, int digits) {
    std::string text(static_cast<std::size_t>(digits), '0');
    for (auto digit = text.rbegin(); digit != text.rend(); ++digit, value /= 36)
        *digit = "0123456789abcdefghijklmnopqrstuvwxyz"[value % 36];
    return text;
}

class Columns {
public:
    json of(const ReportContent& content) {
        json devices = json::array();
        for (const auto& device : content.devices) devices.push_back(of(device));
        // The reason of a candidate that did not fail.
        reasons_.place("");
        json winners = json::object(), groups = json::object(), candidates = json::object(), failures = json::object();
        for (const auto& winner : content.winners) add(winners, winner);
        for (const auto& group : content.groups) {
            add(groups, group);
            for (const auto& candidate : group.candidates) add(candidates, candidate);
        }
        for (std::size_t i = 0; i < std::min(content.failures.size(), kMostFailures); ++i) add(failures, content.failures[i]);
        return {{"made", fmt::format("{:%Y-%m-%d %H:%M} UTC", fmt::gmtime(std::time(nullptr)))},
                {"devices", std::move(devices)},
                {"classes", std::move(classes_)},
                {"problems", std::move(problems_)},
                {"words", words_.strings()},
                {"configs", spelled_configs()},
                {"outcomes", names_of_all<Outcome>()},
                {"reasons", reasons_.strings()},
                {"winners", std::move(winners)},
                {"groups", std::move(groups)},
                {"candidates", std::move(candidates)},
                {"failures", std::move(failures)},
                {"failure_kinds", content.failures.size()}};
    }

private:
    json of(const ReportContent::Device& device) const {
        const DeviceInfo& info = device.info;
        return {{"name", info.name},
                {"capability", fmt::format("{}.{}", info.compute_capability_major, info.compute_capability_minor)},
                {"sms", info.sm_count},
                {"watts", info.power_limit},
                {"emulated", info.emulated},
                {"predicts", device.modelled.has_value()},
                {"ceilings", of(device.ceilings)}};
    }

    json of(const std::optional<Ceilings>& ceilings) const {
        if (!ceilings) return nullptr;
        return {{"read_gb_s", rounded(ceilings->read_gb_s, 4)}, {"tflops", ceilings->tflops}, {"source", ceilings->source}};
    }

    void add(json& winners, const ReportContent::Winner& winner) {
        const WinnerRow& row = winner.row;
        winners["device"].push_back(winner.device);
        winners["problem"].push_back(place_of(row.problem));
        winners["group"].push_back(winner.group ? static_cast<std::int64_t>(*winner.group) : -1);
        winners["config"].push_back(place_of(row.config));
        winners["planes"].push_back(row.config.planes);
        winners["us"].push_back(rounded(row.median_us, 4));
        winners["default_us"].push_back(rounded(row.default_us, 4));
        winners["error"].push_back(row.error_ratio < 0 ? json(-1) : rounded(row.error_ratio, 4));
        winners["origin"].push_back(row.predicted ? "predicted" : row.origin);
        winners["candidates"].push_back(winner.candidates);
        winners["reason"].push_back(reasons_.place(row.reason));
    }

    void add(json& groups, const ReportContent::Group& group) {
        groups["device"].push_back(group.device);
        groups["problem"].push_back(place_of(group.problem));
        groups["rows"].push_back(group.candidates.size());
        groups["measured"].push_back(group.measured);
    }

    void add(json& candidates, const ReportContent::Candidate& candidate) {
        const Measurement& m = candidate.measurement;
        candidates["config"].push_back(place_of(candidate.config));
        candidates["outcome"].push_back(static_cast<int>(m.outcome));
        candidates["us"].push_back(rounded(m.median_us, 4));
        candidates["predicted"].push_back(rounded(candidate.predicted_us, 4));
        candidates["reason"].push_back(
            m.outcome == Outcome::ok ? 0 : reasons_.place(without_numbers(one_line(m.detail, ReportContent::kReasonLimit))));
    }

    void add(json& failures, const ReportContent::Failure& failure) {
        failures["device"].push_back(failure.device);
        failures["outcome"].push_back(failure.outcome);
        failures["family"].push_back(kFamilyNames[failure.config.family]);
        failures["count"].push_back(failure.count);
        failures["problem"].push_back(place_of(failure.problem));
        failures["config"].push_back(place_of(failure.config));
        failures["reason"].push_back(reasons_.place(failure.reason));
    }

    std::size_t place_of(const GemmProblem& p) {
        const auto [found, is_new] = problem_places_.emplace(to_text(p), problem_places_.size());
        if (!is_new) return found->second;
        problems_["shape"].push_back(found->first);
        problems_["m"].push_back(p.m);
        problems_["n"].push_back(p.n);
        problems_["k"].push_back(p.k);
        problems_["mflop"].push_back(rounded(flops(p) * 1e-6, 6));
        problems_["mbytes"].push_back(rounded(bytes_of(p) * 1e-6, 6));
        problems_["class"].push_back(place_of_class(p));
        return found->second;
    }

    int place_of_class(const GemmProblem& p) {
        const int place = class_names_.place(class_of(p));
        if (place == static_cast<int>(classes_.size())) classes_.push_back({{"name", class_of(p)}, {"arithmetic", arithmetic_of(p)}});
        return place;
    }

    std::size_t place_of(const KernelConfig& config) {
        const auto [found, is_new] = config_places_.emplace(to_text(config), config_places_.size());
        if (!is_new) return found->second;
        const std::string& text = found->first;
        std::vector<int> words;
        for (std::size_t begin = 0; begin < text.size();) {
            const std::size_t end = std::min(text.find(' ', begin), text.size());
            words.push_back(words_.place(std::string_view(text).substr(begin, end - begin)));
            begin = end + 1;
        }
        configs_.push_back(std::move(words));
        return found->second;
    }

    // A config is the places of its words, each in as many digits to the base 36; a space stands between configs.
    json spelled_configs() const {
        int digits = 1;
        for (std::size_t most = 36; most < words_.strings().size(); most *= 36) ++digits;
        std::string text;
        for (const auto& words : configs_) {
            if (!text.empty()) text += ' ';
            for (const int word : words) text += in_base_36(word, digits);
        }
        return {{"digits", digits}, {"text", text}};
    }

    std::map<std::string, std::size_t> problem_places_, config_places_;
    StringList class_names_, words_, reasons_;
    std::vector<std::vector<int>> configs_;
    json problems_ = json::object(), classes_ = json::array();
};

}  // namespace

json report_columns(const ReportContent& content) {
    return Columns().of(content);
}

}  // namespace tmm
