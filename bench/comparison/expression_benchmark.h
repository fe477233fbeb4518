// Times an expression as the epilogue of a product, side by side with tmm's plain product and with the peers' whose results an elementwise
// kernel takes through the expression.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/comparison/shape_benchmark.h"
#include "bench/operands/operands.h"
#include "bench/peers/separate_epilogue.h"
#include "bench/peers/tuned.h"
#include "bench/timing/driver_context.h"
#include "bench/timing/statistics.h"
#include "tuner/measure/timing.h"

namespace tmm::bench {

struct ExpressionResult {
    Shape shape;
    // Says why the shape could not be timed; the rest then has no meaning.
    std::string failure;
    std::string config;
    std::string match;
    // What the library says of its choice.
    std::string why;
    // Does a step behind the product apply the expression?
    bool in_step = false;
    double plain_us = 0;
    double median_us = 0;
    // tmm with the expression / tmm's plain product, pair by pair.
    std::vector<double> over_plain;
    // The fastest of the peers, by its median; empty where none could be timed.
    std::string best_peer;
    std::string detail;
    double peer_us = 0;
    // The fastest peer of each pair / tmm.
    std::vector<double> ratios;
    // How far the best peer's result is from tmm's, relative in norm: it has been rounded twice.
    double difference = 0;
    // Why peers were left out, a sentence each.
    std::vector<std::string> skipped;
    // "cold" or "warm"; empty where there is no L2 cache.
    std::string l2;
    bool throttled = false;
};

class ExpressionBenchmark {
public:
    // peers must outlive it.
    ExpressionBenchmark(std::shared_ptr<Device> device, const DriverContext& context, const TunedLibrary& tuned,
                        const std::vector<std::unique_ptr<Peer>>& peers, std::string expression, BenchmarkOptions options);

    // A shape that can't be run is a result with its failure. Throws DeviceFault where the device is lost.
    ExpressionResult run(const Shape& shape);

private:
    struct Side;
    void measure(const Shape& shape, ExpressionResult& result);
    std::shared_ptr<Recorded> recorded(Contestant& contestant, const Operands& operands, int launches) const;
    void run_once(Contestant& contestant, const GemmCall& call) const;
    Side screen(Peer& peer, const Operands& operands);
    std::vector<double> result_of(Contestant& contestant, Operands& operands) const;

    std::shared_ptr<Device> device_;
    const DriverContext& context_;
    const TunedLibrary& tuned_;
    const std::vector<std::unique_ptr<Peer>>& peers_;
    std::string expression_;
    BenchmarkOptions options_;
    ValuePool pool_;
    SeparateEpilogues separate_;
};

// The shape with an expression in the place of an activation; its epilogue says which operands there are. Throws Error (bad_input) where it
// has an activation of its own; file: where the shape stands.
Shape with_expression(Shape shape, const std::string& file);

}  // namespace tmm::bench
