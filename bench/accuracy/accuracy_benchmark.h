// tmm's accuracy on one shape, family of inputs by family of inputs, with the plan that a program would get.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/accuracy/family_accuracy.h"
#include "bench/peers/peers.h"
#include "bench/peers/tuned.h"
#include "generator/text/shapes_file.h"

namespace tmm::bench {

// Throws Error (usage) that names the line of a shape whose accuracy is not promised relative to a loop of FP32 FMAs: a shape of other
// types than f32, or one computed in another mode than f32 and f32_strict.
void check_promised(const std::vector<Shape>& shapes, const std::string& file);

struct ShapeAccuracy {
    GemmProblem problem;
    // Says why the shape could not be measured, or not on every family.
    std::string failure;
    std::string config;
    std::string match;
    std::string why;
    // Says why cuBLAS has no figures though it was asked for.
    std::string cublas_skipped;
    std::vector<FamilyAccuracy> families;

    bool holds() const;
};

class AccuracyBenchmark {
public:
    // cublas may be null, and must outlive it.
    AccuracyBenchmark(std::shared_ptr<Device> device, Stream stream, const TunedLibrary& tuned, Peer* cublas);

    // Calls done after each family, and ends where that gives false. A shape that can't be run is a result with its failure. Throws
    // DeviceFault where the device is lost.
    ShapeAccuracy run(const GemmProblem& problem, const std::function<bool(const ShapeAccuracy&)>& done);

private:
    void measure(ShapeAccuracy& result, const std::function<bool(const ShapeAccuracy&)>& done);

    std::shared_ptr<Device> device_;
    Stream stream_;
    const TunedLibrary& tuned_;
    Peer* cublas_;
    std::unique_ptr<Peer> naive_;
    ExactMultiplier multiplier_;
};

}  // namespace tmm::bench
