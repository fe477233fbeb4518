// Damaged kernel caches: whatever was done to one, a product comes out right, soon, and nothing is touched that is not tmm's.
// A slice of the cases by default, 2,000 with TMM_TEST_FULL=1; TMM_TEST_SEED repeats a run.
#include <doctest/doctest.h>
#include <fmt/core.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/support/cache_damage.h"
#include "tests/support/kernels/correctness.h"
#include "tests/support/slice.h"
#include "tests/support/temporary_directory.h"
#include "tmm/tmm.h"

using namespace tmm::testing;
namespace fs = std::filesystem;

namespace {

constexpr std::size_t kCases = 2000;
constexpr std::size_t kSlices = 66;
// The limit is for a child that would wait for ever. A run takes a fraction of a second; a slow machine has two minutes.
constexpr unsigned kSecondsUntilHung = 120;

enum Verdict { right = 0, failed = 1, wrong_element = 2 };

// Small integers: every sum is exact, whatever its order.
Verdict multiply(tmmHandle_t handle, std::size_t m, std::size_t n, std::size_t k) {
    std::vector<float> a(m * k), b(k * n), c(m * n, -1.0f);
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i % 7) - 3.0f;
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(i % 5) - 2.0f;
    const float alpha = 1, beta = 0;
    if (tmmSgemm(handle, TMM_ROW_MAJOR, TMM_NO_TRANS, TMM_NO_TRANS, static_cast<std::int64_t>(m), static_cast<std::int64_t>(n),
                 static_cast<std::int64_t>(k), &alpha, a.data(), static_cast<std::int64_t>(k), b.data(), static_cast<std::int64_t>(n),
                 &beta, c.data(), static_cast<std::int64_t>(n)) != TMM_STATUS_SUCCESS)
        return failed;
    for (std::size_t i = 0; i < m; ++i)
        for (std::size_t j = 0; j < n; ++j) {
            float sum = 0;
            for (std::size_t l = 0; l < k; ++l) sum += a[i * k + l] * b[l * n + j];
            if (c[i * n + j] != sum) return wrong_element;
        }
    return right;
}

Verdict multiply_some(const fs::path& database) {
    tmmSetLogCallback([](const char*, void*) {}, nullptr);
    tmmHandle_t handle = nullptr;
    if (tmmCreate(&handle, TMM_DEVICE_HOST, database.c_str()) != TMM_STATUS_SUCCESS) return failed;
    Verdict verdict = right;
    for (const std::size_t m : {1, 16, 33})
        if (verdict == right) verdict = multiply(handle, m, 24, 20);
    tmmDestroy(handle);
    return verdict;
}

// A folder with a compiler that remembers, so that thousands of compilations take milliseconds each.
class Workshop {
public:
    Workshop() {
        fs::create_directory(path("remembered"));
        std::ofstream(path("compiler")) << "#!/bin/sh\n"
                                        << "case \"$*\" in --version) exec c++ --version ;; esac\n"
                                        << "for word; do [ \"$last\" = -o ] && out=$word; last=$word; done\n"
                                        << "echo x >>" << path("compiled").string() << "\n"
                                        << "known=" << path("remembered").string() << "/$(md5sum <\"$last\" | cut -c 1-32)\n"
                                        << "[ -f \"$known\" ] || { c++ \"$@\" && mv \"$out\" \"$known\" || exit 1; }\n"
                                        << "cp \"$known\" \"$out\"\n";
        fs::permissions(path("compiler"), fs::perms::owner_all);
    }
    fs::path path(const std::string& name) const { return folder_.path() / name; }

    // Runs in a process of its own, which may crash or hang, and says how that ended.
    std::string outcome(const fs::path& cache) const {
        const pid_t child = fork();
        REQUIRE(child >= 0);
        if (child == 0) {
            alarm(kSecondsUntilHung);
            setenv("TMM_CXX", path("compiler").c_str(), 1);
            setenv("TMM_CACHE_DIR", cache.c_str(), 1);
            _exit(multiply_some(path("none.db")));
        }
        int status = 0;
        REQUIRE(waitpid(child, &status, 0) == child);
        if (WIFSIGNALED(status)) return WTERMSIG(status) == SIGALRM ? "it hangs" : fmt::format("signal {}", WTERMSIG(status));
        switch (WEXITSTATUS(status)) {
            case right: return "right";
            case failed: return "an error";
            case wrong_element: return "a wrong element";
            default: return fmt::format("exit status {}", WEXITSTATUS(status));
        }
    }
    std::uintmax_t compilations() const { return fs::exists(path("compiled")) ? fs::file_size(path("compiled")) / 2 : 0; }

private:
    TemporaryDirectory folder_;
};

CacheUnderTest make_case(const Workshop& shop) {
    const CacheUnderTest place{.cache = shop.path("case/cache"), .foreign = shop.path("case/foreign")};
    fs::create_directories(place.foreign / "below");
    for (const char* name : {"text", "below/text"}) std::ofstream(place.foreign / name) << "nothing of tmm's: " << name;
    fs::copy(shop.path("sound"), place.cache);
    fs::permissions(place.cache, fs::perms::owner_all);
    return place;
}

void remove_case(const Workshop& shop) {
    std::error_code none;
    fs::permissions(shop.path("case/cache"), fs::perms::owner_all, none);
    fs::remove_all(shop.path("case"));
}

}  // namespace

TEST_CASE("damaged caches") {
    const Workshop shop;
    REQUIRE(shop.outcome(shop.path("sound")) == "right");
    const auto kernels = shop.compilations();
    REQUIRE(kernels >= 2);
    const auto seed = static_cast<std::uint64_t>(test_setting("SEED", 1));
    std::size_t tried = 0;
    for (std::size_t i = 0; i < kCases; ++i) {
        if (!in_slice(i / cache_damages().size(), kSlices)) continue;
        ++tried;
        const CacheDamage& damage = cache_damages()[i % cache_damages().size()];
        const std::string described = fmt::format("case {} ({}), TMM_TEST_SEED={}", i, damage.name, seed);
        CAPTURE(described);
        const CacheUnderTest place = make_case(shop);
        std::mt19937_64 random(seed * kCases + i);
        damage.apply(place, random);
        const std::string before = foreign_files(place);
        CHECK(shop.outcome(place.cache) == "right");
        CHECK(foreign_files(place) == before);
        const auto compiled = shop.compilations();
        CHECK(shop.outcome(place.cache) == "right");
        if (damage.heals) CHECK(shop.compilations() == compiled);
        CHECK(foreign_files(place) == before);
        remove_case(shop);
    }
    MESSAGE(tried << " damaged caches, seed " << seed);
}
