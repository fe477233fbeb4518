#include "runtime/dropin/behind.h"

#include <dlfcn.h>
#include <link.h>

#include <cstring>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "runtime/dropin/process.h"

namespace tmm::dropin {
namespace {

// Nothing where the address is in no object, such as in code that the program has made at run time. Takes no lock.
LoadedObject object_of(const void* address) noexcept {
    dl_find_object found;
    if (!address || _dl_find_object(const_cast<void*>(address), &found) != 0) return {};
    return {.map = found.dlfo_link_map, .begin = found.dlfo_map_start, .end = found.dlfo_map_end, .dynamic = found.dlfo_link_map->l_ld};
}

const link_map& map_of(const LoadedObject& object) {
    return *static_cast<const link_map*>(object.map);
}

bool is_of_this_library(const void* address) noexcept {
    static constexpr char kHere = 0;
    return object_of(address).map == object_of(&kHere).map;
}

// A library that is kept open for a moment.
class OpenLibrary {
public:
    // The program itself has no name. flags: RTLD_NOLOAD opens what is loaded alone.
    OpenLibrary(const char* name, int flags) noexcept : handle_(dlopen(name && *name ? name : nullptr, RTLD_LAZY | RTLD_LOCAL | flags)) {}
    OpenLibrary(const OpenLibrary&) = delete;
    OpenLibrary& operator=(const OpenLibrary&) = delete;
    ~OpenLibrary() {
        if (handle_) dlclose(handle_);
    }
    void* get() const { return handle_; }
    void* release() { return std::exchange(handle_, nullptr); }

private:
    void* handle_;
};

// Walking the list of objects is safe where no other thread opens or closes one, as in a forked child, and asking for it where no thread
// was asking when the process was forked.
std::vector<std::string> loaded_libraries() {
    std::vector<std::string> names;
    if (process_number() != 1) {
        for (const link_map* map = _r_debug.r_map; map; map = map->l_next)
            if (map->l_name && *map->l_name) names.emplace_back(map->l_name);
        return names;
    }
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* into) {
            if (info->dlpi_name && *info->dlpi_name) static_cast<std::vector<std::string>*>(into)->emplace_back(info->dlpi_name);
            return 0;
        },
        &names);
    return names;
}

// A lookup that fails leaves a message, which the program might take for one of its own.
class NoMessage {
public:
    NoMessage() = default;
    NoMessage(const NoMessage&) = delete;
    NoMessage& operator=(const NoMessage&) = delete;
    ~NoMessage() { dlerror(); }
};

}  // namespace

bool in_one_object(const void* address, const void* other) noexcept {
    return object_of(address) == object_of(other);
}

void NextSymbol::look_among_first() noexcept {
    const NoMessage no_message;
    Behind first{.function = usable(dlsym(RTLD_NEXT, name_))};
    if (!first.function) return;
    add_others(first);
    first_.replace(first);
}

bool NextSymbol::knows(const void* caller, Behind& behind) const noexcept {
    if (first_.read(behind) && behind.function) return true;
    const LoadedObject from = object_of(caller);
    for (const Snapshot<Found>& place : found_) {
        Found known;
        if (!place.read(known) || known.caller != from || !is_still_there(known)) continue;
        behind = known.behind;
        return true;
    }
    return false;
}

Behind NextSymbol::look_up(const void* caller) noexcept {
    const Found found = found_for(object_of(caller));
    // It takes the place of one that is gone, or of any.
    std::size_t place = 0;
    while (place < found_.size()) {
        Found known;
        if (!found_[place].read(known) || !is_still_there(known)) break;
        ++place;
    }
    if (place == found_.size()) place = next_place_.fetch_add(1, std::memory_order_relaxed) % found_.size();
    if (found.behind.function) found_[place].replace(found);
    return found.behind;
}

void NextSymbol::exclude(const Behind& behind) noexcept {
    const Excluded added{.object = object_of(behind.function), .function = behind.function};
    excluded_[exclusions_.fetch_add(1, std::memory_order_acq_rel) % excluded_.size()].replace(added);
    Behind first;
    if (first_.read(first) && first.function == behind.function) first_.replace({});
}

// What has taken the place of a closed library may have its addresses, its name and even its size, but then has no function of this name
// at this address.
bool NextSymbol::is_still_there(const Found& found) const noexcept {
    if (found.exclusions != exclusions_.load(std::memory_order_acquire) || object_of(found.behind.function) != found.object) return false;
    if (!found.symbol) return true;
    const auto& symbol = *static_cast<const ElfW(Sym)*>(found.symbol);
    return map_of(found.object).l_addr + symbol.st_value == reinterpret_cast<std::uintptr_t>(found.behind.function) &&
           std::strcmp(found.symbol_name, name_) == 0;
}

bool NextSymbol::is_excluded(void* function) const noexcept {
    for (const Snapshot<Excluded>& place : excluded_) {
        Excluded excluded;
        if (place.read(excluded) && excluded.function == function && excluded.object == object_of(function)) return true;
    }
    return false;
}

void* NextSymbol::usable(void* function) const noexcept {
    return function && !is_of_this_library(function) && !is_excluded(function) ? function : nullptr;
}

void* NextSymbol::function_in(const char* library, int flags) const noexcept {
    const OpenLibrary opened(library, flags);
    return opened.get() ? usable(dlsym(opened.get(), name_)) : nullptr;
}

void* NextSymbol::function_of_any_library() const noexcept {
    try {
        for (const std::string& library : loaded_libraries())
            if (void* const found = function_in(library.c_str(), RTLD_NOLOAD)) return found;
    } catch (const std::bad_alloc&) {
        // It is then looked for where it can be opened by name.
    }
    return nullptr;
}

// In the order in which the loader would look: in the libraries that all of the process sees, then in those that the caller needs. Whoever
// was handed the function's address, such as code that the program has made itself, is given the first there is.
void* NextSymbol::function_for(const LoadedObject& caller) noexcept {
    if (void* const found = usable(dlsym(RTLD_NEXT, name_))) return found;
    if (caller.map)
        if (void* const found = function_in(map_of(caller).l_name, RTLD_NOLOAD)) return found;
    if (void* const found = function_of_any_library()) return found;
    for (const char* const library : libraries_) {
        if (!library || has_no_library_.load(std::memory_order_relaxed)) break;
        OpenLibrary opened(library, 0);
        void* const found = opened.get() ? usable(dlsym(opened.get(), name_)) : nullptr;
        // It stays open.
        if (found) opened.release();
        if (found) return found;
    }
    has_no_library_.store(true, std::memory_order_relaxed);
    return nullptr;
}

NextSymbol::Found NextSymbol::found_for(const LoadedObject& caller) noexcept {
    const NoMessage no_message;
    Found found;
    found.caller = caller;
    found.exclusions = exclusions_.load(std::memory_order_acquire);
    found.behind.function = function_for(caller);
    found.object = object_of(found.behind.function);
    Dl_info info{};
    void* symbol = nullptr;
    // A function that the loader chose among several, for the processor, is at no symbol's address.
    const bool has_symbol = dladdr1(found.behind.function, &info, &symbol, RTLD_DL_SYMENT) != 0 && symbol && info.dli_sname &&
                            info.dli_saddr == found.behind.function && std::strcmp(info.dli_sname, name_) == 0;
    found.symbol = has_symbol ? symbol : nullptr;
    found.symbol_name = has_symbol ? info.dli_sname : nullptr;
    add_others(found.behind);
    return found;
}

// Those of the function's own library go before those of others.
void NextSymbol::add_others(Behind& behind) const noexcept {
    const LoadedObject object = object_of(behind.function);
    if (!object.map) return;
    const OpenLibrary opened(map_of(object).l_name, RTLD_NOLOAD);
    for (std::size_t i = 0; i < others_.size() && others_[i]; ++i) {
        void* const beside = opened.get() ? dlsym(opened.get(), others_[i]) : nullptr;
        behind.others[i] = beside ? beside : dlsym(RTLD_NEXT, others_[i]);
    }
}

}  // namespace tmm::dropin
