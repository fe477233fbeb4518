// How accurate tmm, a loop of FP32 FMAs and cuBLAS are on one family of inputs, and whether that is what tmm promises.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/accuracy/error_measure.h"
#include "bench/accuracy/input_family.h"
#include "bench/peers/contestant.h"
#include "runtime/device/device.h"

namespace tmm::bench {

// C = A B: alpha is 1 and beta 0, also for a problem that may read C. Padding between rows is NaN.
class FamilyOperands {
public:
    // The operands are f32. The pointers are multiples of the problem's alignment and of no more, from 16 on of 256. Throws std::bad_alloc
    // where memory is short.
    FamilyOperands(std::shared_ptr<Device> device, const GemmProblem& problem);

    void fill(InputFamily family, int draw = 0);
    const GemmProblem& problem() const { return problem_; }
    const void* a() const { return a_.first; }
    const void* b() const { return b_.first; }

    // The elements of C, [batch][m][n]; those that the contestant does not write are NaN.
    std::vector<float> product_of(Contestant& contestant, Stream stream) const;

private:
    struct Matrix {
        Matrix(const std::shared_ptr<Device>& device, i64 elements, int alignment);
        DeviceBuffer memory;
        float* first;
        std::vector<float> stored;
        std::size_t bytes() const { return stored.size() * sizeof(float); }
    };

    std::shared_ptr<Device> device_;
    GemmProblem problem_;
    Matrix a_;
    Matrix b_;
    Matrix c_;
};

// Measures how accurate tmm, a loop of FP32 FMAs and cuBLAS are on one family of inputs, and whether that is what tmm promises.

struct FamilyAccuracy {
    InputFamily family = InputFamily::uniform;
    // Number of draws of inputs, and of elements of C in all of them.
    int draws = 0;
    i64 elements = 0;
    ErrorMeasure tmm;
    ErrorMeasure loop;
    std::optional<ErrorMeasure> cublas;
    // tmm's errors relative to the loop's.
    Ratio rms_ratio;
    Ratio worst_ratio;
    double largest_ratio = 1;
    // The misplaced elements of tmm's result.
    Misplaced misplaced;
    // "C[3][17]: tmm 4.5, exactly 4", and of the first misplaced one "C[0][2]: tmm inf, loop nan"; empty where there is none.
    std::string largest_where;
    std::string misplaced_where;

    bool rms_holds() const { return is_within(rms_ratio, kMostRmsRatio); }
    bool worst_holds() const { return is_within(worst_ratio, kMostWorstRatio); }
    bool largest_holds() const { return largest_ratio <= kMostLargestRatio; }
    bool places_hold() const { return misplaced.count == 0; }
    bool holds() const { return rms_holds() && worst_holds() && largest_holds() && places_hold(); }
};

// "ok", or what does not hold: "rms 1.31 times the loop's; one element 4.1 times as far off as any of the loop's, C[3][17]: tmm 4.5,
// exactly 4".
std::string verdict(const FamilyAccuracy& accuracy);

struct Compared {
    Contestant& tmm;
    // The naive family: one thread an element, FMAs in the order of k.
    Contestant& loop;
    // cublas may be null.
    Contestant* cublas = nullptr;
};

// Says when enough draws have been made.
struct Sampling {
    // Elements of C.
    i64 least_elements = 1 << 14;
    i64 most_elements = 1 << 18;
    // Between these numbers, sampling ends once the part that chance may add to the ratios is at most this.
    double most_allowance = 0.08;
    // The first draw's number.
    int first = 0;
};
// Fills the operands, as often as it takes. Throws DeviceFault, and what a contestant throws.
FamilyAccuracy measure_family(InputFamily family, FamilyOperands& operands, ExactMultiplier& multiplier, const Compared& compared,
                              Stream stream, const Sampling& sampling = {});

}  // namespace tmm::bench
