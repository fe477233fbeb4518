// Compares tmm with its peers on one shape; see shape_benchmark.h.
#include "bench/comparison/shape_benchmark.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <new>
#include <stdexcept>

#include "base/error.h"
#include "base/median.h"
#include "base/text/environment.h"
#include "bench/comparison/among_others.h"
#include "bench/timing/roofline.h"
#include "db/store/measurement.h"
#include "generator/choice/cost_model.h"
#include "tuner/measure/timing.h"

namespace tmm::bench {
namespace {

// A peer this many times slower than tmm is timed apart where pairs with it would take longer than this.
constexpr double kSlowPeer = 4;
constexpr double kSlowPeerBudgetUs = 500e3;
constexpr int kSlowPeerSamples = 3;
// The emulated device's times say nothing, with other kernels between or without.
constexpr int kPairsBetweenOnEmulated = 2;

Recorded record(Contestant& contestant, Device& device, const Operands& operands, int launches) {
    return {.replay = contestant.record(device, operands.calls(launches)), .launches = launches};
}

}  // namespace

bool ShapeResult::is_less_accurate() const {
    if (!failure.empty()) return false;
    for (const PeerResult& peer : peers)
        if (peer.name == best_peer && peer.skipped.empty()) return !(check.accuracy.error <= kMostOfPeerError * peer.error);
    return false;
}

struct ShapeBenchmark::Side {
    Peer* peer = nullptr;
    PeerResult result;
    // The kept offers, the fastest first.
    std::vector<std::unique_ptr<Contestant>> kept;
    double fastest_us = 0;
};

ShapeBenchmark::ShapeBenchmark(std::shared_ptr<Device> device, const DriverContext& context, const TunedLibrary& tuned,
                               const std::vector<std::unique_ptr<Peer>>& peers, BenchmarkOptions options)
    : device_(std::move(device)),
      context_(context),
      tuned_(tuned),
      peers_(peers),
      options_(options),
      checker_(device_, context.stream()),
      loader_(device_, make_compiler(device_->info()), KernelCache(default_cache_directory())),
      other_(device_, loader_) {}

ShapeResult ShapeBenchmark::run(const Shape& shape) {
    ShapeResult result;
    result.shape = shape;
    result.shape_class = classify(shape.problem);
    try {
        // The multiplications of both sides of each pair, and those that are run before the pairs.
        if (const auto reason = why_too_large(shape.problem, device_->info(), 2 * (options_.pairs + kPairsBetweenOnEmulated) + 5))
            throw std::runtime_error(*reason);
        if (const auto reason = why_no_operands(shape.problem)) throw std::runtime_error(*reason);
        const std::int64_t rotation = device_->info().emulated ? 0 : 2 * device_->info().l2_bytes;
        Operands operands(device_, shape, rotation, pool_);
        result.operand_sets = operands.sets();
        result.cold_l2 = operands.past_cache();

        TunedPlan plan = tuned_.plan(shape.problem);
        Contestant& ours = *plan.contestant;
        result.config = plan.config;
        result.match = plan.match;
        result.why = plan.why;
        result.workspace_bytes = ours.workspace_bytes();
        run_once(ours, operands.call(0));
        auto recorded = std::make_shared<Recorded>(record(ours, *device_, operands, operands.sets()));
        const double estimate_us = screening_time(*recorded);
        result.launches = device_->info().emulated ? 1 : launches_for(options_.sample_us, estimate_us, operands.sets());
        if (result.launches != recorded->launches) *recorded = record(ours, *device_, operands, result.launches);

        std::vector<Side> sides;
        for (const std::unique_ptr<Peer>& peer : peers_) sides.push_back(screen(*peer, operands, estimate_us));
        check_results(operands, ours, sides, result);

        std::vector<Sampler> everyone = {sampler_of(recorded)};
        std::vector<PeerSide> contest;
        std::vector<Side*> in_contest;
        for (Side& side : sides) {
            if (!side.result.skipped.empty() || !side.result.in_pairs) continue;
            PeerSide offers;
            for (const std::unique_ptr<Contestant>& offer : side.kept)
                offers.offers.push_back(sampler_of(std::make_shared<Recorded>(record(*offer, *device_, operands, result.launches))));
            everyone.insert(everyone.end(), offers.offers.begin(), offers.offers.end());
            contest.push_back(std::move(offers));
            in_contest.push_back(&side);
        }

        settle(everyone, options_.settle);
        const PairedSamples samples = time_in_pairs(everyone.front(), contest, options_.pairs);
        const DeviceState state = device_->state();
        result.sm_clock_mhz = state.sm_clock_mhz;
        result.throttled = state.throttled;

        if (ceiling_sweep_) measure_floor(operands, rotation, result);

        result.samples_us = samples.ours;
        result.median_us = median(samples.ours);
        // The rate of the emulated device says nothing.
        if (!device_->info().emulated) result.tflops = flops(shape.problem) / result.median_us * 1e-6;
        for (std::size_t i = 0; i < in_contest.size(); ++i) {
            PeerResult& peer = in_contest[i]->result;
            peer.samples_us = samples.peers[i];
            peer.median_us = median(peer.samples_us);
            peer.ratio = median_interval(ratios(samples.ours, peer.samples_us));
        }
        for (Side& side : sides) {
            if (!side.result.skipped.empty()) continue;
            if (!side.result.in_pairs) {
                const double ratio = side.result.median_us / result.median_us;
                side.result.ratio = {.value = ratio, .low = ratio, .high = ratio};
            }
            if (!device_->info().emulated && side.kept.front()->has_host_cost())
                side.result.host_us = host_cost(*side.kept.front(), operands, side.result.median_us);
        }
        if (!device_->info().emulated) result.host_us = host_cost(ours, operands, result.median_us);

        time_between(operands, ours, in_contest, result);

        for (Side& side : sides) result.peers.push_back(std::move(side.result));
        const PeerResult* best = nullptr;
        const auto claimed_us = [&](const PeerResult& peer) { return result.between_ratios.empty() ? peer.median_us : peer.between_us; };
        for (const PeerResult& peer : result.peers)
            if (peer.skipped.empty() && (peer.in_pairs || contest.empty()) && (!best || claimed_us(peer) < claimed_us(*best))) best = &peer;
        if (best) {
            result.best_peer = best->name;
            result.ratios =
                contest.empty() ? std::vector<double>{best->ratio.value} : ratios(samples.ours, fastest_per_pair(samples.peers));
            result.ratio = median_interval(result.ratios);
        }
    } catch (const DeviceFault&) {
        throw;
    } catch (const std::bad_alloc&) {
        result.failure = "the device's memory is too small for its operands";
    } catch (const std::exception& error) {
        result.failure = error.what();
    }
    return result;
}

const DeviceCeilings& ShapeBenchmark::measure_ceilings(const CeilingSweep& sweep) {
    ceiling_sweep_ = &sweep;
    ceilings_ = sweep.measure();
    return ceilings_;
}

void ShapeBenchmark::measure_floor(const Operands& operands, std::int64_t rotation_bytes, ShapeResult& result) const {
    const Shape& shape = operands.shape();
    const ReadFloor read = read_floor(*ceiling_sweep_, operands, rotation_bytes);
    double read_bytes = 0;
    for (const ByteRange& range : operands.read_ranges(0)) read_bytes += static_cast<double>(range.bytes);
    result.read_launch = read.launch;
    result.floor = floor_of({.read_us = read.us,
                             .read_bytes = read_bytes,
                             .written_bytes = result.cold_l2 ? static_cast<double>(operands.written_bytes()) : 0,
                             .flop = shape.alpha == 0 ? 0 : flops(shape.problem),
                             .arithmetic = unit_of(shape.problem)},
                            ceilings_);
}

ShapeBenchmark::Side ShapeBenchmark::screen(Peer& peer, const Operands& operands, double ours_us) {
    Side side;
    side.peer = &peer;
    side.result.name = peer.name();
    std::vector<std::unique_ptr<Contestant>> offers;
    try {
        offers = peer.offers(operands.shape().problem);
    } catch (const DeviceFault&) {
        throw;
    } catch (const std::exception& error) {
        side.result.skipped = error.what();
        return side;
    }

    struct Screened {
        std::unique_ptr<Contestant> contestant;
        double time_us;
    };
    std::vector<Screened> screened;
    const int launches = device_->info().emulated || !offers.front()->has_host_cost() ? 1 : operands.sets();
    std::string reason;
    for (std::unique_ptr<Contestant>& offer : offers) {
        try {
            run_once(*offer, operands.call(0));
            const double time_us = screening_time(record(*offer, *device_, operands, launches));
            screened.push_back({.contestant = std::move(offer), .time_us = time_us});
        } catch (const DeviceFault&) {
            throw;
        } catch (const std::exception& error) {
            reason = error.what();
        }
    }
    if (screened.empty()) {
        side.result.skipped = reason;
        return side;
    }
    std::stable_sort(screened.begin(), screened.end(), [](const Screened& x, const Screened& y) { return x.time_us < y.time_us; });
    side.fastest_us = screened.front().time_us;
    side.result.offers = static_cast<int>(screened.size());
    for (Screened& one : screened)
        if (one.time_us <= options_.keep_within * side.fastest_us && side.kept.size() < options_.keep_most)
            side.kept.push_back(std::move(one.contestant));
    side.result.detail = side.kept.front()->detail();
    side.result.workspace_bytes = side.kept.front()->workspace_bytes();

    const bool other_clock = !side.kept.front()->has_host_cost() && !device_->info().emulated;
    const double cost_us = options_.pairs * std::max(side.fastest_us * operands.sets(), options_.sample_us);
    side.result.in_pairs = !other_clock && !(side.fastest_us > kSlowPeer * ours_us && cost_us > kSlowPeerBudgetUs);
    if (!side.result.in_pairs) {
        const Recorded recorded = record(*side.kept.front(), *device_, operands, launches);
        for (int i = 0; i < kSlowPeerSamples; ++i) side.result.samples_us.push_back(recorded.sample());
        side.result.median_us = median(side.result.samples_us);
    }
    return side;
}

void ShapeBenchmark::check_results(Operands& operands, Contestant& ours, std::vector<Side>& sides, ShapeResult& result) {
    std::vector<PeerOffer> offers;
    std::vector<PeerResult*> peers;
    for (Side& side : sides) {
        if (side.kept.empty()) continue;
        offers.push_back({.peer = side.peer, .contestant = side.kept.front().get()});
        peers.push_back(&side.result);
    }
    result.check = checker_.check(operands, ours, offers);
    for (std::size_t i = 0; i < peers.size(); ++i) peers[i]->error = result.check.peer_errors[i];
}

void ShapeBenchmark::run_once(Contestant& contestant, const GemmCall& call) {
    contestant.enqueue(call, context_.stream());
    device_->synchronize(context_.stream());
}

void ShapeBenchmark::time_between(const Operands& operands, Contestant& ours, const std::vector<Side*>& sides, ShapeResult& result) {
    std::vector<std::unique_ptr<Contestant>> contestants;
    const auto sampler = [&](std::unique_ptr<Contestant> contestant) {
        contestants.push_back(std::move(contestant));
        return sampler_of(std::make_shared<Recorded>(record(*contestants.back(), *device_, operands, result.launches)));
    };
    const Sampler tmm = sampler(behind_other(other_, &ours));
    std::vector<PeerSide> others;
    for (Side* side : sides) {
        PeerSide offers;
        for (const std::unique_ptr<Contestant>& offer : side->kept) offers.offers.push_back(sampler(behind_other(other_, offer.get())));
        others.push_back(std::move(offers));
    }
    others.push_back({.offers = {sampler(behind_other(other_, nullptr))}});
    const int pairs = device_->info().emulated ? std::min(options_.pairs, kPairsBetweenOnEmulated) : options_.pairs;
    tmm();
    PairedSamples samples = time_in_pairs(tmm, others, pairs);
    const double other_us = median(samples.peers.back());
    samples.peers.pop_back();
    // Where a kernel is timed in vain, nothing is left of a sample.
    const auto take_away = [&](std::vector<double>& times) {
        for (double& time : times) time -= other_us;
        return *std::min_element(times.begin(), times.end()) > 0;
    };
    bool is_timed = take_away(samples.ours);
    for (std::vector<double>& times : samples.peers) is_timed = take_away(times) && is_timed;
    if (!is_timed) return;
    result.between_us = median(samples.ours);
    for (std::size_t i = 0; i < sides.size(); ++i) sides[i]->result.between_us = median(samples.peers[i]);
    if (sides.empty()) return;
    result.between_ratios = ratios(samples.ours, fastest_per_pair(samples.peers));
    result.between_ratio = median_interval(result.between_ratios);
}

double ShapeBenchmark::host_cost(Contestant& contestant, const Operands& operands, double launch_us) {
    using Clock = std::chrono::steady_clock;
    const auto microseconds = [](Clock::duration duration) { return std::chrono::duration<double, std::micro>(duration).count(); };
    // The batch is so small that the stream's queue never fills, which would make the host wait for the device.
    const int batch = static_cast<int>(std::clamp(50e3 / std::max(launch_us, 1.0), 4.0, 64.0));
    std::vector<double> costs;
    const auto start = Clock::now();
    while (costs.size() < 3 || (costs.size() < 30 && microseconds(Clock::now() - start) < 200e3)) {
        const auto batch_start = Clock::now();
        for (int i = 0; i < batch; ++i) contestant.enqueue(operands.call(i % operands.sets()), context_.stream());
        costs.push_back(microseconds(Clock::now() - batch_start) / batch);
        device_->synchronize(context_.stream());
    }
    return median(costs);
}

}  // namespace tmm::bench
