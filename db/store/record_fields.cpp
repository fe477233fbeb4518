// The table of an export's columns.
#include "db/store/record_text.h"

#include <fmt/core.h>

#include <charconv>
#include <cmath>
#include <type_traits>

#include "base/error.h"
#include "db/store/fields.h"
#include "db/store/ranges.h"
#include "generator/families/family.h"
#include "generator/text/text.h"

namespace tmm {
namespace {

[[noreturn]] void refuse(std::string what, std::string remedy = {}) {
    throw Error(ExitStatus::bad_input, std::move(what), {}, std::move(remedy));
}

std::int64_t parse_integer(const std::string& name, std::string_view text, std::int64_t lowest, std::int64_t highest) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size())
        refuse(fmt::format("{}: '{}' is no whole number", name, one_line(text, 60)));
    if (value < lowest || value > highest) refuse(fmt::format("{}: {} is outside {} … {}", name, value, lowest, highest));
    return value;
}

std::int64_t parse_name(const std::string& name, std::string_view text, const std::vector<std::string>& names) {
    std::string valid;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (names[i].empty()) continue;
        if (names[i] == text) return static_cast<std::int64_t>(i);
        valid += (i ? ", " : "") + names[i];
    }
    refuse(fmt::format("{}: '{}' is none of its values", name, one_line(text, 60)), "one of " + valid);
}

// An integer that `member(record)` refers to. if_unknown is written as nothing.
template <typename Access>
RecordField integer(std::string name, std::int64_t lowest, std::int64_t highest, Access access, std::int64_t if_unknown = -2) {
    return {.name = name,
            .get =
                [=](const TuningRecord& record) {
                    const auto value = static_cast<std::int64_t>(access(const_cast<TuningRecord&>(record)));
                    return value == if_unknown ? std::string() : fmt::format("{}", value);
                },
            .set =
                [=](TuningRecord& record, std::string_view text) {
                    auto& value = access(record);
                    value = static_cast<std::remove_reference_t<decltype(value)>>(parse_integer(name, text, lowest, highest));
                }};
}

template <typename Access>
RecordField real(std::string name, Access access, double if_unknown, const RealRange& range = kMicroseconds) {
    return {.name = name,
            .get =
                [=](const TuningRecord& record) {
                    const double value = access(const_cast<TuningRecord&>(record));
                    return value == if_unknown || std::isnan(value) ? std::string() : fmt::format("{}", value);
                },
            .set =
                [=](TuningRecord& record, std::string_view text) {
                    double value = 0;
                    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
                    if (error != std::errc() || end != text.data() + text.size() || !range.contains(value))
                        refuse(fmt::format("{}: '{}' is no number from {} to {}", name, one_line(text, 60), range.lowest, range.highest));
                    access(record) = value;
                }};
}

template <typename Access>
RecordField text(std::string name, std::size_t limit, Access access) {
    return {.name = name,
            .is_text = true,
            .get = [=](const TuningRecord& record) { return access(const_cast<TuningRecord&>(record)); },
            .set =
                [=](TuningRecord& record, std::string_view value) {
                    if (one_line(value, limit) != value)
                        refuse(fmt::format("{}: longer than {} bytes, or with control characters", name, limit));
                    access(record) = std::string(value);
                }};
}

RecordField problem_field(const ProblemField& field) {
    const std::string name = field.name;
    if (!field.is_named())
        return {.name = name,
                .get = [&field](const TuningRecord& record) { return fmt::format("{}", field.get(record.problem)); },
                .set =
                    [&field, name](TuningRecord& record, std::string_view text) {
                        field.set(record.problem, parse_integer(name, text, field.range.least, field.range.most));
                    }};
    const std::vector<std::string> names(field.values.names, field.values.names + field.values.count);
    return {.name = name,
            .is_text = true,
            .get = [&field, names](const TuningRecord& record) { return names.at(static_cast<std::size_t>(field.get(record.problem))); },
            .set = [&field, name, names](TuningRecord& record,
                                         std::string_view text) { field.set(record.problem, parse_name(name, text, names)); }};
}

RecordField config_field(const Parameter& parameter) {
    const auto access = [&parameter](TuningRecord& record) -> int& { return record.config.*parameter.member; };
    if (!parameter.value_names) return integer(parameter.name, least_value(parameter), most_value(parameter), access);
    const std::vector<std::string> names(parameter.value_names, parameter.value_names + parameter.value_count);
    return {
        .name = parameter.name,
        .is_text = true,
        .get = [=](const TuningRecord& record) { return names.at(static_cast<std::size_t>(access(const_cast<TuningRecord&>(record)))); },
        .set = [=](TuningRecord& record,
                   std::string_view text) { access(record) = static_cast<int>(parse_name(parameter.name, text, names)); }};
}

RecordField of_measurements(RecordField field) {
    field.in_selections = false;
    return field;
}
RecordField of_selections(RecordField field) {
    field.in_measurements = false;
    return field;
}
RecordField required(RecordField field) {
    field.required = true;
    return field;
}

void add_head(std::vector<RecordField>& fields) {
    using R = TuningRecord;
    fields.push_back(
        {.name = "record",
         .required = true,
         .is_text = true,
         .get = [](const R& r) { return r.kind == R::Kind::selection ? "selection" : "measurement"; },
         .set =
             [](R& r, std::string_view value) {
                 r.kind = parse_name("record", value, {"measurement", "selection"}) == 1 ? R::Kind::selection : R::Kind::measurement;
             }});
    fields.push_back(required(text("device", kDeviceNameLimit, [](R& r) -> std::string& { return r.environment.device.name; })));
    fields.push_back({.name = "compute_capability",
                      .get = [](const R& r) { return fmt::format("{}", r.environment.device.compute_capability()); },
                      .set =
                          [](R& r, std::string_view value) {
                              const auto number = static_cast<int>(parse_integer("compute_capability", value, 0, kCapabilityLimit));
                              r.environment.device.compute_capability_major = number / 10;
                              r.environment.device.compute_capability_minor = number % 10;
                          }});
    fields.push_back(integer("sm_count", 0, kSmLimit, [](R& r) -> int& { return r.environment.device.sm_count; }));
    fields.push_back(integer("memory_bytes", 0, kMemoryLimit, [](R& r) -> std::int64_t& { return r.environment.device.memory_bytes; }));
    fields.push_back(integer("power_limit", 0, kWattLimit, [](R& r) -> int& { return r.environment.device.power_limit; }));
    fields.push_back(integer("driver_version", 0, kVersionLimit, [](R& r) -> int& { return r.environment.device.driver_version; }));
    fields.push_back(integer("nvrtc_version", 0, kVersionLimit, [](R& r) -> int& { return r.environment.nvrtc_version; }));
}

void add_measurement(std::vector<RecordField>& fields) {
    using R = TuningRecord;
    using M = Measurement;
    const auto count = [&](const char* name, std::int64_t highest, auto M::*member, std::int64_t if_unknown = -2) {
        fields.push_back(of_measurements(integer(
            name, 0, highest, [member](R & r) -> auto& { return r.measurement.*member; }, if_unknown)));
    };
    const auto number = [&](const char* name, double M::*member, double if_unknown, const RealRange& range = kMicroseconds) {
        return real(
            name, [member](R& r) -> double& { return r.measurement.*member; }, if_unknown, range);
    };
    const auto words = [&](const char* name, std::size_t limit, std::string M::*member) {
        fields.push_back(of_measurements(text(name, limit, [member](R& r) -> std::string& { return r.measurement.*member; })));
    };
    static const auto& outcomes = *new auto(names_of_all<Outcome>());
    fields.push_back(of_measurements(
        {.name = "outcome",
         .required = true,
         .is_text = true,
         .get = [](const R& r) { return std::string(name_of(r.measurement.outcome)); },
         .set = [](R& r,
                   std::string_view value) { r.measurement.outcome = static_cast<Outcome>(parse_name("outcome", value, outcomes)); }}));
    words("detail", kTextLimit, &M::detail);
    fields.push_back(number("median_us", &M::median_us, 0));
    fields.push_back(of_measurements(number("low_us", &M::low_us, 0)));
    fields.push_back(of_measurements(number("high_us", &M::high_us, 0)));
    count("samples", kCountLimit, &M::samples);
    fields.push_back(of_measurements(number("error_ratio", &M::error_ratio, -1, kErrorRatio)));
    count("registers", kRegisterLimit, &M::registers, -1);
    count("spill_bytes", kCountLimit, &M::spill_bytes, -1);
    count("shared_bytes", kSharedLimit, &M::shared_bytes);
    count("workspace_bytes", kMemoryLimit, &M::workspace_bytes);
    count("sm_clock_mhz", kClockLimit, &M::sm_clock_mhz);
    count("throttled", 1, &M::throttled);
    words("kernel_name", kNameLimit, &M::kernel_name);
    words("kernel_hash", kHashLimit, &M::kernel_hash);
}

// The columns that a selection keeps of its run-off.
void add_run_off(std::vector<RecordField>& fields) {
    using R = TuningRecord;
    fields.push_back(of_selections(real(
        "default_us", [](R& r) -> double& { return r.default_us; }, 0)));
    fields.push_back(of_selections({.name = "runner_up",
                                    .is_text = true,
                                    .get = [](const R& r) { return r.runner_up ? to_text(*r.runner_up) : std::string(); },
                                    .set =
                                        [](R& r, std::string_view value) {
                                            r.runner_up = parse_config(value);
                                            if (const auto misused = find_misused_field(*r.runner_up)) refuse(misused->why);
                                        }}));
    fields.push_back(of_selections(real(
        "runner_up_us", [](R& r) -> double& { return r.runner_up_us; }, 0)));
    fields.push_back(of_selections(integer(
        "predicted", 0, 1, [](R& r) -> bool& { return r.predicted; }, 0)));
}

void add_selection(std::vector<RecordField>& fields) {
    using R = TuningRecord;
    fields.push_back(of_selections(integer("candidates", 0, kCountLimit, [](R& r) -> int& { return r.candidates; })));
    fields.push_back(of_selections(text("reason", kTextLimit, [](R& r) -> std::string& { return r.reason; })));
    fields.push_back(of_selections(text("search_hash", kHashLimit, [](R& r) -> std::string& { return r.search_hash; })));
    fields.push_back(of_selections({.name = "origin",
                                    .is_text = true,
                                    .get = [](const R& r) { return r.origin; },
                                    .set =
                                        [](R& r, std::string_view value) {
                                            const std::vector<std::string> origins{"user", "shipped", "raced"};
                                            r.origin = origins[static_cast<std::size_t>(parse_name("origin", value, origins))];
                                        }}));
}

std::vector<RecordField> make_fields() {
    using R = TuningRecord;
    std::vector<RecordField> fields;
    add_head(fields);
    for (const auto& field : problem_fields()) {
        fields.push_back(problem_field(field));
        fields.back().required = !field.key;
    }
    fields.push_back(of_selections(problem_field(compute_field())));
    for (const auto& parameter : kParameters) fields.push_back(config_field(parameter));
    fields.push_back(integer("cold_l2", 0, 1, [](R& r) -> bool& { return r.policy.cold_l2; }));
    fields.push_back(integer("graph", 0, 1, [](R& r) -> bool& { return r.policy.graph; }));
    fields.push_back(integer("other_kernel", 0, 1, [](R& r) -> bool& { return r.policy.other_kernel; }));
    fields.push_back(text("data", kDataNameLimit, [](R& r) -> std::string& { return r.policy.data; }));
    add_measurement(fields);
    add_run_off(fields);
    add_selection(fields);
    fields.push_back(integer("time", kEarliestTime, kLatestTime, [](R& r) -> std::int64_t& { return r.time; }));
    return fields;
}

}  // namespace

const std::vector<RecordField>& record_fields() {
    static const auto& fields = *new auto(make_fields());
    return fields;
}

}  // namespace tmm
