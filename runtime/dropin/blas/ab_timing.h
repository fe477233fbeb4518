// Who multiplies the products of one shape.
#pragma once

#include <optional>
#include <utility>

namespace tmm::dropin {

// Whoever multiplies a shape faster does so, copies to the device and back included: the first call goes to the BLAS behind and is timed;
// the second is tmm's and makes the plan; the third is tmm's and is timed.
class AbTiming {
public:
    enum class Who { tmm, behind };

    Who next() const {
        if (refused_ || !behind_) return Who::behind;
        return !of_tmm_ || *of_tmm_ < *behind_ ? Who::tmm : Who::behind;
    }
    void note(Who who, double seconds) {
        if (who == Who::behind) {
            if (!behind_) behind_ = seconds;
        } else if (!std::exchange(has_plan_, true)) {
            return;
        } else if (!of_tmm_) {
            of_tmm_ = seconds;
        }
    }
    // tmm can't multiply the shape.
    void refuse() { refused_ = true; }
    bool is_decided() const { return of_tmm_.has_value(); }
    double behind() const { return *behind_; }
    double of_tmm() const { return *of_tmm_; }

private:
    std::optional<double> behind_;
    std::optional<double> of_tmm_;
    bool has_plan_ = false;
    bool refused_ = false;
};

}  // namespace tmm::dropin
