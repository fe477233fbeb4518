// Every epilogue, in every kernel that writes C, against a plain loop in double precision, on GPU 0. TMM_TEST_FULL=1 runs all of them;
// TMM_TEST_SECONDS ends each test early, and TMM_TEST_SLICE=N takes others.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <string>
#include <vector>

#include "base/processes/elapsed.h"
#include "generator/choice/validity.h"
#include "generator/text/shapes_file.h"
#include "generator/text/text.h"
#include "tests/support/kernels/correctness.h"
#include "tests/support/kernels/epilogues.h"
#include "tests/support/slice.h"
#include "tuner/compiling/candidate_compiler.h"

using namespace tmm;
using namespace tmm::testing;

namespace {

// Runs a part of all writers with all epilogues, for no more than the share of TMM_TEST_SECONDS; returns how many kernels ran.
int check_writers(const std::vector<Writer>& all, EpiloguePlace place, std::size_t slices, double share) {
    const double most = share * static_cast<double>(test_setting("SECONDS", 0));
    const auto start = SteadyClock::now();
    const std::shared_ptr<Device> device = open_device(0);
    const std::shared_ptr<const Compiler> compiler = make_compiler(device->info());
    std::size_t index = 0;
    int run = 0;
    for (const Writer& writer : all) {
        if (why_invalid(parse_shape(writer.shape).problem, parse_config(writer.config), device->info())) continue;
        for (Epilogued epilogue : epilogues()) {
            if (!in_slice(index++ * 7, slices)) continue;
            if (most > 0 && seconds_since(start) > most) {
                fmt::print("{} kernels with epilogues on {}, of {} of {} writers until time was over\n", run, device->info().name,
                           &writer - all.data() + 1, all.size());
                return run;
            }
            epilogue.text = with_room(epilogue.text, writer);
            CAPTURE(std::string(writer.shape));
            CAPTURE(writer.config);
            CAPTURE(epilogue.text);
            CAPTURE(epilogue.expression);
            const std::string wrong = wrong_element(writer, epilogue, device, device->info(), compiler, place);
            // Some configs hold only results of 16 bits.
            if (place == EpiloguePlace::step && wrong.starts_with("invalid: ")) continue;
            CHECK(wrong == "");
            ++run;
        }
    }
    fmt::print("{} kernels with epilogues on {}\n", run, device->info().name);
    return run;
}

std::vector<Writer> writers_behind_product() {
    std::vector<Writer> all;
    for (const char* const shape : shapes_behind_product()) all.push_back({shape, "family=naive,block_m=4,block_n=8"});
    return all;
}

}  // namespace

TEST_CASE("every kernel that writes C applies every epilogue on the GPU") {
    if (gpu_count() == 0) {
        MESSAGE("skipped: no GPU");
        return;
    }
    CHECK(check_writers(writers(), EpiloguePlace::kernel, 11, 0.45) > 0);
}

TEST_CASE("a step applies every epilogue to the sums of every kernel on the GPU") {
    if (gpu_count() == 0) {
        MESSAGE("skipped: no GPU");
        return;
    }
    CHECK(check_writers(writers(), EpiloguePlace::step, 23, 0.35) > 0);
    CHECK(check_writers(writers_behind_product(), EpiloguePlace::step, 5, 0.2) > 0);
}
