// libFuzzer's way to one door, which TMM_FUZZ_DOOR names: build with clang and TMM_FUZZ=ON, then fuzz_shapes tests/fuzz/corpus/shapes.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/log.h"
#include "tests/fuzz/fuzz_doors.h"

extern "C" int LLVMFuzzerInitialize(int*, char***) {
    tmm::set_log_sink([](const std::string&) {});
    return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string complaint = tmm::testing::TMM_FUZZ_DOOR({reinterpret_cast<const char*>(data), size}).complaint;
    if (complaint.empty()) return 0;
    std::fprintf(stderr, "%s\n", complaint.c_str());
    std::abort();
}
