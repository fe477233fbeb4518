#include "bench/operands/prepared_operands.h"

#include <fmt/format.h>

#include <stdexcept>

namespace tmm::bench {
namespace {

void check(tmmStatus_t status) {
    if (status != TMM_STATUS_SUCCESS) throw std::runtime_error(fmt::format("preparing an operand: {}", tmmStatusString(status)));
}

}  // namespace

PreparedOperands::PreparedOperands(std::shared_ptr<Device> device, tmmPlan_t plan, const std::string& which)
    : device_(std::move(device)), plan_(plan) {
    if (which.find('a') != std::string::npos) check(tmmPlanPreparedSize(plan_, TMM_OPERAND_A, &bytes_[TMM_OPERAND_A]));
    if (which.find('b') != std::string::npos) check(tmmPlanPreparedSize(plan_, TMM_OPERAND_B, &bytes_[TMM_OPERAND_B]));
}

const void* PreparedOperands::of(tmmOperand_t operand, const void* matrix) {
    if (bytes_[operand] == 0 || !matrix) return nullptr;
    const auto known = prepared_.find({operand, matrix});
    if (known != prepared_.end()) return known->second.data();
    DeviceBuffer memory(device_, bytes_[operand]);
    check(tmmPlanPrepare(plan_, nullptr, operand, matrix, memory.data(), memory.bytes()));
    device_->synchronize();
    return prepared_.emplace(std::pair(operand, matrix), std::move(memory)).first->second.data();
}

}  // namespace tmm::bench
