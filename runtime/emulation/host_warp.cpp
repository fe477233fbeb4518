// Shuffles, votes and gatherings of an emulated warp.
#include "runtime/emulation/host_warp.h"

namespace tmm {

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
