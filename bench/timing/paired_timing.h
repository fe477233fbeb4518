// Times two sides in alternation until their ratio is known: pairs follow each other whose order turns each time.
#pragma once

#include <vector>

#include "tuner/measure/timing.h"

namespace tmm::bench {

// A peer with everything it offers for the problem. In each round its time is that of its fastest offer.
struct PeerSide {
    std::vector<Sampler> offers;
};

struct PairedSamples {
    // Our samples, one value a pair.
    std::vector<double> ours;
    // [peer][pair]: the fastest of the peer's offers in that pair.
    std::vector<std::vector<double>> peers;
};

// Even pairs begin with ours, odd pairs with the last offer of the last peer: a drift over time affects both sides alike.
PairedSamples time_in_pairs(const Sampler& ours, const std::vector<PeerSide>& peers, int pairs);

// other[i] / ours[i]: above 1 where ours is faster. Both must have the same length.
std::vector<double> ratios(const std::vector<double>& ours, const std::vector<double>& other);
// The fastest peer of each pair.
std::vector<double> fastest_per_pair(const std::vector<std::vector<double>>& peers);

}  // namespace tmm::bench
