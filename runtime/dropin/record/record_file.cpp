#include "runtime/dropin/record/record_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <new>
#include <utility>

#include "runtime/dropin/log.h"
#include "runtime/dropin/record/record_text.h"

namespace tmm::dropin {
namespace {

constexpr int kOpenFlags = O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK;

// malloc() may be interrupted by a signal, and must not be called in its handler then.
class Pages : public std::pmr::memory_resource {
    void* do_allocate(std::size_t bytes, std::size_t) override {
        void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) throw std::bad_alloc();
        return memory;
    }
    void do_deallocate(void* memory, std::size_t bytes, std::size_t) override { munmap(memory, bytes); }
    bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }
};

class Descriptor {
public:
    explicit Descriptor(int number = -1) : number_(number) {}
    Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        std::swap(number_, other.number_);
        return *this;
    }
    ~Descriptor() {
        const int errno_before = errno;
        if (number_ >= 0) close(number_);
        errno = errno_before;
    }
    int get() const { return number_; }
    explicit operator bool() const { return number_ >= 0; }

private:
    int number_;
};

// A lock of the open file: libraries of one process keep each other out, too. Where the file system has no locks, there is none. False
// where another has it for too long.
bool lock(int file) noexcept {
    struct flock whole {};
    whole.l_type = F_WRLCK;
    for (int waited_ms = 0; waited_ms < 2000; ++waited_ms) {
        if (fcntl(file, F_OFD_SETLK, &whole) == 0) return true;
        if (errno != EACCES && errno != EAGAIN && errno != EINTR) return true;
        const timespec millisecond{.tv_sec = 0, .tv_nsec = 1'000'000};
        nanosleep(&millisecond, nullptr);
    }
    errno = EAGAIN;
    return false;
}

// The file of that name, locked; who had it before may have put another in its place.
Descriptor open_locked(const char* path, struct stat& status) noexcept {
    for (int attempt = 0; attempt < 1000; ++attempt) {
        Descriptor file(open(path, O_RDWR | O_CREAT | kOpenFlags, 0600));
        if (!file || !lock(file.get()) || fstat(file.get(), &status) != 0) return Descriptor();
        if (!S_ISREG(status.st_mode)) {
            errno = EINVAL;
            return Descriptor();
        }
        struct stat named;
        if (stat(path, &named) == 0 && named.st_dev == status.st_dev && named.st_ino == status.st_ino) return file;
    }
    errno = EAGAIN;
    return Descriptor();
}

bool read_all(int file, std::pmr::string& content) {
    for (;;) {
        char part[4096];
        const ssize_t count = read(file, part, sizeof part);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return count == 0;
        content.append(part, static_cast<std::size_t>(count));
    }
}

// It is written beside and renamed, so that a process that is killed leaves the file whole.
bool replace(const std::pmr::string& path, const struct stat& before, const std::pmr::string& content) {
    unsigned long long number = 0;
    if (getrandom(&number, sizeof number, 0) != sizeof number) return false;
    char digits[16];
    const auto length = static_cast<std::size_t>(std::to_chars(std::begin(digits), std::end(digits), number, 16).ptr - digits);
    std::pmr::string beside(path, path.get_allocator());
    beside.append(".").append(digits, length).append(".new");
    const Descriptor file(open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | kOpenFlags, 0600));
    if (!file) return false;
    if (write_all(file.get(), content.data(), content.size()) && fchmod(file.get(), before.st_mode & 0777) == 0 &&
        rename(beside.c_str(), path.c_str()) == 0)
        return true;
    const int reason = errno;
    unlink(beside.c_str());
    errno = reason;
    return false;
}

// Another user's file stays theirs.
bool write_over(int file, const std::pmr::string& content) {
    return lseek(file, 0, SEEK_SET) == 0 && write_all(file, content.data(), content.size()) &&
           ftruncate(file, static_cast<off_t>(content.size())) == 0;
}

}  // namespace

std::pmr::string RecordFile::expanded(std::pmr::memory_resource& memory) const {
    char digits[16];
    const auto length = static_cast<std::size_t>(std::to_chars(std::begin(digits), std::end(digits), getpid()).ptr - digits);
    std::pmr::string path(&memory);
    for (std::size_t at = 0; at < path_.size(); ++at) {
        if (path_.compare(at, 2, "%p") == 0) {
            path.append(digits, length);
            ++at;
        } else {
            path += path_[at];
        }
    }
    return path;
}

std::string RecordFile::complaint() const {
    const std::string path(expanded(*std::pmr::new_delete_resource()));
    const auto because = [&](const char* reason) { return "TMM_RECORD=" + path + " can't be written: " + reason; };
    const std::string folder = path.substr(0, path.rfind('/') + 1);
    struct stat status;
    if (stat(folder.c_str(), &status) != 0 || access(folder.c_str(), W_OK | X_OK) != 0) return because(std::strerror(errno));
    if (lstat(path.c_str(), &status) != 0) return errno == ENOENT ? std::string() : because(std::strerror(errno));
    if (!S_ISREG(status.st_mode)) return because("it is no plain file");
    const Descriptor file(open(path.c_str(), O_RDONLY | kOpenFlags));
    if (!file || access(path.c_str(), W_OK) != 0) return because(std::strerror(errno));
    char beginning[4096];
    const ssize_t size = read(file.get(), beginning, sizeof beginning);
    if (size > 0 && !looks_like_shapes({beginning, static_cast<std::size_t>(size)}))
        return because("it holds something else than shapes, which stays; name another file");
    return {};
}

bool RecordFile::add(CallCounts& counts) const noexcept {
    Pages pages;
    std::pmr::monotonic_buffer_resource memory(1 << 16, &pages);
    std::pmr::vector<std::pair<CallCounts::Shape*, Calls>> taken(&memory);
    try {
        const std::pmr::string path = expanded(memory);
        struct stat status;
        const Descriptor file = open_locked(path.c_str(), status);
        if (!file) return false;
        std::pmr::string content(&memory);
        RecordText record(memory);
        if (!read_all(file.get(), content)) return false;
        if (!record.read(content)) {
            errno = EINVAL;
            return false;
        }
        counts.take_pending([&](CallCounts::Shape& shape, const Calls& calls) {
            taken.emplace_back(&shape, calls);
            record.add(shape.text, calls);
        });
        const std::pmr::string text = record.text();
        if (text == content || (status.st_uid == geteuid() ? replace(path, status, text) : write_over(file.get(), text))) return true;
    } catch (const std::bad_alloc&) {
        errno = ENOMEM;
    }
    for (const auto& [shape, calls] : taken) counts.give_back(*shape, calls);
    return false;
}

}  // namespace tmm::dropin
