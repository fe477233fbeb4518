// The table of GemmProblem's fields and their ranges.
#include "db/fields.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <type_traits>

#include "generator/plan/matrix_layout.h"
#include "generator/text/text.h"

namespace tmm {
namespace {

template <auto Member>
std::int64_t get(const GemmProblem& problem) {
    return static_cast<std::int64_t>(problem.*Member);
}
template <auto Member>
void set(GemmProblem& problem, std::int64_t value) {
    problem.*Member = static_cast<std::remove_cvref_t<decltype(problem.*Member)>>(value);
}
template <auto Member>
ProblemField number(const char* name, std::int64_t lowest, std::int64_t highest) {
    return {.name = name, .get = get<Member>, .set = set<Member>, .lowest = lowest, .highest = highest, .value_names = {}};
}
template <auto Member>
ProblemField named(const char* name, std::vector<std::string> names) {
    const auto highest = static_cast<std::int64_t>(names.size()) - 1;
    return {.name = name, .get = get<Member>, .set = set<Member>, .lowest = 0, .highest = highest, .value_names = std::move(names)};
}

std::vector<ProblemField> make_problem_fields() {
    using P = GemmProblem;
    constexpr auto kMax = std::numeric_limits<std::int64_t>::max();
    const auto types = names_of_all<ElementType>();
    const std::vector<std::string> operations = {"n", "t"};
    return {number<&P::m>("m", 0, kMax),
            number<&P::n>("n", 0, kMax),
            number<&P::k>("k", 0, kMax),
            number<&P::batch>("batch", 0, kMax),
            named<&P::type_a>("type_a", types),
            named<&P::type_b>("type_b", types),
            named<&P::type_c>("type_c", types),
            named<&P::op_a>("op_a", operations),
            named<&P::op_b>("op_b", operations),
            number<&P::lda>("lda", 0, kMax),
            number<&P::ldb>("ldb", 0, kMax),
            number<&P::ldc>("ldc", 0, kMax),
            number<&P::stride_a>("stride_a", 0, kMax),
            number<&P::stride_b>("stride_b", 0, kMax),
            number<&P::stride_c>("stride_c", 0, kMax),
            number<&P::alignment>("alignment", 1, 1 << 20),
            number<&P::reads_c>("reads_c", 0, 1),
            named<&P::epilogue>("epilogue", names_of_all<Epilogue>())};
}

}  // namespace

const std::vector<ProblemField>& problem_fields() {
    static const auto& fields = *new auto(make_problem_fields());
    return fields;
}

const ProblemField& compute_field() {
    static const auto& field = *new auto(named<&GemmProblem::compute>("compute", names_of_all<ComputeMode>()));
    return field;
}

std::string why_inconsistent(const GemmProblem& p) {
    if (p.lda < stored_columns_a(p)) return fmt::format("lda={} is shorter than a row of A ({} elements)", p.lda, stored_columns_a(p));
    if (p.ldb < stored_columns_b(p)) return fmt::format("ldb={} is shorter than a row of B ({} elements)", p.ldb, stored_columns_b(p));
    if (p.ldc < p.n) return fmt::format("ldc={} is shorter than a row of C ({} elements)", p.ldc, p.n);
    if ((p.alignment & (p.alignment - 1)) != 0) return fmt::format("alignment={} is no power of two", p.alignment);
    if (p.batch <= 1 && (p.stride_a != 0 || p.stride_b != 0 || p.stride_c != 0))
        return fmt::format("strides={},{},{} mean nothing where batch={}", p.stride_a, p.stride_b, p.stride_c, p.batch);
    const MatrixLayout layouts[] = {layout_of_a(p), layout_of_b(p), layout_of_c(p)};
    for (const MatrixLayout& layout : layouts)
        if (!extent_in_bytes(layout)) return fmt::format("{}'s size in bytes does not fit in 64 bits", "ABC"[&layout - layouts]);
    if (elements_overlap(layout_of_c(p)))
        return fmt::format("stride_c={} and ldc={} make the results of the batch overlap", p.stride_c, p.ldc);
    return {};
}

std::string why_inconsistent(const Measurement& x) {
    if (x.median_us > 0 && x.low_us > x.median_us) return fmt::format("low_us={} is above median_us={}", x.low_us, x.median_us);
    if (x.high_us > 0 && std::max(x.low_us, x.median_us) > x.high_us)
        return fmt::format("high_us={} is below {}={}", x.high_us, x.median_us > x.high_us ? "median_us" : "low_us",
                           x.median_us > x.high_us ? x.median_us : x.low_us);
    if (x.outcome == Outcome::ok && x.error_ratio > 1)
        return fmt::format("error_ratio={} is above 1, but the outcome is ok", x.error_ratio);
    return {};
}

std::string one_line(std::string_view text, std::size_t limit) {
    std::string line;
    line.reserve(std::min(text.size(), limit));
    for (std::size_t i = 0; i < text.size();) {
        const auto lead = static_cast<unsigned char>(text[i]);
        std::size_t length = lead < 0x80                   ? 1
                             : lead >= 0xf0 && lead < 0xf5 ? 4
                             : lead >= 0xe0 && lead < 0xf0 ? 3
                             : lead >= 0xc2 && lead < 0xe0 ? 2
                                                           : 0;
        bool valid = length != 0 && i + length <= text.size();
        for (std::size_t j = 1; valid && j < length; ++j) valid = (static_cast<unsigned char>(text[i + j]) & 0xc0) == 0x80;
        // U+0080 … U+009F are control characters too: terminals obey them.
        const bool control = lead < 0x20 || lead == 0x7f || (valid && lead == 0xc2 && static_cast<unsigned char>(text[i + 1]) < 0xa0);
        if (!valid) length = 1;
        const std::string_view piece = !valid ? "?" : control ? " " : text.substr(i, length);
        if (line.size() + piece.size() > limit) break;
        line += piece;
        i += length;
    }
    return line;
}

}  // namespace tmm
