#include "tuner/measure/other_kernel.h"

#include <fmt/format.h>

#include <utility>
#include <variant>
#include <vector>

#include "base/error.h"
#include "tmm/checks/other/args.h"
#include "tuner/measure/timing.h"

namespace tmm {
namespace {

constexpr std::int64_t kBytes = std::int64_t{4} << 20;
// Its time says nothing there.
constexpr std::int64_t kBytesOfEmulated = std::int64_t{4} << 10;
constexpr int kLaunches = 100;
constexpr int kSamples = 9;

}  // namespace

OtherKernel::OtherKernel(const std::shared_ptr<Device>& device, KernelLoader& loader)
    : device_(device), memory_(device, static_cast<std::size_t>(device->info().emulated ? kBytesOfEmulated : kBytes)) {
    device_->fill_bytes(memory_.data(), 0, memory_.bytes());
    auto loaded = loader.load(
        {.name = "tmm_other", .text = "#include \"tmm/checks/other/kernel.cuh\"\n", .entries = {{"tmm_other", "tmm::OtherArgs"}}},
        "tmm_other");
    if (const auto* failure = std::get_if<CompileFailure>(&loaded))
        throw Error(ExitStatus::no_compiler, fmt::format("the kernel between products does not compile: {}", failure->log));
    kernel_ = std::get<KernelLoader::Loaded>(std::move(loaded)).kernel;
}

void OtherKernel::enqueue(Stream stream) const {
    constexpr std::size_t kBytesOfBlock = sizeof(float) * kOtherThreads * kOtherWidth;
    OtherArgs args{.values = static_cast<float*>(memory_.data())};
    device_->launch(*kernel_, {.grid = static_cast<std::int64_t>(memory_.bytes() / kBytesOfBlock), .threads = kOtherThreads}, &args,
                    sizeof args, stream);
}

double OtherKernel::alone_us() const {
    const int launches = device_->info().emulated ? 1 : kLaunches;
    const auto all = [&](Stream stream) {
        for (int i = 0; i < launches; ++i) enqueue(stream);
    };
    const Recorded recorded{.replay = device_->record(all), .launches = launches};
    recorded.sample();
    std::vector<double> samples;
    for (int i = 0; i < kSamples; ++i) samples.push_back(recorded.sample());
    return quantile(std::move(samples), 0.5);
}

}  // namespace tmm
