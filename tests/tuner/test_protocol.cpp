// Tests that the messages between the tuner and its worker survive the pipe, and that nonsense is told apart from them.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <string>
#include <thread>

#include "base/processes/line_pipe.h"
#include "generator/machine/assumed_device.h"
#include "tuner/worker/protocol.h"

using namespace tmm;

TEST_CASE("requests come back as they were sent") {
    const GemmProblem problem{.m = 5'000'000'000,
                              .n = 3,
                              .k = 17,
                              .batch = 4,
                              .compute = ComputeMode::f32_strict,
                              .op_a = Operation::transpose,
                              .lda = 5'000'000'001,
                              .ldb = 7,
                              .ldc = 9,
                              .stride_a = 11,
                              .stride_b = 12,
                              .stride_c = 13,
                              .alignment = 8,
                              .reads_c = true};
    const KernelConfig config{.family = family::simt, .block_m = 128, .block_n = 64, .boundary = boundary::peeled, .split_k = 7};
    const Request requests[] = {
        PrepareRequest{.problem = problem, .seed = ~std::uint64_t{0}, .search = 1},
        MeasureRequest{
            .config = config, .timing = {.samples = 11, .bar_us = 3.5, .precision = 0.25, .abandon_above_us = 12.5}, .search = 1},
        RunOffRequest{.configs = {config, KernelConfig{}}, .rounds = 33, .settle_us = 1.5, .orders = {7, 0}, .margin = 0.02, .search = 1},
        RatesRequest{}};
    for (const Request& request : requests) {
        const std::string line = encode(request);
        CHECK(line.find('\n') == std::string::npos);
        CHECK(decode_request(line) == request);
    }
}

TEST_CASE("replies come back as they were sent") {
    const Reply hello = decode_reply(encode(Reply{Hello{.device = host_device_info()}}));
    CHECK(std::get<Hello>(hello).device.name == "host");
    CHECK(std::get<Hello>(hello).device.emulated);
    CHECK(std::get<Hello>(hello).device.shared_bytes_per_block == host_device_info().shared_bytes_per_block);
    const Reply shared =
        decode_reply(encode(Reply{Hello{.device = host_device_info(), .sharing = {.is_slice = true, .other_processes = 3}}}));
    CHECK(std::get<Hello>(shared).sharing.is_slice);
    CHECK(std::get<Hello>(shared).sharing.other_processes == 3);
    // Predictions are made by the parent, of what the worker's driver says.
    DeviceInfo gpu = assumed_device("89");
    gpu.name = "a GPU of tomorrow";
    gpu.clock_khz = 3'000'000;
    gpu.memory_clock_khz = 12'000'000;
    gpu.memory_bus_bits = 512;
    gpu.profile = profile_of(gpu);
    const MachineProfile profile = std::get<Hello>(decode_reply(encode(Reply{Hello{.device = gpu}}))).device.profile;
    CHECK(profile.origin == MachineProfile::Origin::driver);
    CHECK(profile.clock == gpu.profile.clock);
    CHECK(profile.memory_bytes == gpu.profile.memory_bytes);

    Measurement m{.outcome = Outcome::wrong_result, .detail = "C[3][17] = 4, expected 5\n\"quoted\"", .median_us = 12.25, .samples = 7};
    const Reply measured = decode_reply(encode(Reply{Measured{m}}));
    CHECK(std::get<Measured>(measured).measurement.outcome == Outcome::wrong_result);
    CHECK(std::get<Measured>(measured).measurement.detail == m.detail);
    CHECK(std::get<Measured>(measured).measurement.median_us == 12.25);

    const MeasuredRates rates{.read_bytes = 1, .fmas = 2, .fmas_of_one_sm = 3, .mma_16 = 4, .mma_clock = 5, .launch_gap = 0.1};
    CHECK(std::get<RatesMeasured>(decode_reply(encode(Reply{RatesMeasured{.rates = rates}}))).rates == rates);

    RunOffDone done;
    done.finalists.push_back({.error_ratio = 0.25, .samples_us = {1.5, 2.5}});
    const Reply run_off = decode_reply(encode(Reply{done}));
    CHECK(std::get<RunOffDone>(run_off).finalists.at(0).samples_us == std::vector<double>{1.5, 2.5});

    CHECK(std::get<RunOffStep>(decode_reply(encode(Reply{RunOffStep{.index = 3}}))).index == 3);
    CHECK(std::get<NotPrepared>(decode_reply(encode(Reply{NotPrepared{.detail = "too large"}}))).detail == "too large");
    CHECK(std::get<NotMeasured>(decode_reply(encode(Reply{NotMeasured{.detail = "no memory"}}))).detail == "no memory");
    CHECK(std::get<Faulted>(decode_reply(encode(Reply{Faulted{.detail = "illegal address"}}))).detail == "illegal address");
    CHECK(std::get<Failed>(decode_reply(encode(Reply{Failed{.status = ExitStatus::no_compiler, .message = "x"}}))).status ==
          ExitStatus::no_compiler);
}

TEST_CASE("a log that is no UTF-8 does not break the line") {
    const std::string line = encode(Reply{Faulted{.detail = "\xff\xfe broken \xc3"}});
    CHECK(std::get<Faulted>(decode_reply(line)).detail.find("broken") != std::string::npos);
}

TEST_CASE("what is no message is refused with its beginning") {
    for (const char* line : {"", "hello", "[]", "{}", "{\"measure\":{}}", "{\"dance\":{}}", "{\"prepared\":{\"rotation_sets\":\"x\"}}",
                             "{\"measured\":{\"outcome\":99}}", "{\"prepared\":{\"rotation_sets\":1},\"hello\":{}}"}) {
        CAPTURE(line);
        CHECK_THROWS_WITH_AS(decode_reply(line), doctest::Contains("not a message of the tuner's protocol"), std::runtime_error);
        CHECK_THROWS_AS(decode_request(line), std::runtime_error);
    }
    CHECK_THROWS_WITH(decode_request("{\"measure\":{\"config\":\"block_q=4\",\"timing\":{}}}"), doctest::Contains("block_q"));
}

TEST_CASE("a channel gives whole lines, however they arrive") {
    int there[2];
    int back[2];
    REQUIRE(pipe2(there, O_CLOEXEC) == 0);
    REQUIRE(pipe2(back, O_CLOEXEC) == 0);
    LinePipe reader(there[0], back[1]);
    std::string line;
    CHECK(reader.read_line(line, 0.01) == LinePipe::Read::timed_out);
    REQUIRE(write(there[1], "one\ntw", 6) == 6);
    CHECK(reader.read_line(line, 1) == LinePipe::Read::line);
    CHECK(line == "one");
    CHECK(reader.read_line(line, 0.01) == LinePipe::Read::timed_out);
    CHECK(reader.read_line(line, 0.01, back[0]) == LinePipe::Read::timed_out);
    REQUIRE(write(back[1], "!", 1) == 1);
    CHECK(reader.read_line(line, 1, back[0]) == LinePipe::Read::woken);
    const std::string longer(300000, 'x');
    std::thread writer([&] {
        const std::string text = "o\n" + longer + "\n";
        for (std::size_t at = 0; at < text.size();) at += static_cast<std::size_t>(write(there[1], text.data() + at, text.size() - at));
        close(there[1]);
    });
    CHECK(reader.read_line(line, 5) == LinePipe::Read::line);
    CHECK(line == "two");
    CHECK(reader.read_line(line, 5) == LinePipe::Read::line);
    CHECK(line == longer);
    CHECK(reader.read_line(line, 5) == LinePipe::Read::end);
    writer.join();
    close(back[0]);
}
