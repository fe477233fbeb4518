// Whether others may put something else in the place of what this process is about to run or load.
#pragma once

#include <filesystem>
#include <string>

namespace tmm {

enum class NamedBy {
    // The path stands from the root in a variable, or is one of the usual places: its owners and their groups are trusted.
    person,
    // It was found from the working directory, or holds files that come and go: this user and root are trusted, and nobody else.
    chance,
};

// The way is told by how the path is written: from the root, or not.
NamedBy who_named(const std::filesystem::path& path);

// A sentence that names the part of the path and says how others than those trusted may replace the file or directory; it is empty where
// they can't. Symbolic links are followed. In a set-user-ID program every path counts as found by chance.
std::string why_others_can_replace(const std::filesystem::path& path, NamedBy by);

}  // namespace tmm
