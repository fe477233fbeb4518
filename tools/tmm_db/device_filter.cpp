#include "tools/tmm_db/device_filter.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/text/printable.h"

namespace tmm {
namespace {

// Letters and digits, in lower case; all else parts words.
std::vector<std::string> words_of(std::string_view text) {
    std::vector<std::string> words(1);
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (std::isalnum(byte) || byte >= 0x80)
            words.back() += static_cast<char>(std::tolower(byte));
        else if (!words.back().empty())
            words.emplace_back();
    }
    if (words.back().empty()) words.pop_back();
    return words;
}

}  // namespace

bool names_device(std::string_view name, std::string_view device) {
    const std::vector<std::string> wanted = words_of(name), words = words_of(device);
    return wanted.empty() ? name == device : std::search(words.begin(), words.end(), wanted.begin(), wanted.end()) != words.end();
}

DeviceFilter::DeviceFilter(std::string name, const std::vector<std::string>& known) : name_(std::move(name)) {
    if (name_.empty()) return;
    is_whole_ = std::find(known.begin(), known.end(), name_) != known.end();
    if (std::any_of(known.begin(), known.end(), [&](const std::string& device) { return takes(device); })) return;
    throw Error(ExitStatus::no_winner, fmt::format("there is nothing of a device named {}", in_quotes(name_)), "--gpu",
                known.empty() ? "the database holds no device yet; run tmm-tune"
                              : fmt::format("write whole words of a name; there is something of {}", listed_names(known)));
}

bool DeviceFilter::takes(std::string_view device) const {
    if (name_.empty()) return true;
    return is_whole_ ? device == name_ : names_device(name_, device);
}

std::string listed_names(const std::vector<std::string>& devices) {
    std::set<std::string> names;
    for (const std::string& device : devices) names.insert(printable(device));
    return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace tmm
