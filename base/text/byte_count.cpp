#include "base/text/byte_count.h"

#include <charconv>

namespace tmm {
namespace {

struct Unit {
    std::string_view name;
    std::int64_t bytes;
};

// The units are ordered, the largest first.
constexpr Unit kUnits[] = {{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}};

}  // namespace

std::optional<std::int64_t> parse_bytes(std::string_view text) {
    std::int64_t count = 0;
    const char* const end = text.data() + text.size();
    const auto [digits_end, error] = std::from_chars(text.data(), end, count);
    if (error != std::errc() || count < 0) return std::nullopt;
    std::string_view suffix(digits_end, static_cast<std::size_t>(end - digits_end));
    if (suffix.empty()) return count;
    if (suffix.front() == ' ') suffix.remove_prefix(1);
    for (const Unit& unit : kUnits) {
        std::int64_t bytes = 0;
        if (suffix == unit.name && !__builtin_mul_overflow(count, unit.bytes, &bytes)) return bytes;
    }
    return std::nullopt;
}

std::string exact_bytes_text(std::int64_t bytes) {
    for (const Unit& unit : kUnits)
        if (bytes > 0 && bytes % unit.bytes == 0) return std::to_string(bytes / unit.bytes).append(" ").append(unit.name);
    return std::to_string(bytes) + " bytes";
}

}  // namespace tmm
