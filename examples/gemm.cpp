// A plan that is made once and run often, through tmm's C++ interface. The plan tells which kernel was chosen and why.
// Usage: gemm_cpp   on the emulated device, whose memory is the program's own; on a GPU a, b and c come from cuMemAlloc.
#include <cstdio>
#include <tmm/tmm.hpp>
#include <vector>

int main() try {
    const std::int64_t m = 48, n = 40, k = 64;
    std::vector<float> a(m * k, 2), b(k * n, 3), c(m * n);

    tmm::Handle handle(TMM_DEVICE_HOST);
    const tmm::Plan plan = handle.plan(tmm::problem(m, n, k));
    const float alpha = 1, beta = 0;
    plan.run(tmm::args(&alpha, a.data(), b.data(), &beta, c.data()));

    std::printf("%s\nC[0][0] = %g, expected %g\n", plan.describe().c_str(), static_cast<double>(c[0]), 6.0 * static_cast<double>(k));
    return c[0] == 6.0f * static_cast<float>(k) ? 0 : 1;
} catch (const tmm::Exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
