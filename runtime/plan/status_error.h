// Why a call of the C interface is refused.
#pragma once

#include <stdexcept>
#include <string>

#include "tmm/tmm.h"

namespace tmm {

// A call that the C interface refuses. It never leaves the interface.
class StatusError : public std::runtime_error {
public:
    StatusError(tmmStatus_t status, const std::string& what) : std::runtime_error(what), status_(status) {}
    tmmStatus_t status() const noexcept { return status_; }

private:
    tmmStatus_t status_;
};

}  // namespace tmm
