// Parts of a list of shapes, held against how long searches of them take by times that an H200 recorded: for how much of the longest
// part's time all parts are busy. TMM_TEST_FULL=1 simulates all searches anew and prints tests/data/search_seconds.csv.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "generator/text/text.h"
#include "tests/support/replay.h"
#include "tests/support/search_seconds.h"
#include "tests/support/slice.h"
#include "tuner/options/shard.h"

using namespace tmm::testing;

namespace {

constexpr std::size_t kSimulated = 459;
constexpr std::size_t kSlices = 90;

// By shape.
std::map<std::string, double> simulated_before() {
    std::ifstream file(std::string(TMM_SOURCE_DIR) + "/tests/data/search_seconds.csv");
    std::map<std::string, double> seconds;
    for (std::string line; std::getline(file, line);)
        if (const auto comma = line.rfind(','); comma != std::string::npos)
            seconds[line.substr(0, comma)] = std::stod(line.substr(comma + 1));
    return seconds;
}

double efficiency(const std::vector<tmm::Shape>& shapes, int parts, const std::map<std::string, double>& seconds) {
    double sum = 0, longest = 0;
    for (int i = 0; i < parts; ++i) {
        double busy = 0;
        for (const tmm::Shape& shape : tmm::shapes_of({.index = i, .count = parts}, shapes)) busy += seconds.at(tmm::to_text(shape));
        sum += busy;
        longest = std::max(longest, busy);
    }
    return sum / (parts * longest);
}

// The mean over several lists of a thousand, drawn from the shapes.
double mean_efficiency(int parts, const std::map<std::string, double>& seconds) {
    std::vector<tmm::Shape> known;
    for (const auto& [shape, its_seconds] : seconds) known.push_back(tmm::parse_shape(shape));
    std::mt19937_64 random(1);
    constexpr int kLists = 40;
    double sum = 0;
    for (int list = 0; list < kLists; ++list) {
        std::vector<tmm::Shape> shapes;
        for (int i = 0; i < 1000; ++i) shapes.push_back(known[random() % known.size()]);
        sum += efficiency(shapes, parts, seconds);
    }
    return sum / kLists;
}

}  // namespace

TEST_CASE("parts of a thousand shapes are busy for most of the time that the longest takes") {
    const std::map<std::string, double> seconds = simulated_before();
    REQUIRE(seconds.size() == kSimulated);
    const std::pair<int, double> least[] = {{4, 0.98}, {16, 0.95}, {64, 0.90}};
    for (const auto& [parts, busy] : least) {
        const double found = mean_efficiency(parts, seconds);
        fmt::print("1000 shapes in {} parts: {:.1f}% busy\n", parts, 100 * found);
        CHECK_MESSAGE(found >= busy, parts << " parts: " << found);
    }
}

TEST_CASE("searches take as long as they did when the parts were judged") {
    const std::map<std::string, double> before = simulated_before();
    const tmm::bench::RecordedTimes recorded = read_recording(std::string(TMM_SOURCE_DIR) + "/bench/results/regret-h200.csv.gz");
    const std::vector<ShapeLike> shapes = shapes_like(recorded, kSimulated, 1);
    std::map<std::string, double> now;
    double sum_now = 0, sum_before = 0;
    for (std::size_t i = 0; i < shapes.size(); ++i) {
        const std::string shape = tmm::to_text(shapes[i].shape);
        if (!in_slice(i, kSlices)) continue;
        now[shape] = search_seconds(shapes[i], recorded.device);
        fmt::print("{},{:.2f}\n", shape, now[shape]);
        const auto its_before = before.find(shape);
        CHECK_MESSAGE(its_before != before.end(), shape << " is not in tests/data/search_seconds.csv: print all anew with TMM_TEST_FULL=1");
        if (its_before == before.end()) continue;
        sum_now += now[shape];
        sum_before += its_before->second;
    }
    REQUIRE(sum_before > 0);
    CHECK_MESSAGE(std::max(sum_now / sum_before, sum_before / sum_now) <= 1.5, sum_now << " s, and " << sum_before << " s before");
    if (now.size() == shapes.size()) fmt::print("now 64 parts are {:.1f}% busy\n", 100 * mean_efficiency(64, now));
}
