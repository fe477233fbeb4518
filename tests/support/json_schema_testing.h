// Checks whether JSON is what a schema of docs/schema says. A keyword that is not known here is a fault of the schema.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace tmm::testing {

class JsonSchema {
public:
    using Json = nlohmann::json;

    explicit JsonSchema(const std::string& name) : schema_(load(name)) {}

    // The faults, each with its place; empty where there is none.
    std::vector<std::string> faults(const Json& value) const {
        std::vector<std::string> found;
        check(value, schema_, schema_, "$", found);
        return found;
    }
    const Json& schema() const { return schema_; }

    static Json load(const std::string& name) {
        std::ifstream file(std::string(TMM_SOURCE_DIR) + "/docs/schema/" + name);
        if (!file) throw std::runtime_error("docs/schema/" + name + " is missing");
        return Json::parse(file);
    }

private:
    static bool is_of(const Json& value, const std::string& type) {
        if (type == "null") return value.is_null();
        if (type == "boolean") return value.is_boolean();
        if (type == "integer") return value.is_number_integer();
        if (type == "number") return value.is_number();
        if (type == "string") return value.is_string();
        if (type == "array") return value.is_array();
        if (type == "object") return value.is_object();
        throw std::runtime_error("the schema names a type '" + type + "'");
    }

    // "#/$defs/x" or "common.json#/$defs/x".
    static void refer(const Json& value, const std::string& reference, const Json& root, const std::string& place,
                      std::vector<std::string>& found) {
        const auto hash = reference.find('#');
        const Json other = hash == 0 ? root : load(reference.substr(0, hash));
        check(value, other.at(Json::json_pointer(reference.substr(hash + 1))), other, place, found);
    }

    static void check_object(const Json& value, const Json& schema, const Json& root, const std::string& place,
                             std::vector<std::string>& found) {
        if (!value.is_object()) return;
        for (const Json& name : schema.value("required", Json::array()))
            if (!value.contains(name.get<std::string>())) found.push_back(fmt::format("{} lacks {}", place, name.get<std::string>()));
        const Json properties = schema.value("properties", Json::object());
        const Json others = schema.value("additionalProperties", Json(true));
        for (const auto& [name, member] : value.items()) {
            const std::string at = place + "." + name;
            if (properties.contains(name))
                check(member, properties.at(name), root, at, found);
            else if (others.is_object())
                check(member, others, root, at, found);
            else if (!others.get<bool>())
                found.push_back(at + " is not in the schema");
        }
    }

    static void check(const Json& value, const Json& schema, const Json& root, const std::string& place, std::vector<std::string>& found) {
        static const std::set<std::string> known = {
            "$schema",    "$id",      "$defs", "$ref", "title",   "description", "type",
            "properties", "required", "items", "enum", "minimum", "maximum",     "additionalProperties"};
        for (const auto& [keyword, unused] : schema.items())
            if (!known.contains(keyword)) throw std::runtime_error("the schema uses '" + keyword + "'");
        if (schema.contains("$ref")) refer(value, schema.at("$ref").get<std::string>(), root, place, found);
        if (schema.contains("type")) {
            Json types = schema.at("type");
            if (!types.is_array()) types = Json::array({types});
            if (std::none_of(types.begin(), types.end(), [&](const Json& type) { return is_of(value, type.get<std::string>()); })) {
                found.push_back(fmt::format("{} is {}, not {}", place, value.dump(), types.dump()));
                return;
            }
        }
        if (schema.contains("enum") && std::find(schema.at("enum").begin(), schema.at("enum").end(), value) == schema.at("enum").end())
            found.push_back(fmt::format("{} is {}", place, value.dump()));
        if (value.is_number()) {
            if (schema.contains("minimum") && value < schema.at("minimum")) found.push_back(place + " is too small");
            if (schema.contains("maximum") && value > schema.at("maximum")) found.push_back(place + " is too large");
        }
        check_object(value, schema, root, place, found);
        if (value.is_array() && schema.contains("items"))
            for (std::size_t i = 0; i < value.size(); ++i)
                check(value[i], schema.at("items"), root, fmt::format("{}[{}]", place, i), found);
    }

    Json schema_;
};

// All faults in one text, for CHECK(… == "").
inline std::string schema_faults(const std::string& name, const std::string& json) {
    std::string text;
    for (const std::string& fault : JsonSchema(name).faults(nlohmann::json::parse(json))) text += fault + "\n";
    return text;
}

}  // namespace tmm::testing
