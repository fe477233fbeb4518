#include "bench/comparison/other_kernel.h"

#include <utility>
#include <vector>

#include "bench/peers/separate_epilogue.h"
#include "bench/timing/host_replay.h"
#include "tmm/vocabulary/problem.h"

namespace tmm::bench {
namespace {

// Its matrix of 4 MiB stays in the L2 and takes a few microseconds, as an activation between two layers does.
constexpr i64 kRows = 1024;
constexpr i64 kRowsOfEmulated = 8;

class NoProduct final : public Contestant {
public:
    void enqueue(const GemmCall&, Stream) override {}
};

class AmongOthers final : public Contestant {
public:
    AmongOthers(std::shared_ptr<Contestant> other, std::shared_ptr<DeviceBuffer> memory, Contestant* product)
        : other_(std::move(other)), memory_(std::move(memory)), product_(product) {}

    void enqueue(const GemmCall& call, Stream stream) override {
        other_->enqueue({.c = memory_->data()}, stream);
        if (product_) product_->enqueue(call, stream);
    }
    void forget_streams() override {
        if (product_) product_->forget_streams();
    }
    // The emulated device runs what is launched at once, and tmm's library has one of its own, so that nothing of it can be recorded.
    std::unique_ptr<Replay> record(Device& device, const std::vector<GemmCall>& calls) override {
        if (!device.info().emulated) return Contestant::record(device, calls);
        return std::make_unique<HostReplay>([this, calls] {
            for (const GemmCall& call : calls) enqueue(call, nullptr);
        });
    }

private:
    std::shared_ptr<Contestant> other_;
    std::shared_ptr<DeviceBuffer> memory_;
    Contestant* product_;
};

}  // namespace

OtherKernel::OtherKernel(std::shared_ptr<Device> device) : device_(std::move(device)) {
    const i64 rows = device_->info().emulated ? kRowsOfEmulated : kRows;
    GemmProblem problem{.m = rows, .n = rows, .k = 1, .lda = 1, .ldb = rows, .ldc = rows, .activation = Activation::relu};
    std::vector<std::unique_ptr<Contestant>> kernel;
    kernel.push_back(std::make_unique<NoProduct>());
    kernel = SeparateEpilogues(device_).behind(std::move(kernel), problem);
    kernel_ = std::move(kernel.front());
    const auto bytes = static_cast<std::size_t>(rows * rows * size_of(problem.type_c));
    memory_ = std::make_shared<DeviceBuffer>(device_, bytes);
    device_->fill_bytes(memory_->data(), 0, bytes);
}

std::unique_ptr<Contestant> OtherKernel::alone() const {
    return std::make_unique<AmongOthers>(kernel_, memory_, nullptr);
}

std::unique_ptr<Contestant> OtherKernel::before(Contestant& product) const {
    return std::make_unique<AmongOthers>(kernel_, memory_, &product);
}

}  // namespace tmm::bench
