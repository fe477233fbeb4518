#include "db/store/field_text.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "db/store/fields.h"

namespace tmm {
namespace {

// The two tables in the same words.
const std::vector<StoredField>& fields_of(const KernelConfig&) {
    return stored_config_fields();
}
const std::vector<StoredField>& fields_of(const GemmProblem&) {
    return stored_problem_fields();
}
const char* subject_of(const KernelConfig&) {
    return "config";
}
const char* subject_of(const GemmProblem&) {
    return "problem";
}
i64 value_of(const KernelConfig& config, std::size_t field) {
    return config.*kParameters[field].member;
}
i64 value_of(const GemmProblem& problem, std::size_t field) {
    return problem_fields()[field].get(problem);
}
void set_value(KernelConfig& config, std::size_t field, i64 value) {
    config.*kParameters[field].member = static_cast<int>(value);
}
void set_value(GemmProblem& problem, std::size_t field, i64 value) {
    problem_fields()[field].set(problem, value);
}

template <typename Subject>
std::string text_of(const Subject& subject) {
    std::string text = "{";
    const std::vector<StoredField>& fields = fields_of(subject);
    for (std::size_t i = 0; i < fields.size(); ++i) {
        const i64 value = value_of(subject, i);
        if (value == fields[i].neutral) continue;
        if (text.size() > 1) text += ',';
        text.append("\"").append(fields[i].name).append("\":");
        if (fields[i].has_name(value))
            text.append("\"").append(fields[i].values.names[value]).append("\"");
        else
            text += std::to_string(value);
    }
    return text += '}';
}

// Takes one object of numbers and names from the parser. Whatever else there is ends the parse with a fault.
template <typename Subject>
class FieldHandler : public nlohmann::json_sax<nlohmann::json> {
public:
    explicit FieldHandler(Subject& subject) : subject_(subject), fields_(fields_of(subject)) {}

    const std::string& fault() const { return fault_; }

    bool start_object(std::size_t) override { return ++depth_ == 1 || fail_shape(); }
    bool end_object() override { return true; }
    bool key(string_t& name) override {
        // Texts have the fields in the table's order, so that the next one mostly is the one that follows.
        for (std::size_t i = 0; i < fields_.size(); ++i) {
            field_ = next_++ % fields_.size();
            if (name == fields_[field_].name) return true;
        }
        return fail(fmt::format("'{}' is no field of a {}", one_line(name, 60), subject_of(subject_)));
    }
    bool number_integer(number_integer_t value) override {
        if (depth_ != 1) return fail_shape();
        const StoredField& field = fields_[field_];
        if (field.is_named()) return fail(fmt::format("{} is {}, none of its names", field.name, value));
        if (value < field.least || value > field.most)
            return fail(fmt::format("{} is {}, outside {} … {}", field.name, value, field.least, field.most));
        set_value(subject_, field_, value);
        return true;
    }
    bool number_unsigned(number_unsigned_t value) override {
        if (value <= static_cast<number_unsigned_t>(problem_field::kMost)) return number_integer(static_cast<i64>(value));
        return depth_ == 1 ? fail(fmt::format("{} is {}, which is too large", fields_[field_].name, value)) : fail_shape();
    }
    bool string(string_t& name) override {
        if (depth_ != 1) return fail_shape();
        const StoredField& field = fields_[field_];
        for (int value = 0; value < field.values.count; ++value) {
            if (!field.has_name(value) || name != field.values.names[value]) continue;
            set_value(subject_, field_, value);
            return true;
        }
        return fail(fmt::format("{} is '{}', {}", field.name, one_line(name, 60), field.is_named() ? "none of its names" : "no number"));
    }
    bool null() override { return fail_value(); }
    bool boolean(bool) override { return fail_value(); }
    bool number_float(number_float_t, const string_t&) override { return fail_value(); }
    bool binary(binary_t&) override { return fail_value(); }
    bool start_array(std::size_t) override { return fail_value(); }
    bool end_array() override { return fail_value(); }
    bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
        return fail(fmt::format("the {}'s fields are no JSON text (at byte {})", subject_of(subject_), position));
    }

private:
    bool fail(std::string fault) {
        fault_ = std::move(fault);
        return false;
    }
    bool fail_shape() { return fail(fmt::format("the {}'s fields are no JSON object of numbers and names", subject_of(subject_))); }
    bool fail_value() {
        return depth_ == 1 ? fail(fmt::format("{} is neither a whole number nor a name", fields_[field_].name)) : fail_shape();
    }

    Subject& subject_;
    const std::vector<StoredField>& fields_;
    int depth_ = 0;
    std::size_t field_ = 0;
    std::size_t next_ = 0;
    std::string fault_;
};

template <typename Subject>
std::string read_text(std::string_view text, Subject& subject) {
    subject = {};
    FieldHandler<Subject> handler(subject);
    nlohmann::json::sax_parse(text, &handler);
    if (!handler.fault().empty()) return handler.fault();
    // Rows are found by their texts: a second spelling would be a second row of the same.
    return text_of(subject) == text ? "" : fmt::format("the {}'s fields are not as tmm writes them", subject_of(subject));
}

}  // namespace

const std::vector<StoredField>& stored_config_fields() {
    static const auto& fields = *[] {
        auto* const all = new std::vector<StoredField>;
        for (const Parameter& parameter : kParameters)
            all->push_back({.name = parameter.name,
                            .neutral = parameter.neutral,
                            .least = least_value(parameter),
                            .most = most_value(parameter),
                            .values = {parameter.value_names, parameter.value_count, parameter.value_count}});
        return all;
    }();
    return fields;
}

const std::vector<StoredField>& stored_problem_fields() {
    static const auto& fields = *[] {
        auto* const all = new std::vector<StoredField>;
        for (const ProblemField& field : problem_fields())
            all->push_back({.name = field.name,
                            .neutral = field.get(GemmProblem{}),
                            .least = field.range.least,
                            .most = field.range.most,
                            .values = field.values});
        return all;
    }();
    return fields;
}

std::string field_text(const KernelConfig& config) {
    return text_of(config);
}
std::string field_text(const GemmProblem& problem) {
    return text_of(problem);
}
std::string read_field_text(std::string_view text, KernelConfig& config) {
    return read_text(text, config);
}
std::string read_field_text(std::string_view text, GemmProblem& problem) {
    return read_text(text, problem);
}

}  // namespace tmm
