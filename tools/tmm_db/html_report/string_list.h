// Strings that stand once in a list and are named by their place in it.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tmm {

class StringList {
public:
    // The place of the string, which is appended where it is new.
    int place(std::string_view text) {
        const auto [found, is_new] = places_.emplace(text, static_cast<int>(strings_.size()));
        if (is_new) strings_.emplace_back(text);
        return found->second;
    }
    const std::vector<std::string>& strings() const { return strings_; }

private:
    std::map<std::string, int, std::less<>> places_;
    std::vector<std::string> strings_;
};

}  // namespace tmm
