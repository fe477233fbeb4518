// Where an epilogue that was not tuned is applied, as GPU 0 measures it while a plan is made.
#include <doctest/doctest.h>

#include "runtime/device/device.h"
#include "tests/support/race_testing.h"

using namespace race_testing;

TEST_CASE("a GPU applies an untuned epilogue where it says that it is faster") {
    if (tmm::gpu_count() == 0) {
        MESSAGE("skipped: no GPU");
        return;
    }
    // Short K under a large C, where the step gains most; few rows, where it only costs; and sizes that no tile divides.
    const api_testing::Product products[] = {
        {.op_b = TMM_TRANS, .m = 1024, .n = 3072, .k = 768, .type = TMM_BF16, .type_c = TMM_BF16},
        {.m = 2048, .n = 2048, .k = 64, .type = TMM_F16, .type_c = TMM_F16},
        {.op_b = TMM_TRANS, .m = 16, .n = 4096, .k = 512, .type = TMM_BF16, .type_c = TMM_BF16},
        {.m = 203, .n = 317, .k = 111},
        {.m = 333, .n = 250, .k = 64, .pad_c = 3, .type = TMM_BF16, .type_c = TMM_F32},
    };
    for (const api_testing::Product& product : products)
        for (const bool has_expression : {false, true}) {
            CAPTURE(product.text());
            CAPTURE(has_expression);
            check_race(0, {.product = product, .has_expression = has_expression});
        }
}
