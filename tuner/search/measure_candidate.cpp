#include "tuner/search/measure_candidate.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text/printable.h"
#include "tuner/search/compile_queue.h"
#include "tuner/search/sampling.h"

namespace tmm {
namespace {

// Retries of a candidate whose worker somebody else killed.
constexpr int kOutsideKills = 2;
constexpr int kPrepareAttempts = 3;

// Keeps what the reply says of the candidate.
void take_reply(ProblemSearch& s, std::size_t index, const Reply& reply, double wall_seconds) {
    if (const auto* lacking = std::get_if<NotMeasured>(&reply)) return s.give_up(index, lacking->detail, false);
    const auto* measured = std::get_if<Measured>(&reply);
    if (measured == nullptr)
        return s.keep(index, {.outcome = Outcome::crashed,
                              .detail = "the worker answered something else",
                              .shared_bytes = s.candidates[index].shared_bytes,
                              .workspace_bytes = s.candidates[index].workspace_bytes});
    const Measurement& m = measured->measurement;
    if (m.throttled) s.context.progress.note_once(fmt::format("{}: {}", printable(s.context.worker.device().name), throttling_warning()));
    if (m.outcome == Outcome::ok) {
        if (s.best_us == 0 || m.median_us < s.best_us) s.best_us = m.median_us;
        if (s.best_wall == 0 || wall_seconds < s.best_wall) s.best_wall = wall_seconds;
    }
    s.keep(index, m);
}

// Verifies the candidate, times it, and verifies it again.
std::optional<Phase> run(ProblemSearch& s, std::size_t index) {
    if (const auto end = prepare(s)) return end;
    const Candidate& candidate = s.candidates[index];
    s.save({{.config = candidate.config, .kernel_name = candidate.kernel_name}});
    const double start = s.now();
    const double limit = s.deadline();
    const MeasureRequest request{.config = candidate.config, .timing = timing_options(s.emulated(), s.context.options.effort, s.results)};
    const WorkerConnection::Answer answer = s.context.worker.ask(request, limit, s.left());
    if (const auto* reply = std::get_if<Reply>(&answer)) {
        take_reply(s, index, *reply, s.now() - start);
        return std::nullopt;
    }
    Measurement m{.shared_bytes = candidate.shared_bytes, .workspace_bytes = candidate.workspace_bytes};
    const auto* late = std::get_if<WorkerConnection::TimedOut>(&answer);
    const auto* died = std::get_if<WorkerConnection::Died>(&answer);
    if (late && !late->turn_is_over) {
        m.outcome = Outcome::timed_out;
        m.detail = fmt::format("no result within {:.1f} s", limit);
        s.keep(index, std::move(m));
    } else if (died && !died->from_outside) {
        m.outcome = Outcome::crashed;
        m.detail = "worker " + died->how;
        s.keep(index, std::move(m));
    } else if (died) {
        s.give_up(index, fmt::format("the worker {}, from outside", died->how), ++s.outside_kills[index] <= kOutsideKills);
    } else {
        // The candidate is not to blame.
        s.context.database.withdraw(s.problem(), candidate.config);
        if (late) return Phase::out_of_time;
        if (std::holds_alternative<WorkerConnection::Interrupted>(answer)) return Phase::interrupted;
    }
    return std::nullopt;
}

}  // namespace

std::optional<Phase> measure_candidate(ProblemSearch& s, std::size_t index) {
    const Candidate& candidate = s.candidates[index];
    if (auto rejected = rejection(candidate, results_of(s.context.compiler, candidate), s.context.worker.device(), index == 0))
        s.keep(index, *std::move(rejected));
    else if (const auto end = run(s, index))
        return end;
    if (s.results[index]) ++s.report.measured_now;
    return std::nullopt;
}

std::optional<Phase> prepare(ProblemSearch& s) {
    WorkerConnection& worker = s.context.worker;
    if (s.prepared && worker.alive()) return std::nullopt;
    s.save();
    s.prepared = false;
    // This kernel is compiled here, as all kernels are, so that the worker finds it.
    if (const auto end = s.compile(make_verify_source())) return end;
    const PrepareRequest request{.problem = s.problem(), .seed = 1};
    std::string how;
    for (int attempt = 0; attempt < kPrepareAttempts;) {
        if (s.context.interrupt.requested()) return Phase::interrupted;
        if (s.left() <= 0 || (!worker.alive() && s.context.budget.left() <= worker.start_seconds())) return Phase::out_of_time;
        if (!worker.alive()) worker.respawn();
        const WorkerConnection::Answer answer = worker.ask(request, 5 * s.deadline(), s.left());
        if (std::holds_alternative<WorkerConnection::Interrupted>(answer)) return Phase::interrupted;
        if (std::holds_alternative<WorkerConnection::Lost>(answer)) continue;
        const auto* late = std::get_if<WorkerConnection::TimedOut>(&answer);
        if (late && late->turn_is_over) return Phase::out_of_time;
        if (const auto* reply = std::get_if<Reply>(&answer)) {
            if (const auto* refused = std::get_if<NotPrepared>(reply)) return s.no_winner(refused->detail);
            s.prepared = std::holds_alternative<Prepared>(*reply);
            if (s.prepared) return std::nullopt;
        }
        const auto* died = std::get_if<WorkerConnection::Died>(&answer);
        how = died ? "worker " + died->how : late ? "passed the deadline" : "the worker answered something else";
        ++attempt;
    }
    return s.no_winner("operands and reference could not be made: " + how);
}

}  // namespace tmm
