// The messages between the tuner and its worker process: one JSON object a line, over a pipe in either direction.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/error.h"
#include "db/store/measurement.h"
#include "generator/machine/device_info.h"
#include "generator/machine/measured_rates.h"
#include "runtime/device/device.h"
#include "tuner/measure/timing.h"
#include "tuner/run_off/race.h"

namespace tmm {

// Makes operands and references of a problem; later requests of the same search are about this problem.
struct PrepareRequest {
    GemmProblem problem;
    std::uint64_t seed = 1;
    // Which of the searches that share the worker asks: each has a problem of its own.
    int search = 0;

    friend bool operator==(const PrepareRequest&, const PrepareRequest&) = default;
};

// Verifies the config, times it and verifies it again.
struct MeasureRequest {
    KernelConfig config;
    TimingOptions timing;
    int search = 0;

    friend bool operator==(const MeasureRequest&, const MeasureRequest&) = default;
};

// Measures what the device itself does.
struct RatesRequest {
    friend bool operator==(const RatesRequest&, const RatesRequest&) = default;
};

using Request = std::variant<PrepareRequest, MeasureRequest, RunOffRequest, RatesRequest>;

// The worker's first message.
struct Hello {
    DeviceInfo device;
    DeviceSharing sharing = {};
};

struct Prepared {
    int rotation_sets = 1;
};

// kernel_name and kernel_hash are left empty: the parent knows them.
struct Measured {
    Measurement measurement;
};

// The request could not be served for lack of resources that other processes of this machine hold, memory above all; the worker goes on.
struct NotMeasured {
    std::string detail;
};

// All rates are finite.
struct RatesMeasured {
    MeasuredRates rates;
};

// The worker sends this each time before a config of a run-off runs, so that a fault can be assigned to a config.
struct RunOffStep {
    int index = 0;
};

struct RunOffDone {
    struct Finalist {
        Outcome outcome = Outcome::ok;
        std::string detail = {};
        double error_ratio = -1;
        // Microseconds a launch, one a round. A finalist that was out before the last round has fewer.
        std::vector<double> samples_us = {};
    };
    std::vector<Finalist> finalists;
};

// The device can't hold the problem, or its results can't be verified; the worker goes on.
struct NotPrepared {
    std::string detail;
};

// A sticky fault of the device: it is the worker's last message.
struct Faulted {
    std::string detail;
};

// The environment's failure (tmm::Error): it is the worker's last message.
struct Failed {
    ExitStatus status = ExitStatus::no_device;
    std::string message;
};

using Reply = std::variant<Hello, Prepared, Measured, RatesMeasured, RunOffStep, RunOffDone, NotPrepared, NotMeasured, Faulted, Failed>;

// Encodes a message as one line, without its newline.
std::string encode(const Request& request);
std::string encode(const Reply& reply);
// Throw std::runtime_error with the reason and the line's beginning where it is not a message of this protocol.
Request decode_request(std::string_view line);
Reply decode_reply(std::string_view line);

}  // namespace tmm
