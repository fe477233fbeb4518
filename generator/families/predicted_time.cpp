#include "generator/families/predicted_time.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "host/portable_math.h"

namespace tmm {
namespace {

constexpr std::size_t kMostParts = 8;

}  // namespace

PredictedTime longest_of(std::initializer_list<PredictedTime> parts) {
    PredictedTime longest;
    for (const PredictedTime& part : parts)
        if (part.total() > longest.total()) longest = part;
    return longest;
}

PredictedTime norm_of(double norm, std::initializer_list<PredictedTime> parts) {
    // A power takes longer than all else.
    std::array<double, kMostParts> power_of{};
    double powers = 0;
    std::size_t i = 0;
    for (const PredictedTime& part : parts) powers += power_of.at(i++) = portable::pow(part.total(), norm);
    PredictedTime all;
    if (powers <= 0) return all;
    const double whole = portable::pow(powers, 1 / norm);
    i = 0;
    for (const PredictedTime& part : parts) {
        const double alone = part.total();
        const double power = power_of[i++];
        if (alone > 0) all += whole * (power / powers) / alone * part;
    }
    return all;
}

std::string to_text(const PredictedTime& time) {
    const double total = time.total();
    // The terms have the digits of the whole, so that they are seen to add up.
    const int digits = total > 0 && std::isfinite(total) ? std::clamp(2 - static_cast<int>(std::floor(std::log10(total))), 0, 3) : 0;
    std::string text = fmt::format("{:.{}f} µs", total, digits);
    const char* between = " = ";
    for (const PredictedTerm& term : kPredictedTerms) {
        std::string value = fmt::format("{:.{}f}", time.*term.member, digits);
        if (value.find_first_not_of("0.") == std::string::npos) continue;
        text += fmt::format("{}{} {}", between, term.words, value);
        between = " + ";
    }
    return text;
}

}  // namespace tmm
