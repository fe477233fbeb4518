// The queue of kernels that are compiled ahead of the device: in which order, each how often, and what becomes of those that are dropped.
#include <doctest/doctest.h>

#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "tests/support/temporary_directory.h"
#include "tuner/compiling/candidate_compiler.h"

using namespace tmm;
using tmm::testing::TemporaryDirectory;

namespace {

KernelSource kernel(const std::string& name) {
    return {.name = name, .text = "// " + name + "\n", .entries = {}};
}

// Notes what it is given, and begins with the second kernel only once it may.
class NotingCompiler : public Compiler {
public:
    CompileResult compile(const KernelSource& source) const override {
        std::unique_lock lock(mutex_);
        names_.push_back(source.name);
        changed_.notify_all();
        changed_.wait(lock, [&] { return open_; });
        return CompiledKernel{.image = std::vector<std::byte>(100), .registers = 1, .spill_bytes = 0, .log = {}};
    }
    std::string identity() const override { return "noting"; }

    void wait_for_first() const {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return !names_.empty(); });
    }
    void open() const {
        const std::lock_guard lock(mutex_);
        open_ = true;
        changed_.notify_all();
    }
    std::vector<std::string> names() const {
        const std::lock_guard lock(mutex_);
        return names_;
    }

private:
    mutable std::mutex mutex_;
    mutable std::condition_variable changed_;
    mutable std::vector<std::string> names_;
    mutable bool open_ = false;
};

// A queue with one thread, which is held up by a kernel of its own until all requests are made.
struct Queue {
    TemporaryDirectory folder;
    std::shared_ptr<const NotingCompiler> compiler = std::make_shared<const NotingCompiler>();
    CandidateCompiler queue{compiler, KernelCache(folder.path() / "cache"), 1};

    Queue() {
        queue.request(kernel("first"), -1, -100);
        compiler->wait_for_first();
    }
    ~Queue() { compiler->open(); }
    // The names of what was compiled behind the first, which should be so many.
    std::vector<std::string> compiled(int count) {
        compiler->open();
        // A queue that has lost a kernel does nothing more.
        for (int seen = 0, done = 0; done < count + 1; seen = done) {
            done = queue.wait_for_more(seen, 20);
            if (done == seen) break;
        }
        std::vector<std::string> names = compiler->names();
        names.erase(names.begin());
        return names;
    }
};

}  // namespace

TEST_CASE("lower ranks come first, equal ones in the order of their requests, and the best request counts") {
    Queue q;
    for (const char* name : {"c", "d", "late"}) q.queue.request(kernel(name), 0, 4);
    for (const char* name : {"a", "b"}) q.queue.request(kernel(name), 1, 2);
    q.queue.request(kernel("late"), 2, 6);
    q.queue.request(kernel("d"), 2, 1);
    CHECK(q.compiled(5) == std::vector<std::string>{"d", "a", "b", "c", "late"});
}

TEST_CASE("problems that number their kernels from 0 take turns, whoever came first") {
    Queue q;
    for (int problem = 0; problem < 3; ++problem)
        for (int rank = 0; rank < 3; ++rank) q.queue.request(kernel(std::to_string(problem) + std::to_string(rank)), problem, rank);
    CHECK(q.compiled(9) == std::vector<std::string>{"00", "10", "20", "01", "11", "21", "02", "12", "22"});
}

TEST_CASE("a problem that orders its kernels anew drops them first") {
    Queue q;
    for (const char* name : {"a", "b"}) q.queue.request(kernel(name), 0, name[0]);
    q.queue.request(kernel("b"), 0, 0);
    CHECK(q.compiled(2) == std::vector<std::string>{"a", "b"});
    Queue again;
    for (const char* name : {"a", "b"}) again.queue.request(kernel(name), 0, name[0]);
    again.queue.drop(0);
    for (const char* name : {"b", "a"}) again.queue.request(kernel(name), 0, -name[0]);
    CHECK(again.compiled(2) == std::vector<std::string>{"b", "a"});
}

TEST_CASE("a kernel that several problems ask for is compiled once, before and after it is done") {
    Queue q;
    for (int problem = 0; problem < 5; ++problem)
        for (const char* name : {"a", "b", "first"}) q.queue.request(kernel(name), problem, 2 * problem);
    CHECK(q.compiled(2) == std::vector<std::string>{"a", "b"});
    for (const char* name : {"a", "first", "c"}) q.queue.request(kernel(name), 0, 0);
    CHECK(q.compiled(3) == std::vector<std::string>{"a", "b", "c"});
}

TEST_CASE("what a problem drops stays for those that asked for it, too, in the place that they asked for") {
    Queue q;
    for (const char* name : {"shared", "mine", "early"}) q.queue.request(kernel(name), 2, 2);
    for (const char* name : {"other", "shared"}) q.queue.request(kernel(name), 4, 4);
    q.queue.request(kernel("early"), 0, 0);
    q.queue.drop(2);
    CHECK(q.compiled(3) == std::vector<std::string>{"early", "other", "shared"});
    CHECK_FALSE(q.queue.result(identity_of(kernel("mine"))));
    CHECK(q.queue.result(identity_of(kernel("shared"))));
}

TEST_CASE("a kernel is forgotten once all that asked for it have dropped it, in whatever order") {
    for (const auto& order : {std::vector<int>{2, 4}, std::vector<int>{4, 2}}) {
        Queue q;
        for (const int problem : {2, 4}) q.queue.request(kernel("shared"), problem, problem);
        q.queue.request(kernel("kept"), 6, 6);
        for (const int problem : order) q.queue.drop(problem);
        CHECK(q.compiled(1) == std::vector<std::string>{"kept"});
        CHECK_FALSE(q.queue.result(identity_of(kernel("shared"))));
    }
}
