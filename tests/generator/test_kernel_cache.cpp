// The kernel cache: hits, damage, eviction, directories that are not to be trusted, many processes at once.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xxhash.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "base/log.h"
#include "generator/compile/kernel_cache.h"

using namespace tmm;
namespace fs = std::filesystem;

namespace {

// "Compiles" a source to an image that only this source has.
class TextCompiler : public Compiler {
public:
    explicit TextCompiler(std::string identity = "text 1", std::size_t bytes = 4000) : identity_(std::move(identity)), bytes_(bytes) {}

    CompileResult compile(const KernelSource& source) const override {
        ++compiled;
        if (source.text.find("fault") != std::string::npos) return CompileFailure{"a fault"};
        return image_of(source);
    }
    std::string identity() const override { return identity_; }

    CompiledKernel image_of(const KernelSource& source) const {
        CompiledKernel kernel{.image = {}, .registers = 40, .spill_bytes = 8, .log = "remark about " + source.name};
        while (kernel.image.size() < bytes_)
            for (const char c : identity_ + source.text) kernel.image.push_back(static_cast<std::byte>(c));
        kernel.image.resize(bytes_);
        return kernel;
    }

    mutable int compiled = 0;

private:
    std::string identity_;
    std::size_t bytes_;
};

KernelSource source(int number) {
    return {.name = fmt::format("k{}", number), .text = fmt::format("kernel {};\n", number), .entries = {}};
}

bool same(const std::optional<CompiledKernel>& found, const CompiledKernel& kernel) {
    return found && found->image == kernel.image && found->registers == kernel.registers && found->spill_bytes == kernel.spill_bytes &&
           found->log == kernel.log;
}

// A directory for one test, which takes its content along.
class Scratch {
public:
    Scratch() : path_(fs::temp_directory_path() / fmt::format("tmm-cache-{}-{}", getpid(), next_++)) {
        fs::remove_all(path_);
        fs::create_directories(path_);
    }
    ~Scratch() {
        std::error_code error;
        fs::remove_all(path_, error);
    }
    fs::path operator/(const char* name) const { return path_ / name; }

private:
    static inline int next_ = 0;
    fs::path path_;
};

std::vector<fs::path> files_in(const fs::path& directory) {
    return {fs::directory_iterator(directory), fs::directory_iterator{}};
}

std::string read(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

void write(const fs::path& path, const std::string& content) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
}

std::int64_t bytes_in(const fs::path& directory) {
    std::int64_t total = 0;
    for (const fs::path& file : files_in(directory)) total += static_cast<std::int64_t>(fs::file_size(file));
    return total;
}

class LogCapture {
public:
    LogCapture() {
        set_log_sink([this](const std::string& line) { lines.push_back(line); });
    }
    ~LogCapture() { set_log_sink({}); }
    std::vector<std::string> lines;
};

}  // namespace

TEST_CASE("what was stored is found, by another cache too, and nothing else is") {
    const Scratch scratch;
    const KernelCache cache(scratch / "below/cache");
    const TextCompiler compiler;
    CHECK_FALSE(cache.find(source(1), compiler));
    CHECK_FALSE(fs::exists(scratch / "below"));

    cache.store(source(1), compiler, compiler.image_of(source(1)));
    CHECK(same(cache.find(source(1), compiler), compiler.image_of(source(1))));
    CHECK(same(KernelCache(scratch / "below/cache").find(source(1), compiler), compiler.image_of(source(1))));
    CHECK_FALSE(cache.find(source(2), compiler));
    CHECK_FALSE(cache.find(source(1), TextCompiler("text 2")));

    struct stat status;
    REQUIRE(stat((scratch / "below/cache").c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0700);
    REQUIRE(files_in(scratch / "below/cache").size() == 1);
}

TEST_CASE("find_or_compile compiles once; a failure is not kept") {
    const Scratch scratch;
    const KernelCache cache(scratch / "cache");
    const TextCompiler compiler;
    for (int i = 0; i < 3; ++i) CHECK(std::holds_alternative<CompiledKernel>(cache.find_or_compile(source(1), compiler)));
    CHECK(compiler.compiled == 1);
    const KernelSource faulty{.name = "f", .text = "fault\n", .entries = {}};
    for (int i = 0; i < 2; ++i) CHECK(std::holds_alternative<CompileFailure>(cache.find_or_compile(faulty, compiler)));
    CHECK(compiler.compiled == 3);
    CHECK(files_in(scratch / "cache").size() == 1);
}

TEST_CASE("a damaged file is a miss, and is replaced") {
    const Scratch scratch;
    const KernelCache cache(scratch / "cache");
    const TextCompiler compiler("text 1", 200);
    const CompiledKernel kernel = compiler.image_of(source(1));
    cache.store(source(1), compiler, kernel);
    const fs::path file = files_in(scratch / "cache").at(0);
    const std::string good = read(file);

    int accepted = 0;
    for (std::size_t i = 0; i < good.size(); ++i) {
        std::string bad = good;
        bad[i] = static_cast<char>(bad[i] ^ 0x10);
        write(file, bad);
        accepted += cache.find(source(1), compiler).has_value();
    }
    for (std::size_t size = 0; size < good.size(); ++size) {
        write(file, good.substr(0, size));
        accepted += cache.find(source(1), compiler).has_value();
    }
    write(file, good + "x");
    accepted += cache.find(source(1), compiler).has_value();
    CHECK(accepted == 0);

    // The damaged file is another kernel's under this kernel's name.
    const Scratch other;
    const KernelCache other_cache(other / "cache");
    other_cache.store(source(2), compiler, compiler.image_of(source(2)));
    fs::copy_file(files_in(other / "cache").at(0), file, fs::copy_options::overwrite_existing);
    CHECK_FALSE(cache.find(source(1), compiler));

    CHECK(std::holds_alternative<CompiledKernel>(cache.find_or_compile(source(1), compiler)));
    CHECK(compiler.compiled == 1);
    CHECK(same(cache.find(source(1), compiler), kernel));
}

TEST_CASE("things that are no files of ours are not read") {
    const Scratch scratch;
    const KernelCache cache(scratch / "cache");
    const TextCompiler compiler;
    cache.store(source(1), compiler, compiler.image_of(source(1)));
    const fs::path file = files_in(scratch / "cache").at(0);

    fs::rename(file, scratch / "elsewhere");
    fs::create_symlink(scratch / "elsewhere", file);
    CHECK_FALSE(cache.find(source(1), compiler));
    fs::remove(file);
    REQUIRE(mkfifo(file.c_str(), 0600) == 0);
    CHECK_FALSE(cache.find(source(1), compiler));
    fs::remove(file);
    fs::create_directory(file);
    CHECK_FALSE(cache.find(source(1), compiler));
    fs::remove(file);

    fs::copy_file(scratch / "elsewhere", file);
    CHECK(cache.find(source(1), compiler));
    fs::permissions(file, fs::perms::others_write, fs::perm_options::add);
    CHECK_FALSE(cache.find(source(1), compiler));
}

TEST_CASE("a directory that others may write to, or that can't be made, is not used, and the log says so once") {
    const TextCompiler compiler;
    const auto check_unused = [&](const fs::path& directory, const char* reason) {
        CAPTURE(directory.string());
        LogCapture log;
        const KernelCache cache(directory);
        for (int i = 0; i < 3; ++i) {
            CHECK_FALSE(cache.find(source(1), compiler));
            cache.store(source(1), compiler, compiler.image_of(source(1)));
        }
        CHECK(std::holds_alternative<CompiledKernel>(cache.find_or_compile(source(1), compiler)));
        REQUIRE(log.lines.size() == 1);
        CHECK_MESSAGE(log.lines[0].find(reason) != std::string::npos, log.lines[0]);
        CHECK(log.lines[0].find(directory.string()) != std::string::npos);
    };
    const Scratch scratch;
    fs::create_directory(scratch / "open");
    fs::permissions(scratch / "open", fs::perms::all);
    check_unused(scratch / "open", "others may write");
    CHECK(files_in(scratch / "open").empty());

    write(scratch / "file", "no directory");
    check_unused(scratch / "file", "can't be opened");
    check_unused("/proc/tmm-cache", "can't be made");

    if (geteuid() == 0) {
        fs::create_directory(scratch / "foreign");
        fs::permissions(scratch / "foreign", fs::perms::owner_all);
        REQUIRE(chown((scratch / "foreign").c_str(), 65534, 65534) == 0);
        check_unused(scratch / "foreign", "belongs to somebody else");
    }
}

TEST_CASE("the least recently used kernels go when the limit is reached") {
    const Scratch scratch;
    constexpr std::int64_t kLimit = 50'000;
    const TextCompiler compiler("text 1", 4000);
    const KernelCache cache(scratch / "cache", kLimit);
    for (int i = 0; i < 10; ++i) cache.store(source(i), compiler, compiler.image_of(source(i)));
    // All kernels have been used an hour ago, except kernel 3.
    for (const fs::path& file : files_in(scratch / "cache"))
        fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::hours(1));
    CHECK(cache.find(source(3), compiler));
    for (int i = 10; i < 15; ++i) cache.store(source(i), compiler, compiler.image_of(source(i)));
    CHECK(bytes_in(scratch / "cache") <= kLimit);
    CHECK(cache.find(source(3), compiler));
    CHECK(cache.find(source(14), compiler));
    int left = 0;
    for (int i = 0; i < 10; ++i) left += cache.find(source(i), compiler).has_value();
    CHECK(left < 10);

    // Other processes' kernels count, whoever stores next.
    const KernelCache small(scratch / "cache", 10'000);
    small.store(source(99), compiler, compiler.image_of(source(99)));
    CHECK(bytes_in(scratch / "cache") <= 10'000);
    CHECK(small.find(source(99), compiler));
    // A kernel that would not fit is not stored.
    const TextCompiler large("text 1", 20'000);
    small.store(source(100), large, large.image_of(source(100)));
    CHECK_FALSE(small.find(source(100), large));
    CHECK(small.find(source(99), compiler));
}

TEST_CASE("kernels that were used while the clock was ahead go before those used since") {
    const Scratch scratch;
    constexpr std::int64_t kLimit = 50'000;
    const TextCompiler compiler("text 1", 4000);
    const KernelCache cache(scratch / "cache", kLimit);
    for (int i = 0; i < 10; ++i) cache.store(source(i), compiler, compiler.image_of(source(i)));
    write(scratch / "cache/0123456789abcdef0123456789abcdef.kernel.1.2.3.new", "half");
    for (const fs::path& file : files_in(scratch / "cache"))
        fs::last_write_time(file, fs::file_time_type::clock::now() + std::chrono::hours(24 * 365 * 30));
    for (int i = 10; i < 15; ++i) cache.store(source(i), compiler, compiler.image_of(source(i)));
    for (int i = 10; i < 15; ++i) CHECK(cache.find(source(i), compiler));
    CHECK(bytes_in(scratch / "cache") <= kLimit);
    CHECK_FALSE(fs::exists(scratch / "cache/0123456789abcdef0123456789abcdef.kernel.1.2.3.new"));
}

TEST_CASE("half-written files of dead processes are cleared away by who next makes a kernel, those of living ones and others are not") {
    const Scratch scratch;
    const TextCompiler compiler;
    KernelCache(scratch / "cache").store(source(1), compiler, compiler.image_of(source(1)));
    const fs::path dead = scratch / "cache/0123456789abcdef0123456789abcdef.kernel.1.2.3.new";
    const fs::path living = scratch / "cache/4567456745674567456745674567aaaa.kernel.1.2.3.new";
    const fs::path foreign = scratch / "cache/notes.txt";
    for (const fs::path& file : {dead, living, foreign}) write(file, "half");
    const auto long_ago = fs::file_time_type::clock::now() - std::chrono::hours(2);
    for (const fs::path& file : {living, foreign}) fs::last_write_time(file, long_ago);
    const int held = open(living.c_str(), O_WRONLY | O_CLOEXEC);
    REQUIRE(flock(held, LOCK_EX | LOCK_NB) == 0);
    SUBCASE("one that looks for a kernel that is missing") {
        // A look at one that is there waits for no directory to be read.
        CHECK(std::holds_alternative<CompiledKernel>(KernelCache(scratch / "cache").find_or_compile(source(1), compiler)));
        CHECK(fs::exists(dead));
        CHECK(std::holds_alternative<CompiledKernel>(KernelCache(scratch / "cache").find_or_compile(source(2), compiler)));
    }
    SUBCASE("one that stores a kernel") {
        KernelCache(scratch / "cache").store(source(2), compiler, compiler.image_of(source(2)));
    }
    CHECK_FALSE(fs::exists(dead));
    CHECK(fs::exists(living));
    CHECK(fs::exists(foreign));
    close(held);
}

TEST_CASE("an empty image is neither stored nor taken for a kernel") {
    const Scratch scratch;
    const TextCompiler empty("text 1", 0);
    const KernelCache cache(scratch / "cache");
    cache.store(source(1), empty, empty.image_of(source(1)));
    CHECK_FALSE(fs::exists(scratch / "cache"));

    // An earlier tmm kept kernels like this: a whole file by its checksum.
    const TextCompiler compiler("text 1", 100);
    cache.store(source(1), compiler, compiler.image_of(source(1)));
    const fs::path file = files_in(scratch / "cache").at(0);
    std::string content = read(file);
    const std::uint64_t none = 0;
    content.resize(content.size() - 100);
    std::memcpy(content.data() + 24, &none, sizeof none);
    std::memcpy(content.data() + 48, &none, sizeof none);
    const std::uint64_t checksum = XXH3_64bits_withSeed(content.data() + 56, content.size() - 56, XXH3_64bits(content.data(), 56));
    std::memcpy(content.data() + 48, &checksum, sizeof checksum);
    write(file, content);
    CHECK_FALSE(cache.find(source(1), compiler));
    CHECK(std::holds_alternative<CompiledKernel>(cache.find_or_compile(source(1), compiler)));
    CHECK(same(cache.find(source(1), compiler), compiler.image_of(source(1))));
}

TEST_CASE("a umask that leaves the user nothing spoils no file") {
    const Scratch scratch;
    const TextCompiler compiler;
    const mode_t before = umask(0777);
    const KernelCache cache(scratch / "cache");
    cache.store(source(1), compiler, compiler.image_of(source(1)));
    umask(before);
    struct stat status;
    REQUIRE(stat((scratch / "cache").c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0700);
    REQUIRE(stat(files_in(scratch / "cache").at(0).c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0600);
}

TEST_CASE("the log names the cause that a person can act on, also where it lies above the directory") {
    const auto complaint = [](const fs::path& directory) {
        LogCapture log;
        const TextCompiler compiler;
        KernelCache(directory).store(source(1), compiler, compiler.image_of(source(1)));
        REQUIRE(log.lines.size() == 1);
        return log.lines[0];
    };
    const Scratch scratch;
    write(scratch / "file", "no directory");
    CHECK_MESSAGE(complaint(scratch / "file/below/cache").find("Not a directory") != std::string::npos,
                  complaint(scratch / "file/below/cache"));
    const std::string long_name(300, 'a');
    CHECK(complaint(scratch / (long_name + "/cache").c_str()).find("File name too long") != std::string::npos);
    if (geteuid() != 0) return;
    fs::create_directory(scratch / "closed");
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        if (setresuid(65534, 65534, 65534) != 0) _exit(2);
        _exit(complaint(scratch / "closed/below/cache").find("Permission denied") != std::string::npos ? 0 : 1);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
}

TEST_CASE("many processes at once, some of them killed, see whole kernels or none") {
    const Scratch scratch;
    constexpr int kProcesses = 6;
    constexpr int kKernels = 24;
    const TextCompiler compiler("text 1", 20'000);
    const auto work = [&](unsigned seed, bool forever) {
        // A limit that keeps evicting.
        const KernelCache cache(scratch / "cache", 300'000);
        std::mt19937 random(seed);
        for (int i = 0; forever || i < 300; ++i) {
            const KernelSource wanted = source(static_cast<int>(random() % kKernels));
            const CompileResult result = cache.find_or_compile(wanted, compiler);
            const auto* kernel = std::get_if<CompiledKernel>(&result);
            if (!kernel || !same(*kernel, compiler.image_of(wanted))) _exit(1);
        }
        _exit(0);
    };
    std::vector<pid_t> workers;
    for (int i = 0; i < kProcesses; ++i) {
        const pid_t child = fork();
        REQUIRE(child >= 0);
        if (child == 0) work(static_cast<unsigned>(i), i >= kProcesses - 2);
        workers.push_back(child);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    for (int i = 0; i < kProcesses; ++i) {
        const bool killed = i >= kProcesses - 2;
        if (killed) kill(workers[static_cast<std::size_t>(i)], SIGKILL);
        int status = 0;
        REQUIRE(waitpid(workers[static_cast<std::size_t>(i)], &status, 0) == workers[static_cast<std::size_t>(i)]);
        if (!killed) CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
    }
    const KernelCache cache(scratch / "cache");
    int held = 0;
    for (int i = 0; i < kKernels; ++i) {
        const auto found = cache.find(source(i), compiler);
        held += found.has_value();
        if (found) CHECK(same(found, compiler.image_of(source(i))));
    }
    CHECK(held > 0);
}

TEST_CASE("many threads share one cache") {
    const Scratch scratch;
    const KernelCache cache(scratch / "cache", 100'000);
    std::atomic<int> wrong = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&, t] {
            const TextCompiler compiler("text 1", 8'000);
            for (int i = 0; i < 200; ++i) {
                const KernelSource wanted = source((i * 7 + t) % 20);
                const CompileResult result = cache.find_or_compile(wanted, compiler);
                if (!same(std::get<CompiledKernel>(result), compiler.image_of(wanted))) ++wrong;
            }
        });
    for (std::thread& thread : threads) thread.join();
    CHECK(wrong == 0);
    CHECK(bytes_in(scratch / "cache") <= 100'000);
}
