// Holds what tmm prepares of the operands of one plan's calls (tmmPlanPrepare), each matrix at its first call, for operands that stay as
// they are.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "runtime/device/device.h"
#include "tmm/tmm.h"

namespace tmm::bench {

class PreparedOperands {
public:
    // which: "a", "b" or "ab", of the row-major problem; an empty text stands for none. The plan must outlive it.
    PreparedOperands(std::shared_ptr<Device> device, tmmPlan_t plan, const std::string& which);

    // Returns null where the operand is not wanted, or the plan has nothing to prepare. A matrix's first call waits for the device.
    const void* of(tmmOperand_t operand, const void* matrix);

private:
    std::shared_ptr<Device> device_;
    tmmPlan_t plan_;
    // Bytes that the prepared A and the prepared B take.
    std::size_t bytes_[2] = {};
    std::map<std::pair<tmmOperand_t, const void*>, DeviceBuffer> prepared_;
};

}  // namespace tmm::bench
