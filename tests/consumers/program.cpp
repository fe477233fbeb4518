// A C++ program that uses tmm: C = A * B on the emulated device, whose result is known. The language standard is the consumer's.
#include <algorithm>
#include <cstdio>
#include <tmm/tmm.hpp>
#include <vector>

static_assert(__cplusplus >= CONSUMER_STANDARD && __cplusplus < CONSUMER_STANDARD + 300, "compiled as another C++ than the test says");

int main() try {
    const std::int64_t m = 8, n = 5, k = 3;
    std::vector<float> a(m * k, 2), b(k * n, 3), c(m * n);
    tmm::Handle handle(TMM_DEVICE_HOST);
    const tmm::Plan plan = handle.plan(tmm::problem(m, n, k));
    const float alpha = 1, beta = 0;
    plan.run(tmm::args(&alpha, a.data(), b.data(), &beta, c.data()));
    if (std::count(c.begin(), c.end(), 18.0f) != m * n) return 2;
    std::printf("tmm %d: right\n", tmmGetVersion());
    return 0;
} catch (const tmm::Exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
