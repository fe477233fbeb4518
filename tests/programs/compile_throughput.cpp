// Says how many kernels a second this machine compiles, in threads of one process and in processes: "compile_throughput SHAPES [KERNELS]".
// It needs NVRTC and no GPU. The kernels are the first candidates of the shapes, for compute capability 9.0.
#include <fmt/core.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/processes/elapsed.h"
#include "generator/machine/assumed_device.h"
#include "generator/text/shapes_file.h"
#include "tuner/compiling/compile_processes.h"
#include "tuner/search/candidates.h"

using namespace tmm;

namespace {

// The kernels of the shapes in turn, the likeliest of each first.
std::vector<KernelSource> kernels_of(const std::string& file, std::size_t most) {
    const DeviceInfo device = assumed_device("90");
    KernelBook book;
    std::vector<std::vector<Candidate>> candidates;
    for (const Shape& shape : read_shapes(file, {}))
        candidates.push_back(make_candidates(shape.problem, Effort::normal, device, book, most));
    std::vector<KernelSource> kernels;
    std::set<KernelIdentity> known;
    for (std::size_t rank = 0; rank < most; ++rank)
        for (const std::vector<Candidate>& of_shape : candidates)
            if (rank < of_shape.size())
                for (const PlannedKernel* kernel : of_shape[rank].kernels)
                    if (kernels.size() < most && known.insert(kernel->identity).second) kernels.push_back(kernel->source);
    return kernels;
}

double kernels_per_second(const Compiler& compiler, const std::vector<KernelSource>& kernels, int threads) {
    std::atomic<std::size_t> next = 0;
    const auto start = SteadyClock::now();
    std::vector<std::thread> running;
    for (int i = 0; i < threads; ++i)
        running.emplace_back([&] {
            for (std::size_t j = next++; j < kernels.size(); j = next++) (void)compiler.compile(kernels[j]);
        });
    for (std::thread& thread : running) thread.join();
    return static_cast<double>(kernels.size()) / seconds_since(start);
}

// Where each has one kernel to begin with, all of them have started.
void start_all(const Compiler& compiler, const std::vector<KernelSource>& kernels, int count) {
    const std::vector<KernelSource> first(static_cast<std::size_t>(count), kernels.front());
    kernels_per_second(compiler, first, count);
}

int run(const std::string& file, std::size_t most) {
    const std::vector<KernelSource> kernels = kernels_of(file, most);
    const int cores = static_cast<int>(std::max(std::thread::hardware_concurrency(), 1u));
    const auto in_threads = make_nvrtc_compiler(90);
    fmt::print("{} kernels, {} cores; kernels a second:\n{:>6} {:>8} {:>10}\n", kernels.size(), cores, "", "threads", "processes");
    for (int count = 1; count <= std::max(cores, 2); count *= 2) {
        const CompileProcesses in_processes(
            {.compute_capability = 90, .most = count, .program = std::string(TMM_BINARY_DIR) + "/tools/tmm-tune"});
        start_all(*in_threads, kernels, count);
        start_all(in_processes, kernels, count);
        const double threads = kernels_per_second(*in_threads, kernels, count);
        const double processes = kernels_per_second(in_processes, kernels, count);
        fmt::print("{:>6} {:>8.2f} {:>10.2f}\n", count, threads, processes);
        std::fflush(stdout);
    }
    rusage used{};
    getrusage(RUSAGE_CHILDREN, &used);
    fmt::print("the largest process held {} MB\n", used.ru_maxrss >> 10);
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2) {
        fmt::print(stderr, "usage: compile_throughput SHAPES [KERNELS]\n");
        return 1;
    }
    try {
        return run(argv[1], argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 200);
    } catch (const std::exception& error) {
        fmt::print(stderr, "{}\n", error.what());
        return 1;
    }
}
