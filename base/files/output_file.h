// The files that a command writes for its user: whole or not at all, and never in the place of what the command reads.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace tmm {

// Which file a name leads to, whatever its spelling: links, mounts, /proc and letters' case are the system's to resolve.
class FileIdentity {
public:
    // A file that is not there yet is known by its directory and its name, without the case of its letters, since some directories know
    // none. Nothing where there is no such directory.
    static std::optional<FileIdentity> of(const std::filesystem::path& file);
    // The open file; nothing where it is no regular one.
    static std::optional<FileIdentity> of_descriptor(int descriptor);

    friend bool operator==(const FileIdentity&, const FileIdentity&) = default;

private:
    dev_t device_ = 0;
    ino_t inode_ = 0;
    std::string missing_name_;
};

struct OutputFile {
    // Begins the sentence that says why it can't be written: "the report".
    const char* what = "the file";
    // The permissions of a new file. One that is there already keeps its own, but for what `withheld` takes away.
    mode_t mode = 0600;
    mode_t withheld = 0;
};

// Writes the bytes beside the file, under a name that nobody can guess, and renames that: whoever reads meanwhile sees the old file or the
// new one, whole. A symbolic link stays where it is this user's own or root's; another's is replaced. What is no regular file, such as a
// pipe, is written to. Throws Error (bad_input) that says what to do; then nothing has changed.
void publish_file(const std::filesystem::path& file, std::string_view bytes, const OutputFile& kind);

}  // namespace tmm
