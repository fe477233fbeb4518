// Names of thread orders, and a xorshift generator for the shuffled ones.
#include "runtime/host_thread_order.h"

#include <fmt/core.h>

#include <charconv>
#include <string_view>

#include "generator/error.h"

namespace tmm {

HostThreadOrder parse_host_thread_order(const std::string& text) {
    if (text == "ascending") return {HostThreadOrder::Kind::ascending};
    if (text == "descending") return {HostThreadOrder::Kind::descending};
    constexpr std::string_view kShuffled = "shuffled";
    if (text == kShuffled) return {HostThreadOrder::Kind::shuffled};
    if (text.starts_with("shuffled:")) {
        HostThreadOrder order{HostThreadOrder::Kind::shuffled};
        const char* const end = text.data() + text.size();
        const auto [stop, error] = std::from_chars(text.data() + kShuffled.size() + 1, end, order.seed);
        if (error == std::errc() && stop == end) return order;
    }
    throw Error(ExitStatus::usage, fmt::format("'{}' is no thread order", text), "TMM_HOST_ORDER",
                "use ascending, descending, shuffled or shuffled:SEED");
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
