// Text that others gave, as it stands in messages.
#include <doctest/doctest.h>

#include <string>

#include "base/error.h"
#include "base/text/printable.h"

using namespace tmm;

TEST_CASE("what would move the cursor, break the line or turn the text around is escaped; all else stays") {
    CHECK(printable("shapes.txt") == "shapes.txt");
    CHECK(printable("größe µs … 形状 😀") == "größe µs … 形状 😀");
    CHECK(printable("a\x1b[31mb") == "a\\x1b[31mb");
    CHECK(printable("a\nb\tc\rd") == "a\\nb\\tc\\rd");
    CHECK(printable(std::string("a\0b", 3)) == "a\\x00b");
    CHECK(printable("\x7f") == "\\x7f");
    // C1's control sequence introducer, a line separator, and the mark that turns what follows around.
    CHECK(printable("\xc2\x9b") == "\\xc2\\x9b");
    CHECK(printable("\xe2\x80\xa8") == "\\xe2\\x80\\xa8");
    CHECK(printable("exe\xe2\x80\xaetxt") == "exe\\xe2\\x80\\xaetxt");
}

TEST_CASE("bytes that are no UTF-8 are escaped one by one") {
    // Stray, cut short, longer than need be, a surrogate, and beyond Unicode.
    CHECK(printable("\xff\x80") == "\\xff\\x80");
    CHECK(printable("a\xc3") == "a\\xc3");
    CHECK(printable("\xe2\x82") == "\\xe2\\x82");
    CHECK(printable("\xc0\xaf") == "\\xc0\\xaf");
    CHECK(printable("\xe0\x80\xaf") == "\\xe0\\x80\\xaf");
    CHECK(printable("\xed\xa0\x80") == "\\xed\\xa0\\x80");
    CHECK(printable("\xf4\x90\x80\x80") == "\\xf4\\x90\\x80\\x80");
    CHECK(printable("\xc3(") == "\\xc3(");
}

TEST_CASE("escaped text stays as it is") {
    const std::string once = printable("a\x1b\n\\x");
    CHECK(printable(once) == once);
}

TEST_CASE("quotes are short and never hold half of a character") {
    CHECK(in_quotes("a b") == "'a b'");
    CHECK(in_quotes("") == "''");
    CHECK(in_quotes(std::string(60, 'x')) == "'" + std::string(60, 'x') + "'");
    CHECK(in_quotes(std::string(61, 'x')) == "'" + std::string(60, 'x') + "…'");
    CHECK(in_quotes(std::string(59, 'x') + "µy") == "'" + std::string(59, 'x') + "…'");
}

TEST_CASE("each part of an error may hold anything, and the whole is one line") {
    const Error error(ExitStatus::usage, "'\x1b' is\nno number", "a\nfile", "use \x07");
    CHECK(std::string(error.what()) == "a\\nfile: '\\x1b' is\\nno number; use \\x07");
}
