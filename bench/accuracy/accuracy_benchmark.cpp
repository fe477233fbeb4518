// Measures one shape's families; see accuracy_benchmark.h.
#include "bench/accuracy/accuracy_benchmark.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <new>
#include <stdexcept>

#include "base/error.h"
#include "generator/choice/cost_model.h"
#include "generator/text/text.h"

namespace tmm::bench {

void check_promised(const std::vector<Shape>& shapes, const std::string& file) {
    for (const Shape& shape : shapes) {
        const GemmProblem& p = shape.problem;
        if (p.epilogue != Epilogue::none)
            throw Error(ExitStatus::usage, fmt::format("--accuracy measures the errors of products, and {} has an epilogue", to_text(p)),
                        fmt::format("{}:{}", file, shape.line),
                        "leave the epilogue out; without --accuracy the error columns judge results with epilogues");
        const bool f32 = p.type_a == ElementType::f32 && p.type_b == ElementType::f32 && p.type_c == ElementType::f32;
        if (f32 && (p.compute == ComputeMode::f32 || p.compute == ComputeMode::f32_strict)) continue;
        throw Error(ExitStatus::usage, fmt::format("--accuracy compares with a loop of FP32 FMAs, which is no measure for {}", to_text(p)),
                    fmt::format("{}:{}", file, shape.line), "give shapes of f32 with compute=f32 or f32_strict");
    }
}

bool ShapeAccuracy::holds() const {
    return failure.empty() && std::all_of(families.begin(), families.end(), [](const FamilyAccuracy& family) { return family.holds(); });
}

AccuracyBenchmark::AccuracyBenchmark(std::shared_ptr<Device> device, Stream stream, const TunedLibrary& tuned, Peer* cublas)
    : device_(std::move(device)), stream_(stream), tuned_(tuned), cublas_(cublas), naive_(make_naive_peer(device_)), multiplier_(device_) {}

ShapeAccuracy AccuracyBenchmark::run(const GemmProblem& problem, const std::function<bool(const ShapeAccuracy&)>& done) {
    ShapeAccuracy result;
    result.problem = problem;
    try {
        measure(result, done);
    } catch (const DeviceFault&) {
        throw;
    } catch (const std::bad_alloc&) {
        result.failure = "memory is too small for its operands";
    } catch (const std::exception& error) {
        result.failure = error.what();
    }
    return result;
}

void AccuracyBenchmark::measure(ShapeAccuracy& result, const std::function<bool(const ShapeAccuracy&)>& done) {
    const GemmProblem& problem = result.problem;
    // Each family takes one multiplication by tmm, one by the loop and one by the exact product.
    const auto multiplications = static_cast<double>(3 * std::size(kInputFamilies));
    if (const auto reason = why_too_large(problem, device_->info(), multiplications)) throw std::runtime_error(*reason);
    const TunedPlan plan = tuned_.plan(problem);
    result.config = plan.config;
    result.match = plan.match;
    result.why = plan.why;
    const std::vector<std::unique_ptr<Contestant>> loops = naive_->offers(problem);
    std::vector<std::unique_ptr<Contestant>> cublas;
    if (cublas_) try {
            cublas = cublas_->offers(problem);
        } catch (const DeviceFault&) {
            throw;
        } catch (const std::exception& error) {
            result.cublas_skipped = error.what();
        }
    const Compared compared{.tmm = *plan.contestant, .loop = *loops.front(), .cublas = cublas.empty() ? nullptr : cublas.front().get()};

    FamilyOperands operands(device_, problem);
    for (const InputFamily family : kInputFamilies) {
        result.families.push_back(measure_family(family, operands, multiplier_, compared, stream_));
        if (!done(result)) return;
    }
}

}  // namespace tmm::bench
