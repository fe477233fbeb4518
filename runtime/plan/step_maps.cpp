#include "runtime/plan/step_maps.h"

#include <cstdint>
#include <cstring>
#include <stdexcept>

#include "tmm/vocabulary/args.h"

namespace tmm {
namespace {

// A call with addresses that are told apart, and that nobody follows.
GemmCall call_at(std::uintptr_t first) {
    const auto address = [&](std::uintptr_t operand) { return reinterpret_cast<void*>(first + (operand << 36)); };
    return {.a = address(1), .b = address(2), .c = address(3), .bias = address(4), .residual = address(5), .workspace = address(6)};
}

void encode(const Device& device, const LaunchStep& step, std::byte* arguments) {
    for (const TensorMapRequest& request : step.tensor_maps(step, arguments)) device.encode_tensor_map(request, arguments + request.offset);
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
    try {
        GemmCall call = call_at(0);
        GemmCall other = call_at(0x123456700);
        maps_ = maps_of(device, plan, step, call);
        are_encoded_ = equal_encoded(device, plan, step, other);
        call.alpha = other.alpha = 0;
        maps_without_k_ = maps_of(device, plan, step, call);
        are_encoded_ = are_encoded_ && equal_encoded(device, plan, step, other);
    } catch (const std::exception&) {
        are_encoded_ = false;
    }
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

bool StepMaps::equal_encoded(const Device& device, const LaunchPlan& plan, const LaunchStep& step, const GemmCall& call) const {
    alignas(64) std::byte encoded[kMaxArgumentBytes];
    alignas(64) std::byte written[kMaxArgumentBytes];
    const std::size_t bytes = bind_step(plan, step, call, encoded);
    std::memcpy(written, encoded, bytes);
    encode(device, step, encoded);
    put_addresses(device, written);
    return std::memcmp(encoded, written, bytes) == 0;
}

void StepMaps::write(const Device& device, const LaunchStep& step, std::byte* arguments) const {
    if (!step.tensor_maps) return;
    if (are_encoded_)
        put_addresses(device, arguments);
    else
        encode(device, step, arguments);
}

void StepMaps::put_addresses(const Device& device, std::byte* arguments) const {
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
