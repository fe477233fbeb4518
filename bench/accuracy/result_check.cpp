// Checks whether results are right; see result_check.h.
#include "bench/accuracy/result_check.h"

#include <cmath>
#include <limits>

#include "bench/accuracy/exact_product.h"
#include "bench/operands/element_bits.h"
#include "bench/peers/peers.h"
#include "bench/peers/plain_product.h"
#include "db/store/measurement.h"
#include "tmm/number/arithmetic.h"

namespace tmm::bench {
namespace {

// The naive product is computed only to see its error.
constexpr double kMostNaiveFlop = 4e12;
constexpr double kMostNaiveFlopEmulated = 1e8;

}  // namespace

ResultChecker::ResultChecker(std::shared_ptr<Device> device, Stream stream) : device_(std::move(device)), stream_(stream) {}
ResultChecker::~ResultChecker() = default;

ResultCheck ResultChecker::check(Operands& operands, Contestant& ours, const std::vector<PeerOffer>& offers) {
    const Reference reference(operands, 0);
    const std::vector<double> c = result_of(ours, operands);
    ResultCheck check;
    check.checked_elements = reference.elements();
    check.accuracy = reference.judge(c);
    for (const PeerOffer& offer : offers) {
        check.peer_errors.push_back(reference.judge(result_of(*offer.contestant, operands)).error);
        if (offer.peer->name() == "naive") check.naive_error = check.peer_errors.back();
    }
    if (!check.naive_error) check.naive_error = naive_error(operands, reference);
    check.difference = compare_with_peer(operands, c, offers);
    return check;
}

std::vector<double> ResultChecker::result_of(Contestant& contestant, Operands& operands) const {
    operands.fill_c(0);
    run(contestant, operands.call(0));
    return operands.result(0);
}

// The peer writes the type of the sums, so that neither its rounding of C nor its adding up parts of K in a 16-bit C counts as tmm's
// difference. It multiplies only, so that not its own epilogue is trusted, but one in double precision.
std::optional<Difference> ResultChecker::compare_with_peer(Operands& operands, const std::vector<double>& ours,
                                                           const std::vector<PeerOffer>& offers) const {
    const GemmProblem& problem = operands.shape().problem;
    GemmProblem wide = plain_product(problem);
    wide.type_c = arithmetic_of(problem).accumulator;
    const auto elements = static_cast<std::size_t>(spanned_elements(wide.m, wide.n, wide.ldc, wide.batch, wide.stride_c));
    const auto wide_result = [&](Contestant& contestant, GemmCall call, bool absolute) {
        std::vector<double> c(elements, std::numeric_limits<double>::quiet_NaN());
        const FilledMatrix first = operands.first_c(0);
        if (problem.reads_c)
            for (std::size_t i = 0; i < elements; ++i) {
                const double value = first[static_cast<std::int64_t>(i)];
                c[i] = absolute ? std::fabs(value) : value;
            }
        std::vector<std::byte> stored = to_stored(wide.type_c, c);
        const DeviceBuffer memory(device_, stored.size());
        device_->copy_to_device(memory.data(), stored.data(), stored.size());
        call.c = memory.data();
        run(contestant, call);
        device_->copy_to_host(stored.data(), memory.data(), stored.size());
        return to_values(wide.type_c, stored);
    };

    for (const PeerOffer& offer : offers) {
        try {
            std::vector<std::unique_ptr<Contestant>> made;
            if (!(wide == problem)) made = offer.peer->offers(wide);
            Contestant& theirs = made.empty() ? *offer.contestant : *made.front();
            const std::vector<double> expected = wide_result(theirs, operands.call(0), false);
            operands.make_absolute(0);
            const std::vector<double> scale = wide_result(theirs, operands.absolute_call(0), true);
            operands.fill(0);
            return compare(problem, ours, expected, scale, ExactEpilogue(operands, 0));
        } catch (const DeviceFault&) {
            throw;
        } catch (const std::exception&) {
            // The peer has no C of that type for such operands, or too little memory is left for one: the next peer is asked.
            operands.fill(0);
        }
    }
    return std::nullopt;
}

std::optional<double> ResultChecker::naive_error(Operands& operands, const Reference& reference) {
    const GemmProblem& problem = operands.shape().problem;
    if (flops(problem) > (device_->info().emulated ? kMostNaiveFlopEmulated : kMostNaiveFlop)) return std::nullopt;
    if (!naive_) naive_ = make_peer("naive", device_, {});
    try {
        const std::vector<std::unique_ptr<Contestant>> offers = naive_->offers(problem);
        return reference.judge(result_of(*offers.front(), operands)).error;
    } catch (const DeviceFault&) {
        throw;
    } catch (const std::runtime_error&) {
        // The naive kernel does not serve the shape.
        return std::nullopt;
    }
}

void ResultChecker::run(Contestant& contestant, const GemmCall& call) const {
    contestant.enqueue(call, stream_);
    device_->synchronize(stream_);
}

}  // namespace tmm::bench
