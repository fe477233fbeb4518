#include "db/store/fields.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>

#include "generator/problem/matrix_layout.h"
#include "generator/problem/problem_forms.h"
#include "generator/text/text.h"

namespace tmm {

namespace {

std::vector<ProblemField> fields_where(bool is_promise) {
    std::vector<ProblemField> fields;
    std::copy_if(std::begin(kProblemFields), std::end(kProblemFields), std::back_inserter(fields),
                 [&](const ProblemField& field) { return field.is_promise == is_promise; });
    return fields;
}

std::string why_inconsistent_epilogue(const GemmProblem& p) {
    if (p.epilogue == Epilogue::custom) return "measurements of a caller's expression are not kept";
    if (p.epilogue != epilogue_class(p.bias, p.activation, p.residual))
        return fmt::format("epilogue={} does not fit its parts, {}", name_of(p.epilogue), epilogue_text(p));
    if (p.bias == BiasAxis::none && p.type_bias != ElementType::f32) return "type_bias means nothing where there is no bias";
    if (!p.residual && (p.ldr != 0 || p.stride_r != 0)) return "ldr and stride_r mean nothing where there is no residual";
    if (p.residual && p.ldr < columns_of_c(p))
        return fmt::format("ldr={} is shorter than a row of the residual ({} elements)", p.ldr, columns_of_c(p));
    if (is_gate(p.activation) && p.reads_c) return "a gate does not read C";
    return p.batch <= 1 && p.stride_r != 0 ? fmt::format("stride_r={} means nothing where batch={}", p.stride_r, p.batch) : "";
}

}  // namespace

const std::vector<ProblemField>& problem_fields() {
    static const auto& fields = *new auto(fields_where(false));
    return fields;
}

const ProblemField& compute_field() {
    static const auto& field = *new auto(fields_where(true).at(0));
    return field;
}

std::string_view name_of(Outcome outcome) {
    static constexpr std::string_view kNames[] = {"ok",      "compile_failed", "exceeds_limits", "spills",    "launch_failed",
                                                  "crashed", "timed_out",      "wrong_result",   "inaccurate"};
    const auto index = static_cast<std::size_t>(outcome);
    return index < std::size(kNames) ? kNames[index] : "?";
}

double flops(const GemmProblem& problem) {
    return 2.0 * static_cast<double>(problem.m) * static_cast<double>(problem.n) * static_cast<double>(problem.k) *
           static_cast<double>(problem.batch);
}

std::string why_inconsistent(const GemmProblem& p) {
    if (p.lda < stored_columns_a(p)) return fmt::format("lda={} is shorter than a row of A ({} elements)", p.lda, stored_columns_a(p));
    if (p.ldb < stored_columns_b(p)) return fmt::format("ldb={} is shorter than a row of B ({} elements)", p.ldb, stored_columns_b(p));
    if (p.ldc < columns_of_c(p)) return fmt::format("ldc={} is shorter than a row of C ({} elements)", p.ldc, columns_of_c(p));
    for (const ProblemField& field : kProblemFields)
        if (field.range.power_of_two && (field.get(p) & (field.get(p) - 1)) != 0)
            return fmt::format("{}={} is no power of two", field.name, field.get(p));
    if (p.batch <= 1 && (p.stride_a != 0 || p.stride_b != 0 || p.stride_c != 0))
        return fmt::format("strides={},{},{} mean nothing where batch={}", p.stride_a, p.stride_b, p.stride_c, p.batch);
    if (p.pointers && (p.stride_a != 0 || p.stride_b != 0 || p.stride_c != 0))
        return fmt::format("strides={},{},{} mean nothing where each matrix has an address", p.stride_a, p.stride_b, p.stride_c);
    if (const char* const violation = walk_violation(p)) return violation;
    if (const std::string reason = why_inconsistent_epilogue(p); !reason.empty()) return reason;
    const MatrixLayout layouts[] = {layout_of_a(p), layout_of_b(p), layout_of_c(p), layout_of_residual(p)};
    constexpr const char* kNames[] = {"A", "B", "C", "the residual"};
    for (const MatrixLayout& layout : layouts)
        if (!extent_in_bytes(layout)) return fmt::format("{}'s size in bytes does not fit in 64 bits", kNames[&layout - layouts]);
    if (elements_overlap(layout_of_c(p)))
        return fmt::format("stride_c={} and ldc={} make the results of the batch overlap", p.stride_c, p.ldc);
    return {};
}

std::string why_inconsistent(const Measurement& x) {
    if (x.median_us > 0 && x.low_us > x.median_us) return fmt::format("low_us={} is above median_us={}", x.low_us, x.median_us);
    if (x.high_us > 0 && std::max(x.low_us, x.median_us) > x.high_us)
        return fmt::format("high_us={} is below {}={}", x.high_us, x.median_us > x.high_us ? "median_us" : "low_us",
                           x.median_us > x.high_us ? x.median_us : x.low_us);
    if (x.outcome == Outcome::ok && x.error_ratio > 1)
        return fmt::format("error_ratio={} is above 1, but the outcome is ok", x.error_ratio);
    return {};
}

std::string one_line(std::string_view text, std::size_t limit) {
    std::string line;
    line.reserve(std::min(text.size(), limit));
    for (std::size_t i = 0; i < text.size();) {
        const auto lead = static_cast<unsigned char>(text[i]);
        std::size_t length = lead < 0x80                   ? 1
                             : lead >= 0xf0 && lead < 0xf5 ? 4
                             : lead >= 0xe0 && lead < 0xf0 ? 3
                             : lead >= 0xc2 && lead < 0xe0 ? 2
                                                           : 0;
        bool valid = length != 0 && i + length <= text.size();
        for (std::size_t j = 1; valid && j < length; ++j) valid = (static_cast<unsigned char>(text[i + j]) & 0xc0) == 0x80;
        // U+0080 … U+009F are control characters too: terminals obey them.
        const bool control = lead < 0x20 || lead == 0x7f || (valid && lead == 0xc2 && static_cast<unsigned char>(text[i + 1]) < 0xa0);
        if (!valid) length = 1;
        const std::string_view piece = !valid ? "?" : control ? " " : text.substr(i, length);
        if (line.size() + piece.size() > limit) break;
        line += piece;
        i += length;
    }
    return line;
}

Json config_json(const KernelConfig& config) {
    Json json = Json::object();
    for (const Parameter& parameter : kParameters) {
        const int value = config.*parameter.member;
        if (parameter.value_names)
            json[parameter.name] = parameter.value_names[value];
        else
            json[parameter.name] = value;
    }
    return json;
}

Json number_json(double value, bool known) {
    return known && std::isfinite(value) ? Json(value) : Json(nullptr);
}

Json device_json(const std::string& name, int compute_capability, int sm_count) {
    return {{"device", name}, {"compute_capability", compute_capability}, {"sm_count", sm_count}};
}

std::string json_text(const Json& json) {
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace tmm
