// The content of the HTML report on a database: its devices, and for each the winners, what was tried, and what failed.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "db/store/records.h"
#include "db/store/tuning_database.h"
#include "tools/tmm_db/device_filter.h"
#include "tools/tmm_db/html_report/ceilings.h"
#include "tools/tmm_db/library_choice.h"

namespace tmm {

struct ReportContent {
    // Longer reasons are cut.
    static constexpr std::size_t kReasonLimit = 200;

    struct Device {
        DeviceInfo info = {};
        // The device with the limits that the cost models need, which the database does not hold. Nothing where the device's kind is not
        // known, and for the emulated device, for which nothing is predicted.
        std::optional<DeviceInfo> modelled = {};
        // The ceilings of a GPU, where they were measured.
        std::optional<Ceilings> ceilings = {};
    };

    struct Candidate {
        KernelConfig config = {};
        Measurement measurement = {};
        // 0 where nothing is predicted.
        double predicted_us = 0;
    };

    // The candidates that were tried for one problem on one device: the newest measurement of each config, the fastest first, failures
    // last.
    struct Group {
        std::size_t device = 0;
        // The problem in its default compute mode: measurements serve every mode.
        GemmProblem problem = {};
        std::vector<Candidate> candidates = {};
        // Number of candidates that were measured; `candidates` may hold fewer.
        std::size_t measured = 0;
    };

    struct Winner {
        std::size_t device = 0;
        WinnerRow row = {};
        // Number of candidates that it was chosen from.
        int candidates = 0;
        // The place of its candidates among the groups.
        std::optional<std::size_t> group = {};
    };

    // Failures of one device, outcome and family whose reasons differ in numbers only, with one of them.
    struct Failure {
        std::size_t device = 0;
        std::string outcome = {};
        std::size_t count = 0;
        GemmProblem problem = {};
        KernelConfig config = {};
        std::string reason = {};
    };

    std::vector<Device> devices = {};
    std::vector<Group> groups = {};
    std::vector<Winner> winners = {};
    // Failures, the most frequent first.
    std::vector<Failure> failures = {};
};

struct HtmlReportOptions {
    DeviceFilter devices = {};
    // May be empty: then winners are shown as they were decided on.
    LibraryChooser choose = {};
    // Most candidates that the page shows. More are thinned out: each problem keeps its fastest and a sample of the others. So many keep
    // the page below 2 MB.
    std::size_t most_candidates = 40'000;
    // Measured ceilings, in addition to those that are known.
    std::optional<Ceilings> ceilings = {};
};

// Reads the report's content under the default policy.
ReportContent read_report_content(TuningDatabase& database, const HtmlReportOptions& options);

}  // namespace tmm
