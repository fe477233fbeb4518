#include "tuner/run/dry_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <memory>
#include <string>

#include "generator/choice/search_space.h"
#include "generator/text/text.h"
#include "runtime/device/device.h"
#include "tuner/options/shard.h"
#include "tuner/run/report.h"
#include "tuner/search/candidates.h"
#include "tuner/search/run_report.h"
#include "tuner/worker/worker_process.h"

namespace tmm {
namespace {

constexpr std::size_t kReasonsShown = 8;

struct Problem {
    Shape shape;
    // Why no kernel serves it; empty where one does.
    std::string unserved;
    std::vector<KernelConfig> candidates;
    std::size_t rejected = 0;
    // The rules that rejected configs, and how many configs each of them rejected.
    std::map<std::string, int> reasons;
};

Problem looked_at(const Shape& shape, const DeviceInfo& device, Effort effort) {
    SearchSpace space = search_space(shape.problem, device, effort);
    return {.shape = shape,
            .unserved = why_unserved(shape.problem, device),
            .candidates = std::move(space.candidates),
            .rejected = space.rejections.size(),
            .reasons = count_by_reason(space.rejections)};
}

// Prints the parts of a dry run in their order.
class Printer {
public:
    virtual ~Printer() = default;
    virtual void begin(const DeviceInfo& device) = 0;
    virtual void add(const Problem& problem) = 0;
    // not_reached: the problems that an interrupted run did not look at.
    virtual void end(std::size_t not_reached) = 0;

protected:
    // A reader who is a person sees at once what there is; flushing every line would cost more than making it.
    void print(const std::string& text) {
        constexpr std::chrono::milliseconds kUnseen{100};
        std::fwrite(text.data(), 1, text.size(), stdout);
        const auto now = std::chrono::steady_clock::now();
        if (now - flushed_ < kUnseen) return;
        std::fflush(stdout);
        flushed_ = now;
    }

private:
    std::chrono::steady_clock::time_point flushed_{};
};

class TextPrinter : public Printer {
public:
    explicit TextPrinter(const Screen& screen) : screen_(screen) {}

    void begin(const DeviceInfo& device) override { print(prose(device_text(device), screen_)); }

    void add(const Problem& problem) override {
        ++problems_;
        if (!problem.unserved.empty()) return print(prose(fmt::format("{}: {}", to_text(problem.shape), problem.unserved), screen_));
        candidates_ += problem.candidates.size();
        std::string text = prose(fmt::format("{}: {}, {} rejected", to_text(problem.shape),
                                             count_text(problem.candidates.size(), "candidate"), problem.rejected),
                                 screen_);
        const auto reasons = by_count(problem.reasons);
        for (std::size_t i = 0; i < std::min(reasons.size(), kReasonsShown); ++i)
            text += prose(fmt::format("  {:5} x {}", reasons[i].second, reasons[i].first), screen_, 10);
        if (reasons.size() > kReasonsShown)
            text += fmt::format("  and {} (--json lists them)\n", count_text(reasons.size() - kReasonsShown, "rarer reason"));
        print(text);
    }

    void end(std::size_t not_reached) override {
        const std::string rest = not_reached > 0 ? fmt::format("; interrupted: {} not looked at", count_text(not_reached, "problem")) : "";
        print(fmt::format("{} of {}; nothing was measured{}\n", count_text(candidates_, "candidate"), count_text(problems_, "problem"),
                          rest));
    }

private:
    Screen screen_;
    std::size_t candidates_ = 0;
    std::size_t problems_ = 0;
};

// Writes the same JSON as json_text() would, without ever holding all of it.
class JsonPrinter : public Printer {
public:
    void begin(const DeviceInfo& device) override {
        print(devices_++ == 0 ? "{\n  \"devices\": [\n" : "\n      ]\n    },\n");
        print(fmt::format("    {{\n      \"device\": {},\n      \"problems\": [", Json(device.name).dump()));
        problems_ = 0;
    }

    void add(const Problem& problem) override {
        Json configs = Json::array();
        if (problem.unserved.empty())
            for (const KernelConfig& config : problem.candidates) configs.push_back(to_text(config));
        const Json json{{"problem", to_text(problem.shape)},
                        {"line", problem.shape.line},
                        {"candidates", configs},
                        {"rejected", problem.rejected},
                        {"rejections", rejections_json(problem.reasons)},
                        {"reason", problem.unserved}};
        std::string text = (problems_++ == 0 ? "\n" : ",\n") + json_text(json);
        text.pop_back();
        for (std::size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 1)) text.insert(at + 1, 8, ' ');
        print(text);
    }

    void end(std::size_t not_reached) override { print(fmt::format("\n      ]\n    }}\n  ],\n  \"not_reached\": {}\n}}\n", not_reached)); }

private:
    std::size_t devices_ = 0;
    std::size_t problems_ = 0;
};

// Only a worker may open a GPU.
DeviceInfo device_info(int ordinal, const Interrupt& interrupt) {
    if (ordinal == kHostDevice) return host_device_info();
    if (gpu_count() > 0) return WorkerProcess(ordinal, interrupt).device();
    std::fputs("tmm-tune: no GPU here, --dry-run takes the emulated device (host)\n", stderr);
    return host_device_info();
}

}  // namespace

ExitStatus dry_run(const std::vector<Shape>& shapes, const TuningOptions& options, bool json, const Screen& screen,
                   const Interrupt& interrupt) {
    const std::unique_ptr<Printer> printer = json ? std::unique_ptr<Printer>(new JsonPrinter) : std::make_unique<TextPrinter>(screen);
    std::size_t not_reached = 0;
    for (const int ordinal : options.ordinals) {
        const DeviceInfo device = device_info(ordinal, interrupt);
        printer->begin(device);
        const std::vector<Shape> listed = shapes_of(options.shard, with_sample_sizes(shapes, device));
        for (std::size_t i = 0; i < listed.size(); ++i) {
            // Nobody reads on where writing fails.
            if (interrupt.requested() || std::ferror(stdout)) {
                not_reached += listed.size() - i;
                break;
            }
            printer->add(looked_at(listed[i], device, options.effort));
        }
    }
    printer->end(not_reached);
    return interrupt.requested() ? ExitStatus::interrupted : ExitStatus::done;
}

}  // namespace tmm
