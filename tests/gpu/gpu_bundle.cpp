// A bundle of a GPU's kernels in a process that has neither NVRTC nor database nor cache: right results, and the time until the first.
// test_gpu_stand_in runs the same program with a stand-in for the driver, whose kernels do nothing.
#include <doctest/doctest.h>
#include <fmt/core.h>
#include <sys/wait.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "base/text/environment.h"
#include "db/store/records.h"
#include "generator/text/shapes_file.h"
#include "tests/support/api_testing.h"
#include "tests/support/captured_stream.h"
#include "tools/tmm_db/bundle_command.h"

using namespace api_testing;
namespace fs = std::filesystem;

namespace {

bool is_stand_in() {
    return std::getenv("TMM_TEST_STAND_IN") != nullptr;
}

// The products of the child, FP32 and BF16, and the lines of a shapes file that they are.
struct Bundled {
    Product product;
    const char* shape;
};
constexpr Bundled kProducts[] = {
    {{.m = 1024, .n = 1024, .k = 1024}, "1024 1024 1024"},
    {{.op_b = TMM_TRANS, .m = 16, .n = 512, .k = 4096}, "16 512 4096 ops=nt"},
    {{.m = 127, .n = 129, .k = 131, .beta = 1}, "127 129 131 beta=1"},
    {{.m = 256, .n = 192, .k = 320, .type = TMM_BF16, .type_c = TMM_BF16}, "256 192 320 dtype=bf16"},
};

void make_bundle_of_products(const std::string& file) {
    std::vector<tmm::GemmProblem> problems;
    for (const Bundled& bundled : kProducts) problems.push_back(tmm::parse_shape(bundled.shape).problem);
    const tmm::DeviceInfo device = tmm::open_device(0)->info();
    const tmm::BundleContent content = tmm::make_bundle(problems, tmm::Winners(tmm::shipped_winners(), device), tmm::make_compiler(device),
                                                        tmm::KernelCache(tmm::default_cache_directory()));
    std::ofstream(file, std::ios::binary) << tmm::encoded_bundle(tmm::model_of(device), content.entries, content.kernels);
}

double milliseconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

// Values in the device's memory, in the type.
class Operand {
public:
    Operand(const std::shared_ptr<tmm::Device>& device, tmmType_t type, const std::vector<float>& values)
        : device_(device), type_(type), count_(values.size()), buffer_(device, values.size() * api_testing::size_of(type)) {
        std::vector<std::uint16_t> bits;
        for (const float value : values) bits.push_back(type == TMM_F32 ? 0 : to_bits(type, value));
        device->copy_to_device(buffer_.data(), type == TMM_F32 ? static_cast<const void*>(values.data()) : bits.data(), buffer_.bytes());
    }
    void* data() const { return buffer_.data(); }
    std::vector<float> read() const {
        std::vector<float> values(count_);
        std::vector<std::uint16_t> bits(count_);
        device_->copy_to_host(type_ == TMM_F32 ? static_cast<void*>(values.data()) : bits.data(), buffer_.data(), buffer_.bytes());
        for (std::size_t i = 0; i < count_ && type_ != TMM_F32; ++i) values[i] = from_bits(type_, bits[i]);
        return values;
    }

private:
    std::shared_ptr<tmm::Device> device_;
    tmmType_t type_;
    std::size_t count_;
    tmm::DeviceBuffer buffer_;
};

std::string run(tmmHandle_t handle, const std::shared_ptr<tmm::Device>& device, const Product& p, double* milliseconds = nullptr) {
    const auto a = rounded_to(p.type, normal_values(p.size_a(), 1)), b = rounded_to(p.type, normal_values(p.size_b(), 2));
    const auto before = rounded_to(p.type_c, normal_values(p.size_c(), 3));
    const Operand da(device, p.type, a), db(device, p.type, b), dc(device, p.type_c, before);
    const tmmGemmProblem_t problem = problem_of(p);
    const tmmGemmArgs_t args = args_of(p, da.data(), db.data(), dc.data());
    const auto start = std::chrono::steady_clock::now();
    if (tmmGemm(handle, &problem, &args) != TMM_STATUS_SUCCESS) return tmmLastError(handle);
    device->synchronize();
    if (milliseconds) *milliseconds = milliseconds_since(start);
    return is_stand_in() ? "" : difference(p, a, b, before, dc.read());
}

bool has_loaded(const std::string& name) {
    std::ifstream maps("/proc/self/maps");
    const std::string text{std::istreambuf_iterator<char>(maps), {}};
    return text.find(name) != std::string::npos;
}

}  // namespace

TEST_CASE("a bundle multiplies in a process without NVRTC, database and cache") {
    if (no_gpu()) return;
    const Scratch scratch;
    if (tmm::nvrtc_version() == 0) {
        MESSAGE("skipped: libnvrtc, which makes the bundle, was not found");
        return;
    }
    make_bundle_of_products(scratch.file("app.tmm"));
    fs::create_directories(scratch.file("home"));
    const char* const libraries = std::getenv("LD_LIBRARY_PATH");
    const std::string command = fmt::format(
        "env -i LD_LIBRARY_PATH='{}' {} HOME='{}' TMM_NVRTC=/nonexistent TMM_BUNDLE='{}' '{}' --no-skip --test-case='helper: *' > '{}' "
        "2>&1",
        libraries ? libraries : "", is_stand_in() ? "TMM_TEST_STAND_IN=1" : "", scratch.file("home"), scratch.file("app.tmm"),
        fs::read_symlink("/proc/self/exe").string(), scratch.file("out"));
    const int status = std::system(command.c_str());
    std::ifstream file(scratch.file("out"));
    const std::string said{std::istreambuf_iterator<char>(file), {}};
    CHECK_MESSAGE(status == 0, said);
    CHECK(said.find("1 passed | 0 failed") != std::string::npos);
    // There is neither a cache nor anything else of tmm's.
    for (const char* name : {"home/.cache", "home/.local"}) CHECK(!fs::exists(scratch.file(name)));
    if (const auto at = said.find("first multiplication"); at != std::string::npos) MESSAGE(said.substr(at, said.find('\n', at) - at));
}

TEST_CASE("helper: multiplies with a bundle" * doctest::skip()) {
    const LogCapture log;
    // The context is there before the handle is.
    const std::shared_ptr<tmm::Device> device = tmm::open_device(0);
    REQUIRE(tmm::bundle_path());
    const auto start = std::chrono::steady_clock::now();
    tmmHandle_t handle = nullptr;
    REQUIRE_MESSAGE(tmmCreate(&handle, 0, nullptr) == TMM_STATUS_SUCCESS, tmmLastError(nullptr));
    const double created = milliseconds_since(start);
    double first = 0;
    CHECK(run(handle, device, kProducts[0].product, &first) == "");
    fmt::print("first multiplication: {:.2f} ms for the handle, {:.2f} ms for 1024x1024x1024\n", created, first);
    for (const Bundled& bundled : kProducts)
        if (&bundled != kProducts) CHECK(run(handle, device, bundled.product) == "");
    CHECK(!has_loaded("libnvrtc"));
    CHECK_MESSAGE(log.lines.empty(), log.lines.front());
    tmmDestroy(handle);
}
