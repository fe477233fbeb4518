// Every epilogue, in every kernel that writes C, against a plain loop in double precision, on GPU 0. TMM_TEST_FULL=1 runs all of them.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <string>

#include "generator/text/shapes_file.h"
#include "generator/text/text.h"
#include "generator/validity/validity.h"
#include "support_epilogues.h"
#include "support_slice.h"
#include "tuner/candidate_compiler.h"

using namespace tmm;
using namespace tmm::testing;

TEST_CASE("every kernel that writes C applies every epilogue on the GPU") {
    if (gpu_count() == 0) {
        MESSAGE("skipped: no GPU");
        return;
    }
    const std::shared_ptr<Device> device = open_device(0);
    const std::shared_ptr<const Compiler> compiler = make_compiler(device->info());
    std::size_t index = 0;
    int run = 0;
    for (const Writer& writer : writers()) {
        if (why_invalid(parse_shape(writer.shape).problem, parse_config(writer.config), device->info())) continue;
        for (Epilogued epilogue : epilogues()) {
            if (!in_slice(index++ * 7, 11)) continue;
            epilogue.text = with_room(epilogue.text, writer);
            CAPTURE(std::string(writer.shape));
            CAPTURE(writer.config);
            CAPTURE(epilogue.text);
            CAPTURE(epilogue.expression);
            CHECK(wrong_element(writer, epilogue, device, device->info(), compiler) == "");
            ++run;
        }
    }
    fmt::print("{} kernels with epilogues on {}\n", run, device->info().name);
    CHECK(run > 0);
}
