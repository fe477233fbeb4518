// A thread's state at the start of a block, and its description in words.
#include "runtime/emulation/host_thread.h"

#include <fmt/core.h>

#include <cstring>
#include <utility>

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

}  // namespace tmm
