// A decision's figures in words. All of them are from its run-off; the text says so where a time was measured alone.
#pragma once

#include <string>
#include <vector>

#include "db/store/records.h"

namespace tmm {

// The parts of a decision's reason: what decided, what the search did, and what it left out beforehand: "beat … by 3.1% in a run-off of 9
// over 40 rounds", "96 candidates measured, 2 failed: 2 spills", "6670 configs rejected before: …". The last two may be empty.
struct ReasonParts {
    std::string verdict;
    std::string search;
    std::string rejected;
};
ReasonParts parts_of_reason(const std::string& reason);
// "670 configs rejected before: 600 x odd, 70 for 2 rarer reasons" in its rows: what stands before the colon with it, then each count.
std::vector<std::string> rows_of_rejected(const std::string& rejected);

// "110.0 µs, 19.52 TFLOP/s", then what the winner took when it was measured alone; `alone` may be null.
std::string time_text(const TuningRecord& decision, const Measurement* alone);
// "2.00x (the default took 220.0 µs in the same run-off)".
std::string vs_default_text(const TuningRecord& decision);
// "121.0 µs in the same run-off, 10.0% slower: tiled 16x16x16".
std::string runner_up_text(const TuningRecord& decision);

}  // namespace tmm
