// Each kernel has one file: a header with magic, format version, key and checksum, then the compiler's log, then the image. Readers trust a
// file only when all of it fits together; anything else is a miss, and the next store() replaces it.
#include "generator/compile/kernel_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <mutex>
#include <random>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/files/locked_temporary.h"
#include "base/files/private_files.h"
#include "base/log.h"
#include "generator/compile/compile_lock.h"
#include "generator/kernel/template_files.h"

namespace tmm {
namespace {

constexpr char kMagic[8] = {'t', 'm', 'm', 'k', 'r', 'n', 'l', '\n'};
// Raise it with every change of the layout below: files of another version are misses.
constexpr std::uint32_t kFormat = 1;
constexpr std::string_view kSuffix = ".kernel";
constexpr std::string_view kTemporarySuffix = ".new";
constexpr std::string_view kLockSuffix = ".lock";
constexpr std::size_t kKeyDigits = 32;
// A temporary file or a lock that can't be locked and is this old belongs to a process that died.
constexpr std::int64_t kStaleSeconds = 3600;
constexpr std::int64_t kLargestFile = 1LL << 30;
constexpr int kAttempts = 100;
// Other processes fill the directory too, so what it holds is counted anew now and then.
constexpr int kStoresBetweenScans = 256;

struct Header {
    char magic[8];
    std::uint32_t format;
    std::int32_t registers;
    std::int32_t spill_bytes;
    std::uint32_t log_bytes;
    std::uint64_t image_bytes;
    std::uint64_t key[2];
    // Checksum of the header with this field 0, and of all that follows.
    std::uint64_t checksum;
};
static_assert(sizeof(Header) == 56);

struct Key {
    std::uint64_t words[2];
    std::string file_name() const { return fmt::format("{:016x}{:016x}{}", words[0], words[1], kSuffix); }
};

Key key_of(const KernelSource& source, const Compiler& compiler) {
    std::string text = compiler.identity();
    text.push_back('\0');
    text += flatten(source.text, active_templates());
    const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
    return {{hash.high64, hash.low64}};
}

std::uint64_t checksum_of(std::string_view file) {
    Header header;
    std::memcpy(&header, file.data(), sizeof header);
    header.checksum = 0;
    const std::uint64_t seed = XXH3_64bits(&header, sizeof header);
    return XXH3_64bits_withSeed(file.data() + sizeof header, file.size() - sizeof header, seed);
}

std::string encoded(const Key& key, const CompiledKernel& kernel) {
    Header header{};
    std::memcpy(header.magic, kMagic, sizeof kMagic);
    header.format = kFormat;
    header.registers = kernel.registers;
    header.spill_bytes = kernel.spill_bytes;
    header.log_bytes = static_cast<std::uint32_t>(kernel.log.size());
    header.image_bytes = kernel.image.size();
    std::copy(std::begin(key.words), std::end(key.words), header.key);
    std::string file(reinterpret_cast<const char*>(&header), sizeof header);
    file += kernel.log;
    file.append(reinterpret_cast<const char*>(kernel.image.data()), kernel.image.size());
    header.checksum = checksum_of(file);
    std::memcpy(file.data(), &header, sizeof header);
    return file;
}

std::optional<CompiledKernel> decoded(const Key& key, std::string_view file) {
    Header header;
    if (file.size() < sizeof header) return std::nullopt;
    std::memcpy(&header, file.data(), sizeof header);
    const std::uint64_t content = file.size() - sizeof header;
    if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0 || header.format != kFormat ||
        !std::equal(std::begin(key.words), std::end(key.words), header.key) || header.log_bytes > content || header.image_bytes == 0 ||
        header.image_bytes != content - header.log_bytes || header.checksum != checksum_of(file))
        return std::nullopt;
    CompiledKernel kernel{.image = {}, .registers = header.registers, .spill_bytes = header.spill_bytes, .log = {}};
    kernel.log = file.substr(sizeof header, header.log_bytes);
    kernel.image.resize(header.image_bytes);
    std::memcpy(kernel.image.data(), file.data() + sizeof header + header.log_bytes, header.image_bytes);
    return kernel;
}

// What lies in the directory is loaded as machine code, so only its owner may put it there.
bool only_we_write(const struct stat& status) {
    return status.st_uid == geteuid() && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

std::optional<std::string> read_file(int directory, const std::string& name) {
    const FileDescriptor file(openat(directory, name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    struct stat status;
    if (!file || fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode) || !only_we_write(status) || status.st_size > kLargestFile)
        return std::nullopt;
    std::string content(static_cast<std::size_t>(status.st_size), '\0');
    std::size_t done = 0;
    while (done < content.size()) {
        const ssize_t count = read(file.get(), content.data() + done, content.size() - done);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return std::nullopt;
        done += static_cast<std::size_t>(count);
    }
    return content;
}

std::optional<CompiledKernel> read_kernel(int directory, const Key& key) {
    const auto file = read_file(directory, key.file_name());
    auto kernel = file ? decoded(key, *file) : std::nullopt;
    // The newest use decides what is evicted last.
    if (kernel) utimensat(directory, key.file_name().c_str(), nullptr, AT_SYMLINK_NOFOLLOW);
    return kernel;
}

// No other process, and no other thread of this one, gives a file this name.
std::string temporary_name(const Key& key) {
    static std::atomic<unsigned> counter{0};
    static const unsigned run = std::random_device{}();
    return fmt::format("{}.{}.{:08x}.{}{}", key.file_name(), getpid(), run, counter++, kTemporarySuffix);
}

struct NewFile {
    std::string name;
    FileDescriptor descriptor;
};

// Makes a file that stays locked until it has the kernel's name. Whoever clears away what dead processes left may lock it first, and
// removes it; then another is made.
NewFile new_locked_file(int directory, const Key& key) {
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
        NewFile made{temporary_name(key), {}};
        made.descriptor = FileDescriptor(openat(directory, made.name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
        if (!made.descriptor) return made;
        const Lock lock = try_lock(made.descriptor);
        if (lock == Lock::unknown_here || (lock == Lock::taken && has_name(made.descriptor, directory, made.name.c_str()))) return made;
    }
    return {};
}

struct StoredFile {
    std::string name;
    std::int64_t bytes = 0;
    timespec used{};
};

// The name is a key, the suffix of kernels, and whatever else before the last suffix. Any other file of the directory is none of tmm's.
bool is_name_of_ours(std::string_view name, std::string_view last_suffix) {
    const std::string_view rest = name.substr(std::min(kKeyDigits, name.size()));
    return name.find_first_not_of("0123456789abcdef") == kKeyDigits && rest.starts_with(kSuffix) && rest.ends_with(last_suffix);
}

// Calls body(name, status) for each regular file in the directory that is tmm's and whose name ends so.
template <typename Body>
void for_each_file(int directory, std::string_view suffix, const Body& body) {
    DIR* listing = fdopendir(openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!listing) return;
    while (const dirent* entry = readdir(listing)) {
        struct stat status;
        if (is_name_of_ours(entry->d_name, suffix) && fstatat(directory, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISREG(status.st_mode))
            body(entry->d_name, status);
    }
    closedir(listing);
}

// Removes half-written files and locks of processes that died. Where files can't be locked, their age has to tell.
void remove_abandoned_files(int directory, std::string_view suffix) {
    for_each_file(directory, suffix, [&](const char* name, const struct stat& status) {
        const FileDescriptor file(openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
        const Lock lock = file ? try_lock(file) : Lock::unknown_here;
        const bool is_old = std::abs(status.st_mtim.tv_sec - std::time(nullptr)) > kStaleSeconds;
        // Another process may have removed the file since it was opened, and a third one holds what has its name now.
        if ((lock == Lock::taken && has_name(file, directory, name)) || (lock == Lock::unknown_here && is_old))
            unlinkat(directory, name, 0);
    });
}

void remove_abandoned_files(int directory) {
    remove_abandoned_files(directory, kTemporarySuffix);
    remove_abandoned_files(directory, kLockSuffix);
}

std::vector<StoredFile> stored_files(int directory) {
    std::vector<StoredFile> files;
    const std::int64_t now = std::time(nullptr);
    for_each_file(directory, kSuffix, [&](const char* name, const struct stat& status) {
        // A use in the future was noted by a clock that was ahead. It says nothing, and must not keep the file for years.
        const bool is_known = status.st_mtim.tv_sec <= now + kStaleSeconds;
        files.push_back({name, status.st_size, is_known ? status.st_mtim : timespec{}});
    });
    return files;
}

// Removes the least recently used kernels until the rest takes at most the limit; returns what is left.
std::int64_t evict(int directory, std::int64_t limit) {
    remove_abandoned_files(directory);
    std::vector<StoredFile> files = stored_files(directory);
    std::int64_t total = 0;
    for (const StoredFile& file : files) total += file.bytes;
    if (total <= limit) return total;
    std::sort(files.begin(), files.end(), [](const StoredFile& a, const StoredFile& b) {
        return std::pair(a.used.tv_sec, a.used.tv_nsec) < std::pair(b.used.tv_sec, b.used.tv_nsec);
    });
    // A tenth more than needed, so that the next stores need not scan again.
    for (const StoredFile& file : files) {
        if (total <= limit - limit / 10) break;
        if (unlinkat(directory, file.name.c_str(), 0) == 0 || errno == ENOENT) total -= file.bytes;
    }
    return total;
}

}  // namespace

struct KernelCache::State {
    std::mutex mutex;
    bool complained = false;
    // Bytes in the directory as far as this process knows; -1 where they are not counted yet.
    std::int64_t stored_bytes = -1;
    int stores_since_scan = 0;
    bool is_tidy = false;

    void complain(const std::filesystem::path& directory, const std::string& why) {
        const std::lock_guard lock(mutex);
        if (std::exchange(complained, true)) return;
        log_line(fmt::format("kernel cache {} is not used: {}", directory.string(), why));
    }

    // The directory, opened; nothing where it does not exist yet or is not to be trusted.
    std::optional<FileDescriptor> open_directory(const std::filesystem::path& path, bool create) {
        if (create) {
            if (const std::error_code error = make_private_directories(path)) {
                complain(path, fmt::format("it can't be made ({})", error.message()));
                return std::nullopt;
            }
        }
        FileDescriptor directory(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        if (!directory) {
            if (create || errno != ENOENT) complain(path, fmt::format("it can't be opened ({})", std::strerror(errno)));
            return std::nullopt;
        }
        struct stat status;
        if (fstat(directory.get(), &status) != 0 || !only_we_write(status)) {
            complain(path, "it belongs to somebody else or others may write to it; make it yours with mode 0700 or set TMM_CACHE_DIR");
            return std::nullopt;
        }
        // Who only reads waits for nothing.
        if (create) tidy_once(directory.get());
        return directory;
    }

private:
    void tidy_once(int directory) {
        {
            const std::lock_guard lock(mutex);
            if (std::exchange(is_tidy, true)) return;
        }
        remove_abandoned_files(directory);
    }
};

KernelCache::KernelCache(std::filesystem::path directory, std::int64_t limit_bytes, std::chrono::milliseconds patience)
    : directory_(directory.has_filename() ? std::move(directory) : directory.parent_path()),
      limit_bytes_(limit_bytes),
      patience_(patience),
      state_(std::make_shared<State>()) {}

std::optional<CompiledKernel> KernelCache::find(const KernelSource& source, const Compiler& compiler) const {
    const auto directory = state_->open_directory(directory_, false);
    if (!directory) return std::nullopt;
    return read_kernel(directory->get(), key_of(source, compiler));
}

bool KernelCache::store(const KernelSource& source, const Compiler& compiler, const CompiledKernel& kernel) const {
    if (kernel.image.empty()) return false;
    const Key key = key_of(source, compiler);
    const std::string content = encoded(key, kernel);
    const auto size = static_cast<std::int64_t>(content.size());
    if (size > std::min(limit_bytes_, kLargestFile)) return false;
    const auto directory = state_->open_directory(directory_, true);
    if (!directory) return false;

    {
        const NewFile temporary = new_locked_file(directory->get(), key);
        const int file = temporary.descriptor.get();
        // A umask may have taken this user's own rights.
        if (!temporary.descriptor || fchmod(file, 0600) != 0 || !write_all(file, content)) {
            state_->complain(directory_, fmt::format("it can't be written to ({})", std::strerror(errno)));
            unlinkat(directory->get(), temporary.name.c_str(), 0);
            return false;
        }
        if (renameat(directory->get(), temporary.name.c_str(), directory->get(), key.file_name().c_str()) != 0) {
            unlinkat(directory->get(), temporary.name.c_str(), 0);
            return false;
        }
    }

    const std::lock_guard lock(state_->mutex);
    State& state = *state_;
    if (state.stored_bytes >= 0) state.stored_bytes += size;
    if (state.stored_bytes < 0 || state.stored_bytes > limit_bytes_ || ++state.stores_since_scan >= kStoresBetweenScans) {
        state.stored_bytes = evict(directory->get(), limit_bytes_);
        state.stores_since_scan = 0;
    }
    return true;
}

CompileResult KernelCache::find_or_compile(const KernelSource& source, const Compiler& compiler) const {
    if (auto kernel = find(source, compiler)) return *std::move(kernel);
    const auto directory = state_->open_directory(directory_, true);
    if (!directory) return compiler.compile(source);
    const Key key = key_of(source, compiler);
    std::optional<CompiledKernel> stored;
    CompileLock turn(directory->get(), key.file_name() + std::string(kLockSuffix), patience_, [&] {
        stored = read_kernel(directory->get(), key);
        return stored.has_value();
    });
    if (stored) return *std::move(stored);
    bool is_stored = false;
    CompileResult result = compile_and_store(source, compiler, is_stored);
    if (!is_stored) turn.give_up();
    return result;
}

CompileResult KernelCache::compile_and_store(const KernelSource& source, const Compiler& compiler) const {
    bool is_stored = false;
    return compile_and_store(source, compiler, is_stored);
}

CompileResult KernelCache::compile_and_store(const KernelSource& source, const Compiler& compiler, bool& is_stored) const {
    CompileResult result = compiler.compile(source);
    const auto* const kernel = std::get_if<CompiledKernel>(&result);
    is_stored = kernel && store(source, compiler, *kernel);
    return result;
}

}  // namespace tmm
