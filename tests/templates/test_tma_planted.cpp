// Faults planted in how threads, barriers and copies of kernels that TMA serves meet: the emulated device finds each.
#include <doctest/doctest.h>

#include <fmt/format.h>

#include <cstdlib>
#include <set>
#include <string>
#include <utility>

#include "tests/support/kernels/tma_products.h"
#include "tests/support/slice.h"

using namespace tmm;
using namespace tmm::testing;

// Every barrier of skinny and of simt has a fault. Faults that no emulation shows are left out: a missing wait for the previous kernel
// (griddepcontrol.wait), for kernels run one after the other here, and a missing fence of barriers just made (fence.mbarrier_init).
TEST_CASE("each fault in how threads, barriers and copies meet is found on the emulated device") {
    const TemplateFiles unset = templates_with_unset_sums();
    std::set<std::pair<std::string, std::string>> seen_right;
    std::size_t index = 0;
    for (const TmaFault& fault : tma_faults()) {
        CAPTURE(std::string(fault.what));
        // Each has a text to stand in, whichever part of them is planted.
        const TemplateFiles faulty = with_fault(fault, unset);
        if (!fault.seen_emulated || !in_slice(index++, 19)) continue;
        if (seen_right.insert({fault.config, fault.shape}).second) CHECK(wrong_with(fault, unset) == "");
        const std::string found = wrong_with(fault, faulty);
        CHECK(found != "");
        CHECK(found.find("does not compile") == std::string::npos);
        CHECK(found.find("invalid") == std::string::npos);
        if (std::getenv("TMM_TEST_VERBOSE")) fmt::print("{}: {}\n", fault.what, found.substr(0, 200));
    }
}
