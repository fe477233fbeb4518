// The kernel that stands between products where tmm-bench times them as most programs run them.
#include <doctest/doctest.h>

#include <memory>
#include <vector>

#include "base/text/environment.h"
#include "bench/comparison/among_others.h"
#include "generator/compile/compiler.h"
#include "generator/compile/kernel_cache.h"
#include "runtime/device/device.h"
#include "runtime/plan/executable_plan.h"

using namespace tmm;
using namespace tmm::bench;

namespace {

// Keeps which operands it is called with.
class Watching final : public Contestant {
public:
    void enqueue(const GemmCall& call, Stream) override { seen.push_back(call.a); }
    std::vector<const void*> seen;
};

}  // namespace

TEST_CASE("another kernel stands before each call, which keep their order and their operands") {
    const std::shared_ptr<Device> device = open_device(kHostDevice);
    KernelLoader loader(device, make_compiler(device->info()), KernelCache(default_cache_directory()));
    const OtherKernel other(device, loader);
    Watching product;
    const std::unique_ptr<Contestant> among = behind_other(other, &product);
    const int matrices[3] = {};
    std::vector<GemmCall> calls(3);
    for (int i = 0; i < 3; ++i) calls[static_cast<std::size_t>(i)].a = &matrices[i];
    const std::unique_ptr<Replay> replay = among->record(*device, calls);
    product.seen.clear();
    const double with_products = replay->run_timed();
    CHECK(product.seen == std::vector<const void*>{&matrices[0], &matrices[1], &matrices[2]});
    // A product that does nothing takes next to none of the time: the other kernels take it.
    const std::unique_ptr<Contestant> kernel = behind_other(other, nullptr);
    const double alone = kernel->record(*device, {GemmCall{}})->run_timed();
    CHECK(alone > 0);
    CHECK(with_products > alone / 2);
}
