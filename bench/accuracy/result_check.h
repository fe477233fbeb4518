// Checks whether tmm's result of a shape is right, and how far it, its peers' and the naive kernel's are from the exact product.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/accuracy/accuracy.h"
#include "bench/operands/operands.h"
#include "bench/peers/contestant.h"
#include "runtime/device/device.h"

namespace tmm::bench {

struct ResultCheck {
    // The accuracy against the exact product, in checked_elements of C.
    Accuracy accuracy;
    std::int64_t checked_elements = 0;
    // The difference from the first peer that multiplies the same A and B into a C of the type of its sums, in all elements; nothing where
    // no peer does.
    std::optional<Difference> difference;
    // Relative errors in norm of the offers, in their order, and of the naive kernel, a chain of FMAs in the order of k; nothing where
    // it does not serve the shape, or would take long.
    std::vector<double> peer_errors;
    std::optional<double> naive_error;

    // The larger of difference and accuracy, in units of what each allows, and where it was seen.
    double worst_of_bound() const { return difference ? std::max(difference->ratio, accuracy.ratio) : accuracy.ratio; }
    std::string where() const { return difference && difference->ratio > accuracy.ratio ? difference->where : accuracy.where; }
    bool wrong() const { return !(worst_of_bound() <= 1); }
};

// An offer of a peer for the shape.
struct PeerOffer {
    Peer* peer;
    Contestant* contestant;
};

class ResultChecker {
public:
    ResultChecker(std::shared_ptr<Device> device, Stream stream);
    ~ResultChecker();

    // Works in the operands' set 0, and leaves it as it was filled but for C. Throws DeviceFault, and what ours or an offer throws.
    ResultCheck check(Operands& operands, Contestant& ours, const std::vector<PeerOffer>& offers);

private:
    std::vector<double> result_of(Contestant& contestant, Operands& operands) const;
    std::optional<Difference> compare_with_peer(Operands& operands, const std::vector<double>& ours,
                                                const std::vector<PeerOffer>& offers) const;
    std::optional<double> naive_error(Operands& operands, const Reference& reference);
    void run(Contestant& contestant, const GemmCall& call) const;

    std::shared_ptr<Device> device_;
    Stream stream_;
    // The naive peer is made when it is first needed.
    std::unique_ptr<Peer> naive_;
};

}  // namespace tmm::bench
