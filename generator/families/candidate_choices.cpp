#include "generator/families/candidate_choices.h"

#include <algorithm>

namespace tmm {
namespace {

// Waves count as whole where blocks fill so large a part, or more, of the places that filled_places() counts.
constexpr double kWholeWaves = 0.96;

}  // namespace

double filled_places(std::int64_t blocks, const DeviceInfo& device) {
    const std::int64_t sms = std::max(1, device.sm_count);
    const std::int64_t places = (blocks + sms - 1) / sms * sms;
    return static_cast<double>(blocks) / static_cast<double>(std::max<std::int64_t>(1, places));
}

std::vector<int> cluster_choices(int split, const DeviceInfo& device) {
    int size = 1;
    while (2 * size <= device.largest_cluster() && split % (2 * size) == 0) size *= 2;
    return size > 1 ? std::vector<int>{1, size} : std::vector<int>{1};
}

std::vector<int> whole_cluster_choices(int split, const DeviceInfo& device) {
    return split > 1 && split <= device.largest_cluster() ? std::vector<int>{1, split} : std::vector<int>{1};
}

std::vector<int> split_choices(const GemmProblem& problem, const DeviceInfo& device, std::int64_t tiles, int block_k) {
    const std::int64_t deepest = std::min<std::int64_t>(512, problem.k / (4LL * block_k));
    const std::int64_t widest = std::max<std::int64_t>(1, 8LL * device.sm_count / std::max<std::int64_t>(1, tiles));
    std::vector<int> splits{1};
    const auto add = [&](std::int64_t split) {
        if (split > 1 && split <= deepest && split <= 2 * widest && std::find(splits.begin(), splits.end(), split) == splits.end())
            splits.push_back(static_cast<int>(split));
    };
    for (int split = 2; split <= 512; split *= 2) add(split);
    for (const int split : {3, 5, 6, 7})
        if (filled_places(tiles * split, device) >= kWholeWaves) add(split);
    for (const int waves : {1, 2, 3, 4, 6}) add(static_cast<std::int64_t>(waves) * device.sm_count / std::max<std::int64_t>(1, tiles));
    return splits;
}

int band_choice(std::int64_t tiles_m, std::int64_t tiles_n, std::int64_t batch, const DeviceInfo& device) {
    constexpr int band = 8;
    return tiles_m * tiles_n * batch > 4LL * device.sm_count && tiles_m > band && tiles_n > band ? band : 0;
}

}  // namespace tmm
