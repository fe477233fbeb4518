// The order in which a search's candidates are measured, and when enough of them have been.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "tuner/search/corrected_model.h"
#include "tuner/search/problem_search.h"

namespace tmm {

// Candidates that are to be measured.
class PendingCandidates {
public:
    // Those of a search that have no result. Each time that is measured changes what is predicted of the others, and so their order.
    // expects_variants: kernels of variants of the fastest are compiled meanwhile.
    static PendingCandidates of_search(ProblemSearch& search, bool expects_variants);
    // These, all of them, in this order.
    PendingCandidates(ProblemSearch& search, std::vector<std::size_t> in_order);

    bool empty() const { return order_.empty(); }
    // Whether the rest need not be measured; why is then said in search.ended.
    bool are_enough_known() const;
    // The first whose kernels are compiled; nothing where none is.
    std::optional<std::size_t> first_compiled() const;
    // Requests the kernels, in the order in which they are needed: all of them anew, or those that nobody has requested.
    void request_kernels_anew() const { search_.request_in_order(order_); }
    void request_kernels() const;
    // Takes out a candidate that was measured.
    void take_out(std::size_t index);

private:
    bool is_first(std::size_t i) const;
    void arrange();
    void expect_variants() const;
    bool is_certain() const;
    bool is_effort_over() const;

    ProblemSearch& search_;
    std::vector<std::size_t> order_;
    std::optional<CorrectedModel> model_;
    bool expects_variants_ = false;
    int next_request_;
};

}  // namespace tmm
