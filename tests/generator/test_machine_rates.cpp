// What was measured of a device itself: which rates are trusted, which of them predictions use, and how the database keeps them.
#include "generator/machine/measured_rates.h"

#include <SQLiteCpp/Database.h>
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/log.h"
#include "db/store/records.h"
#include "generator/choice/cost_model.h"
#include "generator/choice/predicted_config.h"
#include "generator/machine/assumed_device.h"
#include "generator/text/text.h"
#include "runtime/select/read_winners.h"
#include "tests/support/database_fixture.h"
#include "tests/support/hostile_files.h"

using namespace tmm;
using namespace tmm::testing;
using Mode = TuningDatabase::Mode;
using Origin = MachineProfile::Origin;

namespace {

DeviceInfo named(const std::string& name, const char* architecture = "90") {
    DeviceInfo device = assumed_device(architecture);
    device.name = name;
    device.profile = profile_of(device);
    return device;
}

// Rates that a device of the profile would show, each `factor` times as high.
MeasuredRates rates_of(const DeviceInfo& device, double factor = 1) {
    const MachineProfile& known = device.profile;
    return {.read_bytes = factor * known.memory_bytes,
            .fmas = factor * device.sm_count * known.fmas_per_clock * known.fma_clock,
            .fmas_of_one_sm = factor * known.fmas_per_clock * known.clock,
            .mma_16 = factor * device.sm_count * known.mma_16_per_clock * known.tensor_clock,
            .mma_clock = factor * known.tensor_clock,
            .launch_gap = 0.5 / factor};
}

double predicted(const char* shape, const DeviceInfo& device) {
    const GemmProblem problem = problem_of(shape);
    return CostModel(problem, device).estimate(default_config(problem, device));
}

DeviceInfo with_rates(DeviceInfo device, const MeasuredRates& rates) {
    device.profile = profile_of(device, rates);
    return device;
}

// The only fault that verify() finds after the statement; empty where it finds none.
std::string fault_after(const std::filesystem::path& file, const std::string& sql) {
    {
        SQLite::Database raw(file, SQLite::OPEN_READWRITE);
        raw.exec("PRAGMA ignore_check_constraints = ON");
        raw.exec(sql);
    }
    const std::vector<std::string> faults = TuningDatabase(file, Mode::read_write).verify();
    std::string text;
    for (const std::string& fault : faults)
        if (fault.find("CHECK constraint failed") == std::string::npos) text += fault;
    return text;
}

}  // namespace

TEST_CASE("rates are trusted that are near what is known of the device, and others are refused with the reason") {
    const DeviceInfo l4 = named("NVIDIA L4", "89"), h200 = named("NVIDIA H200");
    for (const DeviceInfo& device : {l4, h200})
        for (const double factor : {0.15, 0.5, 1.0, 1.9}) CHECK(why_untrusted(rates_of(device, factor), device) == "");
    for (const RateField& field : kRateFields) {
        CAPTURE(std::string(field.name));
        for (const double absurd : {-1.0, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN(),
                                    field.most * 1.01, field.least / 2}) {
            MeasuredRates rates = rates_of(l4);
            rates.*field.member = absurd;
            CHECK(why_untrusted(rates, l4).find(field.name) == 0);
        }
        MeasuredRates rates = rates_of(l4);
        rates.*field.member = 0;
        CHECK(why_untrusted(rates, l4).empty() == field.may_be_unknown);
        if (std::string_view(field.name) == "launch_gap") continue;
        for (const double factor : {0.09, 4.1}) {
            rates = rates_of(l4);
            rates.*field.member *= factor;
            CHECK(why_untrusted(rates, l4).find(field.name) == 0);
        }
    }
    MeasuredRates fast = rates_of(l4);
    fast.read_bytes = 0.7e6;
    CHECK(why_untrusted(fast, l4) == "read_bytes is 7e+05, over 2 times the 2.88e+05 from its data sheet");
    // Nothing is known of the memory of a GPU that tmm does not know.
    DeviceInfo unknown = named("NVIDIA RTX 9000", "89");
    fast = rates_of(unknown, 0.5);
    fast.read_bytes *= 10;
    CHECK(why_untrusted(fast, unknown) == "");
    CHECK(why_untrusted(rates_of(h200), host_device_info()) != "");
}

TEST_CASE("predictions use what was measured on the device, and the rest of what is known of its model") {
    const DeviceInfo known = named("NVIDIA L4", "89");
    const DeviceInfo slow = with_rates(known, rates_of(known, 0.5));
    CHECK(slow.profile.origin == Origin::measured);
    CHECK(slow.profile.unmeasured == Origin::data_sheet);
    CHECK(origin_text(slow.profile) == "measured on the device; what is not measured is from its data sheet");
    CHECK(slow.profile.clock == doctest::Approx(known.profile.clock / 2));
    CHECK(slow.profile.fma_clock == doctest::Approx(known.profile.fma_clock / 2));
    CHECK(slow.profile.tensor_clock == doctest::Approx(known.profile.tensor_clock / 2));
    CHECK(slow.profile.mma_16_per_clock == doctest::Approx(known.profile.mma_16_per_clock));
    CHECK(slow.profile.memory_bytes == doctest::Approx(known.profile.memory_bytes / 2).epsilon(0.02));
    CHECK(slow.profile.memory_latency == known.profile.memory_latency);
    CHECK(slow.profile.launch == doctest::Approx(2 * known.profile.launch));
    // What is bound by memory or by FMAs takes twice as long.
    for (const char* const shape : {"1x16384x16384", "4096x4096x4096 compute=f32_strict", "4096x4096x4096 dtype=bf16"})
        CHECK(predicted(shape, slow) == doctest::Approx(2 * predicted(shape, known)).epsilon(0.1));
    // Older devices have no mma.sync, and drivers may tell no clock.
    MeasuredRates some = rates_of(known, 0.5);
    some.mma_16 = some.mma_clock = 0;
    const MachineProfile without = profile_of(known, some);
    CHECK(without.mma_16_per_clock == known.profile.mma_16_per_clock);
    CHECK(without.tensor_clock == doctest::Approx(known.profile.tensor_clock / 2));
    // The clock under load is none that is higher than without.
    some.fmas *= 1.9;
    CHECK(profile_of(known, some).fma_clock <= profile_of(known, some).clock);
}

TEST_CASE("a profile that ships with tmm stays where the device confirms it, and gives way where the device says otherwise") {
    for (const char* const name : {"NVIDIA H200", "NVIDIA H100 80GB HBM3"}) {
        CAPTURE(std::string(name));
        const DeviceInfo device = named(name);
        for (const double factor : {0.9, 1.0, 1.1}) {
            const MachineProfile confirmed = profile_of(device, rates_of(device, factor));
            CHECK(confirmed.origin == Origin::shipped);
            CHECK(origin_text(confirmed) == "shipped with tmm");
            for (const auto number : {&MachineProfile::clock, &MachineProfile::fma_clock, &MachineProfile::tensor_clock,
                                      &MachineProfile::mma_16_per_clock, &MachineProfile::memory_bytes, &MachineProfile::launch})
                CHECK(confirmed.*number == device.profile.*number);
        }
        // A card that is held back: only what it does worse is taken from the measurement.
        MeasuredRates held_back = rates_of(device);
        held_back.fmas *= 0.6;
        const MachineProfile profile = profile_of(device, held_back);
        CHECK(profile.origin == Origin::measured);
        CHECK(profile.unmeasured == Origin::shipped);
        CHECK(profile.fma_clock == doctest::Approx(0.6 * device.profile.fma_clock));
        CHECK(profile.memory_bytes == device.profile.memory_bytes);
    }
}

TEST_CASE("rates that no such device can have change nothing") {
    const DeviceInfo l4 = named("NVIDIA L4", "89");
    for (const double factor : {0.01, 3.0, 1e6, -1.0, 0.0, std::numeric_limits<double>::quiet_NaN()}) {
        const MachineProfile profile = profile_of(l4, rates_of(l4, factor));
        CHECK(profile.origin == Origin::data_sheet);
        CHECK(profile.memory_bytes == l4.profile.memory_bytes);
        CHECK(profile.clock == l4.profile.clock);
    }
}

TEST_CASE("the database keeps what was measured; the newest counts, of the same driver and power limit before others") {
    const TemporaryDirectory directory;
    const auto file = directory / "tmm.db";
    const Environment h200 = environment_of("NVIDIA H200");
    Environment newer = h200, capped = h200, other = environment_of("NVIDIA H200", 90, 114);
    newer.device.driver_version += 10;
    capped.device.power_limit = 500;
    const auto read = [](double bytes) {
        MeasuredRates rates = rates_of_h200();
        rates.read_bytes = bytes;
        return rates;
    };
    {
        TuningDatabase database(file, Mode::read_write_create);
        CHECK_FALSE(database.known_rates(h200.device));
        database.set_environment(h200);
        database.record(rates_of_h200());
        CHECK(database.known_rates(h200.device)->rates == rates_of_h200());
        CHECK(database.known_rates(h200.device)->of_same_driver);
        CHECK_FALSE(database.known_rates(newer.device)->of_same_driver);
        CHECK_FALSE(database.known_rates(other.device));
        database.set_environment(newer);
        MeasuredRates unknown = read(4.1e6);
        unknown.mma_16 = unknown.mma_clock = 0;
        database.record(unknown);
        database.set_environment(capped);
        database.record(read(4.2e6));
        database.set_environment(h200);
        database.record(read(4.3e6));
        database.set_environment(newer);
        CHECK(database.known_rates(newer.device)->rates == unknown);
    }
    TuningDatabase database(file, Mode::read_only);
    CHECK(database.verify().empty());
    CHECK(database.known_rates(h200.device)->rates == read(4.3e6));
    CHECK(database.known_rates(capped.device)->rates == read(4.2e6));
    // The last one counts for a device with neither's driver and power limit.
    capped.device.driver_version = 1;
    CHECK(database.known_rates(capped.device)->rates == read(4.3e6));
    CHECK(database.rates_records().size() == 4);
}

TEST_CASE("a damaged or absurd value is left out wherever it is read, the next best serves, and verify() names it") {
    std::vector<std::string> log;
    set_log_sink([&](std::string_view line) { log.emplace_back(line); });
    const Environment h200 = environment_of("NVIDIA H200");
    for (const RateField& field : kRateFields)
        for (const std::string& value : {std::string("9e999"), std::string("-1"), std::string("0"), fmt::format("{}", 1.01 * field.most),
                                         fmt::format("{}", 0.5 * field.least), std::string("1.0001e2")}) {
            // The last is in range, but no H200's.
            if (value == "1.0001e2" && (field.least > 101 || field.most < 100 || std::string_view(field.name) == "launch_gap")) continue;
            CAPTURE(fmt::format("{} = {}", field.name, value));
            const TemporaryDirectory directory;
            const auto file = directory / "tmm.db";
            {
                TuningDatabase database(file, Mode::read_write_create);
                database.set_environment(h200);
                database.record(rates_of_h200());
                MeasuredRates second = rates_of_h200();
                second.read_bytes *= 1.01;
                database.record(second);
            }
            log.clear();
            const std::string fault = fault_after(file, fmt::format("UPDATE machine_rates SET {} = {} WHERE id = 2", field.name, value));
            CHECK_MESSAGE(fault.find(fmt::format("machine_rates 2: {}", field.name)) == 0, fault);
            TuningDatabase database(file, Mode::read_write);
            const auto known = database.known_rates(h200.device);
            REQUIRE(known);
            CHECK(known->rates == rates_of_h200());
            CHECK(log.size() == 1);
            // Each reading says what it leaves out.
            CHECK(database.rates_records().size() == 1);
            CHECK(log.size() == 2);
        }
    set_log_sink({});
}

TEST_CASE("the table refuses by itself what is out of range") {
    const TemporaryDirectory directory;
    const auto file = directory / "tmm.db";
    {
        TuningDatabase database(file, Mode::read_write_create);
        database.set_environment(environment_of("NVIDIA H200"));
        database.record(rates_of_h200());
        // Both ends of each range are in it.
        for (const RateField& field : kRateFields)
            for (const double end : {field.least, field.most}) {
                MeasuredRates rates = rates_of_h200();
                rates.*field.member = end;
                CHECK_NOTHROW(database.record(rates));
                rates.*field.member = end == field.most ? 1.01 * end : 0.99 * end;
                CHECK_THROWS_AS(database.record(rates), Error);
            }
    }
    SQLite::Database raw(file, SQLite::OPEN_READWRITE);
    for (const RateField& field : kRateFields) {
        const auto set_null = [&] { raw.exec(fmt::format("UPDATE machine_rates SET {} = NULL WHERE id = 1", field.name)); };
        if (field.may_be_unknown)
            CHECK_NOTHROW(set_null());
        else
            CHECK_THROWS(set_null());
        CHECK_THROWS(raw.exec(fmt::format("UPDATE machine_rates SET {} = 'fast'", field.name)));
    }
}

TEST_CASE("merging takes over what was measured of devices, once; exports do not hold it") {
    const TemporaryDirectory directory;
    const Environment h200 = environment_of("NVIDIA H200");
    const auto make = [&](const char* name) {
        TuningDatabase database(directory / name, Mode::read_write_create);
        database.set_environment(h200);
        return database;
    };
    {
        TuningDatabase from = make("from.db");
        from.record(rates_of_h200());
    }
    TuningDatabase to = make("to.db");
    CHECK(to.merge(directory / "from.db").rates == 1);
    CHECK(to.merge(directory / "from.db").rates == 0);
    CHECK(to.known_rates(h200.device)->rates == rates_of_h200());
    CHECK(to.records().empty());
    const auto tool = run_command(fmt::format("'{0}/tools/tmm-db' merge '{1}' --db '{2}'", TMM_BINARY_DIR, (directory / "from.db").string(),
                                              (directory / "new.db").string()));
    CHECK(tool.status == 0);
    CHECK_MESSAGE(tool.out.find("0 new measurements and 0 new decisions and 1 machine profile went into") != std::string::npos, tool.out);
}

TEST_CASE("the runtime predicts untuned problems by what was measured of its device, as long as that is sound") {
    const TemporaryDirectory directory;
    const auto file = directory / "tmm.db";
    DeviceInfo l4 = named("NVIDIA L4", "89");
    l4.driver_version = 13000;
    MeasuredRates slow = rates_of(l4);
    slow.read_bytes *= 0.25;
    const auto profile = [&] { return read_winners(file, l4).device().profile; };
    std::vector<std::string> log;
    set_log_sink([&](std::string_view line) { log.emplace_back(line); });
    // No database at all.
    CHECK(profile().origin == Origin::data_sheet);
    log.clear();
    {
        TuningDatabase database(file, Mode::read_write_create);
        CHECK(profile().origin == Origin::data_sheet);
        database.set_environment({.device = l4});
        database.record(slow);
        database.set_environment(environment_of("NVIDIA H200"));
        database.record(rates_of_h200());
    }
    const MachineProfile measured = profile();
    CHECK(measured.origin == Origin::measured);
    CHECK(measured.memory_bytes == doctest::Approx(l4.profile.memory_bytes / 4).epsilon(0.02));
    CHECK(log.empty());
    const GemmProblem untuned = problem_of("512 512 16384");
    const Selection selection = read_winners(file, l4).select(untuned);
    CHECK(selection.match == Match::predicted);
    CHECK(to_text(selection.config) == to_text(default_config(untuned, with_rates(l4, slow))));
    // The emulated device has no profile, whatever stands in a database.
    CHECK(read_winners(file, host_device_info()).device().profile.origin == host_device_info().profile.origin);

    SQLite::Database(file, SQLite::OPEN_READWRITE).exec("UPDATE machine_rates SET read_bytes = 9e8 WHERE id = 1");
    CHECK(profile().origin == Origin::data_sheet);
    REQUIRE(log.size() == 1);
    CHECK(log[0].find("read_bytes is 9e+08, over 2 times the 2.88e+05 from its data sheet") != std::string::npos);
    set_log_sink({});
}

TEST_CASE("winners serve where the rates of a database can't be read") {
    const TemporaryDirectory directory;
    const auto file = directory / "tmm.db";
    const DeviceInfo l4 = named("NVIDIA L4", "89");
    const GemmProblem tuned = problem_of("256 256 256");
    {
        TuningDatabase database(file, Mode::read_write_create);
        database.set_environment({.device = l4});
        database.decide(tuned, {}, {.config = tiled_config(16), .median_us = 9, .reason = "fastest"});
        database.record(rates_of(l4, 0.5));
    }
    std::string bytes = read_file(file);
    make_endless(bytes, root_page(file, "machine_rates"));
    write_file(file, bytes);
    std::vector<std::string> log;
    set_log_sink([&](std::string_view line) { log.emplace_back(line); });
    const Winners winners = read_winners(file, l4);
    set_log_sink({});
    CHECK(winners.select(tuned).match == Match::exact);
    CHECK(winners.device().profile.origin == Origin::data_sheet);
    REQUIRE(log.size() == 1);
    CHECK_MESSAGE(log[0].find("times are predicted without what was measured of NVIDIA L4: ") == 0, log[0]);
}

TEST_CASE("tmm-db show and tmm-gen --explain --db say where the profile is from that a prediction goes by") {
    const TemporaryDirectory directory;
    const auto file = directory / "tmm.db";
    DeviceInfo l4 = named("NVIDIA L4", "89");
    {
        TuningDatabase database(file, Mode::read_write_create);
        database.set_environment({.device = l4});
        database.decide(problem_of("4096 4096 4096"), {}, {.config = tiled_config(16), .median_us = 9, .reason = "fastest"});
    }
    const auto show = [&](const char* more = "") {
        return run_command(fmt::format("'{}/tools/tmm-db' show 4096x4096x4096 --db '{}' {}", TMM_BINARY_DIR, file.string(), more)).out;
    };
    const auto explain = [&](const std::string& more) {
        return run_command(fmt::format("TMM_NVRTC=/nowhere '{}/tools/tmm-gen' --explain --gpu-arch 89 --shape 1x16384x16384 {}",
                                       TMM_BINARY_DIR, more))
            .out;
    };
    const std::string with_database = fmt::format("--db '{}'", file.string());
    CHECK_MESSAGE(show().find("profile     from its data sheet\n") != std::string::npos, show());
    const std::string before = explain(with_database);
    CHECK_MESSAGE(before.find("assumed: NVIDIA GeForce RTX 4090") != std::string::npos, before);
    {
        TuningDatabase database(file, Mode::read_write);
        database.set_environment({.device = l4});
        database.record(rates_of(l4, 0.5));
    }
    CHECK_MESSAGE(show().find("profile     measured on the device; what is not measured is from its data sheet\n") != std::string::npos,
                  show());
    CHECK(show("--json").find("\"profile\": \"measured on the device; what is not measured is from its data sheet\"") != std::string::npos);
    const std::string after = explain(with_database);
    CHECK_MESSAGE(after.find("assumed: NVIDIA L4,") != std::string::npos, after);
    CHECK(after.find("profile    measured on the device; what is not measured is from its data sheet\n") != std::string::npos);
    const std::string expected = fmt::format(
        "predicted  {}\n", to_text(CostModel(problem_of("1x16384x16384"), with_rates(l4, rates_of(l4, 0.5)))
                                       .predict(default_config(problem_of("1x16384x16384"), with_rates(l4, rates_of(l4, 0.5))))));
    CHECK_MESSAGE(after.find(expected) != std::string::npos, after << expected);
    CHECK(explain("").find("profile    from its data sheet\n") != std::string::npos);
    CHECK(run_command(fmt::format("'{}/tools/tmm-gen' --explain --shape 1x1x1 --db /nowhere/tmm.db", TMM_BINARY_DIR)).status == 5);
}
