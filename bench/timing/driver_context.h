// Makes the device's primary context current in this thread, for libraries that take it from there, and has a stream of its own.
#pragma once

#include <memory>
#include <string>

#include "runtime/device/device.h"

namespace tmm::bench {

// The driver's context of a GPU; for kHostDevice it does nothing and its stream is null. It belongs to the thread that made it.
class DriverContext {
public:
    // Throws Error (no_device) where the driver or the GPU is missing.
    explicit DriverContext(int ordinal);
    ~DriverContext();
    DriverContext(const DriverContext&) = delete;
    DriverContext& operator=(const DriverContext&) = delete;

    // The stream does not wait for the default stream.
    Stream stream() const;

private:
    struct Held;
    std::unique_ptr<Held> held_;
};

// "580.159.03": the kernel driver's version; empty where it can't be read.
std::string kernel_driver_version();

}  // namespace tmm::bench
