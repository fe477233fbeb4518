// How a device's rates are measured, on devices whose times are planted, and what a run makes of what was measured.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>
#include <sstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "db/store/records.h"
#include "generator/compile/compiler.h"
#include "generator/machine/assumed_device.h"
#include "tests/support/database_fixture.h"
#include "tests/support/kernels/planted_testing.h"
#include "tmm/checks/ceilings/args.h"
#include "tuner/measure/ceilings.h"
#include "tuner/run/device_profile.h"

using namespace tmm;
using namespace tmm::testing;
using Mode = TuningDatabase::Mode;

namespace {

// What the planted GPU does in a microsecond.
struct Planted {
    double read_bytes = 2e6;
    double fmas_of_sm = 200e3;
    double most_fmas = 15e6;
    double most_mma_16 = 80e6;
    double launch_gap = 0.8;
    int clock = 1500;
    bool lost = false;
    bool has_memory = true;
};

class NamedKernel : public LoadedKernel {
public:
    explicit NamedKernel(std::string name) : entry(std::move(name)) {}
    std::string entry;
};

class PlantedReplay : public Replay {
public:
    PlantedReplay(double us, bool lost) : us_(us), lost_(lost) {}
    double run_timed() override {
        if (lost_) throw DeviceFault("an illegal address");
        return us_;
    }

private:
    double us_;
    bool lost_;
};

// A GPU that runs nothing: a launch takes as long as its work does at the planted rates. Launch shapes that keep little under way reach a
// part of them.
class PlantedGpu : public Device {
public:
    PlantedGpu(DeviceInfo info, const Planted& planted) : info_(std::move(info)), planted_(planted) {
        info_.memory_bytes = std::int64_t{256} << 20;
    }

    const DeviceInfo& info() const override { return info_; }
    void* allocate(std::size_t bytes) override {
        if (!planted_.has_memory && bytes > 4096) throw std::bad_alloc();
        return std::aligned_alloc(256, (bytes + 255) / 256 * 256);
    }
    void release(void* memory) noexcept override { std::free(memory); }
    void copy_to_device(void*, const void*, std::size_t) override {}
    void copy_to_host(void*, const void*, std::size_t) override {}
    void fill_bytes(void*, unsigned char, std::size_t) override {}
    std::shared_ptr<const LoadedKernel> load(const CompiledKernel&, const std::string& entry) override {
        return std::make_shared<NamedKernel>(entry);
    }
    void launch(const LoadedKernel& kernel, const LaunchShape& shape, const void* arguments, std::size_t, Stream) override {
        const std::string& entry = dynamic_cast<const NamedKernel&>(kernel).entry;
        const double threads = static_cast<double>(shape.grid) * shape.threads;
        const double sms = static_cast<double>(std::min<std::int64_t>(shape.grid, info_.sm_count));
        const int at_once = std::atoi(entry.c_str() + entry.rfind('_') + 1);
        const double reached = at_once >= 4 && shape.threads >= 256 ? 1 : 0.7;
        if (entry.starts_with("tmm_ceiling_read")) {
            for (const ReadRange& range : arguments_of<ReadArgs>(arguments).ranges)
                recorded_us_ += static_cast<double>(range.vectors) * kReadVectorBytes / (reached * planted_.read_bytes);
        } else if (entry.starts_with("tmm_ceiling_fma")) {
            const double rate = std::min(sms * planted_.fmas_of_sm, planted_.most_fmas);
            recorded_us_ += threads * at_once * kFmaSteps * arguments_of<FmaArgs>(arguments).rounds / (reached * rate);
        } else if (entry.starts_with("tmm_ceiling_mma_bf16")) {
            const double rate = planted_.most_mma_16 * sms / info_.sm_count;
            recorded_us_ += threads / 32 * at_once * kMmaSteps * arguments_of<MmaArgs>(arguments).rounds * (16 * 8 * 16) / (reached * rate);
        } else {
            CHECK(entry == "tmm_ceiling_empty");
            recorded_us_ += planted_.launch_gap;
        }
    }
    void encode_tensor_map(const TensorMapRequest&, void*) const override {}
    void set_address(void*, const void*) const override {}
    void synchronize(Stream) override {}
    std::unique_ptr<Replay> record(const std::function<void(Stream)>& launches) override {
        recorded_us_ = 0;
        launches(nullptr);
        return std::make_unique<PlantedReplay>(recorded_us_, planted_.lost);
    }
    DeviceState state() override { return {.sm_clock_mhz = planted_.clock}; }
    int blocks_per_sm(const LoadedKernel&, int, std::int64_t) override { return 0; }

private:
    template <class Args>
    static Args arguments_of(const void* arguments) {
        Args args;
        std::memcpy(&args, arguments, sizeof args);
        return args;
    }

    DeviceInfo info_;
    Planted planted_;
    double recorded_us_ = 0;
};

bool no_nvrtc() {
    if (nvrtc_version() > 0) return false;
    MESSAGE("skipped: libnvrtc was not found");
    return true;
}

MeasuredRates measured_on(const Planted& planted, const char* architecture = "80") {
    return measure_rates(std::make_shared<PlantedGpu>(assumed_device(architecture), planted));
}

// A run's search for the profile of an A100, with a worker whose answer is planted.
class Run {
public:
    explicit Run(const std::filesystem::path& file) : database_(file, Mode::read_write_create) {
        device = assumed_device("80");
        device.driver_version = 13000;
        database_.set_environment({.device = device, .nvrtc_version = 12090});
    }

    std::optional<MeasuredRates> find(const RatesOrReason& answer, const ProfileRequest& request = {}) {
        notes.clear();
        asked = 0;
        return find_profile(
            device, request, database_,
            [&] {
                ++asked;
                return answer;
            },
            [&](const std::string& line) { notes.push_back(line); });
    }
    std::size_t rows() { return database_.rates_records().size(); }

    DeviceInfo device;
    int asked = 0;
    std::vector<std::string> notes;

private:
    TuningDatabase database_;
};

MeasuredRates rates_of_slow_a100() {
    return {.read_bytes = 1.5e6, .fmas = 7e6, .fmas_of_one_sm = 65e3, .mma_16 = 100e6, .mma_clock = 1000, .launch_gap = 0.9};
}

}  // namespace

TEST_CASE("what is measured are the device's rates, of the launch shapes that reach them") {
    if (no_nvrtc()) return;
    for (const Planted& planted :
         {Planted{},
          Planted{.read_bytes = 0.2e6, .fmas_of_sm = 80e3, .most_fmas = 6e6, .most_mma_16 = 20e6, .launch_gap = 2.5, .clock = 700}}) {
        const MeasuredRates rates = measured_on(planted);
        CHECK(rates.read_bytes == doctest::Approx(planted.read_bytes));
        CHECK(rates.fmas == doctest::Approx(planted.most_fmas));
        CHECK(rates.fmas_of_one_sm == doctest::Approx(planted.fmas_of_sm));
        CHECK(rates.mma_16 == doctest::Approx(planted.most_mma_16));
        CHECK(rates.mma_clock == planted.clock);
        CHECK(rates.launch_gap == doctest::Approx(planted.launch_gap));
    }
    // Before compute capability 8.0 there are no such tensor cores.
    const MeasuredRates older = measured_on({}, "75");
    CHECK(older.mma_16 == 0);
    CHECK(older.mma_clock == 0);
    CHECK(older.fmas == doctest::Approx(40 * Planted{}.fmas_of_sm));
}

TEST_CASE("a slow device is measured as slow, an absurd one is refused, and a lost one is a fault") {
    if (no_nvrtc()) return;
    const DeviceInfo a100 = assumed_device("80");
    CHECK(why_untrusted(measured_on({.read_bytes = 1e6, .fmas_of_sm = 50e3, .most_fmas = 5e6, .most_mma_16 = 50e6}), a100) == "");
    CHECK(why_untrusted(measured_on({.read_bytes = 1e3}), a100).find("read_bytes") == 0);
    CHECK(why_untrusted(measured_on({.read_bytes = 1e8}), a100).find("read_bytes") == 0);
    CHECK(why_untrusted(measured_on({.most_mma_16 = 1e12}), a100).find("mma_16") == 0);
    // A timer that stands still.
    CHECK(why_untrusted(measured_on({.read_bytes = std::numeric_limits<double>::infinity()}), a100) != "");
    CHECK(why_untrusted(measured_on({.launch_gap = 0}), a100).find("launch_gap") == 0);
    CHECK_THROWS_AS(measured_on({.lost = true}), DeviceFault);
    CHECK_THROWS_WITH_AS(measured_on({.has_memory = false}), doctest::Contains("too little memory is free"), Error);
}

TEST_CASE("a run measures what its database does not know, keeps it, and predicts by it") {
    const TemporaryDirectory directory;
    Run run(directory / "tmm.db");
    const MeasuredRates rates = rates_of_slow_a100();
    CHECK(run.find(rates) == rates);
    CHECK(run.asked == 1);
    CHECK(run.rows() == 1);
    CHECK(run.notes == std::vector<std::string>{"NVIDIA A100-SXM4-80GB was measured: memory 1.500 TB/s, FMAs 14.00 TFLOP/s, mma.sync "
                                                "200.0 TFLOP/s at 1000 MHz, 0.9000 µs a launch"});
    CHECK(run.device.profile.origin == MachineProfile::Origin::measured);
    const MachineProfile profile = run.device.profile;
    CHECK(profile.memory_bytes < 1.5e6);

    // The next run knows it.
    Run next(directory / "tmm.db");
    CHECK(next.find("not asked") == rates);
    CHECK(next.asked == 0);
    CHECK(next.notes.empty());
    CHECK(next.device.profile.memory_bytes == profile.memory_bytes);

    // --remeasure asks again, and what is new counts.
    MeasuredRates again = rates;
    again.read_bytes = 1.6e6;
    CHECK(next.find(again, {.remeasure = true}) == again);
    CHECK(next.asked == 1);
    CHECK(next.device.profile.memory_bytes > profile.memory_bytes);

    // Another driver may do otherwise; until it is measured, the other's rates serve.
    Run updated(directory / "tmm.db");
    updated.device.driver_version = 13010;
    CHECK(updated.find("the timer is broken") == again);
    CHECK(updated.asked == 1);
    CHECK(updated.notes == std::vector<std::string>{"NVIDIA A100-SXM4-80GB: no rates were measured: the timer is broken"});
    CHECK(updated.device.profile.origin == MachineProfile::Origin::measured);
}

TEST_CASE("rates that no such device can have are refused with one line, and its model's profile serves") {
    const TemporaryDirectory directory;
    Run run(directory / "tmm.db");
    for (const RateField& field : kRateFields)
        for (const double factor : {1e-9, 1e9, -1.0}) {
            CAPTURE(std::string(field.name));
            MeasuredRates absurd = rates_of_slow_a100();
            absurd.*field.member *= factor;
            CHECK_FALSE(run.find(absurd));
            REQUIRE(run.notes.size() == 1);
            CHECK_MESSAGE(run.notes[0].find(fmt::format("no rates were measured: {} is ", field.name)) != std::string::npos, run.notes[0]);
            CHECK(run.device.profile.origin == MachineProfile::Origin::data_sheet);
        }
    CHECK(run.rows() == 0);
}

TEST_CASE("a short run and the emulated device are not measured") {
    const TemporaryDirectory directory;
    Run run(directory / "tmm.db");
    CHECK_FALSE(run.find(rates_of_slow_a100(), {.budget_seconds = 10}));
    CHECK(run.asked == 0);
    CHECK(run.device.profile.origin == MachineProfile::Origin::data_sheet);
    CHECK(run.find(rates_of_slow_a100(), {.budget_seconds = 600}));
    // What is known serves short runs, too.
    CHECK(run.find("not asked", {.remeasure = true, .budget_seconds = 10}) == rates_of_slow_a100());
    CHECK(run.asked == 0);
    CHECK(run.device.profile.origin == MachineProfile::Origin::measured);

    run.device = host_device_info();
    CHECK_FALSE(run.find(rates_of_slow_a100(), {.remeasure = true}));
    CHECK(run.asked == 0);
}

TEST_CASE("a worker answers with what its device does, and goes on where it can't measure") {
    // The emulated device's figures mean nothing, but the way they take is a GPU's.
    const auto answers = [](const std::string& templates) {
        const TemporaryDirectory directory;
        const std::string requests = encode(Request{RatesRequest{}}) + "\n" + encode(Request{RatesRequest{}}) + "\n";
        write_file(directory / "requests", requests);
        const auto run = run_command(fmt::format("{} TMM_CACHE_DIR='{}' '{}/tools/tmm-tune' --worker -1 < '{}'", templates,
                                                 (directory / "cache").string(), TMM_BINARY_DIR, (directory / "requests").string()));
        CHECK_MESSAGE(run.status == 0, run.err);
        std::vector<Reply> replies;
        std::istringstream lines(run.out);
        for (std::string line; std::getline(lines, line);) replies.push_back(decode_reply(line));
        REQUIRE(replies.size() == 3);
        CHECK(std::get<Hello>(replies[0]).device.emulated);
        return std::vector<Reply>(replies.begin() + 1, replies.end());
    };
    for (const Reply& reply : answers("")) {
        const MeasuredRates& rates = std::get<RatesMeasured>(reply).rates;
        CHECK(rates.read_bytes > 0);
        CHECK(rates.fmas > 0);
        CHECK(rates.fmas_of_one_sm > 0);
        CHECK(rates.mma_16 == 0);
    }
    tuner_testing::PlantedFolder folder("1 1 1\n");
    folder.plant("checks/ceilings/kernels.cuh", "__device__ inline void read(const ReadArgs& args) {", "this does not compile;");
    for (const Reply& reply : answers(fmt::format("TMM_TEMPLATES='{}'", (folder.path / "templates").string())))
        CHECK(std::get<NotMeasured>(reply).detail.find("tmm_ceiling_read_4 does not compile") == 0);
}
