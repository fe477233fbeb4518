// Products, their measures and what is said of them; see family_accuracy.h.
#include "bench/family_accuracy.h"

#include <fmt/format.h>

namespace tmm::bench {
namespace {

std::string place_text(const GemmProblem& p, std::size_t index) {
    const auto place = static_cast<i64>(index);
    const i64 batch = place / (p.m * p.n);
    return fmt::format("C{}[{}][{}]", p.batch > 1 ? fmt::format("[{}]", batch) : "", place / p.n % p.m, place % p.n);
}

}  // namespace

std::string verdict(const FamilyAccuracy& accuracy) {
    std::string text;
    const auto add = [&text](const std::string& what) { text += (text.empty() ? "" : "; ") + what; };
    if (!accuracy.norm_holds()) add(fmt::format("norm {:.3g} times the loop's", accuracy.norm_ratio()));
    if (!accuracy.worst_holds()) add(fmt::format("worst {:.3g} times the loop's, {}", accuracy.worst_ratio(), accuracy.worst_where));
    if (!accuracy.places_hold())
        add(fmt::format("{} element{} not finite in other places than the loop's, first {}", accuracy.misplaced.count,
                        accuracy.misplaced.count == 1 ? "" : "s", accuracy.misplaced_where));
    return text.empty() ? "ok" : text;
}

FamilyAccuracy measure_family(InputFamily family, FamilyOperands& operands, const ExactMultiplier& multiplier, const Compared& compared,
                              Stream stream) {
    const GemmProblem& problem = operands.problem();
    operands.fill(family);
    const ExactProduct exact = multiplier.multiply(problem, operands.a(), operands.b());
    const std::vector<float> loop = operands.product_of(compared.loop, stream);
    const std::vector<float> c = operands.product_of(compared.tmm, stream);

    FamilyAccuracy accuracy;
    accuracy.family = family;
    accuracy.tmm = measure_errors(c, loop, exact);
    accuracy.loop = measure_errors(loop, loop, exact);
    if (compared.cublas) accuracy.cublas = measure_errors(operands.product_of(*compared.cublas, stream), loop, exact);
    accuracy.misplaced = misplaced(c, loop);
    if (const auto at = accuracy.tmm.worst_at)
        accuracy.worst_where = fmt::format("{}: tmm {:.9g}, exactly {:.9g}", place_text(problem, *at), c[*at], exact.value[*at]);
    if (accuracy.misplaced.count > 0) {
        const std::size_t at = accuracy.misplaced.first;
        accuracy.misplaced_where = fmt::format("{}: tmm {}, loop {}", place_text(problem, at), c[at], loop[at]);
    }
    return accuracy;
}

}  // namespace tmm::bench
