#include "bench/comparison/expression_benchmark.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <new>
#include <stdexcept>
#include <utility>

#include "base/error.h"
#include "base/median.h"
#include "bench/peers/plain_product.h"
#include "bench/timing/paired_timing.h"
#include "generator/choice/cost_model.h"
#include "generator/text/text.h"

namespace tmm::bench {
namespace {

double relative_difference(const std::vector<double>& ours, const std::vector<double>& theirs) {
    double apart = 0, norm = 0;
    for (std::size_t i = 0; i < ours.size() && i < theirs.size(); ++i) {
        // What lies between rows is no element.
        if (std::isnan(ours[i]) && std::isnan(theirs[i])) continue;
        const double x = ours[i], y = theirs[i];
        apart += (x - y) * (x - y);
        norm += x * x;
    }
    return norm > 0 ? std::sqrt(apart / norm) : std::sqrt(apart);
}

}  // namespace

struct ExpressionBenchmark::Side {
    std::string name;
    // Says why the peer is left out.
    std::string skipped;
    // The fastest offers, the best first.
    std::vector<std::unique_ptr<Contestant>> kept;
};

Shape with_expression(Shape shape, const std::string& file) {
    GemmProblem& problem = shape.problem;
    if (problem.activation != Activation::none)
        throw Error(ExitStatus::bad_input, fmt::format("{} has an activation, and the expression stands in its place", to_text(problem)),
                    fmt::format("{}:{}", file, shape.line),
                    "leave the activation out; epilogue=bias+residual gives the expression operands");
    problem.epilogue = Epilogue::custom;
    return shape;
}

ExpressionBenchmark::ExpressionBenchmark(std::shared_ptr<Device> device, const DriverContext& context, const TunedLibrary& tuned,
                                         const std::vector<std::unique_ptr<Peer>>& peers, std::string expression, BenchmarkOptions options)
    : device_(device),
      context_(context),
      tuned_(tuned),
      peers_(peers),
      expression_(std::move(expression)),
      options_(options),
      separate_(std::move(device)) {}

ExpressionResult ExpressionBenchmark::run(const Shape& shape) {
    ExpressionResult result;
    result.shape = shape;
    try {
        measure(shape, result);
    } catch (const DeviceFault&) {
        throw;
    } catch (const std::bad_alloc&) {
        result.failure = "the device's memory is too small for its operands";
    } catch (const std::exception& error) {
        result.failure = error.what();
    }
    return result;
}

void ExpressionBenchmark::measure(const Shape& shape, ExpressionResult& result) {
    const bool emulated = device_->info().emulated;
    // The multiplications of all sides of each pair, and those that are run before the pairs.
    if (const auto reason = why_too_large(shape.problem, device_->info(), 3 * options_.pairs + 8)) throw std::runtime_error(*reason);
    Operands operands(device_, shape, emulated ? 0 : 2 * device_->info().l2_bytes, pool_);
    if (!emulated) result.l2 = operands.past_cache() ? "cold" : "warm";
    TunedPlan plan = tuned_.plan(shape.problem, expression_);
    TunedPlan plain = tuned_.plan(plain_product(shape.problem));
    result.config = plan.config;
    result.match = plan.match;
    result.why = plan.why;
    result.in_step = plan.why.ends_with("so the step applies it");
    for (Contestant* one : {plan.contestant.get(), plain.contestant.get()}) run_once(*one, operands.call(0));

    const double estimate_us = screening_time(*recorded(*plan.contestant, operands, operands.sets()));
    const int launches = emulated ? 1 : launches_for(options_.sample_us, estimate_us, operands.sets());
    const Sampler ours = sampler_of(recorded(*plan.contestant, operands, launches));
    std::vector<Sampler> everyone = {ours};
    std::vector<PeerSide> contest(1);
    contest[0].offers.push_back(sampler_of(recorded(*plain.contestant, operands, launches)));
    std::vector<Side> sides;
    for (const std::unique_ptr<Peer>& peer : peers_) {
        Side side = screen(*peer, operands);
        if (!side.skipped.empty()) {
            result.skipped.push_back(fmt::format("{} skipped: {}", side.name, side.skipped));
            continue;
        }
        PeerSide& offers = contest.emplace_back();
        for (const auto& offer : side.kept) offers.offers.push_back(sampler_of(recorded(*offer, operands, launches)));
        sides.push_back(std::move(side));
    }
    for (const PeerSide& side : contest) everyone.insert(everyone.end(), side.offers.begin(), side.offers.end());
    settle(everyone, options_.settle);
    const PairedSamples samples = time_in_pairs(ours, contest, options_.pairs);
    result.throttled = device_->state().throttled;

    result.median_us = median(samples.ours);
    result.plain_us = median(samples.peers[0]);
    result.over_plain = ratios(samples.peers[0], samples.ours);
    if (sides.empty()) return;
    const std::vector<std::vector<double>> of_peers(samples.peers.begin() + 1, samples.peers.end());
    std::size_t best = 0;
    for (std::size_t i = 1; i < sides.size(); ++i)
        if (median(of_peers[i]) < median(of_peers[best])) best = i;
    result.best_peer = sides[best].name;
    result.detail = sides[best].kept.front()->detail();
    result.peer_us = median(of_peers[best]);
    result.ratios = ratios(samples.ours, fastest_per_pair(of_peers));
    result.difference = relative_difference(result_of(*plan.contestant, operands), result_of(*sides[best].kept.front(), operands));
}

ExpressionBenchmark::Side ExpressionBenchmark::screen(Peer& peer, const Operands& operands) {
    const GemmProblem& problem = operands.shape().problem;
    Side side;
    side.name = peer.name();
    std::vector<std::pair<double, std::unique_ptr<Contestant>>> screened;
    try {
        std::vector<std::unique_ptr<Contestant>> products = peer.offers(plain_product(problem));
        if (!products.front()->has_host_cost())
            throw std::runtime_error("it computes on the CPU, and a kernel of the device can't follow it");
        for (std::unique_ptr<Contestant>& offer : separate_.behind(std::move(products), problem, {.text = expression_})) try {
                run_once(*offer, operands.call(0));
                const double time_us = screening_time(*recorded(*offer, operands, operands.sets()));
                screened.emplace_back(time_us, std::move(offer));
            } catch (const DeviceFault&) {
                throw;
            } catch (const std::exception& error) {
                side.skipped = error.what();
            }
    } catch (const DeviceFault&) {
        throw;
    } catch (const std::exception& error) {
        side.skipped = error.what();
    }
    if (screened.empty()) return side;
    side.skipped.clear();
    std::stable_sort(screened.begin(), screened.end(), [](const auto& x, const auto& y) { return x.first < y.first; });
    for (auto& [time_us, offer] : screened)
        if (time_us <= options_.keep_within * screened.front().first && side.kept.size() < options_.keep_most)
            side.kept.push_back(std::move(offer));
    return side;
}

std::shared_ptr<Recorded> ExpressionBenchmark::recorded(Contestant& contestant, const Operands& operands, int launches) const {
    return std::make_shared<Recorded>(Recorded{.replay = contestant.record(*device_, operands.calls(launches)), .launches = launches});
}

void ExpressionBenchmark::run_once(Contestant& contestant, const GemmCall& call) const {
    contestant.enqueue(call, context_.stream());
    device_->synchronize(context_.stream());
}

std::vector<double> ExpressionBenchmark::result_of(Contestant& contestant, Operands& operands) const {
    operands.fill_c(0);
    run_once(contestant, operands.call(0));
    return operands.result(0);
}

}  // namespace tmm::bench
