// The promise of invariant problems: whatever m is, every config that may serve adds up in one order.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <variant>

#include "generator/choice/predicted_config.h"
#include "generator/choice/search_space.h"
#include "generator/choice/validity.h"
#include "generator/machine/assumed_device.h"
#include "generator/text/shapes_file.h"
#include "generator/text/text.h"

using namespace tmm;

namespace {

SumOrder order_of(const GemmProblem& problem, const KernelConfig& config, const DeviceInfo& device) {
    auto resolved = resolve(problem, config, device);
    REQUIRE(std::holds_alternative<Schedule>(resolved));
    return order_of_sums(std::get<Schedule>(resolved));
}

}  // namespace

TEST_CASE("an invariant problem has a config of its order for every m, type, layout and alignment") {
    for (const char* architecture : {"75", "80", "90", "120"}) {
        const DeviceInfo device = assumed_device(architecture);
        for (const char* type :
             {"", " compute=f32_strict", " compute=tf32", " dtype=bf16", " dtype=f16 ctype=f32", " dtype=f64", " dtype=s8"}) {
            for (const char* more : {"", " ops=tn", " batch=3", " align=8"}) {
                for (const char* layer : {"4096x4096", "77x333"}) {
                    std::set<SumOrder> orders;
                    for (const int m : {1, 7, 33, 257, 4096}) {
                        const std::string text = fmt::format("{}x{}{}{} invariant=1", m, layer, type, more);
                        CAPTURE(architecture);
                        CAPTURE(text);
                        const GemmProblem problem = parse_shape(text).problem;
                        const KernelConfig config = default_config(problem, device);
                        CHECK(rejection_reason(problem, config, device).value_or("") == "");
                        orders.insert(order_of(problem, config, device));
                    }
                    CHECK(orders.size() == 1);
                    CHECK(orders.count(SumOrder::parts) == 0);
                }
            }
        }
    }
}

TEST_CASE("all that a search offers an invariant problem adds up alike") {
    for (const std::string text :
         {"16x4096x4096 invariant=1", "16x4096x4096 dtype=bf16 ops=nt invariant=1", "64x64x65536 dtype=f64 invariant=1"}) {
        CAPTURE(text);
        const DeviceInfo device = assumed_device("90");
        const GemmProblem problem = parse_shape(text).problem;
        const SearchSpace space = search_space(problem, device, Effort::normal);
        CHECK(space.candidates.size() > 1);
        for (const KernelConfig& config : space.candidates) CHECK(order_of(problem, config, device) == invariant_order(problem, device));
        // A free choice has others.
        GemmProblem free = problem;
        free.invariant = false;
        const auto candidates = search_space(free, device, Effort::normal).candidates;
        CHECK(std::any_of(candidates.begin(), candidates.end(),
                          [&](const KernelConfig& config) { return order_of(free, config, device) != invariant_order(problem, device); }));
    }
}
