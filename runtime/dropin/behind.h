// The functions that a stand-in library hides from the programs that load it first.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <tuple>

#include "runtime/dropin/snapshot.h"

namespace tmm::dropin {

// The names of functions that are looked up together; behind the last one nulls.
using Names = std::array<const char*, 4>;

// A function behind, and others of its library, each null where there is none.
struct Behind {
    void* function = nullptr;
    std::array<void*, std::tuple_size_v<Names>> others{};
};

// Whether both are in the program, or in the same library.
bool in_one_object(const void* address, const void* other) noexcept;

// An object of the process: the program or a shared library.
struct LoadedObject {
    const void* map = nullptr;
    const void* begin = nullptr;
    const void* end = nullptr;
    const void* dynamic = nullptr;

    friend bool operator==(const LoadedObject&, const LoadedObject&) = default;
};

// What stands behind one function of this library, for each of its callers: what the caller would have found had this library not been
// loaded. Libraries may be closed and others take their addresses, so nothing that was found is called before it is seen to be still there.
// Takes no lock that a forked child could find locked for ever. Thread-safe; never throws; lives in static memory.
class NextSymbol {
public:
    // others: found with the function. libraries: are opened where none of the process has the function.
    constexpr NextSymbol(const char* name, const Names& others, const Names& libraries)
        : name_(name), others_(others), libraries_(libraries) {}

    // Looks among what the program was started with, which is never closed. While the library is loaded.
    void look_among_first() noexcept;
    // Whether what stands behind for the caller was found before, and is still there.
    bool knows(const void* caller, Behind& behind) const noexcept;
    // The function is null where there is none.
    Behind look_up(const void* caller) noexcept;
    // The function calls this library back: it is not found again.
    void exclude(const Behind& behind) noexcept;

private:
    // What was found for the callers in one object.
    struct Found {
        LoadedObject caller;
        LoadedObject object;
        const void* symbol = nullptr;
        const char* symbol_name = nullptr;
        std::uintptr_t exclusions = 0;
        Behind behind;
    };
    struct Excluded {
        LoadedObject object;
        void* function = nullptr;
    };

    bool is_still_there(const Found& found) const noexcept;
    bool is_excluded(void* function) const noexcept;
    void* usable(void* function) const noexcept;
    void* function_in(const char* library, int flags) const noexcept;
    void* function_of_any_library() const noexcept;
    void* function_for(const LoadedObject& caller) noexcept;
    void add_others(Behind& behind) const noexcept;
    Found found_for(const LoadedObject& caller) noexcept;

    const char* const name_;
    const Names others_;
    const Names libraries_;
    Snapshot<Behind> first_{};
    std::array<Snapshot<Found>, 8> found_{};
    std::atomic<unsigned> next_place_ = 0;
    std::array<Snapshot<Excluded>, 4> excluded_{};
    std::atomic<std::uintptr_t> exclusions_ = 0;
    // None of the libraries can be opened: they are not looked for again.
    std::atomic<bool> has_no_library_ = false;
};

}  // namespace tmm::dropin
