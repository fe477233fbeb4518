// Handlers of exit() and destructors of global objects may use the library, whether it was used before or not: all that it holds for the
// process outlives them.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>

#include "base/error.h"
#include "db/store/records.h"
#include "db/store/tuning_database.h"
#include "generator/compile/compiler.h"
#include "generator/kernel/kernel_source.h"
#include "generator/kernel/template_files.h"
#include "tests/support/temporary_directory.h"
#include "tmm/tmm.h"

namespace {

// The process does this when it ends: in a handler that was there before the library was used, or in a destructor that runs after those of
// the library's own objects would.
bool (*last_deed)() = nullptr;

void do_last_deed() {
    if (!last_deed) return;
    bool right = false;
    try {
        right = last_deed();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
    }
    std::fflush(stderr);
    _exit(right ? 0 : 1);
}

struct DestroyedLast {
    ~DestroyedLast() { do_last_deed(); }
} destroyed_last;

enum class When { handler, destructor };

// The status is 0 where the last deed came out right. Nothing of the library is used in this process, so that the child uses it for the
// first time.
int status_of_child(When when, bool (*before)(), bool (*deed)()) {
    std::fflush(nullptr);
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        if (when == When::handler) std::atexit(do_last_deed);
        if (before && !before()) _exit(2);
        last_deed = deed;
        std::exit(3);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

tmmHandle_t handle = nullptr;

bool multiplies(int n) {
    const float a[] = {1, 2, 3, 4, 5, 6, 7, 8, 9}, b[] = {2, 0, 0, 0, 2, 0, 0, 0, 2}, one = 1, zero = 0;
    float c[9] = {};
    if (tmmSgemm(handle, TMM_ROW_MAJOR, TMM_NO_TRANS, TMM_NO_TRANS, n, n, 3, &one, a, 3, b, 3, &zero, c, 3) != TMM_STATUS_SUCCESS)
        return false;
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j)
            if (c[i * 3 + j] != 2 * a[i * 3 + j]) return false;
    return true;
}

bool makes_handle() {
    return tmmCreate(&handle, TMM_DEVICE_HOST, "/nonexistent/tmm.db") == TMM_STATUS_SUCCESS;
}

bool is_told_of_a_failure() {
    if (tmmSgemm(handle, TMM_ROW_MAJOR, TMM_NO_TRANS, TMM_NO_TRANS, -1, 2, 2, nullptr, nullptr, 2, nullptr, 2, nullptr, nullptr, 2) ==
        TMM_STATUS_SUCCESS)
        return false;
    return std::strlen(tmmLastError(handle)) > 0;
}

bool opens_a_database() {
    const tmm::testing::TemporaryDirectory directory;
    tmm::TuningDatabase database(directory.path() / "tmm.db", tmm::TuningDatabase::Mode::read_write_create);
    return database.verify().empty() && database.insert(database.records()).measurements == 0 && !tmm::shipped_winners().empty();
}

bool compiles_for_a_gpu() {
    try {
        const auto compiler = tmm::make_nvrtc_compiler(80);
        return std::holds_alternative<tmm::CompiledKernel>(compiler->compile(tmm::make_verify_source()));
    } catch (const tmm::Error&) {
        // There is no NVRTC here, which it says.
        return true;
    }
}

bool reads_templates() {
    return !tmm::active_templates().empty();
}

struct Deed {
    const char* name;
    bool (*before)();
    bool (*last)();
};

}  // namespace

TEST_CASE("the library serves handlers of exit() and destructors of global objects") {
    const Deed deeds[] = {
        {"the first multiplication", [] { return makes_handle(); }, [] { return multiplies(2); }},
        {"another multiplication", [] { return makes_handle() && multiplies(2); }, [] { return multiplies(2); }},
        {"another problem", [] { return makes_handle() && multiplies(2); }, [] { return multiplies(3); }},
        {"everything", nullptr, [] { return makes_handle() && multiplies(3) && tmmDestroy(handle) == TMM_STATUS_SUCCESS; }},
        {"the end of a handle", [] { return makes_handle() && multiplies(2); }, [] { return tmmDestroy(handle) == TMM_STATUS_SUCCESS; }},
        {"a failure, and the sentence about it", [] { return makes_handle() && is_told_of_a_failure(); }, is_told_of_a_failure},
        {"a database", opens_a_database, opens_a_database},
        {"a kernel for a GPU", compiles_for_a_gpu, compiles_for_a_gpu},
        {"templates", reads_templates, reads_templates},
    };
    for (const Deed& deed : deeds)
        for (const When when : {When::handler, When::destructor}) {
            CAPTURE(deed.name);
            CAPTURE(static_cast<int>(when));
            CHECK(status_of_child(when, deed.before, deed.last) == 0);
        }
}
