#include "tools/tmm_db/report_json.h"

#include <fmt/core.h>

#include "db/store/fields.h"
#include "generator/text/text.h"
#include "tools/tmm_db/stale_command.h"
#include "tools/tmm_db/winner_difference.h"

namespace tmm {
namespace {

Json device_json(const WinnerRow& winner) {
    return tmm::device_json(winner.device, winner.compute_capability, winner.sm_count);
}
Json device_json(const DeviceModel& device) {
    return tmm::device_json(device.name, device.compute_capability, device.sm_count);
}

Json side_json(const std::optional<WinnerRow>& winner) {
    if (!winner) return nullptr;
    return {{"config", config_json(winner->config)}, {"median_us", number_json(winner->median_us, winner->median_us > 0)}};
}

// 13000 is version 13.0; the emulated device has neither driver nor NVRTC.
Json version_json(int version) {
    return version > 0 ? Json(fmt::format("{}.{}", version / 1000, version % 1000 / 10)) : Json(nullptr);
}

Json compared_json(const ComparedVersion& with) {
    return {{"version", version_json(with.version)}, {"source", with.version > 0 ? Json(name_of(with.source)) : Json(nullptr)}};
}

Json stale_winner_json(const StaleWinner& row) {
    Json changed = Json::array();
    if (row.staleness.driver) changed.push_back("driver");
    if (row.staleness.nvrtc) changed.push_back("nvrtc");
    if (row.staleness.kernels) changed.push_back("kernels");
    if (row.staleness.unmeasured) changed.push_back("unmeasured");
    if (row.staleness.back_to_back) changed.push_back("back_to_back");
    return {{"problem", to_text(row.winner.problem)},
            {"config", config_json(row.winner.config)},
            {"median_us", number_json(row.winner.median_us, row.winner.median_us > 0)},
            {"decided_at", row.decision.time},
            {"driver", version_json(row.decision.driver_version)},
            {"nvrtc", version_json(row.decision.nvrtc_version)},
            {"changed", changed}};
}

}  // namespace

std::string difference_json(const WinnerDifference& difference) {
    Json pairs = Json::array();
    for (const WinnerPair& pair : difference.pairs) {
        Json json = device_json(pair.either());
        json["problem"] = to_text(pair.either().problem);
        json["a"] = side_json(pair.a);
        json["b"] = side_json(pair.b);
        json["ratio"] = number_json(pair.ratio(), pair.ratio() > 0);
        json["same_config"] = pair.same_config();
        pairs.push_back(json);
    }
    Json across = nullptr;
    if (difference.across) across = {{"a", device_json(difference.across->first)}, {"b", device_json(difference.across->second)}};
    return json_text({{"problems", pairs},
                      {"across", across},
                      {"timed", difference.timed},
                      {"both", difference.both},
                      {"different", difference.different},
                      {"only_a", difference.only_a},
                      {"only_b", difference.only_b},
                      {"geometric_mean", number_json(difference.mean_ratio, difference.timed > 0)}});
}

std::string stale_json(const std::vector<StaleWinners>& devices) {
    Json json = Json::array();
    for (const StaleWinners& known : devices) {
        Json device = device_json(known.winners.front());
        device["winners"] = known.winners.size();
        device["driver"] = compared_json(known.driver);
        device["nvrtc"] = compared_json(known.nvrtc);
        device["compares_kernels"] = known.compares_kernels;
        device["stale"] = Json::array();
        for (const StaleWinner& row : known.stale) device["stale"].push_back(stale_winner_json(row));
        json.push_back(device);
    }
    return json_text({{"devices", json}});
}

std::string verification_json(const std::filesystem::path& file, const std::vector<std::string>& faults, std::size_t measurements,
                              std::size_t decisions) {
    return json_text({{"database", file.string()},
                      {"sound", faults.empty()},
                      {"faults", faults},
                      {"measurements", measurements},
                      {"decisions", decisions}});
}

}  // namespace tmm
