#include "runtime/step_maps.h"

#include <cstdint>
#include <cstring>
#include <stdexcept>

#include "tmm/vocabulary/args.h"

namespace tmm {
namespace {

// Addresses that are told apart; nobody follows them.
void* standing_for(int operand) {
    return reinterpret_cast<void*>(static_cast<std::uintptr_t>(operand) << 36);
}

// Where the arguments, which begin with GemmArgs, hold the address of a map's matrix.
std::size_t place_of(const void* address, const std::byte* arguments) {
    GemmArgs args;
    std::memcpy(&args, arguments, sizeof args);
    if (address == args.a) return offsetof(GemmArgs, a);
    if (address == args.b) return offsetof(GemmArgs, b);
    if (address == args.c) return offsetof(GemmArgs, c);
    if (address == args.epilogue.residual) return offsetof(GemmArgs, epilogue) + offsetof(EpilogueArgs, residual);
    throw std::logic_error("a tensor map is of a matrix that the kernel's arguments do not name");
}

}  // namespace

StepMaps::StepMaps(const Device& device, const LaunchPlan& plan, const LaunchStep& step) {
    if (!step.tensor_maps) return;
    GemmCall call{.a = standing_for(1),
                  .b = standing_for(2),
                  .c = standing_for(3),
                  .bias = standing_for(4),
                  .residual = standing_for(5),
                  .workspace = standing_for(6)};
    maps_ = maps_of(device, plan, step, call);
    call.alpha = 0;
    maps_without_k_ = maps_of(device, plan, step, call);
}

std::vector<StepMaps::Map> StepMaps::maps_of(const Device& device, const LaunchPlan& plan, const LaunchStep& step, const GemmCall& call) {
    alignas(64) std::byte arguments[kMaxArgumentBytes];
    bind_step(plan, step, call, arguments);
    std::vector<Map> maps;
    for (const TensorMapRequest& request : step.tensor_maps(step, arguments)) {
        Map map{.encoded = {}, .offset = request.offset, .address = place_of(request.address, arguments)};
        device.encode_tensor_map(request, &map.encoded);
        maps.push_back(map);
    }
    return maps;
}

void StepMaps::write(const Device& device, std::byte* arguments) const {
    if (maps_.empty()) return;
    i64 k = 0;
    std::memcpy(&k, arguments + offsetof(GemmArgs, k), sizeof k);
    for (const Map& map : k == 0 ? maps_without_k_ : maps_) {
        std::byte* const into = arguments + map.offset;
        std::memcpy(into, &map.encoded, sizeof map.encoded);
        const void* address = nullptr;
        std::memcpy(&address, arguments + map.address, sizeof address);
        device.set_address(into, address);
    }
}

}  // namespace tmm
