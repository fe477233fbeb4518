// Every run of tmm-bench begins with a session: the device, its peers, the tuned library, and the description of the run.
#pragma once

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/text/terminal.h"
#include "bench/comparison/run_info.h"
#include "bench/peers/contestant.h"
#include "bench/peers/tuned.h"
#include "bench/timing/driver_context.h"
#include "generator/text/text.h"
#include "runtime/device/device.h"
#include "tools/tmm_bench/bench_tool.h"

namespace tmm::bench {

struct Session {
    Session(const Arguments& arguments, int gpu);

    int ordinal;
    std::shared_ptr<Device> device;
    DriverContext context;
    RunInfo info;
    std::vector<std::unique_ptr<Peer>> peers;
    std::optional<TunedLibrary> tuned;
};

// Runs the function that works on the shape.
template <class Body>
auto on_device(const GemmProblem& problem, const Body& body) {
    try {
        return body();
    } catch (const DeviceFault& fault) {
        throw Error(ExitStatus::no_device, fmt::format("the device is lost: {}", fault.what()), to_text(problem),
                    "run again without this shape, and verify it by tmm-tune");
    }
}

// Prints a message on stderr, in lines that fit the terminal.
void say(const std::string& message, const std::string& speaker = "tmm-bench");

// Shows which shape is being worked on.
void show_progress(StatusLine& status, std::size_t done, const std::vector<Shape>& shapes);

}  // namespace tmm::bench
