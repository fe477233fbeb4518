// Databases of random content, merged in every order: the result is the same, and merging again adds nothing.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <random>

#include "db/store/record_text.h"
#include "db/store/records.h"
#include "tests/support/database_fixture.h"
#include "tests/support/slice.h"

using namespace tmm;
using namespace tmm::testing;

namespace {

constexpr int kRounds = 340;
constexpr std::size_t kSlices = 20;

struct Content {
    std::vector<TuningRecord> records;
    std::vector<RatesRecord> rates;
};

class RandomRecords {
public:
    explicit RandomRecords(int seed) : random_(static_cast<unsigned>(seed)) {}

    Content some() {
        Content content;
        for (int i = below(8); i > 0; --i) content.records.push_back(one());
        for (int i = below(4); i > 0; --i) content.rates.push_back(one_of_rates());
        return content;
    }

private:
    int below(int limit) { return static_cast<int>(random_() % static_cast<unsigned>(limit)); }

    RatesRecord one_of_rates() {
        RatesRecord record{.environment = environment_of("NVIDIA H200"), .rates = rates_of_h200(), .time = below(4)};
        record.environment.device.power_limit -= 100 * below(2);
        record.rates.read_bytes += 1000 * below(2);
        return record;
    }

    // The values are few, so that databases have rows in common, and rows that differ in little.
    TuningRecord one() {
        TuningRecord record{.environment = environment_of(below(2) == 0 ? "NVIDIA H200" : "NVIDIA H100", 90, 132 - below(2)),
                            .problem = problem_of(fmt::format("{} 64 64", 32 * (1 + below(2)))),
                            .config = tiled_config(8 << below(3)),
                            .time = below(6)};
        record.environment.device.driver_version += below(2);
        if (below(2) == 0) {
            record.measurement = measured(10 + below(2), below(2) == 0 ? "00000000000000aa" : "00000000000000bb");
            if (below(4) == 0) record.measurement = {.outcome = Outcome::wrong_result, .kernel_hash = "00000000000000aa"};
        } else {
            record.kind = TuningRecord::Kind::selection;
            record.measurement.median_us = 10 + below(2);
            record.candidates = below(3);
            record.origin = below(4) == 0 ? "shipped" : "user";
            record.reason = below(2) == 0 ? "" : "the fastest";
            record.predicted = below(4) == 0;
        }
        return record;
    }

    std::mt19937 random_;
};

std::filesystem::path stored(const TemporaryDirectory& directory, const std::string& name, const Content& content) {
    TuningDatabase database(directory / name, TuningDatabase::Mode::read_write_create);
    database.insert(content.records, content.rates);
    return directory / name;
}

// The first database's content after it has taken in the others, one by one; the files stay as they are.
std::string merged(const TemporaryDirectory& directory, const std::vector<std::filesystem::path>& files) {
    const auto copy = directory / "merged.db";
    std::filesystem::copy_file(files.front(), copy, std::filesystem::copy_options::overwrite_existing);
    TuningDatabase database(copy, TuningDatabase::Mode::read_write);
    for (std::size_t i = 1; i < files.size(); ++i) database.merge(files[i]);
    CHECK(database.verify().empty());
    std::string text = to_csv(database.records());
    for (const RatesRecord& record : database.rates_records())
        text += fmt::format("{} {} {}\n", record.environment.device.power_limit, record.rates.read_bytes, record.time);
    return text;
}

}  // namespace

TEST_CASE("merging random databases is commutative, associative and idempotent") {
    for (int round = 0; round < kRounds; ++round) {
        if (!in_slice(static_cast<std::size_t>(round), kSlices)) continue;
        CAPTURE(round);
        const TemporaryDirectory directory;
        RandomRecords random(round);
        const auto a = stored(directory, "a.db", random.some());
        const auto b = stored(directory, "b.db", random.some());
        const auto c = stored(directory, "c.db", random.some());
        const std::string all = merged(directory, {a, b, c});
        CHECK(merged(directory, {a, b}) == merged(directory, {b, a}));
        CHECK(merged(directory, {b, c, a}) == all);
        CHECK(merged(directory, {c, b, a}) == all);
        CHECK(merged(directory, {a, b, a, b, c, c}) == all);
        // (b + c) first, then with a.
        (void)merged(directory, {b, c});
        std::filesystem::rename(directory / "merged.db", directory / "bc.db");
        CHECK(merged(directory, {a, directory / "bc.db"}) == all);
        CHECK(merged(directory, {directory / "bc.db", a}) == all);
    }
}
