// How accurate tmm, a loop of FP32 FMAs and cuBLAS are on one family of inputs, and whether that is what tmm promises.
#pragma once

#include <optional>
#include <string>

#include "bench/error_measure.h"
#include "bench/family_operands.h"

namespace tmm::bench {

struct FamilyAccuracy {
    InputFamily family = InputFamily::uniform;
    ErrorMeasure tmm;
    ErrorMeasure loop;
    std::optional<ErrorMeasure> cublas;
    // Of tmm's elements.
    Misplaced misplaced;
    // "C[3][17]: tmm 4.5, exactly 4", and of the first misplaced one "C[0][2]: tmm inf, loop nan"; empty where there is none.
    std::string worst_where;
    std::string misplaced_where;

    double norm_ratio() const { return error_ratio(tmm.norm, loop.norm); }
    double worst_ratio() const { return error_ratio(tmm.worst, loop.worst); }
    bool norm_holds() const { return norm_ratio() <= kMostNormRatio; }
    bool worst_holds() const { return worst_ratio() <= kMostWorstRatio; }
    bool places_hold() const { return misplaced.count == 0; }
    bool holds() const { return norm_holds() && worst_holds() && places_hold(); }
};

// "ok", or what does not hold: "norm 1.31 times the loop's; worst 2.1 times the loop's, C[3][17]: tmm 4.5, exactly 4".
std::string verdict(const FamilyAccuracy& accuracy);

struct Compared {
    Contestant& tmm;
    // The naive family: one thread an element, FMAs in the order of k.
    Contestant& loop;
    // May be null.
    Contestant* cublas = nullptr;
};
// Fills the operands. Throws DeviceFault, and what a contestant throws.
FamilyAccuracy measure_family(InputFamily family, FamilyOperands& operands, const ExactMultiplier& multiplier, const Compared& compared,
                              Stream stream);

}  // namespace tmm::bench
