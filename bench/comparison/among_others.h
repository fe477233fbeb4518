// Products as most programs have them: with another kernel before each.
#pragma once

#include <memory>

#include "bench/peers/contestant.h"
#include "tuner/measure/other_kernel.h"

namespace tmm::bench {

// The kernel before each multiplication of the contestant, or alone without one. Both must outlive the result.
std::unique_ptr<Contestant> behind_other(const OtherKernel& other, Contestant* product);

}  // namespace tmm::bench
