// The classes that shapes are grouped by, and which of them count as aligned.
#include <doctest/doctest.h>

#include <map>

#include "bench/comparison/shape_class.h"
#include "db/store/measurement.h"
#include "generator/text/shapes_file.h"

using namespace tmm;
using namespace tmm::bench;

namespace {

ShapeClass class_of(const char* line) {
    return classify(parse_shape(line).problem);
}

}  // namespace

TEST_CASE("f32 shapes fall into the classes that their names say") {
    CHECK(class_of("4096 4096 4096") == ShapeClass::large);
    CHECK(class_of("2048 2048 2048") == ShapeClass::mid);
    CHECK(class_of("2048 2048 2048 compute=tf32") == ShapeClass::mid);
    CHECK(class_of("128 128 128") == ShapeClass::small_or_skinny);
    CHECK(class_of("16 11008 4096 ops=nt") == ShapeClass::small_or_skinny);
    CHECK(class_of("65536 64 64") == ShapeClass::small_or_skinny);
    CHECK(class_of("64 64 65536") == ShapeClass::deep);
    CHECK(class_of("1023 1023 1023") == ShapeClass::odd);
    CHECK(class_of("64 64 64 batch=1024") == ShapeClass::batched);
    CHECK(flops(parse_shape("10 20 30 batch=2").problem) == 24000);
}

TEST_CASE("16-bit shapes fall into the classes that their names say") {
    for (const char* type : {" dtype=bf16", " dtype=f16", " dtype=f16 ctype=f32"}) {
        const auto typed = [type](const char* line) { return class_of((line + std::string(type)).c_str()); };
        CAPTURE(type);
        CHECK(typed("8192 8192 8192") == ShapeClass::large);
        CHECK(typed("2048 2048 2048 ops=nt") == ShapeClass::large);
        CHECK(typed("128 4096 14336 ops=nt") == ShapeClass::prefill);
        CHECK(typed("4096 32000 4096 ops=nt") == ShapeClass::prefill);
        CHECK(typed("32000 512 4096") == ShapeClass::prefill);
        CHECK(typed("1 4096 4096 ops=nt") == ShapeClass::decode);
        CHECK(typed("64 11008 4096 ops=nt") == ShapeClass::decode);
        CHECK(typed("4096 64 4096") == ShapeClass::decode);
        CHECK(typed("65 4096 8192 ops=nt") == ShapeClass::prefill);
        CHECK(typed("1000 1000 1000") == ShapeClass::small);
        CHECK(typed("256 1024 1024") == ShapeClass::small);
        CHECK(typed("64 64 65536") == ShapeClass::deep);
        CHECK(typed("512 512 32768") == ShapeClass::deep);
        CHECK(typed("128 128 128 batch=512") == ShapeClass::batched);
        CHECK(typed("127 127 127 batch=512") == ShapeClass::batched);
        CHECK(typed("1023 1023 1023") == ShapeClass::unaligned);
        CHECK(typed("16 4096 4100 ops=nt") == ShapeClass::unaligned);
    }
}

TEST_CASE("a shape is aligned where each row of A and B starts at a multiple of 16 bytes") {
    const auto is_aligned = [](const char* line) { return aligned(parse_shape(line).problem); };
    CHECK(is_aligned("1000 1000 1000 dtype=bf16"));
    CHECK(is_aligned("1004 1004 1004"));
    CHECK_FALSE(is_aligned("1004 1004 1004 dtype=bf16"));
    CHECK_FALSE(is_aligned("1002 1002 1002"));
    // Rows of A have k elements, those of B n; C's m rows and their ends do not count.
    CHECK(is_aligned("1001 8 8 dtype=f16"));
    CHECK_FALSE(is_aligned("8 8 1001 dtype=f16"));
    CHECK(is_aligned("8 1001 8 dtype=f16 ops=nt"));
    CHECK_FALSE(is_aligned("8 1001 8 dtype=f16"));
    CHECK(is_aligned("8 8 1001 dtype=f16 lda=1008"));
    CHECK_FALSE(is_aligned("8 8 8 dtype=f16 align=8"));
    CHECK_FALSE(is_aligned("8 8 8 dtype=f16 batch=2 stride_a=65"));
}

TEST_CASE("the list of bf16 shapes has every class of 16-bit operands") {
    std::map<ShapeClass, int> shapes;
    for (const Shape& shape : read_shapes(TMM_SOURCE_DIR "/bench/shapes/bf16.txt")) ++shapes[classify(shape.problem)];
    for (const ShapeClass expected : {ShapeClass::large, ShapeClass::prefill, ShapeClass::decode, ShapeClass::small, ShapeClass::unaligned,
                                      ShapeClass::deep, ShapeClass::batched})
        CHECK_MESSAGE(shapes[expected] >= 2, name_of(expected));
    CHECK(shapes.size() == 7);
}
