// Times two sides in alternation; see paired_timing.h.
#include "bench/timing/paired_timing.h"

#include <algorithm>
#include <stdexcept>

namespace tmm::bench {
PairedSamples time_in_pairs(const Sampler& ours, const std::vector<PeerSide>& peers, int pairs) {
    PairedSamples samples;
    samples.peers.resize(peers.size());
    for (int pair = 0; pair < pairs; ++pair) {
        const bool turned = pair % 2 == 1;
        std::vector<double> fastest(peers.size(), 0);
        if (!turned) samples.ours.push_back(ours());
        for (std::size_t i = 0; i < peers.size(); ++i) {
            const std::size_t peer = turned ? peers.size() - 1 - i : i;
            const std::vector<Sampler>& offers = peers[peer].offers;
            for (std::size_t j = 0; j < offers.size(); ++j) {
                const double time = offers[turned ? offers.size() - 1 - j : j]();
                if (j == 0 || time < fastest[peer]) fastest[peer] = time;
            }
        }
        if (turned) samples.ours.push_back(ours());
        for (std::size_t i = 0; i < peers.size(); ++i) samples.peers[i].push_back(fastest[i]);
    }
    return samples;
}

std::vector<double> ratios(const std::vector<double>& ours, const std::vector<double>& other) {
    if (ours.size() != other.size()) throw std::invalid_argument("pairs need as many samples on either side");
    std::vector<double> result(ours.size());
    std::transform(other.begin(), other.end(), ours.begin(), result.begin(), [](double a, double b) { return a / b; });
    return result;
}

std::vector<double> fastest_per_pair(const std::vector<std::vector<double>>& peers) {
    if (peers.empty()) return {};
    std::vector<double> fastest = peers.front();
    for (const std::vector<double>& peer : peers)
        for (std::size_t i = 0; i < fastest.size() && i < peer.size(); ++i) fastest[i] = std::min(fastest[i], peer[i]);
    return fastest;
}

}  // namespace tmm::bench
