#include "tests/support/kernels/random_calls.h"

#include <fmt/format.h>

#include <chrono>
#include <random>

#include "db/store/records.h"
#include "tests/support/api_testing.h"
#include "tests/support/kernels/correctness.h"

namespace tmm::testing {
namespace {

using namespace api_testing;

// So many calls follow each other that differ in their sizes, by multiples of 8 that leave rows as aligned as they are, and in their
// values: most of them take one kernel, which is compiled once.
constexpr int kOfOneKind = 8;

// Most products of a problem that ships: more would take the reference too long.
constexpr std::int64_t kMostProducts = std::int64_t{1} << 25;

class Draw {
public:
    explicit Draw(std::uint64_t seed) : engine_(seed) {}
    int below(int count) { return static_cast<int>(engine_() % static_cast<std::uint64_t>(count)); }
    template <typename T, std::size_t count>
    T of(const T (&values)[count]) {
        return values[below(count)];
    }
    // The size is as often from 10 to 20 as from 100 to 200.
    std::int64_t size(int largest) {
        int doublings = 0;
        while (2 << doublings <= largest) ++doublings;
        const int least = 1 << below(doublings + 1);
        return std::min(largest, least + below(least));
    }

private:
    std::mt19937_64 engine_;
};

struct RandomCall {
    Product product;
    std::int64_t batch = 1;
    // Elements between a member's end and the next one's begin; A and B may be one matrix for all.
    std::int64_t gap = 0;
    bool shares_a = false, shares_b = false;
    tmmCompute_t compute = TMM_COMPUTE_F32;
    // Distance in elements from an aligned address.
    std::size_t offset = 0;

    std::size_t stride_a() const { return shares_a || batch == 1 ? 0 : product.size_a() + static_cast<std::size_t>(gap); }
    std::size_t stride_b() const { return shares_b || batch == 1 ? 0 : product.size_b() + static_cast<std::size_t>(gap); }
    std::size_t stride_c() const { return batch == 1 ? 0 : product.size_c() + static_cast<std::size_t>(gap); }
    std::size_t last() const { return static_cast<std::size_t>(batch) - 1; }
    std::size_t size_a() const { return last() * stride_a() + product.size_a(); }
    std::size_t size_b() const { return last() * stride_b() + product.size_b(); }
    std::size_t size_c() const { return last() * stride_c() + product.size_c(); }

    std::string text() const {
        return fmt::format("{} types {} {} compute {} batch {} gap {} shared {} {} offset {}", product.text(),
                           static_cast<int>(product.type), static_cast<int>(product.type_c), static_cast<int>(compute), batch, gap,
                           shares_a, shares_b, offset);
    }
};

// Sizes and types of problems that have a winner on the device; few enough products each.
std::vector<Product> shipped_products(const DeviceInfo& device) {
    std::vector<Product> products;
    for (const WinnerRow& row : shipped_winners()) {
        const GemmProblem& p = row.problem;
        if (row.device != device.name || p.batch != 1 || p.m * p.n * p.k > kMostProducts || p.compute == ComputeMode::tf32) continue;
        products.push_back({.op_a = p.op_a == Operation::none ? TMM_NO_TRANS : TMM_TRANS,
                            .op_b = p.op_b == Operation::none ? TMM_NO_TRANS : TMM_TRANS,
                            .m = p.m,
                            .n = p.n,
                            .k = p.k,
                            .type = static_cast<tmmType_t>(p.type_a),
                            .type_c = static_cast<tmmType_t>(p.type_c)});
    }
    return products;
}

RandomCall draw_call(Draw& draw, int largest, const std::vector<Product>& shipped) {
    RandomCall call;
    Product& p = call.product;
    if (!shipped.empty() && draw.below(10) == 0) {
        p = shipped[static_cast<std::size_t>(draw.below(static_cast<int>(shipped.size())))];
        if (p.type == TMM_F64) call.compute = TMM_COMPUTE_F64;
        return call;
    }
    p.layout = draw.of({TMM_ROW_MAJOR, TMM_COL_MAJOR});
    p.op_a = draw.of({TMM_NO_TRANS, TMM_TRANS});
    p.op_b = draw.of({TMM_NO_TRANS, TMM_TRANS});
    p.m = draw.size(largest);
    p.n = draw.size(largest);
    p.k = draw.size(largest);
    p.alpha = draw.of({1.0f, -0.75f, 2.5f});
    p.beta = draw.of({0.0f, 0.0f, 1.0f, -1.5f});
    for (std::int64_t* pad : {&p.pad_a, &p.pad_b, &p.pad_c}) *pad = draw.of({0, 0, 1, 3, 8});
    p.type = draw.of({TMM_F32, TMM_F32, TMM_F16, TMM_BF16, TMM_F64});
    p.type_c = draw.below(3) == 0 && p.type != TMM_F64 ? TMM_F32 : p.type;
    if (p.type == TMM_F64) call.compute = TMM_COMPUTE_F64;
    if (p.type == TMM_F32) call.compute = draw.of({TMM_COMPUTE_F32, TMM_COMPUTE_F32_STRICT});
    if (draw.below(3) == 0) {
        call.batch = 2 + draw.below(3);
        call.gap = draw.of({0, 1, 8});
        call.shares_a = draw.below(4) == 0;
        call.shares_b = draw.below(4) == 0;
    }
    call.offset = static_cast<std::size_t>(draw.of({0, 0, 0, 1, 3}));
    return call;
}

void vary_sizes(Draw& draw, Product& p) {
    for (std::int64_t* size : {&p.m, &p.n, &p.k})
        if (const std::int64_t other = *size + 8 * (draw.below(5) - 2); other > 0) *size = other;
}

template <class T>
std::vector<T> part(const std::vector<T>& values, std::size_t begin, std::size_t size) {
    return {values.begin() + static_cast<std::ptrdiff_t>(begin), values.begin() + static_cast<std::ptrdiff_t>(begin + size)};
}

// Says in words what is wrong with the call's result; empty where nothing is. T: what alpha and beta are, and values are given in.
template <class T>
std::string fault_of(const Fixture& on, const RandomCall& call, unsigned seed) {
    const Product& p = call.product;
    const std::vector<T> a = api_testing::rounded_to(p.type, normal_values<T>(call.size_a(), seed));
    const std::vector<T> b = api_testing::rounded_to(p.type, normal_values<T>(call.size_b(), seed + 1));
    const std::vector<T> before = api_testing::rounded_to(p.type_c, normal_values<T>(call.size_c(), seed + 2));
    const MatrixOnDevice<T> da(on, a, call.offset, p.type), db(on, b, call.offset, p.type), dc(on, before, call.offset, p.type_c);
    tmmGemmProblem_t problem = problem_of(p);
    problem.compute = call.compute;
    problem.batch = call.batch;
    problem.stride_a = static_cast<std::int64_t>(call.stride_a());
    problem.stride_b = static_cast<std::int64_t>(call.stride_b());
    problem.stride_c = static_cast<std::int64_t>(call.stride_c());
    const T alpha = p.alpha, beta = p.beta;
    tmmGemmArgs_t args = args_of(p, da.address(), db.address(), dc.address());
    args.alpha = &alpha;
    args.beta = &beta;
    if (tmmGemm(on.handle, &problem, &args) != TMM_STATUS_SUCCESS) return tmmLastError(on.handle);
    on.device->synchronize();
    if (!same_bits(da.read(), a) || !same_bits(db.read(), b)) return "A or B was written";
    const std::vector<T> after = dc.read();
    for (std::size_t member = 0; member <= call.last(); ++member) {
        const std::size_t at = member * call.stride_c();
        const std::string fault =
            difference(p, part(a, member * call.stride_a(), p.size_a()), part(b, member * call.stride_b(), p.size_b()),
                       part(before, at, p.size_c()), part(after, at, p.size_c()));
        if (!fault.empty()) return fmt::format("member {}: {}", member, fault);
        if (member == call.last()) break;
        const std::size_t end = at + p.size_c(), gap = static_cast<std::size_t>(call.gap);
        if (!same_bits(part(before, end, gap), part(after, end, gap)))
            return fmt::format("what stands behind member {} was written", member);
    }
    return {};
}

}  // namespace

void check_random_calls(int ordinal, std::uint64_t seed, int first, int count, int largest) {
    const Fixture on(ordinal);
    const std::vector<Product> shipped = shipped_products(on.device->info());
    const auto start = std::chrono::steady_clock::now();
    const std::chrono::seconds most(test_setting("SECONDS", 0));
    int made = 0;
    for (int i = first; i < first + count; ++i, ++made) {
        if (most.count() > 0 && std::chrono::steady_clock::now() - start > most) break;
        Draw kind(seed * 1'000'003 + static_cast<std::uint64_t>(i / kOfOneKind));
        RandomCall call = draw_call(kind, largest, shipped);
        Draw sizes(seed * 1'000'003 + static_cast<std::uint64_t>(i));
        if (i % kOfOneKind != 0) vary_sizes(sizes, call.product);
        INFO("seed " << seed << ", call " << i << ": " << call.text());
        const bool doubles = call.compute == TMM_COMPUTE_F64;
        CHECK((doubles ? fault_of<double> : fault_of<float>)(on, call, static_cast<unsigned>(i)) == "");
    }
    fmt::print("{} of {} random calls on {}, from call {} on, with {} shipped problems among what is drawn from, seed {}\n", made, count,
               on.device->info().name, first, shipped.size(), seed);
}

}  // namespace tmm::testing
