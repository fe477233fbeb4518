// Tables and prose fit the screen: no line is wider, no number is cut, the least important columns go first.
#include "base/text/text_table.h"

#include <doctest/doctest.h>
#include <fmt/core.h>

#include <random>
#include <sstream>
#include <string>

#include "base/text/text_width.h"

using namespace tmm;
using Fit = TableColumn::Fit;

namespace {

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

TextTable winners() {
    TextTable table({{"shape"},
                     {"µs", true},
                     {"TFLOP/s", true, 2},
                     {"error", true, 3},
                     {.head = "origin", .rank = 4},
                     {.head = "config", .fit = Fit::wraps},
                     {.head = "why", .wide = true}});
    table.add({"1024x1024x1024", "12.34", "88.10", "0.123", "user", "wgmma 128x64x32 w2 s8 c2x1 pack3 overlap", "fastest"});
    table.add({"7x5x3 ops=nt", "1234567.8", "0.01", "0.5", "shipped", "naive 8x32x1", "only one"});
    return table;
}

std::size_t widest(const std::string& text) {
    std::size_t width = 0;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) width = std::max(width, display_width(line));
    return width;
}

}  // namespace

TEST_CASE("where there is room, every column stands in one line; numbers at the right edge") {
    CHECK(winners().text({.columns = 120}) ==
          "shape                  µs  TFLOP/s  error  origin   config\n"
          "1024x1024x1024      12.34    88.10  0.123  user     wgmma 128x64x32 w2 s8 c2x1 pack3 overlap\n"
          "7x5x3 ops=nt    1234567.8     0.01    0.5  shipped  naive 8x32x1\n");
    // A file has as much room as it takes.
    CHECK(winners().text({}) == winners().text({.columns = 120}));
    CHECK(contains(winners().text({.columns = 40, .wide = true}), "pack3 overlap  fastest\n"));
}

TEST_CASE("with less room the last column breaks, then the least important columns go, and a last line names them") {
    CHECK(winners().text({.columns = 80}) ==
          "shape                  µs  TFLOP/s  error  origin   config\n"
          "1024x1024x1024      12.34    88.10  0.123  user     wgmma 128x64x32 w2 s8 c2x1\n"
          "                                                    pack3 overlap\n"
          "7x5x3 ops=nt    1234567.8     0.01    0.5  shipped  naive 8x32x1\n");
    CHECK(winners().text({.columns = 56}) ==
          "shape                  µs  config\n"
          "1024x1024x1024      12.34  wgmma 128x64x32 w2 s8 c2x1\n"
          "                           pack3 overlap\n"
          "7x5x3 ops=nt    1234567.8  naive 8x32x1\n"
          "Left out for want of room: TFLOP/s, error, origin;\n"
          "--wide shows all.\n");
    CHECK(winners().text({.columns = 44}) ==
          "shape                  µs\n"
          "1024x1024x1024      12.34\n"
          "    wgmma 128x64x32 w2 s8 c2x1 pack3 overlap\n"
          "7x5x3 ops=nt    1234567.8\n"
          "    naive 8x32x1\n"
          "Left out for want of room: TFLOP/s, error,\n"
          "origin; --wide shows all.\n");
}

TEST_CASE("no line is wider than the screen, and no number is cut, whatever stands in the cells") {
    std::mt19937 random(5);
    const auto below = [&](int count) { return static_cast<int>(random() % static_cast<unsigned>(count)); };
    for (int round = 0; round < 300; ++round) {
        TextTable table({{"shape"},
                         {"µs", true},
                         {"candidates", true, 2},
                         {.head = "device", .rank = 1},
                         {.head = "config", .fit = Fit::wraps},
                         {.head = "detail", .fit = Fit::below}});
        std::vector<std::string> times;
        for (int row = 0; row < 4; ++row) {
            const auto words = [&](int most) {
                std::string text;
                for (int i = below(most); i > 0; --i)
                    text += (text.empty() ? "" : " ") + std::string(1 + below(30), static_cast<char>('a' + below(26)));
                return text;
            };
            times.push_back(fmt::format("{}.5", below(10'000'000)));
            table.add({"s" + words(4), times.back(), std::to_string(below(2000)), words(3), words(9), below(2) ? words(12) : ""});
        }
        const std::size_t columns = 40 + static_cast<std::size_t>(below(120));
        const std::string text = table.text({.columns = columns});
        CAPTURE(text);
        CHECK(widest(text) <= columns);
        for (const std::string& time : times) CHECK(contains(text, time));
    }
}

TEST_CASE("a long first cell stands on a line of its own and pushes nothing out") {
    TextTable table({{"shape"}, {"µs", true}, {.head = "config", .fit = Fit::wraps}});
    const std::string shape = "1000x1000x1000 dtype=bf16 ops=nt batch=8 lda=1032 ldb=1032 stride_a=1032000";
    table.add({shape, "12.34", "wgmma 128x64x32 w2 s8 c2x1 pack3 overlap"});
    table.add({"8x8x8", "1.5", "naive"});
    const std::string text = table.text({.columns = 80});
    CHECK(text.find(shape + "\n") != std::string::npos);
    CHECK(widest(text) <= 80);
    CHECK(contains(text, "wgmma 128x64x32 w2 s8"));
}

TEST_CASE("a column in which nothing stands is left out") {
    TextTable table({{"shape"}, {"TFLOP/s", true}, {"µs", true}});
    table.add({"8x8x8", "", "1.5"});
    table.add({"9x9x9", "-", "-"});
    CHECK(table.text({}) == "shape   µs\n8x8x8  1.5\n9x9x9    -\n");
}

TEST_CASE("what others stored can't steer the terminal") {
    TextTable table({{"shape"}, {"detail"}});
    table.add({"8x8x8", "\x1b[2J\x9bred\r\x07 gone"});
    const std::string text = table.text({});
    for (const char c : text) CHECK((c == '\n' || static_cast<unsigned char>(c) >= 0x20));
    CHECK(contains(text, "\\x1b[2J\\x9bred\\r\\x07 gone"));
}

TEST_CASE("columns are counted as a terminal shows them") {
    CHECK(display_width("µs") == 2);
    CHECK(display_width("naïve…") == 6);
    CHECK(display_width("e\u0301") == 1);
    CHECK(display_width("行列") == 4);
    CHECK(display_width("\xff\xfe") == 2);
    CHECK(shortened("12 µs of 行列", 5) == "12 µ…");
    CHECK(shortened("行列積", 4) == "行…");
    CHECK(shortened("short", 5) == "short");
    TextTable table({{"µs"}, {"b"}});
    table.add({"ééé", "1"});
    CHECK(table.text({}) == "µs   b\nééé  1\n");
}

TEST_CASE("prose breaks at spaces, and names at their joints") {
    CHECK(hanging("one two three four", 9, 2) == "one two\n  three\n  four");
    CHECK(hanging("tmm_simt_f32_nn_128x64x16", 12, 0) == "tmm_simt_\nf32_nn_\n128x64x16");
    CHECK(hanging("abcdefghij", 4, 0) == "abcd\nefgh\nij");
    CHECK(hanging("any length at all", 0, 4) == "any length at all");
    CHECK(hanging("", 10, 2) == "");
    CHECK(hanging("5 µs µs µs", 5, 0) == "5 µs\nµs µs");
}
