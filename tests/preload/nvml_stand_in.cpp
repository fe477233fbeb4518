// A management library for tests. TMM_TEST_GPU names the bus address of the one GPU that is out of the ordinary, and TMM_TEST_GPU_STATE
// how: "throttled", "divided", or a number of processes that use it. All others are idle but for the process that asks.
#include <cstdlib>
#include <cstring>

#define TMM_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

constexpr int kInsufficientSize = 7;
char usual, unusual;

const char* state_of(void* device) {
    const char* const state = std::getenv("TMM_TEST_GPU_STATE");
    return device == &unusual && state ? state : "1";
}

}  // namespace

TMM_EXPORT int nvmlInit_v2() {
    return 0;
}
TMM_EXPORT int nvmlDeviceGetHandleByPciBusId_v2(const char* id, void** device) {
    const char* const named = std::getenv("TMM_TEST_GPU");
    *device = named && std::strcmp(named, id) == 0 ? &unusual : &usual;
    return 0;
}
TMM_EXPORT int nvmlDeviceGetClockInfo(void*, int, unsigned* mhz) {
    *mhz = 1500;
    return 0;
}
TMM_EXPORT int nvmlDeviceGetEnforcedPowerLimit(void*, unsigned* milliwatts) {
    *milliwatts = 700000;
    return 0;
}
TMM_EXPORT int nvmlDeviceGetCurrentClocksThrottleReasons(void* device, unsigned long long* reasons) {
    *reasons = std::strcmp(state_of(device), "throttled") == 0 ? 0x4 : 0;
    return 0;
}
TMM_EXPORT int nvmlDeviceGetMigMode(void* device, unsigned* current, unsigned* pending) {
    *current = *pending = std::strcmp(state_of(device), "divided") == 0 ? 1 : 0;
    return 0;
}
TMM_EXPORT int nvmlDeviceGetComputeRunningProcesses_v3(void* device, unsigned* count, void*) {
    const int processes = std::atoi(state_of(device));
    *count = static_cast<unsigned>(processes > 0 ? processes : 1);
    return kInsufficientSize;
}
