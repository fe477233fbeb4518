// Bundles: what is written is what is read, whatever is wrong with a file is refused with its reason, and a problem that a bundle holds
// runs on the emulated device without compiler, database and cache.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "base/text/printable.h"
#include "generator/kernel/kernel_source.h"
#include "generator/machine/assumed_device.h"
#include "generator/text/shapes_file.h"
#include "generator/text/text.h"
#include "runtime/api/validate.h"
#include "runtime/bundle/bundle.h"
#include "runtime/bundle/bundle_choice.h"
#include "tests/support/api_testing.h"
#include "tests/support/cubin.h"

using namespace api_testing;
using namespace tmm;
namespace fs = std::filesystem;

namespace {

constexpr const char* kTool = TMM_BINARY_DIR "/tools/tmm-db";
constexpr const char* kShapes =
    "64 48 32\n40 36 200 ops=nt\n33 17 65 beta=1\n24 40 16 dtype=bf16\n24 40 16 dtype=f64\n64 40 32 epilogue=bias+relu\n";

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

std::string content_of(const fs::path& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}
void write(const fs::path& file, const std::string& content) {
    std::ofstream(file, std::ios::binary) << content;
}

// Sets a variable, or takes it away, while it lives.
class Variable {
public:
    Variable(const char* name, const char* value) : name_(name) {
        if (const char* before = std::getenv(name)) before_ = before;
        value ? setenv(name, value, 1) : unsetenv(name);
    }
    ~Variable() { before_ ? setenv(name_, before_->c_str(), 1) : unsetenv(name_); }
    Variable(const Variable&) = delete;
    Variable& operator=(const Variable&) = delete;

private:
    const char* name_;
    std::optional<std::string> before_;
};

// What the tool prints, and its exit status behind that.
std::string run(const std::string& command) {
    std::string output;
    FILE* const pipe = popen((command + " 2>&1; echo \"status $?\"").c_str(), "r");
    REQUIRE(pipe);
    char part[4096];
    while (const std::size_t count = std::fread(part, 1, sizeof part, pipe)) output.append(part, count);
    pclose(pipe);
    return output;
}

std::string make(const Scratch& scratch, const std::string& shapes, const std::string& more = "") {
    write(scratch.file("shapes.txt"), shapes);
    return run(fmt::format("TMM_DB='{}' '{}' bundle --gpu host --shapes '{}' --out '{}' {}", scratch.file("none.db"), kTool,
                           scratch.file("shapes.txt"), scratch.file("app.tmm"), more));
}

CompiledKernel kernel_of(const std::string& image, int registers) {
    const auto* const bytes = reinterpret_cast<const std::byte*>(image.data());
    return {.image = {bytes, bytes + image.size()}, .registers = registers, .spill_bytes = registers < 0 ? -1 : 8, .log = "not kept"};
}

BundleEntry entry_of(const std::string& shape, const std::string& config, Match match, double us) {
    return {.problem = parse_shape(shape).problem, .config = parse_config(config), .match = match, .measured_us = us};
}

const std::vector<BundleEntry>& some_entries() {
    static const auto* entries = new std::vector<BundleEntry>{
        entry_of("1000 900 80 ops=nt lda=81 align=4", "simt 64x64x8 t8x16 s2 v4 peeled", Match::exact, 0.1),
        entry_of("16 4096 4096 dtype=bf16 ctype=f32 beta=1 batch=3 stride_a=0", "mma 64x64x32 s3", Match::near, 1e-5),
        entry_of("7 5 3 compute=tf32 epilogue=bias+gelu", "naive 16x16", Match::fallback, 0),
        entry_of("128 128 2305843009213", "gemv 1x128x32", Match::predicted, 813.7600123882294)};
    return *entries;
}

std::string small_bundle() {
    return encoded_bundle({.name = "NVIDIA Test", .compute_capability = 90, .sm_count = 132}, some_entries(),
                          {{{.high = 7, .low = 1}, kernel_of(std::string(5000, 'k'), 40)},
                           {{.high = 7, .low = 2}, kernel_of("other", -1)},
                           {{.high = 9, .low = 0}, kernel_of("third\n", 255)}});
}

// The fault that the bytes are refused for, with its words; nothing where they are taken.
struct Refusal {
    BundleFault fault;
    std::string words;
};
std::optional<Refusal> refusal_of(const std::string& bytes) {
    try {
        Bundle::decoded(bytes, "dir/app.tmm");
    } catch (const BundleError& error) {
        // Says where, and what to do, in one line.
        CHECK(error.where() == "dir/app.tmm");
        CHECK(error.remedy() != "");
        CHECK(printable(error.what()) == error.what());
        return Refusal{error.fault(), error.what()};
    }
    return std::nullopt;
}

// The manifest with one text in the place of another, under the right hash.
std::string with_manifest(const std::string& before, const std::string& after, std::string bytes = small_bundle()) {
    const auto at = bytes.find(before);
    REQUIRE(at != std::string::npos);
    bytes.replace(at, before.size(), after);
    std::uint64_t manifest_bytes = 0;
    std::memcpy(&manifest_bytes, bytes.data() + 24, sizeof manifest_bytes);
    manifest_bytes += after.size() - before.size();
    std::memcpy(bytes.data() + 24, &manifest_bytes, sizeof manifest_bytes);
    return sealed_bundle(bytes);
}

template <typename Number>
std::string with_number(std::size_t at, Number number) {
    std::string bytes = small_bundle();
    std::memcpy(bytes.data() + at, &number, sizeof number);
    return sealed_bundle(bytes);
}

std::size_t table_of(const std::string& bytes) {
    std::uint64_t manifest_bytes = 0;
    std::memcpy(&manifest_bytes, bytes.data() + 24, sizeof manifest_bytes);
    return 48 + manifest_bytes;
}

std::string product_by(tmmHandle_t handle, const Product& p) {
    const Fixture on(TMM_DEVICE_HOST);
    const auto a = normal_values(p.size_a(), 1), b = normal_values(p.size_b(), 2), before = normal_values(p.size_c(), 3);
    const OnDevice da(on, a), db(on, b), dc(on, before);
    if (sgemm(handle, p, da.data(), db.data(), dc.data()) != TMM_STATUS_SUCCESS) return tmmLastError(handle);
    return difference(p, a, b, before, dc.read());
}

}  // namespace

TEST_CASE("a bundle holds what was put into it") {
    const Bundle bundle = Bundle::decoded(small_bundle(), "app.tmm");
    CHECK(bundle.device() == DeviceModel{.name = "NVIDIA Test", .compute_capability = 90, .sm_count = 132});
    CHECK(bundle.entries() == some_entries());
    CHECK(bundle.kernel_count() == 3);
    const auto kernel = bundle.find({.high = 7, .low = 1});
    REQUIRE(kernel);
    CHECK(kernel->image == kernel_of(std::string(5000, 'k'), 40).image);
    CHECK(kernel->registers == 40);
    CHECK(kernel->spill_bytes == 8);
    CHECK(kernel->log == "");
    CHECK(bundle.find({.high = 7, .low = 2})->registers == -1);
    CHECK(bundle.find({.high = 9, .low = 0})->image == kernel_of("third\n", 0).image);
    CHECK(!bundle.has({.high = 7, .low = 3}));
    CHECK(!bundle.find({.high = 8, .low = 0}));
    CHECK(Bundle::decoded(encoded_bundle(bundle.device(), {}, {}), "empty.tmm").entries().empty());
}

TEST_CASE("every changed byte, every lost one and every one too many is noticed") {
    const std::string bytes = small_bundle();
    REQUIRE(!refusal_of(bytes));
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        for (const int change : {1, 0x80, 0xff}) {
            std::string damaged = bytes;
            damaged[i] = static_cast<char>(damaged[i] ^ change);
            const auto refused = refusal_of(damaged);
            CAPTURE(i);
            REQUIRE(refused);
            const BundleFault expected = i >= 8 && i < 12 ? BundleFault::other_version : BundleFault::invalid;
            CHECK(refused->fault == expected);
        }
    }
    for (std::size_t length = 0; length < bytes.size(); ++length) {
        CAPTURE(length);
        const auto refused = refusal_of(bytes.substr(0, length));
        REQUIRE(refused);
        CHECK(refused->fault == BundleFault::invalid);
        CHECK(contains(refused->words, length < 8 ? "no bundle" : length < 48 ? "it ends after" : "bytes of"));
    }
    CHECK(refusal_of(bytes + '\0')->fault == BundleFault::invalid);
    CHECK(contains(refusal_of("SQLite format 3")->words, "no bundle"));
}

TEST_CASE("a bundle whose hash is right is not believed either") {
    const auto invalid = [](const std::string& bytes, const std::string& words) {
        const auto refused = refusal_of(bytes);
        REQUIRE_MESSAGE(refused, words);
        CHECK(refused->fault == BundleFault::invalid);
        CHECK_MESSAGE(contains(refused->words, words), refused->words);
    };
    invalid(with_manifest("device NVIDIA", "gadget NVIDIA"), "does not say its device");
    invalid(with_manifest("device NVIDIA", "device \x1b[2J"), "no name that can be shown");
    invalid(with_manifest("sm_count 132", "sm_count -1"), "'-1' is no sm_count");
    invalid(with_manifest("sm_count 132", "sm_count 4294967296"), "is no sm_count");
    invalid(with_manifest("compute_capability 90", "compute_capability 9.0"), "is no compute_capability");
    invalid(with_manifest("exact\t", "perfect\t"), "'perfect' is no match");
    invalid(with_manifest("exact\t0.1", "exact\t-1"), "'-1' is no time");
    invalid(with_manifest("exact\t0.1", "exact\tnan"), "'nan' is no time");
    invalid(with_manifest("exact\t0.1\t", "exact\t0.1 "), "is no entry");
    invalid(with_manifest("lda=81", "lda=1"), "lda");
    invalid(with_manifest("1000x900x80", "0x900x80"), "0x900x80");
    invalid(with_manifest("naive 16x16", "nova 16x16"), "nova");
    invalid(with_manifest("naive 16x16", "naive 16x99999999999"), "99999999999");
    invalid(with_manifest("naive 16x16", "naive 16x16\t1"), "is no entry");
    invalid(with_number<std::uint64_t>(24, ~std::uint64_t{0}), "larger than the file");
    invalid(with_number<std::uint64_t>(24, 5), "manifest");
    invalid(with_number<std::uint32_t>(12, ~0u), "larger than the file");
    invalid(with_number<std::uint32_t>(12, 4), "kernel");

    const std::size_t table = table_of(small_bundle());
    invalid(with_number<std::uint64_t>(table, 10), "not in order");
    invalid(with_number<std::int32_t>(table + 16, -2), "numbers that none has");
    invalid(with_number<std::int32_t>(table + 20, -2), "numbers that none has");
    invalid(with_number<std::uint64_t>(table + 24, 0), "does not stand in it");
    invalid(with_number<std::uint64_t>(table + 24, ~std::uint64_t{0} - 3), "does not stand in it");
    invalid(with_number<std::uint64_t>(table + 32, 0), "does not stand in it");
    invalid(with_number<std::uint64_t>(table + 32, ~std::uint64_t{0}), "does not stand in it");
    invalid(with_number<std::uint64_t>(table + 40, 0), "does not stand in it");
    invalid(with_number<std::uint64_t>(table + 40, std::uint64_t{1} << 60), "does not stand in it");

    const auto newer = refusal_of(with_number<std::uint32_t>(8, Bundle::kVersion + 1));
    REQUIRE(newer);
    CHECK(newer->fault == BundleFault::other_version);
    CHECK(contains(newer->words, "a newer one"));
    const std::string bytes = small_bundle();
    const std::string templates = bytes.substr(bytes.find("templates "), 42);
    const auto other = refusal_of(with_manifest(templates, "templates 0123456789abcdef0123456789abcdef"));
    REQUIRE(other);
    CHECK(other->fault == BundleFault::other_version);
}

TEST_CASE("code for another CPU is refused by the CPU's name, and by its hash where that was left out") {
    const std::string bytes = encoded_bundle(model_of(host_device_info()), {}, {});
    CHECK_FALSE(refusal_of(bytes));
    const std::string here = "\ncpu " + host_cpu() + "\n";
    for (const std::string cpu : {"aarch64", "x86_64", "x86_64 -mfma -mavx2", "riscv64", "aarch64 -mcpu=neoverse-v2"}) {
        if (cpu == host_cpu()) continue;
        const auto refused = refusal_of(with_manifest(here, "\ncpu " + cpu + "\n", bytes));
        REQUIRE(refused);
        CHECK(refused->fault == BundleFault::other_device);
        CAPTURE(refused->words);
        CHECK(refused->words.find(fmt::format("the bundle was made for another CPU, '{}': this one is '{}'", cpu, host_cpu())) !=
              std::string::npos);
    }
    // Earlier versions did not say the CPU.
    const std::string templates = bytes.substr(bytes.find("templates "), 42);
    const auto older = refusal_of(with_manifest(templates, "templates 0123456789abcdef0123456789abcdef", with_manifest(here, "\n", bytes)));
    REQUIRE(older);
    CHECK(older->fault == BundleFault::other_version);
}

TEST_CASE("an image that is none is left aside") {
    const LogCapture log;
    const std::string small = small_bundle();
    std::uint64_t offset = 0;
    std::memcpy(&offset, small.data() + table_of(small) + 24, sizeof offset);
    const Bundle bundle = Bundle::decoded(with_number<std::uint32_t>(offset, 0xdeadbeef), "app.tmm");
    CHECK(!bundle.find({.high = 7, .low = 1}));
    CHECK(bundle.find({.high = 7, .low = 2}));
    REQUIRE(log.lines.size() == 1);
    CHECK(contains(log.lines[0], "app.tmm"));
    // One that says that it is larger, or smaller, than it is.
    for (const std::uint64_t size : {4999, 5001}) CHECK(!Bundle::decoded(with_number(table_of(small) + 40, size), "app.tmm").find({7, 1}));
}

TEST_CASE("a kernel whose spills the assembler got wrong is none of the bundle's") {
    const LogCapture log;
    const auto spilling = [](const std::vector<tmm::testing::Words>& code) {
        return CompiledKernel{.image = tmm::testing::cubin(code), .registers = 255, .spill_bytes = 8, .log = {}};
    };
    const KernelIdentity right{.high = 1, .low = 0}, wrong{.high = 2, .low = 0};
    const Bundle bundle = Bundle::decoded(encoded_bundle({.name = "NVIDIA Test", .compute_capability = 90, .sm_count = 132}, {},
                                                         {{right, spilling({tmm::testing::kGuardedCarry, tmm::testing::kFreeStore})},
                                                          {wrong, spilling({tmm::testing::kGuardedCarry, tmm::testing::kStore})}}),
                                          "app.tmm");
    CHECK(bundle.has(right));
    CHECK(bundle.find(right));
    CHECK(log.lines.empty());
    for (int i = 0; i < 2; ++i) {
        CHECK(!bundle.has(wrong));
        CHECK(!bundle.find(wrong));
    }
    REQUIRE(log.lines.size() == 1);
    CHECK(contains(log.lines[0], "app.tmm: "));
    CHECK(contains(log.lines[0], "spilled registers"));
    CHECK(contains(log.lines[0], "tmm-db bundle"));
}

TEST_CASE("a problem whose bundled kernel has wrong spills is served by another kernel") {
    const GemmProblem problem = with_alignment(parse_shape("64 48 32").problem, 4);
    const KernelConfig config = parse_config("naive 16x16");
    BundleKernels kernels;
    for (const LaunchStep& step : make_launch_plan(problem, config, host_device_info()).steps)
        kernels[identity_of(make_kernel_source(step.signature, step.kernel))] = {
            .image = tmm::testing::cubin({tmm::testing::kGuardedCarry, tmm::testing::kStore}),
            .registers = 255,
            .spill_bytes = 8,
            .log = {}};
    const Fixture on(TMM_DEVICE_HOST);
    write(on.scratch.file("app.tmm"), encoded_bundle(model_of(host_device_info()), {{.problem = problem, .config = config}}, kernels));
    const LogCapture log;
    REQUIRE_MESSAGE(tmmLoadBundle(on.handle, on.scratch.file("app.tmm").c_str()) == TMM_STATUS_SUCCESS, tmmLastError(on.handle));
    CHECK(log.lines.empty());
    CHECK(product_by(on.handle, {.m = 64, .n = 48, .k = 32}) == "");
    CHECK(std::count_if(log.lines.begin(), log.lines.end(), [](const std::string& line) { return contains(line, "spilled registers"); }) ==
          1);
}

TEST_CASE("tmm-db bundle writes what a program runs without compiler, database and cache") {
    const Scratch scratch;
    const std::string made = make(scratch, kShapes);
    CHECK_MESSAGE(contains(made, "app.tmm: 6 problems ("), made);
    CHECK(contains(made, ", for host\nstatus 0"));

    const Variable no_database("TMM_DB", "/proc/nonexistent/tmm.db"), no_cache("TMM_CACHE_DIR", "/proc/nonexistent/cache");
    const Variable no_compiler("TMM_CXX", "/proc/nonexistent/c++"), no_programs("PATH", nullptr), no_home("HOME", "/proc/nonexistent");
    LogCapture log;
    tmmHandle_t handle = nullptr;
    REQUIRE(tmmCreate(&handle, TMM_DEVICE_HOST, nullptr) == TMM_STATUS_SUCCESS);
    // Without the bundle there is nothing to run.
    CHECK(contains(product_by(handle, {.m = 64, .n = 48, .k = 32}), "/proc/nonexistent/c++"));
    log.lines.clear();
    REQUIRE_MESSAGE(tmmLoadBundle(handle, scratch.file("app.tmm").c_str()) == TMM_STATUS_SUCCESS, tmmLastError(handle));
    CHECK(product_by(handle, {.m = 64, .n = 48, .k = 32}) == "");
    CHECK(product_by(handle, {.op_b = TMM_TRANS, .m = 40, .n = 36, .k = 200, .alpha = -2}) == "");
    CHECK(product_by(handle, {.m = 33, .n = 17, .k = 65, .beta = 0.5f}) == "");
    CHECK(log.lines.empty());

    SUBCASE("and pointers may be less aligned than the shapes file says") {
        const Fixture on(TMM_DEVICE_HOST);
        const Product p{.m = 64, .n = 48, .k = 32};
        const auto a = normal_values(p.size_a(), 1), b = normal_values(p.size_b(), 2), before = normal_values(p.size_c(), 3);
        for (const std::size_t offset : {0, 1, 2, 3}) {
            const OnDevice da(on, a, offset), db(on, b, offset), dc(on, before, offset);
            REQUIRE(sgemm(handle, p, da.data(), db.data(), dc.data()) == TMM_STATUS_SUCCESS);
            CHECK(difference(p, a, b, before, dc.read()) == "");
        }
        tmmGemmProblem_t problem = problem_of(p);
        tmmPlan_t plan = nullptr;
        REQUIRE_MESSAGE(tmmPlanCreate(handle, &problem, &plan) == TMM_STATUS_SUCCESS, tmmLastError(handle));
        for (const std::size_t offset : {0, 1}) {
            const OnDevice da(on, a, offset), db(on, b, offset), dc(on, before, offset);
            const tmmGemmArgs_t args = args_of(p, da.data(), db.data(), dc.data());
            REQUIRE(tmmPlanRun(plan, nullptr, &args) == TMM_STATUS_SUCCESS);
            CHECK(difference(p, a, b, before, dc.read()) == "");
        }
        char text[4096];
        CHECK(tmmPlanDescribe(plan, text, sizeof text) == TMM_STATUS_SUCCESS);
        CHECK(contains(text, scratch.file("app.tmm") + " holds 64x48x32"));
        char described[4096];
        CHECK(tmmProblemDescribe(handle, &problem, described, sizeof described) == TMM_STATUS_SUCCESS);
        CHECK(contains(text, described));
        tmmPlanDestroy(plan);
        CHECK(log.lines.empty());
    }
    SUBCASE("and other problems get what is nearest") {
        CHECK(product_by(handle, {.m = 65, .n = 47, .k = 31}) == "");
        CHECK(product_by(handle, {.m = 1, .n = 500, .k = 3, .alpha = 2}) == "");
        // beta other than 0, which the list has for another shape alone.
        CHECK(product_by(handle, {.m = 64, .n = 48, .k = 32, .beta = 1}) == "");
        CHECK(product_by(handle, {.m = 20, .n = 30, .k = 0, .beta = 3}) == "");
        CHECK(product_by(handle, {.layout = TMM_COL_MAJOR, .m = 40, .n = 50, .k = 60, .pad_a = 1, .pad_c = 3}) == "");
        // No line of the list multiplies the transpose of A.
        const std::string refused = product_by(handle, {.op_a = TMM_TRANS, .m = 64, .n = 48, .k = 32});
        CHECK(contains(refused, "app.tmm has no kernel for 64x48x32 ops=tn"));
        CHECK(contains(refused, "make the bundle again"));
        // What ran before goes on.
        CHECK(product_by(handle, {.m = 64, .n = 48, .k = 32}) == "");
    }
    SUBCASE("and a bundle that is refused changes nothing") {
        write(scratch.file("bad.tmm"), content_of(scratch.file("app.tmm")).substr(0, 200));
        CHECK(tmmLoadBundle(handle, scratch.file("bad.tmm").c_str()) == TMM_STATUS_INVALID_BUNDLE);
        CHECK(contains(tmmLastError(handle), "200 bytes of"));
        CHECK(product_by(handle, {.m = 64, .n = 48, .k = 32}) == "");
        CHECK(product_by(handle, {.m = 66, .n = 48, .k = 32}) == "");
    }
    tmmDestroy(handle);
}

TEST_CASE("what is no file of a bundle is refused by a status of its own") {
    const Scratch scratch;
    const Fixture on(TMM_DEVICE_HOST);
    const auto status_of = [&](const std::string& file) { return tmmLoadBundle(on.handle, file.c_str()); };
    const auto says = [&](const std::string& words) { CHECK_MESSAGE(contains(tmmLastError(on.handle), words), tmmLastError(on.handle)); };

    CHECK(tmmLoadBundle(nullptr, "x") == TMM_STATUS_INVALID_HANDLE);
    CHECK(tmmLoadBundle(on.handle, nullptr) == TMM_STATUS_NULL_POINTER);
    CHECK(status_of(scratch.file("missing.tmm")) == TMM_STATUS_UNREADABLE_BUNDLE);
    says("missing.tmm: ");
    CHECK(status_of("") == TMM_STATUS_UNREADABLE_BUNDLE);
    CHECK(status_of(scratch.file("")) == TMM_STATUS_UNREADABLE_BUNDLE);
    says("it is a directory");
    REQUIRE(mkfifo(scratch.file("fifo").c_str(), 0600) == 0);
    CHECK(status_of(scratch.file("fifo")) == TMM_STATUS_UNREADABLE_BUNDLE);
    CHECK(status_of("/dev/zero") == TMM_STATUS_UNREADABLE_BUNDLE);
    says("it is no file");
    write(scratch.file("empty.tmm"), "");
    CHECK(status_of(scratch.file("empty.tmm")) == TMM_STATUS_INVALID_BUNDLE);
    write(scratch.file("huge.tmm"), "");
    fs::resize_file(scratch.file("huge.tmm"), static_cast<std::uintmax_t>(Bundle::kLargestFile) + 1);
    CHECK(status_of(scratch.file("huge.tmm")) == TMM_STATUS_UNREADABLE_BUNDLE);
    write(scratch.file("loose.tmm"), encoded_bundle(model_of(host_device_info()), {}, {}));
    CHECK(status_of(scratch.file("loose.tmm")) == TMM_STATUS_SUCCESS);
    fs::permissions(scratch.file("loose.tmm"), fs::perms::all);
    CHECK(status_of(scratch.file("loose.tmm")) == TMM_STATUS_UNREADABLE_BUNDLE);
    says("can be written to by everybody");

    DeviceModel other = model_of(host_device_info());
    for (const DeviceModel& device : {DeviceModel{"NVIDIA H200", 90, 132}, DeviceModel{other.name, other.compute_capability, 5}}) {
        write(scratch.file("other.tmm"), encoded_bundle(device, {}, {}));
        CHECK(status_of(scratch.file("other.tmm")) == TMM_STATUS_BUNDLE_DEVICE);
        says(device.name);
        says("this one is host");
    }
    for (int status = TMM_STATUS_UNREADABLE_BUNDLE; status <= TMM_STATUS_BUNDLE_DEVICE; ++status)
        CHECK(std::string(tmmStatusString(static_cast<tmmStatus_t>(status))) != "unknown status");
}

TEST_CASE("TMM_BUNDLE is loaded with the handle, and costs a line where it can't be") {
    const Scratch scratch;
    make(scratch, "64 48 32\n");
    {
        const Variable bundle("TMM_BUNDLE", scratch.file("app.tmm").c_str()), no_compiler("TMM_CXX", "/proc/nonexistent/c++");
        const Variable no_cache("TMM_CACHE_DIR", "/proc/nonexistent/cache");
        const LogCapture log;
        const Fixture on(TMM_DEVICE_HOST);
        CHECK(product_by(on.handle, {.m = 64, .n = 48, .k = 32}) == "");
        CHECK(log.lines.empty());
    }
    const Variable bundle("TMM_BUNDLE", scratch.file("none.tmm").c_str());
    const LogCapture log;
    tmmHandle_t handle = nullptr;
    REQUIRE(tmmCreate(&handle, TMM_DEVICE_HOST, scratch.file("none.db").c_str()) == TMM_STATUS_SUCCESS);
    REQUIRE(log.lines.size() == 1);
    CHECK(contains(log.lines[0], "TMM_BUNDLE is not used: "));
    CHECK(contains(log.lines[0], "none.tmm"));
    CHECK(product_by(handle, {.m = 64, .n = 48, .k = 32}) == "");
    tmmDestroy(handle);
}

TEST_CASE("a bound on workspace, and a foreign config, send a problem elsewhere") {
    const GemmProblem problem = parse_shape("64 48 4096").problem;
    const DeviceInfo device = host_device_info();
    BundleKernels kernels;
    const auto hold = [&](const KernelConfig& config) {
        for (const LaunchStep& step : make_launch_plan(problem, config, device).steps)
            kernels.emplace(identity_of(make_kernel_source(step.signature, step.kernel)), kernel_of("x", 1));
    };
    KernelConfig split = parse_config("simt 64x64x8 t8x8 v4 guarded");
    split.split_k = 4;
    REQUIRE(make_launch_plan(problem, split, device).workspace_bytes > 0);
    hold(split);
    const auto bundle_with = [&](const BundleEntry& entry) {
        return Bundle::decoded(encoded_bundle(model_of(device), {entry}, kernels), "app.tmm");
    };
    const Bundle bundle = bundle_with({.problem = problem, .config = split, .match = Match::exact, .measured_us = 3});
    const auto held = held_choice(bundle, problem, kAnyWorkspace, device);
    REQUIRE(held);
    CHECK(held->selection.config == split);
    CHECK(held->selection.match == Match::exact);
    CHECK(contains(held->selection.why, "app.tmm"));
    CHECK(contains(held->selection.why, "(3.000 µs)"));
    CHECK(!held_choice(bundle, problem, 0, device));
    CHECK(!nearest_choice(bundle, problem, 0, device));
    // A config that is none for the problem, as a database may hold one too; and one whose kernels the bundle lacks.
    CHECK(!held_choice(bundle_with({.problem = problem, .config = parse_config("wgmma 128x128x64")}), problem, kAnyWorkspace, device));
    CHECK(!held_choice(bundle_with({.problem = problem, .config = parse_config("naive 16x16")}), problem, kAnyWorkspace, device));
    // Less aligned pointers are not what its kernels take.
    GemmProblem less = problem;
    less.alignment = 4;
    CHECK(!held_choice(bundle, less, kAnyWorkspace, device));
}

TEST_CASE("tmm-db bundle says what is wrong, and leaves the file that is there") {
    const Scratch scratch;
    const std::string begin = fmt::format("TMM_DB='{}' '{}' bundle --out '{}' ", scratch.file("none.db"), kTool, scratch.file("app.tmm"));
    write(scratch.file("app.tmm"), "kept");
    write(scratch.file("shapes.txt"), "64 48 32\n");
    const std::string shapes = "--shapes '" + scratch.file("shapes.txt") + "' ";
    CHECK(contains(run(begin + shapes), "status 1"));
    CHECK(contains(run(begin + shapes), "--gpu"));
    CHECK(contains(run(begin + shapes + "--gpu B9000"), "NVIDIA H200"));
    CHECK(contains(run(begin + shapes + "--gpu B9000"), "status 6"));
    CHECK(contains(run(begin + shapes + "--gpu NVIDIA"), "names several devices"));
    CHECK(contains(run(begin + "--gpu host"), "nothing was tuned on host"));
    CHECK(contains(run(begin + "--gpu host --shapes /proc/nonexistent"), "status 2"));
    CHECK(contains(run(begin + shapes + "--gpu host --db /proc/nonexistent/tmm.db"), "status 5"));
    CHECK(contains(run("TMM_CXX=/proc/nonexistent/c++ " + begin + shapes + "--gpu host"), "status 4"));
    CHECK(contains(run("TMM_NVRTC=/proc/nonexistent " + begin + shapes + "--gpu H200"), "status 4"));
    CHECK(content_of(scratch.file("app.tmm")) == "kept");
    CHECK(contains(run(fmt::format("'{}' bundle --gpu host {} --out /proc/nonexistent/app.tmm", kTool, shapes)), "status 2"));
    for (const auto& entry : fs::directory_iterator(scratch.file(""))) CHECK(!contains(entry.path().string(), ".new"));
}

#ifdef TMM_TEST_OPENED_NAMES

TEST_CASE("with a bundle nothing else is opened, loaded or run") {
    const Scratch scratch;
    make(scratch, kShapes);
    const auto opened_with = [&](const std::string& variables) {
        fs::remove(scratch.file("opened"));
        fs::remove_all(scratch.file("home"));
        fs::create_directories(scratch.file("home"));
        const std::string said = run(fmt::format(
            "env -i LD_PRELOAD='{}' TMM_TEST_OPENED='{}' HOME='{}' PATH=\"$PATH\" {} '{}' --no-skip --test-case='helper: multiplies'",
            TMM_TEST_OPENED_NAMES, scratch.file("opened"), scratch.file("home"), variables, fs::read_symlink("/proc/self/exe").string()));
        CHECK_MESSAGE(contains(said, "status 0"), said);
        return content_of(scratch.file("opened"));
    };
    const auto says_of = [](const std::string& opened) {
        std::string found;
        for (const char* name : {"tmm.db", ".cache", "nvrtc", "c++", "/sh"})
            if (contains(opened, name)) found += std::string(name) + " ";
        return found;
    };
    // The list sees what is opened where there is no bundle.
    CHECK(says_of(opened_with("")) == "tmm.db .cache c++ /sh ");
    const std::string opened = opened_with("TMM_BUNDLE='" + scratch.file("app.tmm") + "'");
    CHECK(contains(opened, "app.tmm"));
    CHECK_MESSAGE(says_of(opened) == "", opened);
    CHECK(!fs::exists(scratch.file("home/.cache")));
}

TEST_CASE("helper: multiplies" * doctest::skip()) {
    tmmHandle_t handle = nullptr;
    REQUIRE(tmmCreate(&handle, TMM_DEVICE_HOST, nullptr) == TMM_STATUS_SUCCESS);
    const Product p{.m = 64, .n = 48, .k = 32};
    const auto a = normal_values(p.size_a(), 1), b = normal_values(p.size_b(), 2), before = normal_values(p.size_c(), 3);
    std::vector<float> c = before;
    REQUIRE(sgemm(handle, p, a.data(), b.data(), c.data()) == TMM_STATUS_SUCCESS);
    CHECK(difference(p, a, b, before, c) == "");
    tmmDestroy(handle);
}

#endif
