#include "db/store/json_fields.h"

#include <cmath>

namespace tmm {

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
