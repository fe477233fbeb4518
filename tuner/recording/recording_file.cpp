#include "tuner/recording/recording_file.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "base/error.h"

namespace tmm {
namespace {

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

}  // namespace tmm
