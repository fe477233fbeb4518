// Times two sides in alternation until their ratio is known: the clock settles first, then pairs follow whose order turns each time.
#pragma once

#include <functional>
#include <vector>

namespace tmm::bench {

// Takes one sample: runs the side once and gives its time in microseconds per launch.
using Sampler = std::function<double()>;

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

struct SettleOptions {
    double least_seconds = 1;
    double most_seconds = 4;
};

// Runs every sampler in turn for at least least_seconds, and on until the first one's times stop falling (its last window's
// median is no longer 0.5% under the window before) or most_seconds are over.
void settle(const std::vector<Sampler>& samplers, const SettleOptions& options);

// Even pairs begin with ours, odd pairs with the last offer of the last peer: a drift over time affects both sides alike.
PairedSamples time_in_pairs(const Sampler& ours, const std::vector<PeerSide>& peers, int pairs);

// other[i] / ours[i]: above 1 where ours is faster. Both must have the same length.
std::vector<double> ratios(const std::vector<double>& ours, const std::vector<double>& other);
// The fastest peer of each pair.
std::vector<double> fastest_per_pair(const std::vector<std::vector<double>>& peers);

}  // namespace tmm::bench
