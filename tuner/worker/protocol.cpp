#include "tuner/worker/protocol.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <type_traits>

#include "generator/text/text.h"

namespace tmm {
namespace {

using Json = nlohmann::json;

Json to_json(const GemmProblem& p) {
    Json json = Json::object();
    for (const ProblemField& field : kProblemFields) json[field.name] = field.get(p);
    return json;
}

GemmProblem problem_from(const Json& j) {
    GemmProblem p;
    for (const ProblemField& field : kProblemFields) {
        const i64 value = j.at(field.name);
        if (value < field.range.least || value > field.range.most)
            throw std::runtime_error(fmt::format("{} can't be {}", field.name, value));
        field.set(p, value);
    }
    return p;
}

Json to_json(const DeviceInfo& d) {
    return {{"name", d.name},
            {"emulated", d.emulated},
            {"compute_capability_major", d.compute_capability_major},
            {"compute_capability_minor", d.compute_capability_minor},
            {"sm_count", d.sm_count},
            {"memory_bytes", d.memory_bytes},
            {"l2_bytes", d.l2_bytes},
            {"shared_bytes_per_block", d.shared_bytes_per_block},
            {"shared_bytes_per_sm", d.shared_bytes_per_sm},
            {"registers_per_sm", d.registers_per_sm},
            {"max_threads_per_sm", d.max_threads_per_sm},
            {"power_limit", d.power_limit},
            {"driver_version", d.driver_version},
            {"clock_khz", d.clock_khz},
            {"memory_clock_khz", d.memory_clock_khz},
            {"memory_bus_bits", d.memory_bus_bits}};
}

DeviceInfo device_from(const Json& j) {
    DeviceInfo d;
    d.name = j.at("name");
    d.emulated = j.at("emulated");
    d.compute_capability_major = j.at("compute_capability_major");
    d.compute_capability_minor = j.at("compute_capability_minor");
    d.sm_count = j.at("sm_count");
    d.memory_bytes = j.at("memory_bytes");
    d.l2_bytes = j.at("l2_bytes");
    d.shared_bytes_per_block = j.at("shared_bytes_per_block");
    d.shared_bytes_per_sm = j.at("shared_bytes_per_sm");
    d.registers_per_sm = j.at("registers_per_sm");
    d.max_threads_per_sm = j.at("max_threads_per_sm");
    d.power_limit = j.at("power_limit");
    d.driver_version = j.at("driver_version");
    d.clock_khz = j.at("clock_khz");
    d.memory_clock_khz = j.at("memory_clock_khz");
    d.memory_bus_bits = j.at("memory_bus_bits");
    d.profile = profile_of(d);
    return d;
}

Json to_json(const TimingOptions& t) {
    return {{"sample_us", t.sample_us},     {"samples", t.samples},       {"total_us", t.total_us},
            {"min_samples", t.min_samples}, {"warm_up_us", t.warm_up_us}, {"abandon_above_us", t.abandon_above_us},
            {"bar_us", t.bar_us},           {"precision", t.precision}};
}

TimingOptions timing_from(const Json& j) {
    return TimingOptions{.sample_us = j.at("sample_us"),
                         .samples = j.at("samples"),
                         .total_us = j.at("total_us"),
                         .min_samples = j.at("min_samples"),
                         .bar_us = j.at("bar_us"),
                         .precision = j.at("precision"),
                         .abandon_above_us = j.at("abandon_above_us"),
                         .warm_up_us = j.at("warm_up_us")};
}

Outcome outcome_from(const Json& j) {
    const int value = j.get<int>();
    if (value < 0 || value > static_cast<int>(Outcome::inaccurate)) throw std::runtime_error(fmt::format("unknown outcome {}", value));
    return static_cast<Outcome>(value);
}

Json to_json(const Measurement& m) {
    return {{"outcome", static_cast<int>(m.outcome)},
            {"detail", m.detail},
            {"median_us", m.median_us},
            {"low_us", m.low_us},
            {"high_us", m.high_us},
            {"samples", m.samples},
            {"error_ratio", m.error_ratio},
            {"registers", m.registers},
            {"spill_bytes", m.spill_bytes},
            {"shared_bytes", m.shared_bytes},
            {"workspace_bytes", m.workspace_bytes},
            {"sm_clock_mhz", m.sm_clock_mhz},
            {"throttled", m.throttled}};
}

Measurement measurement_from(const Json& j) {
    Measurement m;
    m.outcome = outcome_from(j.at("outcome"));
    m.detail = j.at("detail");
    m.median_us = j.at("median_us");
    m.low_us = j.at("low_us");
    m.high_us = j.at("high_us");
    m.samples = j.at("samples");
    m.error_ratio = j.at("error_ratio");
    m.registers = j.at("registers");
    m.spill_bytes = j.at("spill_bytes");
    m.shared_bytes = j.at("shared_bytes");
    m.workspace_bytes = j.at("workspace_bytes");
    m.sm_clock_mhz = j.at("sm_clock_mhz");
    m.throttled = j.at("throttled");
    return m;
}

Json to_json(const MeasuredRates& rates) {
    Json json = Json::object();
    for (const RateField& field : kRateFields) json[field.name] = rates.*field.member;
    return json;
}

MeasuredRates rates_from(const Json& j) {
    MeasuredRates rates;
    for (const RateField& field : kRateFields) rates.*field.member = j.at(field.name);
    return rates;
}

// The member names the message; its value holds the fields.
Json message(const PrepareRequest& r) {
    return {{"prepare", {{"problem", to_json(r.problem)}, {"seed", r.seed}, {"search", r.search}}}};
}
Json message(const MeasureRequest& r) {
    return {{"measure", {{"config", to_text(r.config)}, {"timing", to_json(r.timing)}, {"search", r.search}}}};
}
Json message(const RunOffRequest& r) {
    Json configs = Json::array();
    for (const KernelConfig& config : r.configs) configs.push_back(to_text(config));
    return {{"run_off",
             {{"configs", configs},
              {"rounds", r.rounds},
              {"min_rounds", r.min_rounds},
              {"sample_us", r.sample_us},
              {"total_us", r.total_us},
              {"settle_us", r.settle_us},
              {"orders", r.orders},
              {"margin", r.margin},
              {"search", r.search}}}};
}
Json message(const RatesRequest&) {
    return {{"rates", Json::object()}};
}
Json message(const RatesMeasured& r) {
    return {{"rates_measured", to_json(r.rates)}};
}
Json message(const Hello& r) {
    Json hello = to_json(r.device);
    hello["is_slice"] = r.sharing.is_slice;
    hello["other_processes"] = r.sharing.other_processes;
    return {{"hello", hello}};
}
Json message(const Prepared& r) {
    return {{"prepared", {{"rotation_sets", r.rotation_sets}}}};
}
Json message(const Measured& r) {
    return {{"measured", to_json(r.measurement)}};
}
Json message(const RunOffStep& r) {
    return {{"run_off_step", {{"index", r.index}}}};
}
Json message(const RunOffDone& r) {
    Json finalists = Json::array();
    for (const auto& f : r.finalists)
        finalists.push_back(
            {{"outcome", static_cast<int>(f.outcome)}, {"detail", f.detail}, {"error_ratio", f.error_ratio}, {"samples_us", f.samples_us}});
    return {{"run_off_done", {{"finalists", finalists}}}};
}
Json message(const NotPrepared& r) {
    return {{"not_prepared", {{"detail", r.detail}}}};
}
Json message(const NotMeasured& r) {
    return {{"not_measured", {{"detail", r.detail}}}};
}
Json message(const Faulted& r) {
    return {{"faulted", {{"detail", r.detail}}}};
}
Json message(const Failed& r) {
    return {{"failed", {{"status", static_cast<int>(r.status)}, {"message", r.message}}}};
}

template <typename Variant>
std::string encode_any(const Variant& value) {
    // A compiler's log need not be UTF-8.
    return std::visit([](const auto& alternative) { return message(alternative); }, value)
        .dump(-1, ' ', false, Json::error_handler_t::replace);
}

// Calls read(name, fields) for the line's only member.
template <typename Read>
auto decode_any(std::string_view line, Read read) {
    try {
        const Json json = Json::parse(line);
        if (!json.is_object() || json.size() != 1) throw std::runtime_error("a message is an object with one member");
        return read(json.begin().key(), json.begin().value());
    } catch (const std::exception& error) {
        throw std::runtime_error(fmt::format("not a message of the tuner's protocol: {}: \"{}\"", error.what(), line.substr(0, 120)));
    }
}

}  // namespace

std::string encode(const Request& request) {
    return encode_any(request);
}
std::string encode(const Reply& reply) {
    return encode_any(reply);
}

Request decode_request(std::string_view line) {
    return decode_any(line, [](const std::string& name, const Json& j) -> Request {
        if (name == "prepare")
            return PrepareRequest{.problem = problem_from(j.at("problem")), .seed = j.at("seed"), .search = j.at("search")};
        if (name == "measure")
            return MeasureRequest{
                .config = parse_config(j.at("config").get<std::string>()), .timing = timing_from(j.at("timing")), .search = j.at("search")};
        if (name == "run_off") {
            RunOffRequest r{.configs = {},
                            .rounds = j.at("rounds"),
                            .min_rounds = j.at("min_rounds"),
                            .sample_us = j.at("sample_us"),
                            .total_us = j.at("total_us"),
                            .settle_us = j.at("settle_us"),
                            .orders = j.at("orders").get<std::vector<int>>(),
                            .margin = j.at("margin"),
                            .search = j.at("search")};
            if (!r.orders.empty() && r.orders.size() != j.at("configs").size()) throw std::runtime_error("not an order for each config");
            for (const Json& config : j.at("configs")) r.configs.push_back(parse_config(config.get<std::string>()));
            return r;
        }
        if (name == "rates") return RatesRequest{};
        throw std::runtime_error(fmt::format("unknown request '{}'", name));
    });
}

Reply decode_reply(std::string_view line) {
    return decode_any(line, [](const std::string& name, const Json& j) -> Reply {
        if (name == "hello") {
            return Hello{.device = device_from(j),
                         .sharing = {.is_slice = j.value("is_slice", false), .other_processes = j.value("other_processes", 0)}};
        }
        if (name == "prepared") return Prepared{.rotation_sets = j.at("rotation_sets")};
        if (name == "measured") return Measured{.measurement = measurement_from(j)};
        if (name == "rates_measured") return RatesMeasured{.rates = rates_from(j)};
        if (name == "run_off_step") return RunOffStep{.index = j.at("index")};
        if (name == "run_off_done") {
            RunOffDone r;
            for (const Json& f : j.at("finalists"))
                r.finalists.push_back({.outcome = outcome_from(f.at("outcome")),
                                       .detail = f.at("detail"),
                                       .error_ratio = f.at("error_ratio"),
                                       .samples_us = f.at("samples_us").get<std::vector<double>>()});
            return r;
        }
        if (name == "not_prepared") return NotPrepared{.detail = j.at("detail")};
        if (name == "not_measured") return NotMeasured{.detail = j.at("detail")};
        if (name == "faulted") return Faulted{.detail = j.at("detail")};
        if (name == "failed") return Failed{.status = static_cast<ExitStatus>(j.at("status").get<int>()), .message = j.at("message")};
        throw std::runtime_error(fmt::format("unknown reply '{}'", name));
    });
}

}  // namespace tmm
