#include "tuner/recording_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <system_error>

#include "generator/error.h"

namespace tmm {
namespace {

std::string content_of(const std::filesystem::path& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

}  // namespace

RecordingFile::RecordingFile(const std::filesystem::path& file, const DeviceInfo& device) : file_(file) {
    std::string text = content_of(file);
    const std::size_t whole = text.rfind('\n') == std::string::npos ? 0 : text.rfind('\n') + 1;
    before_ = parse_recorded_times(text, file.string());
    if (!before_.problems.empty() && before_.device.name != device.name)
        throw Error(ExitStatus::bad_input, fmt::format("it holds times of {}, not of {}", before_.device.name, device.name), file.string(),
                    "name another file");
    stream_.reset(std::fopen(file.c_str(), "ab"));
    if (!stream_) throw Error(ExitStatus::bad_input, std::strerror(errno), file.string(), "name a file that can be written");
    std::error_code failure;
    std::filesystem::resize_file(file, whole, failure);
    if (failure) throw Error(ExitStatus::bad_input, failure.message(), file.string(), "name a file that can be written");
    if (whole == 0) add(device_line(device));
}

void RecordingFile::add(const std::string& line) {
    std::lock_guard lock(mutex_);
    if (std::fprintf(stream_.get(), "%s\n", line.c_str()) < 0 || std::fflush(stream_.get()) != 0)
        throw Error(ExitStatus::bad_input, std::strerror(errno), file_.string(), "make room for it; the same command goes on from there");
}

}  // namespace tmm
