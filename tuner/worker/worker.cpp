#include "tuner/worker/worker.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <functional>
#include <map>
#include <new>
#include <optional>
#include <system_error>

#include "base/log.h"
#include "base/processes/helper_process.h"
#include "base/text/environment.h"
#include "generator/compile/compile_attempts.h"
#include "generator/compile/kernel_cache.h"
#include "generator/problem/matrix_layout.h"
#include "runtime/plan/executable_plan.h"
#include "tuner/measure/ceilings.h"
#include "tuner/measure/verification.h"
#include "tuner/run_off/race.h"

namespace tmm {
namespace {

using Clock = std::chrono::steady_clock;

// Operands are rotated over this many times the L2.
constexpr std::int64_t kRotationOverL2 = 2;
// Enough for 128 x 128 x 128 on an L2 of 50 MiB; smaller problems wait for launches, not for memory.
constexpr int kMaxRotationSets = 512;
// A device idle for longer has lowered its clocks.
constexpr double kIdleSeconds = 0.05;
constexpr double kWarmUp_us = 20000;
// The part of settling after which the device is asked whether it has lowered them under load.
constexpr double kLooksAfter = 0.25;

std::string first_line(const std::string& log) {
    const auto begin = log.find_first_not_of(" \n\r\t");
    if (begin == std::string::npos) return "no log";
    return log.substr(begin, std::min(log.find('\n', begin) - begin, std::size_t{400}));
}

// The scalars that a program multiplies by are no part of the problem, and no result may depend on them. These round nothing, let nothing
// overflow, and are not 1, so that a kernel which leaves them out is seen.
constexpr double kBeta = -1;
double alpha_for(const GemmProblem& problem) {
    double alpha = 2;
    // Sums grow with the root of k; f16 ends at 65504.
    for (i64 k = problem.k; k > i64{1} << 22 && alpha > 0.5; k /= 4) alpha /= 2;
    return alpha;
}

// This matters where memory is short: a plan that needs more than the device has can never run, all else depends on what other processes
// hold.
bool can_never_fit(const LaunchPlan& plan, const GemmProblem& p, const DeviceInfo& device) {
    const double c = elements_of_c(p) * size_of(p.type_c);
    return device.memory_bytes > 0 && static_cast<double>(plan.workspace_bytes) + c > static_cast<double>(device.memory_bytes);
}

// JSON and the database hold finite numbers only.
double finite(double ratio) {
    return std::isfinite(ratio) ? std::min(ratio, 1e30) : 1e30;
}

}  // namespace

struct Worker::State {
    std::shared_ptr<Device> device;
    DeviceInfo info;
    std::unique_ptr<KernelLoader> loader;
    // What each search has prepared.
    struct Prepared {
        PrepareRequest request;
        std::unique_ptr<Verifier> verifier;
    };
    std::map<int, Prepared> searches;
    std::optional<OtherKernel> other_kernel;
    double other_us = 0;
    Clock::time_point last_busy = Clock::time_point::min();

    const GemmProblem& problem_of(int search) { return searches[search].request.problem; }

    Verifier& verifier_of(int search) {
        auto& [prepared, verifier] = searches[search];
        if (!verifier) {
            const auto rotation = device->info().emulated ? 0 : kRotationOverL2 * device->info().l2_bytes;
            const VerificationOptions options{.alpha = alpha_for(prepared.problem),
                                              .beta = kBeta,
                                              .seed = prepared.seed,
                                              .rotation_bytes = rotation,
                                              .max_sets = kMaxRotationSets};
            verifier = std::make_unique<Verifier>(*loader, prepared.problem, options);
        }
        return *verifier;
    }

    // A kernel may have written anywhere: whatever runs next gets fresh operands and references.
    void forget_operands() {
        for (auto& [search, prepared] : searches) prepared.verifier.reset();
    }

    // Lets the other searches' operands go, which are made anew when they are needed. Returns false where there are none.
    bool make_room_for(int search) {
        bool had_any = false;
        for (auto& [other, prepared] : searches) {
            if (other == search || !prepared.verifier) continue;
            prepared.verifier.reset();
            had_any = true;
        }
        return had_any;
    }

    // Programs have other kernels between their products. All candidates lose the same time for it, so that no noise of that one tells
    // them apart. The emulated device's times say nothing of either.
    Between between() {
        if (info.emulated) return {};
        if (!other_kernel) {
            other_kernel.emplace(device, *loader);
            for (const auto start = Clock::now(); Clock::now() - start < std::chrono::duration<double, std::micro>(kWarmUp_us);)
                other_kernel->alone_us();
            other_us = other_kernel->alone_us();
        }
        return {.kernel = &*other_kernel, .us = other_us};
    }

    double warm_up_us() const {
        if (device->info().emulated) return 0;
        const bool idle = last_busy == Clock::time_point::min() || Clock::now() - last_busy > std::chrono::duration<double>(kIdleSeconds);
        return idle ? kWarmUp_us : 0;
    }
};

Worker::Worker(int ordinal) : state_(std::make_unique<State>()) {
    state_->device = open_device(ordinal);
    state_->info = state_->device->info_with_power_limit();
    state_->loader =
        std::make_unique<KernelLoader>(state_->device, make_compiler(state_->device->info()), KernelCache(default_cache_directory()));
}

Worker::~Worker() = default;

const DeviceInfo& Worker::device() const {
    return state_->info;
}

DeviceSharing Worker::sharing() const {
    return state_->device->sharing();
}

Reply Worker::prepare(const PrepareRequest& request) {
    state_->searches[request.search] = {.request = request, .verifier = nullptr};
    try {
        return Prepared{.rotation_sets = state_->verifier_of(request.search).rotation_sets()};
    } catch (const std::bad_alloc&) {
        if (state_->make_room_for(request.search)) return prepare(request);
        return NotPrepared{.detail = "operands, references and guard zones do not fit in the device's memory"};
    } catch (const Error& error) {
        if (error.status() != ExitStatus::usage && error.status() != ExitStatus::bad_input) throw;
        return NotPrepared{.detail = error.what()};
    }
}

Reply Worker::measure(const MeasureRequest& request) {
    Reply reply = try_measure(request);
    if (std::holds_alternative<NotMeasured>(reply) && state_->make_room_for(request.search)) reply = try_measure(request);
    return reply;
}

Reply Worker::try_measure(const MeasureRequest& request) {
    State& s = *state_;
    Measurement m;
    const auto rejected = [&m](Outcome outcome, std::string detail) {
        m.outcome = outcome;
        m.detail = std::move(detail);
        return Measured{m};
    };
    const auto judged = [&](const Verdict& verdict) {
        m.error_ratio = std::max(m.error_ratio, finite(verdict.error_ratio));
        if (verdict.outcome == Outcome::ok) return true;
        if (verdict.outcome == Outcome::wrong_result) s.forget_operands();
        return false;
    };
    const GemmProblem& problem = s.problem_of(request.search);
    const LaunchPlan plan = make_launch_plan(problem, request.config, s.device->info());
    for (const LaunchStep& step : plan.steps) m.shared_bytes = std::max(m.shared_bytes, step.shared_bytes);
    m.workspace_bytes = plan.workspace_bytes;
    try {
        Verifier& verifier = s.verifier_of(request.search);
        auto made = ExecutablePlan::make(plan, *s.loader);
        if (const auto* failure = std::get_if<CompileFailure>(&made))
            return rejected(Outcome::compile_failed, first_error_line(failure->log));
        const auto& executable = std::get<ExecutablePlan>(made);
        m.registers = executable.registers();
        m.spill_bytes = executable.spill_bytes();

        if (const Verdict verdict = verifier.verify(executable); !judged(verdict)) return rejected(verdict.outcome, verdict.detail);
        const Between between = s.between();
        TimingOptions timing = request.timing;
        timing.warm_up_us = std::max(timing.warm_up_us, s.warm_up_us());
        const Timing t = time_plan(*s.device, executable, verifier, between, timing);
        s.last_busy = Clock::now();
        m.median_us = t.median_us;
        m.low_us = t.low_us;
        m.high_us = t.high_us;
        m.samples = t.samples;
        m.sm_clock_mhz = t.sm_clock_mhz;
        m.throttled = t.throttled;
        if (const Verdict verdict = verifier.verify_again(executable); !judged(verdict))
            return rejected(verdict.outcome, "after timing: " + verdict.detail);
    } catch (const LaunchRefused& refused) {
        return rejected(Outcome::launch_failed, first_line(refused.what()));
    } catch (const UnusableImage& unusable) {
        // The emulated device loads files, which is the environment's to allow.
        if (s.device->info().emulated) throw;
        return rejected(Outcome::launch_failed, first_line(unusable.what()));
    } catch (const std::bad_alloc&) {
        if (can_never_fit(plan, problem, s.device->info()))
            return rejected(Outcome::exceeds_limits, fmt::format("its workspace of {} bytes and C are more than the device's memory of {}",
                                                                 plan.workspace_bytes, s.device->info().memory_bytes));
        s.searches[request.search].verifier.reset();
        return NotMeasured{.detail = fmt::format("memory was short for a workspace of {} bytes", plan.workspace_bytes)};
    } catch (const std::system_error& error) {
        // The system has no more threads, files or other resources to give.
        return NotMeasured{.detail = first_line(error.what())};
    }
    return Measured{m};
}

Reply Worker::measure_rates() {
    try {
        const MeasuredRates rates = tmm::measure_rates(state_->device);
        state_->last_busy = Clock::now();
        for (const RateField& field : kRateFields)
            if (const double rate = rates.*field.member; !std::isfinite(rate))
                return NotMeasured{.detail = fmt::format("{} is {}", field.name, rate)};
        return RatesMeasured{.rates = rates};
    } catch (const std::bad_alloc&) {
        return NotMeasured{.detail = "too little of the device's memory is free"};
    } catch (const LaunchRefused& refused) {
        return NotMeasured{.detail = first_line(refused.what())};
    } catch (const Error& error) {
        return NotMeasured{.detail = first_line(error.what())};
    } catch (const std::system_error& error) {
        return NotMeasured{.detail = first_line(error.what())};
    }
}

Reply Worker::run_off(const RunOffRequest& request, const std::function<void(int)>& step) {
    try {
        return try_run_off(request, step);
    } catch (const std::bad_alloc&) {
        // Each of them has fitted before.
        if (state_->make_room_for(request.search)) return run_off(request, step);
        state_->searches[request.search].verifier.reset();
        return NotMeasured{.detail = "memory was short in the run-off"};
    } catch (const std::system_error& error) {
        return NotMeasured{.detail = first_line(error.what())};
    }
}

RunOffDone Worker::try_run_off(const RunOffRequest& request, const std::function<void(int)>& step) {
    State& s = *state_;
    struct Runner {
        std::optional<ExecutablePlan> plan;
        std::optional<PlanTimer> timer;
    };
    RunOffDone done;
    std::vector<Runner> runners(request.configs.size());
    std::vector<LaunchPlan> plans;
    std::int64_t workspace_bytes = 0;
    for (const KernelConfig& config : request.configs) {
        plans.push_back(make_launch_plan(s.problem_of(request.search), config, s.device->info()));
        workspace_bytes = std::max(workspace_bytes, plans.back().workspace_bytes);
    }
    done.finalists.resize(request.configs.size());
    Verifier& verifier = s.verifier_of(request.search);
    const Between between = s.between();
    double round_us = 0;
    for (std::size_t i = 0; i < runners.size(); ++i) {
        step(static_cast<int>(i));
        RunOffDone::Finalist& finalist = done.finalists[i];
        try {
            auto made = ExecutablePlan::make(plans[i], *s.loader);
            if (const auto* failure = std::get_if<CompileFailure>(&made)) {
                finalist.outcome = Outcome::compile_failed;
                finalist.detail = first_error_line(failure->log);
                continue;
            }
            runners[i].plan = std::get<ExecutablePlan>(std::move(made));
            runners[i].timer.emplace(*s.device, *runners[i].plan, verifier, between, request.sample_us, workspace_bytes);
            if (const double warm_up = s.warm_up_us(); warm_up > 0) {
                for (double warmed = 0; warmed < warm_up;)
                    warmed += (runners[i].timer->sample() + between.us) * runners[i].timer->launches();
            }
            s.last_busy = Clock::now();
            round_us += (runners[i].timer->estimate_us() + between.us) * runners[i].timer->launches();
        } catch (const LaunchRefused& refused) {
            finalist.outcome = Outcome::launch_failed;
            finalist.detail = first_line(refused.what());
            runners[i].timer.reset();
        }
    }
    const auto sample = [&](std::size_t i) {
        step(static_cast<int>(i));
        return runners[i].timer->sample();
    };
    for (double settled = 0; round_us > 0 && settled < request.settle_us; settled += round_us) {
        if (settled >= kLooksAfter * request.settle_us && !s.device->state().throttled) break;
        for (std::size_t i = 0; i < runners.size(); ++i)
            if (runners[i].timer) sample(i);
    }
    std::vector<int> launches;
    for (const Runner& runner : runners) launches.push_back(runner.timer ? runner.timer->launches() : 0);
    auto samples = race(request, launches, between.us, sample);
    for (std::size_t i = 0; i < samples.size(); ++i) done.finalists[i].samples_us = std::move(samples[i]);
    for (std::size_t i = 0; i < runners.size(); ++i) {
        if (!runners[i].timer) continue;
        step(static_cast<int>(i));
        const Verdict verdict = s.verifier_of(request.search).verify_again(*runners[i].plan);
        if (verdict.outcome == Outcome::wrong_result) s.forget_operands();
        done.finalists[i].outcome = verdict.outcome;
        done.finalists[i].error_ratio = finite(verdict.error_ratio);
        done.finalists[i].detail = verdict.detail;
    }
    s.last_busy = Clock::now();
    return done;
}

int serve_worker(int ordinal) {
    LinePipe channel = channel_to_parent();
    // A kernel that hangs must not outlive a parent that was killed.
    end_with_starting_thread();
    // Its parent uses the same kernel cache, and says what there is to say of it.
    set_log_sink([](const std::string&) {});

    const auto say = [&channel](const Reply& reply) {
        // Without a parent there is nothing left to do, and a device that faulted may hang in a destructor.
        if (!channel.write_line(encode(reply))) _exit(0);
    };
    try {
        Worker worker(ordinal);
        say(Hello{.device = worker.device(), .sharing = worker.sharing()});
        std::string line;
        while (channel.read_line(line, -1) == LinePipe::Read::line) {
            const Request request = decode_request(line);
            if (const auto* prepare = std::get_if<PrepareRequest>(&request)) say(worker.prepare(*prepare));
            if (const auto* measure = std::get_if<MeasureRequest>(&request)) say(worker.measure(*measure));
            if (std::holds_alternative<RatesRequest>(request)) say(worker.measure_rates());
            if (const auto* run_off = std::get_if<RunOffRequest>(&request))
                say(worker.run_off(*run_off, [&](int index) { say(RunOffStep{.index = index}); }));
        }
    } catch (const HardwareFault& fault) {
        say(Failed{.status = ExitStatus::no_device,
                   .message = fmt::format("the device has a fault of its own: {}; what was measured is kept", first_line(fault.what()))});
        _exit(static_cast<int>(ExitStatus::no_device));
    } catch (const DeviceFault& fault) {
        say(Faulted{.detail = first_line(fault.what())});
        _exit(1);
    } catch (const Error& error) {
        say(Failed{.status = error.status(), .message = error.what()});
        _exit(static_cast<int>(error.status()));
    } catch (const std::exception& error) {
        say(Faulted{.detail = first_line(error.what())});
        _exit(1);
    }
    return 0;
}

}  // namespace tmm
