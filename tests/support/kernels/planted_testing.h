// Runs tmm-tune with templates and compilers of the test's own, to see what becomes of faults that are planted in them.
#pragma once

#include <doctest/doctest.h>
#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "generator/text/text.h"
#include "tests/support/tuner_testing.h"
#include "tmm/vocabulary/config.h"

namespace tuner_testing {

using namespace tmm;

// A folder whose tmm-tune reads templates of its own.
class PlantedFolder : public TunerFolder {
public:
    explicit PlantedFolder(const std::string& shapes) : TunerFolder(shapes) {
        fs::copy(fs::path(TMM_SOURCE_DIR) / "templates", path / "templates", fs::copy_options::recursive);
        environment["TMM_TEMPLATES"] = (path / "templates").string();
    }

    // Puts the code behind the anchor of a family's kernel.
    void plant(const std::string& file, const std::string& anchor, const std::string& code) {
        const fs::path template_file = path / "templates" / "tmm" / file;
        std::string text = tuner_testing::read_text(template_file);
        const auto at = text.find(anchor);
        REQUIRE_MESSAGE(at != std::string::npos, "the template has lost its anchor: " << anchor);
        text.insert(at + anchor.size(), "\n" + code + "\n");
        tuner_testing::write_text(template_file, text);
    }

    std::string outcome(const std::string& condition) const {
        return query(
            "SELECT outcome.name || ': ' || detail FROM measurement JOIN config_fields AS config ON config.id = config_id "
            "JOIN outcome ON outcome.value = outcome WHERE " +
            condition);
    }
    int wins(const std::string& condition) const {
        return count("SELECT count(*) FROM selection JOIN config_fields AS config ON config.id = config_id WHERE " + condition);
    }
};

inline constexpr const char* kAnchor = "static_assert(first_violation(Kernel::config, Kernel::signature) == nullptr);";

inline constexpr const char* kFamilyFiles[] = {"families/naive/kernel.cuh", "families/tiled/kernel.cuh", "families/simt/kernel.cuh",
                                               "families/gemv/kernel.cuh"};

inline std::string template_of(const KernelConfig& config) {
    return "families/" + std::string(kFamilyNames[config.family]) + "/kernel.cuh";
}

// Whether the kernel's text depends on the field by itself.
inline bool is_of_kernel(const Parameter& parameter) {
    return !parameter.launch_only && parameter.member != &KernelConfig::family;
}
// A condition that holds for the config's kernel and no other of its family, in C++.
inline std::string in_kernel(const KernelConfig& config) {
    std::string text;
    for (const Parameter& parameter : kParameters)
        if (is_of_kernel(parameter))
            text += fmt::format("{}Kernel::config.{} == {}", text.empty() ? "" : " && ", parameter.name, config.*parameter.member);
    return text;
}
// The same in SQL, family included: of the view config_fields by the name of config, in which enumerators are names.
inline std::string in_sql(const Parameter& parameter, const KernelConfig& config) {
    const int value = config.*parameter.member;
    return has_name(parameter, value) ? fmt::format("config.{} = '{}'", parameter.name, parameter.value_names[value])
                                      : fmt::format("config.{} = {}", parameter.name, value);
}
inline std::string in_sql(const KernelConfig& config) {
    std::string text;
    for (const Parameter& parameter : kParameters)
        if (!parameter.launch_only) text += (text.empty() ? "" : " AND ") + in_sql(parameter, config);
    return text;
}

// Candidates of the folder's only shape whose kernels differ, and which do not split K; the default config leads.
inline std::vector<KernelConfig> candidates(const TunerFolder& folder) {
    std::vector<KernelConfig> found;
    const auto json = nlohmann::json::parse(folder.tune({"--dry-run", "--json"}).out);
    for (const auto& text : json.at("devices").at(0).at("problems").at(0).at("candidates")) {
        const KernelConfig config = parse_config(text.get<std::string>());
        const auto same = [&](const KernelConfig& other) { return in_sql(other) == in_sql(config); };
        if (config.split_k == 1 && std::none_of(found.begin(), found.end(), same)) found.push_back(config);
    }
    return found;
}

// The folder's tmm-tune finds a compiler that does this for every kernel.
inline void set_compiler(TunerFolder& folder, const std::string& script) {
    const fs::path compiler = folder.path / "compiler";
    tuner_testing::write_text(compiler, "#!/bin/sh\ncase \"$*\" in --version) exec c++ --version ;; esac\n" + script + "\n");
    fs::permissions(compiler, fs::perms::owner_all);
    folder.environment["TMM_CXX"] = compiler.string();
}

inline void fail_to_compile(TunerFolder& folder, const std::string& message) {
    set_compiler(folder, "echo '" + message + "' >&2\nexit 1");
}

}  // namespace tuner_testing
