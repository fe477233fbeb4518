#include "tests/support/kernels/planted_rows.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "db/store/tuning_database.h"
#include "generator/choice/validity.h"
#include "generator/families/family.h"
#include "generator/problem/problem_forms.h"
#include "generator/text/text.h"
#include "runtime/select/read_winners.h"
#include "tests/support/kernels/correctness.h"
#include "tests/support/slice.h"
#include "tests/support/temporary_directory.h"

namespace tmm::testing {
namespace {

constexpr int kChanges = 3;
constexpr int kAttempts = 400;

using Random = std::mt19937_64;

int random_value(const Parameter& parameter, Random& random) {
    const auto below = [&](int count) { return static_cast<int>(random() % static_cast<std::uint64_t>(count)); };
    const int least = least_value(parameter), most = most_value(parameter);
    // The value is a small number, a power of two, or any number.
    switch (below(3)) {
        case 0: return least + below(std::min(most - least + 1, 9));
        case 1: return std::min(most, 1 << below(13));
        default: return least + below(most - least + 1);
    }
}

bool is_legal(const GemmProblem& problem, const KernelConfig& config, const DeviceInfo& device) {
    return !rejection_reason(problem, config, device);
}

KernelConfig unusual(const PlantedRow& row, const DeviceInfo& device, Random& random) {
    KernelConfig config = row.config;
    const FieldSet used = family_of(config).rules.fields;
    int changes = 0;
    for (int attempt = 0; attempt < kAttempts && changes < kChanges; ++attempt) {
        const auto field = random() % kParameterCount;
        const Parameter& parameter = kParameters[field];
        if ((used >> field & 1) == 0 || parameter.member == &KernelConfig::family) continue;
        KernelConfig changed = config;
        changed.*parameter.member = random_value(parameter, random);
        if (changed == config || !is_legal(row.problem, changed, device)) continue;
        config = changed;
        ++changes;
    }
    return config;
}

void write_rows(const std::filesystem::path& file, const std::vector<PlantedRow>& rows, const DeviceInfo& device) {
    TuningDatabase database(file, TuningDatabase::Mode::read_write_create);
    database.set_environment(Environment{.device = device});
    for (const PlantedRow& row : rows)
        database.decide(row.problem, {}, {.config = row.config, .median_us = 1, .candidates = 1, .reason = "planted"});
    CHECK(database.verify().empty());
}

GemmProblem near_to(GemmProblem problem) {
    problem.k += 1;
    problem.lda = std::max(problem.lda, stored_columns_a(problem));
    problem.ldb = std::max(problem.ldb, stored_columns_b(problem));
    if (problem.batch > 1 && problem.stride_a > 0) problem.stride_a = stored_rows_a(problem) * problem.lda;
    if (problem.batch > 1 && problem.stride_b > 0) problem.stride_b = stored_rows_b(problem) * problem.ldb;
    return problem;
}

}  // namespace

std::vector<PlantedRow> unusual_rows(const SamplerOptions& options, const DeviceInfo& device) {
    Random random(options.seed);
    std::vector<PlantedRow> rows;
    for (SamplerOptions more = options; rows.size() < static_cast<std::size_t>(options.count); ++more.seed)
        for (const Sample& sample : sample_configs(more, device)) {
            PlantedRow row{.problem = with_alignment(sample.problems.front(), sample.problems.front().alignment), .config = sample.config};
            const auto same = [&](const PlantedRow& other) { return other.problem == row.problem; };
            if (std::any_of(rows.begin(), rows.end(), same) || !is_legal(row.problem, row.config, device)) continue;
            row.config = unusual(row, device, random);
            rows.push_back(row);
            if (rows.size() == static_cast<std::size_t>(options.count)) break;
        }
    return rows;
}

void check_planted_rows(const std::vector<PlantedRow>& rows, const std::vector<std::shared_ptr<Device>>& devices, std::uint64_t seed,
                        std::size_t slices) {
    const DeviceInfo& device = devices.front()->info();
    const TemporaryDirectory directory;
    write_rows(directory.path() / "tmm.db", rows, device);
    const Winners winners = read_winners(directory.path() / "tmm.db", device);
    std::vector<Sample> samples;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const PlantedRow& row = rows[i];
        CAPTURE(to_text(row.problem));
        CAPTURE(to_text(row.config));
        const Selection own = winners.select(row.problem);
        CHECK(own.match == Match::exact);
        CHECK(to_text(own.config) == to_text(row.config));
        if (!in_slice(i, slices)) continue;
        const double beta = row.problem.reads_c ? 3 : 0;
        samples.push_back({.config = own.config, .problems = {row.problem}, .alpha = -2, .beta = beta});
        const GemmProblem near = near_to(row.problem);
        samples.push_back({.config = winners.select(near).config, .problems = {near}, .alpha = 1, .beta = beta});
    }
    check_samples(samples, devices, device, seed, fmt::format("of a planted database of {} rows", rows.size()));
}

}  // namespace tmm::testing
