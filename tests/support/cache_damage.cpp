#include "tests/support/cache_damage.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace tmm::testing {
namespace {

namespace fs = std::filesystem;
using Random = std::mt19937_64;

// The head of a stored kernel, as generator/compile/kernel_cache.cpp writes it.
constexpr std::size_t kHeaderBytes = 56;
constexpr std::size_t kLogBytesAt = 20;
constexpr std::size_t kImageBytesAt = 24;
constexpr std::size_t kChecksumAt = 48;

std::string read(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

void write(const fs::path& path, const std::string& content) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
    fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
}

std::size_t below(Random& random, std::size_t limit) {
    return limit == 0 ? 0 : random() % limit;
}

// All kernels that are stored, in the order of their names.
std::vector<fs::path> kernels(const CacheUnderTest& place) {
    std::vector<fs::path> found;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(place.cache))
        if (entry.path().extension() == ".kernel" && entry.is_regular_file(none) && entry.file_size(none) > kHeaderBytes)
            found.push_back(entry.path());
    std::sort(found.begin(), found.end());
    return found;
}

fs::path one(const CacheUnderTest& place, Random& random) {
    const auto all = kernels(place);
    if (all.empty()) throw std::logic_error("the cache that is to be damaged is empty");
    return all[below(random, all.size())];
}

std::string noise(Random& random, std::size_t bytes) {
    std::string text(bytes, '\0');
    for (char& c : text) c = static_cast<char>(random());
    return text;
}

// Changes the content of one kernel, or of all.
template <typename Change>
void change(const CacheUnderTest& place, Random& random, const Change& how) {
    auto files = kernels(place);
    if (random() % 2) files = {one(place, random)};
    for (const fs::path& file : files) {
        std::string content = read(file);
        how(content);
        write(file, content);
    }
}

void seal(std::string& content) {
    std::memset(content.data() + kChecksumAt, 0, 8);
    const std::uint64_t head = XXH3_64bits(content.data(), kHeaderBytes);
    const std::uint64_t sum = XXH3_64bits_withSeed(content.data() + kHeaderBytes, content.size() - kHeaderBytes, head);
    std::memcpy(content.data() + kChecksumAt, &sum, 8);
}

template <typename Number>
void add_to_field(std::string& content, std::size_t at, Number difference) {
    Number value;
    std::memcpy(&value, content.data() + at, sizeof value);
    value = static_cast<Number>(value + difference);
    std::memcpy(content.data() + at, &value, sizeof value);
}

void flip_bits(const CacheUnderTest& place, Random& random) {
    const std::size_t bits = std::size_t{1} << below(random, 8);
    change(place, random, [&](std::string& content) {
        for (std::size_t i = 0; i < bits; ++i) {
            // Half of them in the header, which is small.
            char& byte = content[below(random, random() % 2 ? kHeaderBytes : content.size())];
            byte = static_cast<char>(byte ^ (1 << below(random, 8)));
        }
    });
}

void cut_short(const CacheUnderTest& place, Random& random) {
    change(place, random, [&](std::string& content) { content.resize(below(random, random() % 2 ? kHeaderBytes + 2 : content.size())); });
}

void lengthen(const CacheUnderTest& place, Random& random) {
    change(place, random, [&](std::string& content) { content += noise(random, 1 + below(random, 5000)); });
}

void overwrite(const CacheUnderTest& place, Random& random) {
    change(place, random, [&](std::string& content) {
        const std::size_t first = below(random, content.size()), count = 1 + below(random, content.size() - first);
        // Lost blocks are zeros or ones, or hold what was there before.
        const auto kind = random() % 3;
        content.replace(first, count, kind == 0 ? std::string(count, '\0') : kind == 1 ? std::string(count, '\xff') : noise(random, count));
    });
}

// The checksum is right, and what it covers makes no sense.
void wrong_fields(const CacheUnderTest& place, Random& random) {
    change(place, random, [&](std::string& content) {
        const auto step = static_cast<std::uint32_t>(1 + below(random, 64));
        switch (below(random, 5)) {
            case 0: add_to_field<std::uint32_t>(content, kLogBytesAt, static_cast<std::uint32_t>(random())); break;
            case 1: add_to_field<std::uint64_t>(content, kImageBytesAt, random()); break;
            case 2: add_to_field<std::uint64_t>(content, kImageBytesAt, ~std::uint64_t{0} - below(random, 100)); break;
            case 3:
                // Together they are right, and the image begins within the log or ends after it.
                add_to_field<std::uint32_t>(content, kLogBytesAt, step);
                add_to_field<std::uint64_t>(content, kImageBytesAt, std::uint64_t{0} - step);
                break;
            default: content.replace(8, 4, noise(random, 4)); break;
        }
        seal(content);
    });
}

void other_image(const CacheUnderTest& place, Random& random) {
    change(place, random, [&](std::string& content) {
        const std::size_t image = below(random, 3) == 0 ? 0 : 1 + below(random, 4000);
        const std::uint32_t log = 0;
        const std::uint64_t bytes = image;
        content.resize(kHeaderBytes);
        content += noise(random, image);
        std::memcpy(content.data() + kLogBytesAt, &log, sizeof log);
        std::memcpy(content.data() + kImageBytesAt, &bytes, sizeof bytes);
        seal(content);
    });
}

void exchange(const CacheUnderTest& place, Random& random) {
    auto files = kernels(place);
    std::shuffle(files.begin(), files.end(), random);
    for (std::size_t i = 0; i + 1 < files.size(); i += 2) {
        fs::rename(files[i], place.cache / "between");
        fs::rename(files[i + 1], files[i]);
        fs::rename(place.cache / "between", files[i + 1]);
    }
}

void lose_files(const CacheUnderTest& place, Random& random) {
    for (const fs::path& file : kernels(place))
        if (random() % 2) fs::remove(file);
}

void make_socket(const fs::path& path) {
    const int made = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.native().size() < sizeof address.sun_path) {
        std::memcpy(address.sun_path, path.c_str(), path.native().size() + 1);
        (void)bind(made, reinterpret_cast<const sockaddr*>(&address), sizeof address);
    }
    close(made);
}

// Puts anything but a file of tmm's at the path.
void put_something_at(const fs::path& path, const CacheUnderTest& place, Random& random) {
    switch (below(random, 8)) {
        case 0: fs::create_directory(path); break;
        case 1: fs::create_directories(path / "below"), write(path / "below/file", "mine"); break;
        case 2: fs::create_symlink(place.foreign / "text", path); break;
        case 3: fs::create_symlink(path.filename(), path); break;
        case 4: (void)mkfifo(path.c_str(), 0600); break;
        case 5: make_socket(path); break;
        case 6: fs::create_hard_link(place.foreign / "text", path); break;
        default: fs::create_directory_symlink(place.foreign, path); break;
    }
}

void files_of_another_kind(const CacheUnderTest& place, Random& random) {
    for (const fs::path& file : kernels(place)) {
        if (random() % 3 == 0) continue;
        fs::remove(file);
        put_something_at(file, place, random);
    }
}

void locks_of_another_kind(const CacheUnderTest& place, Random& random) {
    for (const fs::path& file : kernels(place)) {
        fs::remove(file);
        const fs::path lock = file.string() + ".lock";
        if (random() % 3 == 0)
            write(lock, noise(random, below(random, 40)));
        else
            put_something_at(lock, place, random);
    }
}

void odd_modes(const CacheUnderTest& place, Random& random) {
    constexpr mode_t kModes[] = {0, 0200, 0400, 0666, 0777, 0602, 04755};
    for (const fs::path& file : kernels(place)) (void)chmod(file.c_str(), kModes[below(random, std::size(kModes))]);
}

void odd_times(const CacheUnderTest& place, Random& random) {
    constexpr time_t kTimes[] = {0, -1, -5'000'000'000, 4'102'444'800, 99'999'999'999};
    for (const fs::path& file : kernels(place)) {
        const timespec time{.tv_sec = kTimes[below(random, std::size(kTimes))], .tv_nsec = 0};
        const timespec both[2] = {time, time};
        (void)utimensat(AT_FDCWD, file.c_str(), both, 0);
    }
    flip_bits(place, random);
}

// Files that tmm may clear away, and files that only look like it.
void rubbish_beside(const CacheUnderTest& place, Random& random) {
    const std::string names[] = {"0123456789abcdef0123456789abcdef.kernel",
                                 "0123456789abcdef0123456789abcdef.kernel.1.00000000.0.new",
                                 "0123456789abcdef0123456789abcdef.kernel.lock",
                                 "notes.new",
                                 "x.kernel",
                                 "a.kernel.lock",
                                 ".new",
                                 ".lock",
                                 "-rf",
                                 "a\nb",
                                 "\xff\xfe",
                                 std::string(250, 'n'),
                                 "text"};
    for (const std::string& name : names) {
        if (random() % 2) continue;
        if (random() % 3 == 0)
            put_something_at(place.cache / name, place, random);
        else
            write(place.cache / name, noise(random, below(random, 3000)));
    }
    flip_bits(place, random);
}

void huge_and_many(const CacheUnderTest& place, Random& random) {
    const fs::path huge = random() % 2 ? one(place, random) : place.cache / "fedcba9876543210fedcba9876543210.kernel";
    write(huge, "x");
    fs::resize_file(huge, std::uintmax_t{1} << (30 + below(random, 10)));
    const std::size_t count = below(random, 200);
    for (std::size_t i = 0; i < count; ++i) write(place.cache / fmt::format("{:032x}.kernel", i), noise(random, 100));
}

void another_directory(const CacheUnderTest& place, Random& random) {
    const fs::path moved = place.cache.string() + "-moved";
    switch (below(random, 7)) {
        case 0: fs::permissions(place.cache, fs::perms::owner_read | fs::perms::owner_exec); break;
        case 1: fs::permissions(place.cache, fs::perms::all); break;
        case 2: fs::permissions(place.cache, fs::perms::none); break;
        case 3: fs::rename(place.cache, moved), fs::create_directory_symlink(moved, place.cache); break;
        case 4: fs::remove_all(place.cache), fs::create_symlink("missing", place.cache); break;
        case 5: fs::remove_all(place.cache), write(place.cache, "a file"); break;
        default: fs::remove_all(place.cache); break;
    }
}

std::string described(const fs::path& path) {
    struct stat status;
    if (lstat(path.c_str(), &status) != 0) return path.string() + " is gone\n";
    std::string text = fmt::format("{} {:o} {} {} {}.{:09}", path.string(), status.st_mode, status.st_uid, status.st_ino,
                                   status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
    if (S_ISLNK(status.st_mode)) text += " -> " + fs::read_symlink(path).string();
    if (S_ISREG(status.st_mode) && status.st_size < 100'000)
        text += fmt::format(" {:x}", XXH3_64bits(read(path).data(), read(path).size()));
    return text + "\n";
}

bool is_named_by_tmm(const std::string& name) {
    const auto consists_of = [](std::string_view text, std::string_view characters) {
        return !text.empty() && text.find_first_not_of(characters) == std::string_view::npos;
    };
    constexpr std::string_view digits = "0123456789", hexadecimal = "0123456789abcdef", published = ".kernel";
    std::string_view rest = name;
    if (!consists_of(rest.substr(0, 32), hexadecimal) || rest.substr(std::min<std::size_t>(32, rest.size()), published.size()) != published)
        return false;
    rest.remove_prefix(32 + published.size());
    if (rest.empty() || rest == ".lock") return true;
    // ".PROCESS.HASH.COUNT.new"
    std::vector<std::string_view> parts;
    while (!rest.empty() && rest.front() == '.') {
        rest.remove_prefix(1);
        parts.push_back(rest.substr(0, rest.find('.')));
        rest.remove_prefix(parts.back().size());
    }
    return parts.size() == 4 && consists_of(parts[0], digits) && parts[1].size() == 8 && consists_of(parts[1], hexadecimal) &&
           consists_of(parts[2], digits) && parts[3] == "new";
}

}  // namespace

const std::vector<CacheDamage>& cache_damages() {
    static const auto& all = *new std::vector<CacheDamage>{
        {"flipped bits", flip_bits},
        {"a file cut short", cut_short},
        {"a file with more behind it", lengthen},
        {"bytes written over", overwrite},
        {"fields that make no sense", wrong_fields},
        {"an image that is none", other_image},
        {"kernels under each other's names", exchange},
        {"files that are missing", lose_files},
        {"files of another kind", files_of_another_kind, false},
        {"locks of another kind", locks_of_another_kind},
        {"odd modes", odd_modes},
        {"odd times", odd_times},
        {"rubbish beside", rubbish_beside},
        {"huge files, and many", huge_and_many},
        {"another directory", another_directory, false},
    };
    return all;
}

std::string foreign_files(const CacheUnderTest& place) {
    std::vector<fs::path> paths;
    for (const auto& entry : fs::recursive_directory_iterator(place.foreign)) paths.push_back(entry.path());
    std::error_code unreadable;
    for (auto entry = fs::recursive_directory_iterator(place.cache, unreadable); !unreadable && entry != fs::recursive_directory_iterator();
         entry.increment(unreadable)) {
        // A file with the name and kind of one of tmm's is tmm's own; a hard link to a foreign file is seen in the other folder.
        if (entry.depth() > 0 || !is_named_by_tmm(entry->path().filename().string())) paths.push_back(entry->path());
    }
    std::sort(paths.begin(), paths.end());
    std::string text;
    for (const fs::path& path : paths) text += described(path);
    return text;
}

}  // namespace tmm::testing
