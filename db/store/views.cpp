// Makes the views of the database: the columns, keys and tokens of fields in views.sql.
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <vector>

#include "db/store/field_text.h"
#include "db/store/fields.h"
#include "db/store/migration.h"

namespace tmm {

const std::map<std::string, std::string>& embedded_database_files();

namespace {

using Known = std::function<bool(const std::string& literal)>;

bool has_field(const Known& known, std::string_view name) {
    return known(fmt::format("$.{}", name));
}

// What a shapes file means where it does not name a field, of those fields for which that hangs on others. Columns of p, with product_rows
// and product_columns; {alone}: no other matrix stands at a distance.
struct Unwritten {
    std::string_view field;
    const char* sql;
};
constexpr Unwritten kUnwritten[] = {
    {"type_b", "p.type_a"},
    {"lda", "iif(p.op_a = 't', p.product_rows, p.k)"},
    {"ldb", "iif(p.op_b = 't', p.k, p.product_columns)"},
    {"ldc", "p.n"},
    {"stride_a", "iif({alone}, 0, iif(p.op_a = 't', p.k, p.product_rows) * p.lda)"},
    {"stride_b", "iif({alone}, 0, iif(p.op_b = 't', p.product_columns, p.k) * p.ldb)"},
    {"stride_c", "iif({alone}, 0, p.m * p.ldc)"},
    {"type_bias", "iif(p.bias = 'none', 'f32', p.type_c)"},
    {"ldr", "iif(p.residual, p.n, 0)"},
    {"stride_r", "iif(p.residual AND p.batch <> 1, p.m * p.ldr, 0)"},
};

std::string literal(const StoredField& field, i64 value) {
    return field.has_name(value) ? fmt::format("'{}'", field.values.names[value]) : std::to_string(value);
}

// A column of the view problem_fields or config_fields. What is yes or no is 1 or 0 there.
std::string column(const StoredField& field) {
    const std::string value = fmt::format("coalesce(json_extract(fields, '$.{}'), {})", field.name, literal(field, field.neutral));
    return fmt::format("{}{} AS {}", value, field.values.names == kNoYes.names ? " = 'yes'" : "", field.name);
}

// The known fields in SQL, one behind the other.
template <typename ToSql>
std::string listed(const std::vector<StoredField>& fields, const Known& known, const char* separator, ToSql&& to_sql) {
    std::string sql;
    for (const StoredField& field : fields)
        if (has_field(known, field.name)) sql += (sql.empty() ? "" : separator) + to_sql(field);
    return sql;
}

// The fields of one token of a config's text, of one key of a shapes file, in the order in which they are written.
template <typename Row>
using Groups = std::map<int, std::vector<const Row*>>;

Groups<Parameter> token_groups(const Known& known) {
    Groups<Parameter> groups;
    for (const Parameter& parameter : kParameters)
        if (parameter.token.place > 0 && has_field(known, parameter.name)) groups[parameter.token.place].push_back(&parameter);
    for (auto& [place, group] : groups)
        std::stable_sort(group.begin(), group.end(), [](const auto* x, const auto* y) { return x->token.part < y->token.part; });
    return groups;
}

Groups<ProblemField> key_groups(const Known& known) {
    Groups<ProblemField> groups;
    for (const ProblemField& field : kProblemFields)
        if (field.key && has_field(known, field.name)) groups[field.place].push_back(&field);
    return groups;
}

// The value of a config's field that its text leaves out.
std::string unwritten(const Parameter& parameter, const Known& known) {
    const auto& field = stored_config_fields()[static_cast<std::size_t>(&parameter - kParameters)];
    std::string cases;
    for (const ImpliedValue& implied : kImpliedValues)
        if (implied.member == parameter.member && known(kFamilyNames[implied.family]))
            cases += fmt::format(" WHEN '{}' THEN {}", kFamilyNames[implied.family], literal(field, implied.value));
    const std::string neutral = literal(field, field.neutral);
    return cases.empty() ? neutral : fmt::format("CASE g.family{} ELSE {} END", cases, neutral);
}

// The name that follows from the type of A's elements, where it is not `otherwise`: "CASE p.type_a WHEN 's8' THEN 's32' ELSE p.type_a END".
template <typename NameOf>
std::string by_type_a(const char* otherwise, const Known& known, NameOf&& name_of) {
    std::string cases;
    for (int value = 0; value < kElementTypes.count; ++value) {
        const char* const type = kElementTypes.names[value];
        if (const std::string name = name_of(static_cast<ElementType>(value)); !name.empty() && known(type))
            cases += fmt::format(" WHEN '{}' THEN '{}'", type, name);
    }
    return cases.empty() ? otherwise : fmt::format("CASE p.type_a{} ELSE {} END", cases, otherwise);
}

std::string type_of_c(const Known& known) {
    return by_type_a("p.type_a", known, [](ElementType type) -> std::string {
        const ElementType type_c = default_type_c(type);
        return type_c == type ? "" : kElementTypes.names[static_cast<int>(type_c)];
    });
}

std::string compute_mode(const Known& known) {
    return by_type_a("'f32'", known, [](ElementType type) -> std::string {
        const ComputeMode mode = default_compute(type);
        return mode == ComputeMode::f32 ? "" : kComputeModes.names[static_cast<int>(mode)];
    });
}

std::string unwritten(const ProblemField& field, const Known& known) {
    if (field.name == std::string_view("type_c")) return type_of_c(known);
    const auto* const found =
        std::find_if(std::begin(kUnwritten), std::end(kUnwritten), [&](const Unwritten& one) { return one.field == field.name; });
    if (found != std::end(kUnwritten)) {
        std::string sql = found->sql;
        constexpr std::string_view kAlone = "{alone}";
        if (const auto at = sql.find(kAlone); at != std::string::npos)
            sql.replace(at, kAlone.size(), has_field(known, "pointers") ? "p.batch = 1 OR p.pointers" : "p.batch = 1");
        return sql;
    }
    for (const StoredField& stored : stored_problem_fields())
        if (stored.name == std::string_view(field.name)) return literal(stored, stored.neutral);
    return "NULL";
}

// " || iif(g.warps_m <> 1 OR g.warps_n <> 1, ' w' || g.warps_m || iif(g.warps_n <> 1, 'x' || g.warps_n, ''), '')" and so on.
std::string tokens(const Known& known) {
    std::string sql;
    for (const auto& [place, group] : token_groups(known)) {
        std::string condition, text;
        for (const Parameter* parameter : group) {
            const bool is_first = parameter == group.front();
            const std::string number = fmt::format("{}g.{}", is_first ? "" : "'x' || ", parameter->name);
            condition += fmt::format("{}g.{} <> {}", is_first ? "" : " OR ", parameter->name, unwritten(*parameter, known));
            text += " || ";
            text += parameter == group.back() && parameter->token.drops_one ? fmt::format("iif(g.{} <> 1, {}, '')", parameter->name, number)
                                                                            : number;
        }
        const char* word = group.front()->token.word;
        sql += fmt::format("\n         || iif({}, ' {}'{}, '')", condition, word ? word : "", text);
    }
    return sql;
}

// " || iif(p.alignment <> 16, ' align=' || p.alignment, '')" for the keys in these places.
std::string keys(int first, int end, const Known& known) {
    std::string sql;
    for (const auto& [place, group] : key_groups(known)) {
        if (place < first || place >= end) continue;
        std::string condition, text;
        for (const ProblemField* field : group) {
            if (field->epilogue_words) continue;
            condition += fmt::format("{}p.{} <> {}", condition.empty() ? "" : " OR ", field->name, unwritten(*field, known));
            text += fmt::format(" || p.{}", field->name);
        }
        if (!condition.empty()) sql += fmt::format("\n         || iif({}, ' {}='{}, '')", condition, group.front()->key, text);
        std::string words;
        for (const ProblemField* field : group) {
            std::string cases;
            for (int value = 0; field->epilogue_words && value < field->values.count; ++value)
                if (const std::string word = field->epilogue_words[value]; !word.empty() && known('+' + word))
                    cases += field->values.names == kNoYes.names ? fmt::format(" WHEN {} THEN '+{}'", value, word)
                                                                 : fmt::format(" WHEN '{}' THEN '+{}'", field->values.names[value], word);
            if (!cases.empty()) words += fmt::format("{}CASE p.{}{} ELSE '' END", words.empty() ? "" : " || ", field->name, cases);
        }
        if (!words.empty())
            sql += fmt::format("\n         || coalesce(' {}=' || nullif(substr({}, 2), ''), '')", group.front()->key, words);
    }
    return sql;
}

}  // namespace

std::string views_of(const Known& known) {
    const auto& problem = stored_problem_fields();
    const auto& config = stored_config_fields();
    constexpr const char* kLines = ",\n       ";
    const auto of = [](const char* alias) { return [=](const StoredField& field) { return fmt::format("{}.{}", alias, field.name); }; };
    const int compute = compute_field().place;
    std::string sql = embedded_database_files().at("store/views.sql");
    for (const auto& [name, text] : {std::pair{"{problem columns}", listed(problem, known, kLines, column)},
                                     {"{config columns}", listed(config, known, kLines, column)},
                                     {"{keys before compute}", keys(0, compute, known)},
                                     {"{keys behind compute}", keys(compute + 1, 1 << 30, known)},
                                     {"{compute mode}", compute_mode(known)},
                                     {"{tokens}", tokens(known)},
                                     {"{winner's problem}", listed(problem, known, ", ", of("q"))},
                                     {"{winner's config}", listed(config, known, ", ", of("h"))}})
        sql.replace(sql.find(name), std::string_view(name).size(), text);
    return sql;
}

}  // namespace tmm
