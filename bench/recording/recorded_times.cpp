#include "bench/recording/recorded_times.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <exception>
#include <optional>
#include <system_error>
#include <variant>

#include "base/error.h"
#include "generator/text/text.h"
#include "tuner/worker/protocol.h"

namespace tmm::bench {
namespace {

constexpr std::string_view kDevice = "# ";
constexpr std::string_view kRunOff = "run_off";
constexpr std::string_view kComplete = "complete";

std::optional<Outcome> outcome_named(std::string_view name) {
    for (int value = 0; value <= static_cast<int>(Outcome::inaccurate); ++value)
        if (name_of(static_cast<Outcome>(value)) == name) return static_cast<Outcome>(value);
    return std::nullopt;
}

// Shape, config, result, microseconds; nothing where the line has other fields.
std::optional<std::array<std::string_view, 4>> fields_of(std::string_view line) {
    std::array<std::string_view, 4> fields;
    for (std::size_t i = 0; i < fields.size(); ++i) {
        const auto comma = line.find(',');
        if ((comma == std::string_view::npos) != (i + 1 == fields.size())) return std::nullopt;
        fields[i] = line.substr(0, comma);
        if (comma != std::string_view::npos) line.remove_prefix(comma + 1);
    }
    return fields;
}

bool take_line(std::string_view line, RecordedTimes& recorded) {
    const auto fields = fields_of(line);
    if (!fields) return false;
    const auto [shape, config, result, number] = *fields;
    const auto at = recorded.problems.try_emplace(std::string(shape), RecordedProblem{.shape = std::string(shape)}).first;
    RecordedProblem& problem = at->second;
    if (result == kComplete) return problem.complete = true;
    double microseconds = 0;
    if (std::from_chars(number.data(), number.data() + number.size(), microseconds).ptr != number.data() + number.size()) return false;
    RecordedTime& time = problem.times[fields_text(parse_config(config))];
    if (result == kRunOff) {
        time.run_off_us = microseconds;
        return true;
    }
    const auto outcome = outcome_named(result);
    if (!outcome) return false;
    time.outcome = *outcome;
    time.alone_us = microseconds;
    return true;
}

constexpr const char* kRemedy = "name a file that can be read and written";

std::string content_of(std::FILE* stream, const std::filesystem::path& file) {
    std::string text;
    std::array<char, 1 << 16> part;
    std::rewind(stream);
    while (const std::size_t count = std::fread(part.data(), 1, part.size(), stream)) text.append(part.data(), count);
    if (std::ferror(stream) != 0) throw Error(ExitStatus::bad_input, std::strerror(errno), file.string(), kRemedy);
    return text;
}

}  // namespace

std::string device_line(const DeviceInfo& device) {
    return std::string(kDevice) + encode(Hello{.device = device});
}

std::string outcome_line(std::string_view shape, const KernelConfig& config, Outcome outcome, double microseconds) {
    return fmt::format("{},{},{},{:.5g}", shape, to_text(config), name_of(outcome), microseconds);
}

std::string run_off_line(std::string_view shape, const KernelConfig& config, double microseconds) {
    return fmt::format("{},{},{},{:.5g}", shape, to_text(config), kRunOff, microseconds);
}

std::string complete_line(std::string_view shape) {
    return fmt::format("{},,{},0", shape, kComplete);
}

RecordedTimes parse_recorded_times(std::string_view text, const std::string& name) {
    RecordedTimes recorded;
    for (int number = 1; text.find('\n') != std::string_view::npos; ++number) {
        const std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(line.size() + 1);
        std::string why = "not shape,config,result,microseconds";
        try {
            if (line.starts_with(kDevice)) {
                recorded.device = std::get<Hello>(decode_reply(line.substr(kDevice.size()))).device;
                continue;
            }
            if (take_line(line, recorded)) continue;
        } catch (const std::exception& error) {
            why = error.what();
        }
        throw Error(ExitStatus::bad_input, why, fmt::format("{}:{}", name, number), "have it recorded anew: tmm-bench --record");
    }
    return recorded;
}

RecordingFile::RecordingFile(const std::filesystem::path& file, const DeviceInfo& device) : file_(file) {
    stream_.reset(std::fopen(file.c_str(), "a+b"));
    if (!stream_) throw Error(ExitStatus::bad_input, std::strerror(errno), file.string(), kRemedy);
    const std::string text = content_of(stream_.get(), file);
    const std::size_t whole = text.rfind('\n') == std::string::npos ? 0 : text.rfind('\n') + 1;
    before_ = parse_recorded_times(text, file.string());
    if (!before_.problems.empty() && before_.device.name != device.name)
        throw Error(ExitStatus::bad_input, fmt::format("it holds times of {}, not of {}", before_.device.name, device.name), file.string(),
                    "name another file");
    std::error_code failure;
    std::filesystem::resize_file(file, whole, failure);
    if (failure) throw Error(ExitStatus::bad_input, failure.message(), file.string(), kRemedy);
    if (whole == 0) add(device_line(device));
}

void RecordingFile::add(const std::string& line) {
    std::lock_guard lock(mutex_);
    if (std::fprintf(stream_.get(), "%s\n", line.c_str()) < 0 || std::fflush(stream_.get()) != 0)
        throw Error(ExitStatus::bad_input, std::strerror(errno), file_.string(), "make room for it; the same command goes on from there");
}

}  // namespace tmm::bench
