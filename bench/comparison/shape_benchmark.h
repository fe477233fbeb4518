// Compares tmm with its peers on one shape, from the operands to the ratio: compares results, screens offers, times pairs, measures host
// cost.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/accuracy/result_check.h"
#include "bench/comparison/shape_class.h"
#include "bench/operands/operands.h"
#include "bench/peers/tuned.h"
#include "bench/timing/driver_context.h"
#include "bench/timing/paired_timing.h"
#include "bench/timing/roofline.h"
#include "bench/timing/statistics.h"
#include "runtime/plan/executable_plan.h"
#include "tuner/measure/ceilings.h"
#include "tuner/measure/other_kernel.h"

namespace tmm::bench {

struct BenchmarkOptions {
    int pairs = 30;
    SettleOptions settle;
    // A sample's graph holds launches for at least this long.
    double sample_us = 2000;
    // Offers of a peer that are at most this much slower than its best one stay in the contest.
    double keep_within = 1.05;
    std::size_t keep_most = 6;
};

struct PeerResult {
    std::string name;
    // Says why the peer was left out; the rest then has no meaning.
    std::string skipped;
    // The detail of the offer that was fastest in screening.
    std::string detail;
    int offers = 0;
    // The median over the pairs of its fastest offer.
    double median_us = 0;
    // The ratio peer / tmm, without an interval (low = high = value) where the peer was too slow to be timed in pairs.
    Interval ratio;
    bool in_pairs = false;
    std::vector<double> samples_us;
    std::int64_t workspace_bytes = 0;
    // Host cost of a call; negative where it was not measured.
    double host_us = -1;
    // The time where another kernel stands before each call, without that kernel's own; 0 where it was not measured.
    double between_us = 0;
    // Relative error in norm of the offer that was fastest in screening.
    double error = 0;
};

// A result that errs by more than so many times what the best peer's does was not as hard to come by: its time is no match for the peer's.
inline constexpr double kMostOfPeerError = 1.05;

struct ShapeResult {
    Shape shape;
    ShapeClass shape_class = ShapeClass::mid;
    // Says why tmm could not be timed; the rest then has no meaning.
    std::string failure;
    std::string config;
    std::string match;
    std::string why;
    double median_us = 0;
    double tflops = 0;
    std::vector<double> samples_us;
    std::int64_t workspace_bytes = 0;
    double host_us = -1;
    double between_us = 0;
    std::vector<PeerResult> peers;
    // The peer with the smallest median among those timed in pairs (among all where none was), with another kernel between where that was
    // measured; empty where there is none.
    std::string best_peer;
    // Fastest peer of each pair / tmm, and its median with the 95% interval, of products back to back.
    std::vector<double> ratios;
    Interval ratio;
    // The same where another kernel stands between; empty and 0 where it was not measured.
    std::vector<double> between_ratios;
    Interval between_ratio;
    int launches = 0;
    int operand_sets = 0;
    bool cold_l2 = false;
    ResultCheck check;
    int sm_clock_mhz = 0;
    bool throttled = false;
    // The floor is set only where ceilings were measured.
    std::optional<Floor> floor;
    // The launch of the read kernel that read fastest.
    std::string read_launch;

    // The ratio that is claimed: with another kernel between, as programs run, where that was measured.
    const Interval& claimed_ratio() const { return between_ratios.empty() ? ratio : between_ratio; }
    const std::vector<double>& claimed_ratios() const { return between_ratios.empty() ? ratios : between_ratios; }

    // Is tmm's error more than kMostOfPeerError times the best peer's? Not where nothing is compared.
    bool is_less_accurate() const;
};

class ShapeBenchmark {
public:
    // peers must outlive it.
    ShapeBenchmark(std::shared_ptr<Device> device, const DriverContext& context, const TunedLibrary& tuned,
                   const std::vector<std::unique_ptr<Peer>>& peers, BenchmarkOptions options);

    // A shape that can't be run is a result with its failure. Throws DeviceFault where the device is lost.
    ShapeResult run(const Shape& shape);

    // From now on each shape's floor is measured too. sweep must outlive it. Returns the device's ceilings.
    const DeviceCeilings& measure_ceilings(const CeilingSweep& sweep);

private:
    struct Side;
    void check_results(Operands& operands, Contestant& ours, std::vector<Side>& sides, ShapeResult& result);
    Side screen(Peer& peer, const Operands& operands, double ours_us);
    void time_between(const Operands& operands, Contestant& ours, const std::vector<Side*>& sides, ShapeResult& result);
    double host_cost(Contestant& contestant, const Operands& operands, double launch_us);
    void run_once(Contestant& contestant, const GemmCall& call);
    void measure_floor(const Operands& operands, std::int64_t rotation_bytes, ShapeResult& result) const;

    std::shared_ptr<Device> device_;
    const DriverContext& context_;
    const TunedLibrary& tuned_;
    const std::vector<std::unique_ptr<Peer>>& peers_;
    BenchmarkOptions options_;
    ValuePool pool_;
    ResultChecker checker_;
    KernelLoader loader_;
    OtherKernel other_;
    const CeilingSweep* ceiling_sweep_ = nullptr;
    DeviceCeilings ceilings_;
};

}  // namespace tmm::bench
