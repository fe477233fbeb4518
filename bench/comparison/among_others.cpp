#include "bench/comparison/among_others.h"

#include <vector>

#include "bench/timing/host_replay.h"

namespace tmm::bench {
namespace {

class AmongOthers final : public Contestant {
public:
    AmongOthers(const OtherKernel& other, Contestant* product) : other_(other), product_(product) {}

    void enqueue(const GemmCall& call, Stream stream) override {
        other_.enqueue(stream);
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
    const OtherKernel& other_;
    Contestant* product_;
};

}  // namespace

std::unique_ptr<Contestant> behind_other(const OtherKernel& other, Contestant* product) {
    return std::make_unique<AmongOthers>(other, product);
}

}  // namespace tmm::bench
