// Temporary files and directories that go with their process. Each is locked for as long as it is in use, so that what a killed process
// left can be told from what belongs to a living one.
#pragma once

#include <filesystem>
#include <string>
#include <utility>

namespace tmm {

class FileDescriptor {
public:
    FileDescriptor() = default;
    explicit FileDescriptor(int number) : number_(number) {}
    ~FileDescriptor();
    FileDescriptor(FileDescriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
    FileDescriptor& operator=(FileDescriptor&& other) noexcept {
        std::swap(number_, other.number_);
        return *this;
    }
    int get() const { return number_; }
    // The result is true where all that was written has reached the file.
    bool close();
    explicit operator bool() const { return number_ >= 0; }

private:
    int number_ = -1;
};

// A lock on an open file or directory that no other process holds; the system gives it back when the process ends, however it does.
enum class Lock { taken, held_by_another, unknown_here };
Lock try_lock(const FileDescriptor& file);
// Whether the name in the directory still leads to the open file, and to no other that has taken its place.
bool has_name(const FileDescriptor& file, int directory, const char* name);

// A temporary that is readable by this user alone, and is removed with all that is in it.
class LockedTemporary {
public:
    enum class Kind { file, directory };
    // Makes one below that directory. use: a word of its name ("compile"). Throws std::system_error; and Error (no_compiler) where others
    // could replace what is in the directory, because code is compiled in these and loaded from them.
    LockedTemporary(const std::filesystem::path& below, Kind kind, const std::string& use);
    ~LockedTemporary();
    LockedTemporary(const LockedTemporary&) = delete;
    LockedTemporary& operator=(const LockedTemporary&) = delete;

    const std::filesystem::path& path() const { return path_; }
    // The descriptor is open for writing where the temporary is a file.
    int descriptor() const { return descriptor_.get(); }

private:
    std::filesystem::path path_;
    FileDescriptor descriptor_;
};

// Removes this user's temporaries below the directory that no living process holds; none where others could replace them. Never throws.
void remove_abandoned_temporaries(const std::filesystem::path& below) noexcept;

}  // namespace tmm
