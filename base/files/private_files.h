// What tmm makes on disk is its user's alone: files of mode 0600 and directories of mode 0700, whatever the umask.
#pragma once

#include <filesystem>
#include <string_view>
#include <system_error>

namespace tmm {

// Makes the directory and those above it that are missing.
std::error_code make_private_directories(const std::filesystem::path& path);

// Makes the file, empty, where there is none yet. Fails where it can't be made.
std::error_code make_private_file(const std::filesystem::path& path);

// Writes the text in place of what the file holds; one that is there already keeps its mode.
std::error_code write_private_file(const std::filesystem::path& path, std::string_view text);

// Writes all of it; false where that fails, with errno, and without a signal where the file would become larger than is allowed.
bool write_all(int descriptor, std::string_view content);

}  // namespace tmm
