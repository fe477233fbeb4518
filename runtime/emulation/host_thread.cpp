#include "runtime/emulation/host_thread.h"

#include <fmt/core.h>

#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "base/error.h"

namespace tmm {

namespace {

using host::WarpOperation;
using State = HostThread::State;

std::string where_it_is(const HostThread& thread) {
    switch (thread.state) {
        case State::at_barrier: return "__syncthreads at " + describe(thread.site);
        case State::at_cluster_barrier: return "cluster_sync at " + describe(thread.site);
        case State::at_named_barrier:
            return fmt::format("barrier {} for {} threads at {}", thread.barrier_id, thread.barrier_threads, describe(thread.site));
        case State::at_mbarrier: return "an mbarrier, or wgmma's wait, at " + describe(thread.site);
        case State::at_warp_operation:
            return fmt::format("{} over lanes {:#x} at {}", name_of(thread.operation), thread.mask, describe(thread.site));
        default: return "exited";
    }
}

}  // namespace

void HostThread::begin_block(const host::Thread& place) {
    view = place;
    state = State::not_started;
    fiber = nullptr;
    copies.clear();
    stores.clear();
    unfenced = false;
    deferred.clear();
}

bool same_site(host::Site a, host::Site b) {
    return a.line == b.line && (a.file == b.file || std::strcmp(a.file, b.file) == 0);
}

std::string describe(host::Site site) {
    return fmt::format("{}:{}", site.file, site.line);
}

const char* name_of(WarpOperation operation) {
    switch (operation) {
        case WarpOperation::sync: return "__syncwarp";
        case WarpOperation::shuffle: return "a shuffle";
        case WarpOperation::ballot: return "a vote";
        case WarpOperation::gather: return "an operation of the whole warp";
    }
    return "";
}

std::string describe_divergence(std::span<const HostThread> threads, const std::string& where_in_grid) {
    std::vector<std::pair<std::string, std::vector<std::size_t>>> groups;
    for (std::size_t i = 0; i < threads.size(); ++i) {
        const std::string where = where_it_is(threads[i]);
        auto group = groups.begin();
        while (group != groups.end() && group->first != where) ++group;
        if (group == groups.end()) group = groups.insert(groups.end(), {where, {}});
        group->second.push_back(i);
    }
    std::string text = fmt::format("barrier divergence in {}:", where_in_grid);
    for (const auto& [where, members] : groups)
        text += fmt::format("{} {} thread{} (the first is {}) {}{}", &where == &groups.front().first ? "" : ";", members.size(),
                            members.size() == 1 ? "" : "s", members.front(), where == "exited" ? "" : "at ", where);
    return text;
}

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

using host::WarpOperation;

bool others_have_come(std::span<const HostThread> warp, const HostThread& last) {
    for (std::size_t lane = 0; lane < warp.size(); ++lane) {
        const HostThread& other = warp[lane];
        if (!(last.mask >> lane & 1) || &other == &last) continue;
        if (other.state != HostThread::State::at_warp_operation || other.mask != last.mask || other.operation != last.operation ||
            !same_site(other.site, last.site))
            return false;
    }
    return true;
}

void exchange_words(std::span<HostThread> warp, const HostThread& last) {
    const unsigned mask = last.mask;
    const WarpOperation operation = last.operation;
    unsigned long long words[kHostWarpSize];
    unsigned votes = 0;
    for (std::size_t lane = 0; lane < warp.size(); ++lane) {
        // A lane that takes no part has no value to give.
        words[lane] = ~0ULL;
        if (!(mask >> lane & 1)) continue;
        words[lane] = warp[lane].word;
        if (words[lane]) votes |= 1U << lane;
    }
    if (operation == WarpOperation::gather) {
        std::vector<unsigned char>& gathered = warp.front().gathered;
        gathered.clear();
        for (const HostThread& thread : warp) {
            const auto* const brought = static_cast<const unsigned char*>(thread.brought);
            gathered.insert(gathered.end(), brought, brought + thread.bytes);
        }
    }
    for (std::size_t lane = 0; lane < warp.size(); ++lane) {
        if (!(mask >> lane & 1)) continue;
        HostThread& thread = warp[lane];
        if (operation == WarpOperation::ballot) thread.word = votes;
        if (operation == WarpOperation::shuffle) {
            const auto source = static_cast<std::size_t>(thread.source_lane);
            thread.word = source < warp.size() ? words[source] : ~0ULL;
        }
        if (&thread != &last) thread.state = HostThread::State::ready;
    }
}

}  // namespace tmm
