#include "tests/fuzz/fuzz_mutator.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <set>
#include <stdexcept>
#include <utility>

namespace tmm::testing {
namespace {

constexpr std::size_t kLongest = 1 << 16;
constexpr int kMostChanges = 8;

// Numbers at the ends of what types and fields hold, and what is no number.
constexpr const char* kNumbers[] = {"0",
                                    "-1",
                                    "1",
                                    "2",
                                    "3",
                                    "7",
                                    "16",
                                    "64",
                                    "65",
                                    "1024",
                                    "4096",
                                    "4097",
                                    "32768",
                                    "32769",
                                    "1048576",
                                    "2147483647",
                                    "2147483648",
                                    "4294967296",
                                    "1152921504606846976",
                                    "2305843009213693951",
                                    "2305843009213693952",
                                    "4611686018427387904",
                                    "9223372036854775807",
                                    "9223372036854775808",
                                    "-9223372036854775808",
                                    "18446744073709551616",
                                    "99999999999999999999999",
                                    "1e999",
                                    "-1e999",
                                    "1e-999",
                                    "0.5",
                                    "inf",
                                    "nan",
                                    "0x10",
                                    "1:3:1",
                                    "+1",
                                    " 1",
                                    ""};
constexpr char kByteList[] = "\0\x01\t\n\r\x1b \"#'(),-./09:;<=>[\\]_{|}~\x7f\x80\xc2\xe2\xef\xff";
constexpr std::string_view kBytes(kByteList, sizeof kByteList - 1);

// splitmix64: the standard library's distributions differ from one to the next.
class Random {
public:
    explicit Random(std::uint64_t state) : state_(state) {}
    std::uint64_t next() {
        std::uint64_t z = state_ += 0x9E3779B97F4A7C15U;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
        return z ^ (z >> 31);
    }
    std::size_t below(std::size_t count) { return static_cast<std::size_t>(next() % count); }

private:
    std::uint64_t state_;
};

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
bool is_of_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.';
}

struct Range {
    std::size_t begin = 0;
    std::size_t length = 0;
};

Range random_range(const std::string& text, Random& random) {
    const std::size_t begin = random.below(text.size() + 1);
    return {begin, random.below(std::min<std::size_t>(text.size() - begin, random.below(4) == 0 ? text.size() : 16) + 1)};
}

// The run of characters of a kind that stands nearest behind a random place; none where there is none.
template <typename Kind>
Range random_run(const std::string& text, Random& random, Kind kind) {
    auto begin = std::find_if(text.begin() + static_cast<std::ptrdiff_t>(random.below(text.size() + 1)), text.end(), kind);
    if (begin == text.end()) begin = std::find_if(text.begin(), text.end(), kind);
    while (begin != text.begin() && begin != text.end() && kind(*std::prev(begin))) --begin;
    const auto end = std::find_if_not(begin, text.end(), kind);
    return {static_cast<std::size_t>(begin - text.begin()), static_cast<std::size_t>(end - begin)};
}

void change(std::string& text, Random& random, const std::vector<std::string>& words, const std::string& other) {
    const auto replace = [&](Range range, std::string_view by) { text.replace(range.begin, range.length, by); };
    const Range any = random_range(text, random);
    switch (random.below(12)) {
        case 0:
            if (!text.empty()) text[random.below(text.size())] ^= static_cast<char>(1 << random.below(8));
            return;
        case 1:
            if (!text.empty()) text[random.below(text.size())] = kBytes[random.below(kBytes.size())];
            return;
        case 2: return replace({any.begin, 0}, kBytes.substr(random.below(kBytes.size()), 1));
        case 3: return replace(any, {});
        case 4: return replace({any.begin, 0}, std::string(text.substr(any.begin, any.length)));
        case 5: {
            const Range of_other = random_range(other, random);
            return replace(any, std::string_view(other).substr(of_other.begin, of_other.length));
        }
        case 6: return replace({any.begin, 0}, words[random.below(words.size())]);
        case 7: return replace(random_run(text, random, is_of_word), words[random.below(words.size())]);
        case 8: {
            // Two words change places.
            const Range x = random_run(text, random, is_of_word), y = random_run(text, random, is_of_word);
            if (x.begin + x.length > y.begin) return;
            const std::string first = text.substr(x.begin, x.length), second = text.substr(y.begin, y.length);
            replace(y, first);
            return replace(x, second);
        }
        default: return replace(random_run(text, random, is_digit), kNumbers[random.below(std::size(kNumbers))]);
    }
}

}  // namespace

Mutator::Mutator(std::vector<std::string> corpus) : corpus_(std::move(corpus)) {
    if (corpus_.empty()) throw std::invalid_argument("a corpus has at least one input");
    std::set<std::string> words{""};
    for (const std::string& text : corpus_)
        for (auto at = text.begin(); at != text.end();) {
            const auto begin = std::find_if(at, text.end(), is_of_word);
            at = std::find_if_not(begin, text.end(), is_of_word);
            words.emplace(begin, at);
        }
    words_.assign(words.begin(), words.end());
}

std::string Mutator::input(std::uint64_t seed, std::uint64_t number) const {
    Random random(seed * 0x100000001B3U + number);
    std::string text = corpus_[random.below(corpus_.size())];
    // Few changes for the most part: what is damaged more is refused at its first fault.
    int changes = 0;
    do {
        change(text, random, words_, corpus_[random.below(corpus_.size())]);
        if (text.size() > kLongest) text.resize(kLongest);
    } while (++changes < kMostChanges && random.below(2) == 0);
    return text;
}

}  // namespace tmm::testing
