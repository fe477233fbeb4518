// Names of thread orders, and a xorshift generator for the shuffled ones.
#include "runtime/emulation/host_thread_order.h"

#include <fmt/core.h>

#include <charconv>
#include <optional>
#include <string_view>

#include "base/error.h"

namespace tmm {

namespace {

// The number that follows the prefix, where nothing else does.
std::optional<std::uint64_t> number_after(std::string_view prefix, std::string_view text) {
    if (!text.starts_with(prefix)) return std::nullopt;
    std::uint64_t number = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data() + prefix.size(), end, number);
    if (error != std::errc() || stop != end) return std::nullopt;
    return number;
}

}  // namespace

HostThreadOrder parse_host_thread_order(const std::string& text) {
    using Kind = HostThreadOrder::Kind;
    if (text == "ascending") return {.kind = Kind::ascending};
    if (text == "descending") return {.kind = Kind::descending};
    if (text == "shuffled") return {.kind = Kind::shuffled};
    if (const auto seed = number_after("shuffled:", text)) return {.kind = Kind::shuffled, .seed = *seed};
    if (const auto thread = number_after("straggling:", text)) return {.kind = Kind::straggling, .straggler = *thread};
    throw Error(ExitStatus::usage, fmt::format("'{}' is no thread order", text), "TMM_HOST_ORDER",
                "use ascending, descending, shuffled, shuffled:SEED or straggling:THREAD");
}

HostChance::HostChance(const HostThreadOrder& order)
    : shuffled_(order.kind == HostThreadOrder::Kind::shuffled), state_(order.seed * 0x9e3779b97f4a7c15ULL + 1) {}

std::uint64_t HostChance::next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_;
}

}  // namespace tmm
