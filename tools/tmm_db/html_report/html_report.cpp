// Puts the report's one file together: template, styles, scripts, chart library and data.
#include "tools/tmm_db/html_report/html_report.h"

#include <fmt/core.h>

#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <string_view>

#include "base/error.h"
#include "base/files/output_file.h"
#include "tools/tmm_db/html_report/report_columns.h"

namespace tmm {

const std::map<std::string, std::string>& embedded_page();
const std::map<std::string, std::string>& embedded_chart_library();

namespace {

// The scripts are in this order because each uses those before it.
constexpr const char* kScripts[] = {"theme.js", "data.js", "table.js", "roofline.js", "heat_map.js", "candidates.js", "page.js"};

// The policy in page.html runs no script without it, and what a database holds can't know it.
std::string make_nonce() {
    std::random_device random;
    return fmt::format("{:08x}{:08x}{:08x}{:08x}", random(), random(), random(), random());
}

// JSON that ends no <script> element, whatever strings it holds.
std::string script_text(const nlohmann::json& data) {
    std::string text;
    for (const char c : data.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)) {
        if (c == '<')
            text += "\\u003c";
        else
            text += c;
    }
    return text;
}

// Replaces each {{name}} of the template, once: what is put in is not looked at again.
std::string filled(std::string_view page, const std::map<std::string, std::string, std::less<>>& parts) {
    std::string text;
    while (true) {
        const std::size_t begin = page.find("{{");
        text += page.substr(0, begin);
        if (begin == std::string_view::npos) return text;
        const std::size_t end = page.find("}}", begin);
        text += parts.find(page.substr(begin + 2, end - begin - 2))->second;
        page.remove_prefix(end + 2);
    }
}

}  // namespace

std::string html_report(const ReportContent& content) {
    if (embedded_chart_library().empty())
        throw Error(ExitStatus::usage, "this tmm-db was built without Chart.js, which draws the report", {},
                    "install libjs-chart.js (Debian, Ubuntu) and build tmm again");
    const auto& files = embedded_page();
    std::string scripts;
    for (const char* name : kScripts) scripts += files.at(name);
    return filled(files.at("page.html"), {{"nonce", make_nonce()},
                                          {"style", files.at("style.css")},
                                          {"data", script_text(report_columns(content))},
                                          {"chart_library", embedded_chart_library().begin()->second},
                                          {"scripts", scripts}});
}

void write_html_report(const ReportContent& content, const std::filesystem::path& file) {
    publish_file(file, html_report(content), {.what = "the report"});
}

}  // namespace tmm
