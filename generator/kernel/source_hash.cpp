// The hash of a kernel's flattened source. A search hashes thousands of stubs that include one of a few templates, so that what an include
// becomes is flattened, folded and hashed once.
#include <fmt/core.h>
#include <xxhash.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string_view>

#include "generator/kernel/kernel_source.h"

namespace tmm {
namespace {

bool is_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}
bool is_space(char c) {
    return std::isspace(static_cast<unsigned char>(c));
}

// Hashes text without comments, and without white space that separates nothing. Literals stay as they are. The text comes in pieces of
// whole lines, across which no comment and no literal goes.
class FoldedHash {
public:
    FoldedHash() { XXH3_64bits_reset(state_.get()); }
    FoldedHash(const FoldedHash& other) : last_(other.last_), space_(other.space_) { XXH3_copyState(state_.get(), other.state_.get()); }
    FoldedHash& operator=(const FoldedHash& other) {
        XXH3_copyState(state_.get(), other.state_.get());
        last_ = other.last_;
        space_ = other.space_;
        return *this;
    }

    void add(std::string_view text) {
        std::string out;
        for (std::size_t i = 0; i < text.size();) {
            const char c = text[i];
            const std::string_view two = text.substr(i, 2);
            if (is_space(c)) {
                space_ = true;
                ++i;
            } else if (two == "//") {
                i = std::min(text.find('\n', i), text.size());
                space_ = true;
            } else if (two == "/*") {
                const auto end = text.find("*/", i + 2);
                i = end == std::string_view::npos ? text.size() : end + 2;
                space_ = true;
            } else {
                if (space_ && last_ != kNothing && is_word(last_) == is_word(c)) out += ' ';
                space_ = false;
                // An apostrophe within a number (1'000) opens no literal.
                const bool literal = c == '"' || (c == '\'' && (last_ == kNothing || !is_word(last_)));
                out += last_ = c;
                ++i;
                if (!literal) continue;
                while (i < text.size() && text[i] != c) {
                    if (text[i] == '\\' && i + 1 < text.size()) out += text[i++];
                    out += text[i++];
                }
                if (i < text.size()) out += text[i++];
                last_ = out.back();
            }
        }
        XXH3_64bits_update(state_.get(), out.data(), out.size());
    }

    std::uint64_t value() const { return XXH3_64bits_digest(state_.get()); }

private:
    static constexpr char kNothing = '\0';

    struct Free {
        void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
    };
    std::unique_ptr<XXH3_state_t, Free> state_{XXH3_createState()};
    // What was added last, and whether space followed it.
    char last_ = kNothing;
    bool space_ = false;
};

// The vocabulary does not count: its names stand in the stub.
TemplateFiles without_vocabulary(TemplateFiles files) {
    for (const char* vocabulary : {"tmm/vocabulary/problem.h", "tmm/vocabulary/signature.h", "tmm/vocabulary/config.h"})
        files[vocabulary].clear();
    return files;
}

// A text that was added so far, and the files that it includes.
struct Beginning {
    FoldedHash hash;
    std::set<std::string> included;

    void add(std::string_view text, const TemplateFiles& files) { hash.add(flatten(text, files, included)); }
};

// What each first line becomes with the active templates.
class Beginnings {
public:
    Beginning with(std::string_view line) {
        const std::lock_guard lock(mutex_);
        const auto [found, is_new] = of_line_.try_emplace(std::string(line));
        if (is_new) found->second.add(line, files_);
        return found->second;
    }
    const TemplateFiles& files() const { return files_; }

private:
    const TemplateFiles files_ = without_vocabulary(active_templates());
    std::mutex mutex_;
    std::map<std::string, Beginning> of_line_;
};

Beginnings& beginnings() {
    static auto* all = new Beginnings;
    return *all;
}

}  // namespace

std::string source_hash(const KernelSource& source, const TemplateFiles& files) {
    const std::string_view text = source.text;
    const auto end = text.find('\n');
    Beginning beginning;
    if (&files == &active_templates() && text.starts_with("#include \"tmm/") && end != std::string_view::npos) {
        beginning = beginnings().with(text.substr(0, end + 1));
        beginning.add(text.substr(end + 1), beginnings().files());
    } else {
        beginning.add(text, without_vocabulary(files));
    }
    return fmt::format("{:016x}", beginning.hash.value());
}

}  // namespace tmm
