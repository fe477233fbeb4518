#include "tuner/worker/protocol.h"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <variant>

#include "generator/text/text.h"

namespace tmm {

using Json = nlohmann::json;

// The fields of each type, by which nlohmann-json reads and writes it. A message's name comes with its fields.

void to_json(Json& j, const GemmProblem& p) {
    for (const ProblemField& field : kProblemFields) j[field.name] = field.get(p);
}
void from_json(const Json& j, GemmProblem& p) {
    for (const ProblemField& field : kProblemFields) {
        const i64 value = j.at(field.name);
        if (value < field.range.least || value > field.range.most)
            throw std::runtime_error(fmt::format("{} can't be {}", field.name, value));
        field.set(p, value);
    }
}

void to_json(Json& j, const KernelConfig& config) {
    j = to_text(config);
}
void from_json(const Json& j, KernelConfig& config) {
    config = parse_config(j.get<std::string>());
}

void to_json(Json& j, Outcome outcome) {
    j = static_cast<int>(outcome);
}
void from_json(const Json& j, Outcome& outcome) {
    const int value = j.get<int>();
    if (value < 0 || value > static_cast<int>(Outcome::inaccurate)) throw std::runtime_error(fmt::format("unknown outcome {}", value));
    outcome = static_cast<Outcome>(value);
}

void to_json(Json& j, const MeasuredRates& rates) {
    for (const RateField& field : kRateFields) j[field.name] = rates.*field.member;
}
void from_json(const Json& j, MeasuredRates& rates) {
    for (const RateField& field : kRateFields) rates.*field.member = j.at(field.name);
}

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(DeviceInfo, name, emulated, compute_capability_major, compute_capability_minor, sm_count, memory_bytes,
                                   l2_bytes, shared_bytes_per_block, shared_bytes_per_sm, registers_per_sm, max_threads_per_sm, power_limit,
                                   driver_version, clock_khz, memory_clock_khz, memory_bus_bits)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TimingOptions, sample_us, samples, total_us, min_samples, warm_up_us, abandon_above_us, bar_us,
                                   precision)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Measurement, outcome, detail, median_us, low_us, high_us, samples, error_ratio, registers, spill_bytes,
                                   shared_bytes, workspace_bytes, sm_clock_mhz, throttled)

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(PrepareRequest, problem, seed, search)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(MeasureRequest, config, timing, search)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Prepared, rotation_sets)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RunOffStep, index)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RunOffDone::Finalist, outcome, detail, error_ratio, samples_us)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RunOffDone, finalists)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(NotPrepared, detail)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(NotMeasured, detail)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Faulted, detail)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Failed, status, message)

void to_json(Json& j, const RunOffRequest& r) {
    j = {{"configs", r.configs},     {"rounds", r.rounds},     {"min_rounds", r.min_rounds},
         {"sample_us", r.sample_us}, {"total_us", r.total_us}, {"settle_us", r.settle_us},
         {"orders", r.orders},       {"margin", r.margin},     {"search", r.search}};
}
void from_json(const Json& j, RunOffRequest& r) {
    r = {.configs = j.at("configs"),
         .rounds = j.at("rounds"),
         .min_rounds = j.at("min_rounds"),
         .sample_us = j.at("sample_us"),
         .total_us = j.at("total_us"),
         .settle_us = j.at("settle_us"),
         .orders = j.at("orders"),
         .margin = j.at("margin"),
         .search = j.at("search")};
    if (!r.orders.empty() && r.orders.size() != r.configs.size()) throw std::runtime_error("not an order for each config");
}
void to_json(Json& j, const RatesRequest&) {
    j = Json::object();
}
void from_json(const Json&, RatesRequest&) {}
void to_json(Json& j, const Measured& measured) {
    j = measured.measurement;
}
void from_json(const Json& j, Measured& measured) {
    j.get_to(measured.measurement);
}
void to_json(Json& j, const RatesMeasured& measured) {
    j = measured.rates;
}
void from_json(const Json& j, RatesMeasured& measured) {
    j.get_to(measured.rates);
}
void to_json(Json& j, const Hello& hello) {
    j = hello.device;
    j["is_slice"] = hello.sharing.is_slice;
    j["other_processes"] = hello.sharing.other_processes;
}
void from_json(const Json& j, Hello& hello) {
    j.get_to(hello.device);
    hello.device.profile = profile_of(hello.device);
    hello.sharing = {.is_slice = j.value("is_slice", false), .other_processes = j.value("other_processes", 0)};
}

namespace {

// The messages' names, in the order of the variants.
constexpr std::array<std::string_view, std::variant_size_v<Request>> kRequests = {"prepare", "measure", "run_off", "rates"};
constexpr std::array<std::string_view, std::variant_size_v<Reply>> kReplies = {
    "hello", "prepared", "measured", "rates_measured", "run_off_step", "run_off_done", "not_prepared", "not_measured", "faulted", "failed"};

// A message is an object with one member, whose name is the message's and whose value has its fields.
template <class Messages>
std::string encode_any(const Messages& messages, const auto& names) {
    Json json;
    std::visit([&](const auto& message) { json[std::string(names[messages.index()])] = message; }, messages);
    // A compiler's log need not be UTF-8.
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

template <class Messages, std::size_t index = 0>
Messages message_named(const std::string& name, const Json& fields, std::string_view what, const auto& names) {
    if constexpr (index == std::variant_size_v<Messages>) {
        throw std::runtime_error(fmt::format("unknown {} '{}'", what, name));
    } else {
        if (name == names[index]) return fields.get<std::variant_alternative_t<index, Messages>>();
        return message_named<Messages, index + 1>(name, fields, what, names);
    }
}

template <class Messages>
Messages decode_any(std::string_view line, std::string_view what, const auto& names) {
    try {
        const Json json = Json::parse(line);
        if (!json.is_object() || json.size() != 1) throw std::runtime_error("a message is an object with one member");
        return message_named<Messages>(json.begin().key(), json.begin().value(), what, names);
    } catch (const std::exception& error) {
        throw std::runtime_error(fmt::format("not a message of the tuner's protocol: {}: \"{}\"", error.what(), line.substr(0, 120)));
    }
}

}  // namespace

std::string encode(const Request& request) {
    return encode_any(request, kRequests);
}
std::string encode(const Reply& reply) {
    return encode_any(reply, kReplies);
}
Request decode_request(std::string_view line) {
    return decode_any<Request>(line, "request", kRequests);
}
Reply decode_reply(std::string_view line) {
    return decode_any<Reply>(line, "reply", kReplies);
}

}  // namespace tmm
