#include "tools/tmm_db/html_report/ceilings.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace tmm {

const std::map<std::string, std::string>& embedded_page();

namespace {

using nlohmann::json;

constexpr const char* kArithmetics[] = {"ffma", "tf32", "f16", "bf16"};

// tmm-bench writes its numbers as text. The result is 0 where there is none.
double number(const json& run, const std::string& key) {
    const std::string text = run.value(key, "");
    double value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

}  // namespace

std::optional<Ceilings> known_ceilings(const std::string& device) {
    for (const auto& row : json::parse(embedded_page().at("ceilings.json")))
        if (row.at("device") == device)
            return Ceilings{.device = device,
                            .read_gb_s = row.at("read_gb_s"),
                            .tflops = row.at("tflops").get<std::map<std::string, double>>(),
                            .source = row.at("source")};
    return std::nullopt;
}

Ceilings read_ceilings(const std::filesystem::path& file) {
    const auto fail = [&](const std::string& what) {
        throw Error(ExitStatus::bad_input, what, file.string(), "give a file that 'tmm-bench --json' wrote on a GPU");
    };
    std::ifstream stream(file);
    if (!stream) fail("can't be read");
    const json document = json::parse(stream, nullptr, false);
    const json run = document.is_object() ? document.value("run", json::object()) : json::object();
    Ceilings ceilings;
    try {
        ceilings = {.device = run.value("gpu", ""), .read_gb_s = number(run, "read_gb_s")};
        for (const std::string name : kArithmetics)
            if (const double rate = number(run, name + "_tflops"); rate > 0) ceilings.tflops[name] = rate;
        ceilings.source = fmt::format("measured by tmm-bench (driver {}, {}), tensor cores by mma.sync", run.value("driver", "unknown"),
                                      run.value("date", "no date"));
    } catch (const json::exception&) {
        fail("is none of tmm-bench's");
    }
    if (ceilings.device.empty() || ceilings.read_gb_s <= 0) fail("holds no ceilings");
    return ceilings;
}

Ceilings higher(const Ceilings& known, const Ceilings& measured) {
    Ceilings both = known;
    both.read_gb_s = std::max(known.read_gb_s, measured.read_gb_s);
    for (const auto& [name, rate] : measured.tflops) both.tflops[name] = std::max(both.tflops[name], rate);
    both.source += "; " + measured.source;
    return both;
}

}  // namespace tmm
