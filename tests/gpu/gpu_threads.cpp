// 16 threads and their streams on a GPU: handles and plans, shared and of their own, are made, run, captured and replayed all at once, and
// every result is checked. With TMM_TEST_STAND_IN the driver is a stand-in whose kernels compute nothing, so that results are not looked
// at: test_gpu_stand_in runs the program so, and ThreadSanitizer then sees all of tmm's host code for a GPU.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/api_testing.h"
#include "tests/support/captured_stream.h"

using namespace api_testing;

namespace {

constexpr int kThreads = 16;
constexpr int kStreams = 8;

// The first fault of any thread.
class Faults {
public:
    void add(const std::string& words) {
        const std::lock_guard lock(mutex_);
        if (first_.empty()) first_ = words;
        ++count_;
    }
    void check() const {
        CAPTURE(first_);
        CHECK(count_ == 0);
    }

private:
    std::mutex mutex_;
    std::string first_;
    int count_ = 0;
};

// The primary context, current in the calling thread, with streams of the thread's own.
class Streams {
public:
    Streams() : driver_(tmm::cuda_driver()) {
        CUdevice device = 0;
        is_made_ = driver_.device_get(&device, 0) == CUDA_SUCCESS && driver_.primary_context_retain(&context_, device) == CUDA_SUCCESS &&
                   driver_.context_push(context_) == CUDA_SUCCESS;
        for (CUstream& stream : streams_) is_made_ = is_made_ && driver_.stream_create(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS;
    }
    ~Streams() {
        for (CUstream stream : streams_) driver_.stream_destroy(stream);
        driver_.context_pop(&context_);
        driver_.primary_context_release(0);
    }
    Streams(const Streams&) = delete;
    Streams& operator=(const Streams&) = delete;

    bool is_made() const { return is_made_; }
    CUstream operator[](int i) const { return streams_[i % kStreams]; }
    bool wait(int i) const { return driver_.stream_synchronize((*this)[i]) == CUDA_SUCCESS; }

    // Captures the call on a stream and replays it.
    bool capture(int i, CUstreamCaptureMode mode, const std::function<bool()>& call) const {
        CUgraph graph = nullptr;
        CUgraphExec executable = nullptr;
        if (driver_.capture_begin((*this)[i], mode) != CUDA_SUCCESS) return false;
        const bool called = call();
        bool fine = driver_.capture_end((*this)[i], &graph) == CUDA_SUCCESS && called &&
                    driver_.graph_instantiate(&executable, graph, 0) == CUDA_SUCCESS;
        for (int replay = 0; replay < 2; ++replay) fine = fine && driver_.graph_launch(executable, (*this)[i]) == CUDA_SUCCESS;
        // The graph's memory is in use until then.
        fine = wait(i) && fine;
        if (executable) driver_.graph_executable_destroy(executable);
        if (graph) driver_.graph_destroy(graph);
        return fine;
    }

private:
    const tmm::CudaDriver& driver_;
    CUcontext context_ = nullptr;
    CUstream streams_[kStreams] = {};
    bool is_made_ = false;
};

void in_threads(const std::function<void(int thread, const Streams& streams, Faults& faults)>& work) {
    Faults faults;
    std::atomic<int> waiting = kThreads;
    std::vector<std::thread> threads;
    for (int thread = 0; thread < kThreads; ++thread)
        threads.emplace_back([&, thread] {
            const Streams streams;
            if (!streams.is_made()) faults.add("a thread has no streams");
            --waiting;
            while (waiting > 0) std::this_thread::yield();
            try {
                work(thread, streams, faults);
            } catch (const std::exception& error) {
                faults.add(error.what());
            }
        });
    for (std::thread& thread : threads) thread.join();
    faults.check();
}

// Sizes of which some split K into a workspace.
struct Size {
    std::int64_t m, n, k;
    tmmType_t type;
};
constexpr Size kSizes[] = {
    {64, 64, 64, TMM_F32}, {100, 60, 72, TMM_F32}, {256, 256, 128, TMM_F32}, {64, 64, 8192, TMM_F32}, {128, 96, 64, TMM_BF16}};
constexpr int kSizeCount = static_cast<int>(std::size(kSizes));

// All elements of A are one value, all of B are 1: every element of C is k times the value, which no other thread's result is.
class OnesProduct {
public:
    OnesProduct(std::shared_ptr<tmm::Device> device, const Size& size, int value)
        : device_(std::move(device)),
          size_(size),
          value_(value),
          a_(filled(size.m * size.k, value)),
          b_(filled(size.k * size.n, 1)),
          c_(device_, static_cast<std::size_t>(size.m * size.n) * sizeof(float)) {
        tmmGemmProblemInit(&problem_);
        problem_.m = size.m;
        problem_.n = size.n;
        problem_.k = problem_.lda = size.k;
        problem_.ldb = problem_.ldc = size.n;
        problem_.type_a = problem_.type_b = size.type;
        problem_.type_c = TMM_F32;
        forget();
    }
    const tmmGemmProblem_t& problem() const { return problem_; }
    tmmGemmArgs_t args() const {
        tmmGemmArgs_t args{};
        args.struct_size = sizeof args;
        args.alpha = &one_;
        args.beta = &zero_;
        args.a = a_.data();
        args.b = b_.data();
        args.c = c_.data();
        return args;
    }
    // Afterwards no element is right.
    void forget() const { device_->fill_bytes(c_.data(), 0xff, c_.bytes()); }
    std::string fault() const {
        static const bool has_results = !std::getenv("TMM_TEST_STAND_IN");
        if (!has_results) return {};
        std::vector<float> c(static_cast<std::size_t>(size_.m * size_.n));
        device_->copy_to_host(c.data(), c_.data(), c.size() * sizeof(float));
        const auto expected = static_cast<float>(value_ * size_.k);
        const auto wrong = std::find_if(c.begin(), c.end(), [&](float x) { return x != expected; });
        if (wrong == c.end()) return {};
        return "of " + std::to_string(size_.m) + "x" + std::to_string(size_.n) + "x" + std::to_string(size_.k) + " element " +
               std::to_string(wrong - c.begin()) + " is " + std::to_string(*wrong) + ", not " + std::to_string(expected);
    }

private:
    tmm::DeviceBuffer filled(std::int64_t count, int value) const {
        const auto elements = static_cast<std::size_t>(count);
        tmm::DeviceBuffer buffer(device_, elements * size_of(size_.type));
        if (size_.type == TMM_F32) {
            const std::vector<float> values(elements, static_cast<float>(value));
            device_->copy_to_device(buffer.data(), values.data(), buffer.bytes());
        } else {
            const std::vector<std::uint16_t> values(elements, to_bits(size_.type, static_cast<float>(value)));
            device_->copy_to_device(buffer.data(), values.data(), buffer.bytes());
        }
        return buffer;
    }

    std::shared_ptr<tmm::Device> device_;
    Size size_;
    int value_;
    tmm::DeviceBuffer a_, b_, c_;
    tmmGemmProblem_t problem_;
    float one_ = 1;
    float zero_ = 0;
};

void expect(Faults& faults, tmmStatus_t status, tmmHandle_t handle, const char* call) {
    if (status != TMM_STATUS_SUCCESS) faults.add(std::string(call) + ": " + tmmLastError(handle));
}
void expect_right(Faults& faults, const OnesProduct& product, const char* how) {
    if (const std::string fault = product.fault(); !fault.empty()) faults.add(std::string(how) + ": " + fault);
}

}  // namespace

TEST_CASE("threads with a handle each, on eight streams each, by calls and by captured calls") {
    if (no_gpu()) return;
    const Fixture on(0);
    in_threads([&](int thread, const Streams& streams, Faults& faults) {
        tmmHandle_t handle = nullptr;
        expect(faults, tmmCreate(&handle, 0, on.scratch.file("none.db").c_str()), nullptr, "tmmCreate");
        std::vector<OnesProduct> products;
        products.reserve(kStreams);
        for (int i = 0; i < kStreams; ++i) products.emplace_back(on.device, kSizes[(i + thread) % kSizeCount], 1 + thread + i);
        const auto multiply = [&](int i) {
            const tmmGemmArgs_t args = products[static_cast<std::size_t>(i)].args();
            expect(faults, tmmSetStream(handle, streams[i]), handle, "tmmSetStream");
            const tmmStatus_t status = tmmGemm(handle, &products[static_cast<std::size_t>(i)].problem(), &args);
            expect(faults, status, handle, "tmmGemm");
            return status == TMM_STATUS_SUCCESS;
        };
        for (int round = 0; round < 4; ++round) {
            for (int i = 0; i < kStreams; ++i) multiply(i);
            for (int i = 0; i < kStreams; ++i) {
                if (!streams.wait(i)) faults.add("a stream fails");
                expect_right(faults, products[static_cast<std::size_t>(i)], "a call");
                products[static_cast<std::size_t>(i)].forget();
            }
            // Captured while other threads call, compile and allocate.
            for (int i = round; i < kStreams; i += 2) {
                if (!streams.capture(i, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, [&] { return multiply(i); })) faults.add("a capture fails");
                expect_right(faults, products[static_cast<std::size_t>(i)], "a replay");
                products[static_cast<std::size_t>(i)].forget();
            }
        }
        expect(faults, tmmDestroy(handle), handle, "tmmDestroy");
    });
}

TEST_CASE("threads that share a handle and its stream, and make plans of it that they run on streams of their own") {
    if (no_gpu()) return;
    const Fixture on(0);
    const CapturedStream shared;
    REQUIRE(tmmSetStream(on.handle, shared.get()) == TMM_STATUS_SUCCESS);
    in_threads([&](int thread, const Streams& streams, Faults& faults) {
        for (int round = 0; round < 12; ++round) {
            const OnesProduct product(on.device, kSizes[(round + thread) % kSizeCount], 1 + thread);
            const tmmGemmArgs_t args = product.args();
            if (round % 3 == 0) {
                expect(faults, tmmGemm(on.handle, &product.problem(), &args), on.handle, "tmmGemm");
                on.device->synchronize(shared.get());
                expect_right(faults, product, "a call of a shared handle");
                continue;
            }
            tmmPlan_t plan = nullptr;
            expect(faults, tmmPlanCreate(on.handle, &product.problem(), &plan), on.handle, "tmmPlanCreate");
            if (!plan) continue;
            const auto run = [&] {
                const tmmStatus_t status = tmmPlanRun(plan, streams[round], &args);
                expect(faults, status, on.handle, "tmmPlanRun");
                return status == TMM_STATUS_SUCCESS;
            };
            run();
            if (!streams.wait(round)) faults.add("a stream fails");
            expect_right(faults, product, "a plan");
            product.forget();
            if (!streams.capture(round, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, run)) faults.add("a plan's capture fails");
            expect_right(faults, product, "a plan's replay");
            expect(faults, tmmPlanDestroy(plan), on.handle, "tmmPlanDestroy");
        }
    });
}

TEST_CASE("one plan that all threads run at once, each with a workspace of its own") {
    if (no_gpu()) return;
    const Fixture on(0);
    for (const Size& size : kSizes) {
        CAPTURE(size.k);
        const OnesProduct first(on.device, size, 1);
        tmmPlan_t plan = nullptr;
        REQUIRE(tmmPlanCreate(on.handle, &first.problem(), &plan) == TMM_STATUS_SUCCESS);
        std::size_t bytes = 0;
        REQUIRE(tmmPlanWorkspaceSize(plan, &bytes) == TMM_STATUS_SUCCESS);
        in_threads([&](int thread, const Streams& streams, Faults& faults) {
            const OnesProduct product(on.device, size, 2 + thread);
            const tmm::DeviceBuffer workspace(on.device, bytes);
            tmmGemmArgs_t args = product.args();
            args.workspace = workspace.data();
            args.workspace_size = bytes;
            for (int round = 0; round < 20; ++round) {
                expect(faults, tmmPlanRun(plan, streams[round], &args), nullptr, "tmmPlanRun");
                if (!streams.wait(round)) faults.add("a stream fails");
                expect_right(faults, product, "a shared plan");
                product.forget();
            }
        });
        CHECK(tmmPlanDestroy(plan) == TMM_STATUS_SUCCESS);
    }
}

TEST_CASE("a capture that watches every thread bears that other threads make handles and plans, and multiply") {
    if (no_gpu()) return;
    const Fixture on(0);
    // What the capturing thread calls exists before.
    const CapturedStream stream;
    const OnesProduct product(on.device, kSizes[3], 3);
    const tmmGemmArgs_t args = product.args();
    REQUIRE(tmmSetStream(on.handle, stream.get()) == TMM_STATUS_SUCCESS);
    REQUIRE(tmmGemm(on.handle, &product.problem(), &args) == TMM_STATUS_SUCCESS);
    on.device->synchronize(stream.get());
    std::atomic<bool> has_ended = false;
    std::thread captures([&] {
        const Streams its_context;
        for (int round = 0; round < 20; ++round)
            stream.capture_and_replay([&] { CHECK(tmmGemm(on.handle, &product.problem(), &args) == TMM_STATUS_SUCCESS); });
        has_ended = true;
    });
    std::vector<OnesProduct> others;
    for (int i = 0; i < kSizeCount; ++i) others.emplace_back(on.device, kSizes[i], 5 + i);
    Faults faults;
    const Streams streams;
    do {
        tmmHandle_t handle = nullptr;
        expect(faults, tmmCreate(&handle, 0, on.scratch.file("none.db").c_str()), nullptr, "tmmCreate");
        for (int i = 0; i < kSizeCount; ++i) {
            const tmmGemmArgs_t of_other = others[static_cast<std::size_t>(i)].args();
            tmmSetStream(handle, streams[i]);
            expect(faults, tmmGemm(handle, &others[static_cast<std::size_t>(i)].problem(), &of_other), handle, "tmmGemm");
            if (!streams.wait(i)) faults.add("a stream fails");
        }
        expect(faults, tmmDestroy(handle), handle, "tmmDestroy");
    } while (!has_ended);
    captures.join();
    faults.check();
    CHECK(product.fault() == "");
    for (const OnesProduct& other : others) CHECK(other.fault() == "");
}
