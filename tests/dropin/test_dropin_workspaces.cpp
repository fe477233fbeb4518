// The memory that libtmm_cublas.so's products work in: apart from stream to stream, within its limit, and never shared with a graph.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <set>
#include <thread>
#include <vector>

#include "runtime/dropin/cublas/problem_table.h"
#include "runtime/dropin/cublas/workspaces.h"

using namespace tmm::dropin;

namespace {

constexpr std::size_t kMiB = 1 << 20;

// Gives out addresses that nobody writes to.
class Source final : public BlockSource {
public:
    void* allocate(std::size_t bytes) noexcept override {
        ++asked;
        if (bytes > most) return nullptr;
        next_ += bytes;
        living.emplace(reinterpret_cast<void*>(next_), bytes);
        return reinterpret_cast<void*>(next_);
    }
    void release(void* memory) noexcept override { CHECK(living.erase(memory) == 1); }
    bool when_gone(void* graph, std::atomic<bool>* flag) noexcept override {
        if (refuses_graphs) return false;
        of_graphs.emplace(graph, flag);
        return true;
    }
    // The graph and all that was made of it are gone.
    void destroy(void* graph) {
        const auto [first, last] = of_graphs.equal_range(graph);
        std::for_each(first, last, [](const auto& of) { of.second->store(true); });
        of_graphs.erase(graph);
    }

    std::map<void*, std::size_t> living;
    std::multimap<void*, std::atomic<bool>*> of_graphs;
    std::size_t most = SIZE_MAX;
    int asked = 0;
    bool refuses_graphs = false;

private:
    std::uintptr_t next_ = 1 << 30;
};

StreamState executing(std::uint64_t id) {
    return {.kind = StreamState::Kind::executing, .id = id};
}
// Graph g is made by capture g.
StreamState capturing(std::uint64_t id, std::uintptr_t graph) {
    return {.kind = StreamState::Kind::capturing, .id = id, .capture = graph, .graph = reinterpret_cast<void*>(graph)};
}
void* graph_of(std::uintptr_t graph) {
    return reinterpret_cast<void*>(graph);
}

// Null where there is none.
void* memory_of(Workspaces& workspaces, const StreamState& stream, std::size_t bytes) {
    const auto lease = workspaces.lease(stream, bytes);
    if (lease) CHECK(lease->bytes() >= bytes);
    return lease ? lease->memory() : nullptr;
}

}  // namespace

TEST_CASE("a stream keeps its block, other streams have others, and a larger one takes its place") {
    Source source;
    Workspaces workspaces(source, 7 * kMiB, false);
    void* const first = memory_of(workspaces, executing(1), 100);
    REQUIRE(first);
    CHECK(memory_of(workspaces, executing(1), kMiB) == first);
    void* const second = memory_of(workspaces, executing(2), kMiB);
    CHECK(second != first);
    void* const larger = memory_of(workspaces, executing(1), 3 * kMiB);
    REQUIRE(larger);
    CHECK(memory_of(workspaces, executing(1), 1) == larger);
    CHECK(memory_of(workspaces, executing(2), 1) == second);
    // To release it would wait for what is queued with it, so that it stays while there is room.
    CHECK(source.living.contains(first));
    CHECK(workspaces.allocated() == 6 * kMiB);
    REQUIRE(memory_of(workspaces, executing(2), 2 * kMiB));
    CHECK_FALSE((source.living.contains(first) && source.living.contains(second)));
    CHECK(workspaces.allocated() <= 7 * kMiB);
}

TEST_CASE("nothing is given where the stream's state is not known") {
    Source source;
    Workspaces workspaces(source, 64 * kMiB, true);
    CHECK_FALSE(memory_of(workspaces, StreamState{}, 1));
    CHECK(source.asked == 0);
}

TEST_CASE("the limit holds for all streams, and idle ones make room") {
    Source source;
    Workspaces workspaces(source, 4 * kMiB, false);
    CHECK_FALSE(memory_of(workspaces, executing(1), 4 * kMiB + 1));
    CHECK(source.asked == 0);
    for (std::uint64_t stream = 1; stream <= 100; ++stream) {
        CHECK(memory_of(workspaces, executing(stream), kMiB));
        CHECK(workspaces.allocated() <= 4 * kMiB);
    }
    // What is no power of two finds room that is none either.
    CHECK(memory_of(workspaces, executing(7), 3 * kMiB + 1));
    CHECK(workspaces.allocated() <= 4 * kMiB);
    const auto held = workspaces.lease(executing(8), kMiB / 2);
    const auto also_held = workspaces.lease(executing(9), 3 * kMiB);
    // No room can be made while all of it is queued with.
    std::thread([&] { CHECK_FALSE(memory_of(workspaces, executing(10), kMiB)); }).join();
    Workspaces none(source, 0, true);
    CHECK_FALSE(memory_of(none, executing(1), 1));
}

TEST_CASE("where memory is short, it is not asked for again until something was released") {
    Source source;
    source.most = 2 * kMiB;
    Workspaces workspaces(source, 64 * kMiB, false);
    void* const block = memory_of(workspaces, executing(1), kMiB);
    REQUIRE(block);
    const int asked = source.asked;
    CHECK_FALSE(memory_of(workspaces, executing(2), 4 * kMiB));
    CHECK(source.asked == asked + 1);
    for (int call = 0; call < 5; ++call) CHECK_FALSE(memory_of(workspaces, executing(2), 4 * kMiB));
    CHECK(source.asked == asked + 1);
    CHECK(memory_of(workspaces, executing(2), kMiB));
    CHECK(memory_of(workspaces, executing(1), kMiB) == block);
}

TEST_CASE("a capture takes the block in reserve, allocates nothing, and shares it with nobody") {
    Source source;
    Workspaces workspaces(source, 64 * kMiB, true);
    CHECK_FALSE(memory_of(workspaces, capturing(1, 11), kMiB));
    CHECK(source.asked == 0);
    void* const of_stream = memory_of(workspaces, executing(1), kMiB);
    const int asked = source.asked;
    void* const of_graph = memory_of(workspaces, capturing(1, 11), kMiB);
    REQUIRE(of_graph);
    CHECK(of_graph != of_stream);
    // All of the capture's products of the stream use it, one after the other; another stream of the capture would run at once.
    CHECK(memory_of(workspaces, capturing(1, 11), kMiB / 2) == of_graph);
    CHECK_FALSE(memory_of(workspaces, capturing(2, 11), kMiB));
    CHECK_FALSE(memory_of(workspaces, capturing(1, 12), kMiB));
    CHECK(source.asked == asked);
    // A call between prepares the next capture.
    CHECK(memory_of(workspaces, executing(1), kMiB) == of_stream);
    void* const of_next = memory_of(workspaces, capturing(1, 12), kMiB);
    REQUIRE(of_next);
    CHECK(std::set{of_stream, of_graph, of_next}.size() == 3);
    // No stream ever gets what a living graph has.
    for (std::uint64_t stream = 2; stream < 200; ++stream) {
        void* const block = memory_of(workspaces, executing(stream), 4 * kMiB);
        CHECK(block != of_graph);
        CHECK(block != of_next);
        CHECK(source.living.contains(of_graph));
    }
}

TEST_CASE("what a larger product of a capture outgrows stays the graph's own") {
    Source source;
    Workspaces workspaces(source, 64 * kMiB, true);
    REQUIRE(memory_of(workspaces, executing(1), kMiB));
    void* const small = memory_of(workspaces, capturing(1, 11), kMiB);
    REQUIRE(memory_of(workspaces, executing(1), 8 * kMiB));
    void* const large = memory_of(workspaces, capturing(1, 11), 8 * kMiB);
    REQUIRE(large);
    CHECK(large != small);
    CHECK(source.living.contains(small));
    CHECK(memory_of(workspaces, capturing(1, 11), 1) == large);
    source.destroy(graph_of(11));
    REQUIRE(memory_of(workspaces, executing(1), 16 * kMiB));
    CHECK_FALSE(source.living.contains(small));
    CHECK_FALSE(source.living.contains(large));
}

TEST_CASE("a graph that is gone gives its block back, so that captures go on within the limit") {
    Source source;
    Workspaces workspaces(source, 4 * kMiB, true);
    for (std::uintptr_t graph = 1; graph <= 50; ++graph) {
        REQUIRE(memory_of(workspaces, executing(1), kMiB));
        CHECK(memory_of(workspaces, capturing(1, graph), kMiB));
        CHECK(workspaces.allocated() <= 4 * kMiB);
        source.destroy(graph_of(graph));
    }
    // Those that live use the limit up; what runs at once still finds its own.
    int captured = 0;
    for (std::uintptr_t graph = 100; graph < 110; ++graph) {
        CHECK(memory_of(workspaces, executing(1), kMiB));
        captured += memory_of(workspaces, capturing(1, graph), kMiB) != nullptr;
    }
    CHECK(captured == 3);
}

TEST_CASE("a graph that can't say when it is gone gets nothing") {
    Source source;
    Workspaces workspaces(source, 64 * kMiB, true);
    REQUIRE(memory_of(workspaces, executing(1), kMiB));
    source.refuses_graphs = true;
    CHECK_FALSE(memory_of(workspaces, capturing(1, 11), kMiB));
    source.refuses_graphs = false;
    CHECK(memory_of(workspaces, capturing(1, 12), kMiB));
}

TEST_CASE("threads that queue on one stream wait for each other, on several they do not") {
    Source source;
    Workspaces workspaces(source, 64 * kMiB, true);
    auto held = std::make_unique<std::optional<Workspaces::Lease>>(workspaces.lease(executing(1), kMiB));
    REQUIRE(held->has_value());
    std::thread([&] { CHECK(memory_of(workspaces, executing(2), kMiB)); }).join();
    std::atomic<bool> released = false;
    std::thread waits([&] {
        CHECK(memory_of(workspaces, executing(1), kMiB));
        CHECK(released);
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    released = true;
    held.reset();
    waits.join();
}

TEST_CASE("every problem has one decision, whoever asks first") {
    auto table = std::make_unique<ProblemTable>();
    const auto problem = [](std::int64_t size) {
        tmmGemmProblem_t p{};
        tmmGemmProblemInit(&p);
        p.m = p.n = p.k = size;
        return p;
    };
    constexpr int kThreads = 8;
    constexpr std::int64_t kProblems = 20000;
    std::vector<std::vector<Decision*>> found(kThreads);
    std::vector<std::thread> threads;
    for (auto& of_thread : found)
        threads.emplace_back([&] {
            for (std::int64_t size = 0; size < kProblems; ++size) of_thread.push_back(table->find(problem(size)));
        });
    for (std::thread& thread : threads) thread.join();
    for (const auto& of_thread : found) CHECK((of_thread == found[0]));
    CHECK(std::set<Decision*>(found[0].begin(), found[0].end()).size() == kProblems);
    CHECK_FALSE(std::ranges::count(found[0], nullptr));
}

TEST_CASE("problems that differ in anything that a kernel depends on have decisions of their own, and no more than fit") {
    auto table = std::make_unique<ProblemTable>();
    tmmGemmProblem_t base{};
    tmmGemmProblemInit(&base);
    std::vector<tmmGemmProblem_t> problems{base};
    const auto add = [&](auto member, auto value) {
        problems.push_back(base);
        problems.back().*member = value;
    };
    for (const auto member : {&tmmGemmProblem_t::m, &tmmGemmProblem_t::n, &tmmGemmProblem_t::k, &tmmGemmProblem_t::batch,
                              &tmmGemmProblem_t::lda, &tmmGemmProblem_t::ldb, &tmmGemmProblem_t::ldc, &tmmGemmProblem_t::stride_a,
                              &tmmGemmProblem_t::stride_b, &tmmGemmProblem_t::stride_c})
        add(member, std::int64_t{1} << 40);
    add(&tmmGemmProblem_t::op_a, TMM_TRANS);
    add(&tmmGemmProblem_t::op_b, TMM_TRANS);
    add(&tmmGemmProblem_t::type_a, TMM_F16);
    add(&tmmGemmProblem_t::type_c, TMM_BF16);
    add(&tmmGemmProblem_t::compute, TMM_COMPUTE_TF32);
    add(&tmmGemmProblem_t::alignment, 4);
    add(&tmmGemmProblem_t::reads_c, 1);
    add(&tmmGemmProblem_t::has_bias, 1);
    add(&tmmGemmProblem_t::activation, TMM_ACTIVATION_RELU);
    problems.push_back(base);
    problems.back().has_bias = 1;
    problems.back().type_bias = TMM_BF16;
    std::set<Decision*> decisions;
    for (const tmmGemmProblem_t& problem : problems) decisions.insert(table->find(problem));
    CHECK(decisions.size() == problems.size());
    for (std::int64_t m = 2; table->find(base); ++m) {
        base.m = m;
        REQUIRE(m < std::int64_t{1} << 20);
    }
    CHECK(table->find(problems[3]));
}
