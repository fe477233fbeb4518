// tmm-tune with a stand-in for a GPU and one for NVRTC: which kernels its compiling processes are given, and what becomes of these
// processes when a kernel crashes them and when the run is ended.
#include <doctest/doctest.h>
#include <signal.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "tests/support/tuner_testing.h"

using namespace tuner_testing;

namespace {

struct Stand : TunerFolder {
    explicit Stand(const std::string& shapes, const std::string& how = "") : TunerFolder(shapes) {
        const char* const before = std::getenv("LD_LIBRARY_PATH");
        environment["LD_LIBRARY_PATH"] = std::string(TMM_TEST_GPU_STAND_IN) + (before ? std::string(":") + before : "");
        environment["TMM_NVRTC"] = TMM_TEST_NVRTC_STAND_IN;
        environment["TMM_TEST_NVRTC"] = how;
        environment["TMM_TEST_NVRTC_LOG"] = (path / "compiled").string();
        environment["TMM_CACHE_DIR"] = (path / "cache").string();
    }
    std::vector<std::string> arguments() const {
        return {"--gpu", "0", "--shapes", shapes().string(), "--db", database().string(), "--effort", "quick"};
    }
    // Names of kernels in the order of their compilation, each as often as it was compiled.
    std::vector<std::string> compiled() const {
        std::vector<std::string> names;
        std::ifstream log(path / "compiled");
        std::string process, name;
        while (log >> process >> name) names.push_back(name.substr(0, name.rfind('.')));
        return names;
    }
};

bool compiles(pid_t pid) {
    return read_text("/proc/" + std::to_string(pid) + "/cmdline").find("--compiler") != std::string::npos;
}

std::vector<pid_t> compiling_children(pid_t tuner) {
    std::vector<pid_t> children = children_of(tuner);
    children.erase(std::remove_if(children.begin(), children.end(), [](pid_t child) { return !compiles(child); }), children.end());
    return children;
}

// Whether all have ended, a minute later at most.
bool all_end(const std::vector<pid_t>& processes) {
    for (int i = 0; i < 3000; ++i) {
        if (std::none_of(processes.begin(), processes.end(), compiles)) return true;
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return false;
}

}  // namespace

TEST_CASE("kernels that shapes share are compiled once a run") {
    // The sizes differ, the text of their kernels hardly does.
    const Stand stand("512 512 512\n1024 512 512\n512 1024 1024\n");
    const Finished finished = stand.run(stand.arguments());
    CAPTURE(finished.err);
    CHECK(finished.out.find(" a verified winner; the GPU was busy ") != std::string::npos);
    const std::vector<std::string> names = stand.compiled();
    CHECK(names.size() > 20);
    std::map<std::string, int> counts;
    for (const std::string& name : names) ++counts[name];
    for (const auto& [name, count] : counts) CHECK_MESSAGE(count == 1, name);
    CHECK(stand.count("SELECT count(DISTINCT shape) FROM candidate") == 3);
}

TEST_CASE("a kernel that crashes the compiler is a row, all others are measured, and no run compiles it anew") {
    const Stand stand("512 512 512\n", "crash=_wgmma_");
    const Finished first = stand.run(stand.arguments());
    CAPTURE(first.err);
    CHECK(first.status == 0);
    const std::string crashed = "SELECT count(*) FROM candidate WHERE outcome = 'compile_failed' AND kernel_name LIKE '%_wgmma_%' AND ";
    CHECK(stand.count(crashed + "detail LIKE 'the compiler crashed%signal 11%'") > 0);
    CHECK(stand.count("SELECT count(*) FROM candidate WHERE outcome = 'compile_failed' AND kernel_name NOT LIKE '%_wgmma_%'") == 0);
    CHECK(stand.count("SELECT count(*) FROM candidate WHERE outcome = 'ok'") > 10);
    CHECK(stand.count("SELECT count(*) FROM winner") == 1);
    const Finished second = stand.run(stand.arguments());
    CHECK(second.status == 0);
    // Each has crashed two processes, in whichever run; the end of its run may have come before the second.
    std::map<std::string, int> crashes;
    for (const std::string& name : stand.compiled())
        if (name.find("_wgmma_") != std::string::npos) ++crashes[name];
    for (const auto& [name, count] : crashes) CHECK_MESSAGE(count <= 2, name);
    CHECK(std::any_of(crashes.begin(), crashes.end(), [](const auto& crash) { return crash.second == 2; }));
}

TEST_CASE("a decision that an effort's time ended stands: the next run compiles and measures nothing") {
    // However many cores there are, kernels take longer than the time of both searches.
    const Stand stand("512 512 512\n1024 512 512\n", "in turn=tmm_");
    const Finished first = stand.run(stand.arguments());
    CAPTURE(first.err);
    CHECK(stand.query("SELECT reason FROM winner").find("the 1 s of effort quick ended before ") != std::string::npos);
    const std::vector<std::string> compiled = stand.compiled();
    const int measured = stand.count("SELECT count(*) FROM candidate");
    const Finished second = stand.run(stand.arguments());
    CHECK(second.status == 0);
    CHECK(stand.compiled() == compiled);
    CHECK(stand.count("SELECT count(*) FROM candidate") == measured);
}

TEST_CASE("GPUs that share the work decide each shape once, and compare every winner with its default") {
    std::string shapes;
    for (int n = 256; n < 256 + 12 * 64; n += 64) shapes += "512 512 " + std::to_string(n) + "\n";
    for (const bool has_budget : {false, true}) {
        CAPTURE(has_budget);
        Stand stand(shapes, "slow=tmm_");
        stand.environment["TMM_TEST_GPUS"] = "4";
        std::vector<std::string> arguments = stand.arguments();
        arguments[1] = "0,1,2,3";
        if (has_budget) arguments.insert(arguments.end(), {"--budget", "60"});
        const Finished finished = stand.run(arguments);
        CAPTURE(finished.err);
        CHECK(finished.status == 0);
        CHECK(finished.out.find("the GPUs were busy") != std::string::npos);
        CHECK(stand.count("SELECT count(*) FROM winner") == 12);
        CHECK(stand.count("SELECT count(*) FROM winner WHERE default_us IS NULL OR default_us <= 0") == 0);
        std::map<std::string, int> counts;
        for (const std::string& name : stand.compiled()) ++counts[name];
        for (const auto& [name, count] : counts) CHECK_MESSAGE(count == 1, name);
    }
}

TEST_CASE("no compiling process outlives its tuner, however that ends") {
    for (const int signal : {SIGKILL, SIGTERM, SIGINT, SIGHUP}) {
        CAPTURE(signal);
        const Stand stand("512 512 512\n", "hang=tmm_simt_");
        const pid_t tuner = stand.start_group(stand.arguments());
        std::vector<pid_t> compiling;
        for (int i = 0; i < 3000 && (compiling.empty() || stand.compiled().empty()); ++i) {
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
            compiling = compiling_children(tuner);
        }
        CHECK_FALSE(compiling.empty());
        kill(tuner, signal);
        const Finished finished = stand.finish(tuner);
        CAPTURE(finished.err);
        CHECK(finished.status == (signal == SIGKILL ? -SIGKILL : 130));
        CHECK(all_end(compiling));
    }
}
