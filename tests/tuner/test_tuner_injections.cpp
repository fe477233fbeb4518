// Faults are injected into tuning runs of the host device: kernels that crash, hang, compute wrongly, write outside or give NaN, workers
// and compilers that are killed or short of memory, and full disks. A candidate's own fault is in its row by its name, no other candidate
// has one, the machine's faults are in no row, and the exit status says which they were.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <signal.h>

#include <algorithm>

#include "tests/support/kernels/correctness.h"
#include "tests/support/kernels/planted_testing.h"
#include "tests/support/slice.h"

using namespace tmm;
using namespace tuner_testing;

namespace {

// The action of a kernel instead of its work, and the outcome that its row then has; without an outcome there is no row.
struct KernelFault {
    const char* name;
    std::string code;
    std::string outcome;
    std::string detail = {};
    // The work is done, and then this in each thread: the last one that ends is the last to write.
    bool at_the_end = false;
};

std::string once(const fs::path& marker, const std::string& code) {
    return "        if (access(\"" + marker.string() + "\", 0) != 0) {\n            creat(\"" + marker.string() + "\", 0600);\n" + code +
           "\n        }";
}

std::vector<KernelFault> kernel_faults(const fs::path& folder) {
    return {
        {"writes to an address that is not its own", "*reinterpret_cast<volatile int*>(args.k) = 1;", "crashed", "signal 11"},
        {"an instruction that is none", "__builtin_trap();", "crashed", "signal 4"},
        {"abort()", "abort();", "crashed", "signal 6"},
        {"a division by zero", "volatile int zero = 0;\nzero = 7 / zero;", "crashed", "signal 8"},
        {"exit()", "_exit(3);", "crashed", "exited with status 3"},
        {"an exception", "throw 42;", "compile_failed", "exception handling disabled"},
        {"a loop without end", "volatile bool on = true;\nwhile (on) {\n}", "timed_out", "no result within"},
        {"sleeps for ever", "while (true) pause();", "timed_out", "no result within"},
        {"writes nothing", "return;", "wrong_result", "C[0][0] was not written"},
        {"one element is wrong", "c[0] = 12345;", "wrong_result", "C[0][0] = 12345", true},
        {"the last element is wrong", "c[last] = -12345;", "wrong_result", "= -12345", true},
        {"an element is NaN", "c[last] = __builtin_nanf(\"\");", "wrong_result", "= nan", true},
        {"an element is infinite", "c[0] = __builtin_inff();", "wrong_result", "C[0][0] = inf", true},
        {"wrong from the fourth launch on",
         "static int launches = 0;\nif (blockIdx.x == 0 && threadIdx.x == 0) ++launches;\nif (launches > 3) c[0] = 12345;", "inaccurate",
         "C[0][0] = 12345", true},
        {"writes before C", "c[-1] = 1;", "wrong_result", "guard zone before C", true},
        {"writes behind C", "c[last + 1] = 1;", "wrong_result", "guard zone", true},
        {"writes into A", "static_cast<float*>(const_cast<void*>(args.a))[0] = 77;", "wrong_result", "", true},
        {"writes into B", "static_cast<float*>(const_cast<void*>(args.b))[0] = 77;", "wrong_result", "", true},
        {"rounds its results",
         "for (i64 i = 0; i < args.m; ++i)\nfor (i64 j = 0; j < args.n; ++j) {\nfloat& x = c[i * args.ldc + j];\nx = "
         "__builtin_bit_cast(float, __builtin_bit_cast(unsigned, x) & 0xffffe000u);\n}",
         "inaccurate", "", true},
        {"its worker is killed every time", "raise(9);", ""},
        {"its worker is at its limit of CPU time every time", "raise(24);", ""},
        {"its worker is killed once", once(folder / "killed", "raise(9);"), "ok"},
        {"its worker gets a user's signal once", once(folder / "signalled", "raise(10);"), "ok"},
        {"its worker quits once", once(folder / "quit", "raise(3);"), "ok"},
    };
}

std::string planted(const KernelFault& fault, const KernelConfig& config, std::size_t number) {
    const std::string only = "if constexpr (" + in_kernel(config) + ") {\n" + fault.code + "\n}";
    if (!fault.at_the_end) return only;
    return fmt::format(
        "struct AtTheEnd{0} {{\nconst GemmArgs& args;\n~AtTheEnd{0}() {{\n[[maybe_unused]] float* const c = "
        "static_cast<float*>(args.c);\n[[maybe_unused]] const i64 last = (args.m - 1) * args.ldc + args.n - 1;\n{1}\n}}\n}} "
        "at_the_end_{0}{{args}};",
        number, only);
}

constexpr const char* kDeclarations =
    "extern \"C\" {\nint raise(int) noexcept;\nvoid abort() noexcept __attribute__((noreturn));\nvoid _exit(int) "
    "__attribute__((noreturn));\nint pause();\nint access(const char*, int) noexcept;\nint creat(const char*, unsigned);\n}";

constexpr const char* kShapes[] = {"16 16 16", "24 20 28", "8 24 40 ops=nt", "1 64 64", "12 12 12 ops=tt", "20 16 24 ops=tn", "5 40 16"};
// Number of faults at once: the other candidates must win.
constexpr std::size_t kAtOnce = 4;

// The config's own: others may share its kernel.
std::string rows_of(const KernelConfig& config) {
    std::string text =
        "FROM measurement JOIN config_fields AS config ON config.id = config_id JOIN outcome ON outcome.value = outcome WHERE " +
        in_sql(config);
    for (const Parameter& parameter : kParameters)
        if (parameter.launch_only) text += " AND " + in_sql(parameter, config);
    return text;
}

void check_rows(const TunerFolder& folder, const KernelConfig& config, const KernelFault& fault) {
    CAPTURE(std::string(fault.name));
    CAPTURE(to_text(config));
    const std::string said = folder.query("SELECT group_concat(outcome.name || ': ' || detail, ' / ') " + rows_of(config));
    CAPTURE(said);
    const int rows = folder.count("SELECT count(*) " + rows_of(config));
    CHECK((rows > 0) == !fault.outcome.empty());
    CHECK(folder.count("SELECT count(*) " + rows_of(config) + " AND outcome.name = '" + fault.outcome + "'") == rows);
    CHECK(folder.count("SELECT count(*) " + rows_of(config) + " AND instr(detail, '" + fault.detail + "') = 0") == 0);
    if (fault.outcome != "ok")
        CHECK(folder.count("SELECT count(*) " + rows_of(config) + " AND config.id IN (SELECT config_id FROM selection)") == 0);
}

// Plants `count` faults from the first on, each in another candidate's kernel, behind the default.
void inject(const char* shape, std::size_t first, std::size_t count) {
    CAPTURE(std::string(shape));
    PlantedFolder folder(std::string(shape) + "\n");
    std::vector<KernelConfig> configs = candidates(folder);
    // Into a copy of A anybody may write, and where a kernel has a part of the rows what lies behind them is another's.
    const auto is_in_parts = [](const KernelConfig& config) { return config.pack_ab != 0 || config.trim != 0; };
    configs.erase(std::remove_if(configs.begin() + 1, configs.end(), is_in_parts), configs.end());
    const std::vector<KernelFault> faults = kernel_faults(folder.path);
    REQUIRE(configs.size() > count);
    std::string others;
    for (const char* file : kFamilyFiles) folder.plant(file, "#pragma once", kDeclarations);
    for (std::size_t i = 0; i < count; ++i) {
        folder.plant(template_of(configs[1 + i]), kAnchor, planted(faults[first + i], configs[1 + i], i));
        others += (i > 0 ? " OR (" : "(") + in_sql(configs[1 + i]) + ")";
    }
    const Finished finished = folder.tune({"--deadline-floor", "3"});
    CAPTURE(finished.err);
    CHECK(finished.status == 0);
    for (std::size_t i = 0; i < count; ++i) check_rows(folder, configs[1 + i], faults[first + i]);
    CHECK(folder.count("SELECT count(*) FROM measurement JOIN config_fields AS config ON config.id = config_id "
                       "WHERE outcome <> 0 AND NOT (" +
                       others + ")") == 0);
    CHECK(folder.count("SELECT count(*) FROM selection") == 1);
    CHECK(folder.count("SELECT count(*) FROM in_flight") == 0);
}

// The failure is the machine's: it is in no row, nothing is decided from it, and once it has passed a run comes to its end.
void check_machine_fault(TunerFolder& folder, const Finished& finished, const std::vector<int>& statuses) {
    CAPTURE(finished.status);
    CAPTURE(finished.err);
    CHECK(std::find(statuses.begin(), statuses.end(), finished.status) != statuses.end());
    if (finished.status != 0) CHECK_FALSE((finished.err + finished.out).empty());
    for (const char* name : {"LD_PRELOAD", "TMM_TEST_FULL_DISK", "TMM_TEST_SHORT_MEMORY", "TMM_CXX"}) folder.environment.erase(name);
    if (fs::exists(folder.database())) {
        CHECK(folder.query("PRAGMA integrity_check") == "ok");
        if (folder.count("SELECT count(*) FROM sqlite_schema") > 0)
            CHECK(folder.count("SELECT count(*) FROM measurement WHERE outcome <> 0") == 0);
    }
    const Finished next = folder.tune();
    CAPTURE(next.err);
    CHECK(next.status == 0);
    CHECK(folder.count("SELECT count(*) FROM measurement WHERE outcome <> 0") == 0);
    CHECK(folder.count("SELECT count(*) FROM selection") >= 1);
    CHECK(folder.count("SELECT count(*) FROM in_flight") == 0);
    CHECK(folder.tune().out.find("nothing to measure") != std::string::npos);
}

// Each does it to the compiler of one source, however often that is tried.
constexpr const char* kCompilerFaults[] = {"kill -KILL $$",
                                           "kill -TERM $$",
                                           "kill -SEGV $$",
                                           "ulimit -v 40000; exec c++ \"$@\"",
                                           "ulimit -f 1; exec c++ \"$@\"",
                                           "echo 'cc1plus: out of memory' >&2; exit 1"};

void fail_to_compile_source(const char* fault, int number) {
    CAPTURE(std::string(fault));
    CAPTURE(number);
    TunerFolder folder("4 4 4\n");
    folder.environment["TMM_CACHE_DIR"] = (folder.path / "cache").string();
    const std::string seen = (folder.path / "seen").string();
    fs::create_directory(seen);
    // Sources are numbered as they come, by directories that only one of them can make.
    set_compiler(folder,
                 fmt::format("for source; do :; done\nmine={0}/$(cksum < $source | tr -d ' ')\n"
                             "if mkdir $mine 2>/dev/null; then n=0; while ! mkdir {0}/number$n 2>/dev/null; do n=$((n + 1)); done; echo "
                             "$n > $mine/number; fi\n"
                             "if [ $(cat $mine/number) = {1} ]; then {2}; fi\nexec c++ \"$@\"",
                             seen, number, fault));
    const Finished finished = folder.tune();
    folder.environment["TMM_CACHE_DIR"] = std::string(TMM_BINARY_DIR) + "/tests/tuner_cache";
    check_machine_fault(folder, finished, {4});
}

void fill_disk(const fs::path& prefix, TunerFolder& folder, int write, const std::vector<int>& statuses) {
    CAPTURE(prefix);
    CAPTURE(write);
    folder.environment["LD_PRELOAD"] = TMM_TEST_FAILING_CALLS;
    folder.environment["TMM_TEST_FULL_DISK"] = std::to_string(write) + ":" + prefix.string();
    check_machine_fault(folder, folder.tune(), statuses);
}

bool can_preload() {
    if (!std::string(TMM_TEST_FAILING_CALLS).empty()) return true;
    MESSAGE("skipped: what is built with a sanitizer is not preloaded");
    return false;
}

}  // namespace

TEST_CASE("faults of kernels and of their workers") {
    const std::size_t count = kernel_faults("").size();
    std::size_t number = 0;
    int injected = 0;
    for (const char* shape : kShapes) {
        for (std::size_t first = 0; first < count; first += kAtOnce) {
            if (!tmm::testing::in_slice(number++, 42)) continue;
            inject(shape, first, std::min(kAtOnce, count - first));
            injected += static_cast<int>(std::min(kAtOnce, count - first));
        }
    }
    MESSAGE(injected << " faults injected");
    CHECK(injected > 0);
}

TEST_CASE("compilers that are killed or short of something") {
    std::size_t number = 0;
    for (const char* fault : kCompilerFaults)
        for (const int source : {0, 1, 3, 6})
            if (tmm::testing::in_slice(number++, 24)) fail_to_compile_source(fault, source);
}

TEST_CASE("full disks") {
    if (!can_preload()) return;
    std::size_t number = 0;
    // A run makes some 400 writes to the database.
    for (int write = 1; write <= 280; write += 1 + write / 6) {
        if (!tmm::testing::in_slice(number++, 11)) continue;
        TunerFolder folder("4 4 4\n");
        fill_disk(folder.database(), folder, write, {5});
    }
    for (const int write : {1, 2, 5}) {
        if (!tmm::testing::in_slice(number++, 11)) continue;
        TunerFolder folder("4 4 4\n");
        folder.environment["TMM_CACHE_DIR"] = (folder.path / "cache").string();
        fill_disk(folder.path / "cache", folder, write, {0});
    }
    for (const int write : {1, 2, 5}) {
        if (!tmm::testing::in_slice(number++, 11)) continue;
        TunerFolder folder("4 4 4\n");
        folder.environment["TMPDIR"] = (folder.path / "tmp").string();
        fs::create_directory(folder.path / "tmp");
        fill_disk(folder.path / "tmp", folder, write, {3, 4});
    }
}

TEST_CASE("workers that are short of memory") {
    if (!can_preload()) return;
    std::size_t number = 0;
    for (const int allocation : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 20, 28}) {
        if (!tmm::testing::in_slice(number++, 8)) continue;
        CAPTURE(allocation);
        TunerFolder folder("48 48 48\n");
        folder.environment["LD_PRELOAD"] = TMM_TEST_FAILING_CALLS;
        folder.environment["TMM_TEST_SHORT_MEMORY"] = std::to_string(allocation);
        check_machine_fault(folder, folder.tune(), {0, 3, 6});
    }
}
