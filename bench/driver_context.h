// The device's primary context made current in this thread, for libraries that take it from there, and a stream of its own.
#pragma once

#include <memory>
#include <string>

#include "runtime/device.h"

namespace tmm::bench {

// Of a GPU; for kHostDevice it does nothing and its stream is null. Belongs to the thread that made it.
class DriverContext {
public:
    // Throws Error (no_device) where the driver or the GPU is missing.
    explicit DriverContext(int ordinal);
    ~DriverContext();
    DriverContext(const DriverContext&) = delete;
    DriverContext& operator=(const DriverContext&) = delete;

    // Does not wait for the default stream.
    Stream stream() const;

private:
    struct Held;
    std::unique_ptr<Held> held_;
};

// "580.159.03": the kernel driver's version; empty where it can't be read.
std::string kernel_driver_version();

}  // namespace tmm::bench
