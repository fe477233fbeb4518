// A machine without a CUDA driver is told so, and told what to do instead.
#include <dlfcn.h>
#include <doctest/doctest.h>

#include <string>

#include "base/error.h"
#include "runtime/device/device.h"

using namespace tmm;

TEST_CASE("without a driver, opening a GPU names the missing library and the way out") {
    if (dlopen("libcuda.so.1", RTLD_NOW)) {
        MESSAGE("skipped: this machine has a CUDA driver");
        return;
    }
    CHECK(gpu_count() == 0);
    // Twice: the second caller is told the same.
    for (int attempt = 0; attempt < 2; ++attempt) {
        try {
            open_device(0);
            FAIL("a GPU was opened without a driver");
        } catch (const Error& error) {
            CHECK(error.status() == ExitStatus::no_device);
            const std::string text = error.what();
            CHECK_MESSAGE(text.find("libcuda.so.1 was not found") != std::string::npos, text);
            CHECK_MESSAGE(text.find("--gpu host") != std::string::npos, text);
        }
    }
}

TEST_CASE("the emulated device needs no driver") {
    const auto device = open_device(kHostDevice);
    CHECK(device->info().emulated);
    CHECK(device->info().name == "host");
}
