// The participants of a comparison: a contestant multiplies in one way, and a peer has all the ways it offers.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "generator/plan/launch_plan.h"
#include "runtime/device/device.h"
#include "tmm/vocabulary/problem.h"

namespace tmm::bench {

// alpha or beta of a call, as libraries read it: in the type that the mode computes in.
class CallScalar {
public:
    CallScalar(ComputeMode mode, double value) {
        if (mode == ComputeMode::f64)
            value_ = value;
        else if (mode == ComputeMode::s32)
            value_ = static_cast<std::int32_t>(value);
        else
            value_ = static_cast<float>(value);
    }
    const void* address() const {
        return std::visit([](const auto& value) -> const void* { return &value; }, value_);
    }

private:
    std::variant<float, double, std::int32_t> value_;
};

// One way of serving one problem. It is made for one device and used by one thread.
class Contestant {
public:
    virtual ~Contestant() = default;

    // Queues one multiplication on the stream. It brings its own workspace; the call's is not used. Throws std::runtime_error
    // where it can't.
    virtual void enqueue(const GemmCall& call, Stream stream) = 0;
    virtual std::int64_t workspace_bytes() const { return 0; }
    // Describes the contestant beyond its name: "heuristic 3".
    virtual std::string detail() const { return {}; }

    // What is known of streams no longer holds: one that is gone may have lent its address to another.
    virtual void forget_streams() {}

    // Records the calls in order for replay, on a stream that dies with the recording. A contestant that runs on the CPU measures by the
    // host's clock.
    virtual std::unique_ptr<Replay> record(Device& device, const std::vector<GemmCall>& calls) {
        forget_streams();
        auto replay = device.record([&](Stream stream) {
            for (const GemmCall& call : calls) enqueue(call, stream);
        });
        forget_streams();
        return replay;
    }
    // Whether the time of enqueue() tells what a caller pays for the call.
    virtual bool has_host_cost() const { return true; }
};

// A library or a way that tmm is compared with.
class Peer {
public:
    virtual ~Peer() = default;
    virtual std::string name() const = 0;
    // "cuBLAS 130100 (libcublas.so.13)".
    virtual std::string version() const = 0;
    // Everything it offers for the problem. Throws std::runtime_error whose text is the reason why there is nothing.
    virtual std::vector<std::unique_ptr<Contestant>> offers(const GemmProblem& problem) = 0;
};

}  // namespace tmm::bench
