// What a stand-in library does when a program loads it, whose code is compiled into each.
#include "runtime/dropin/load.h"

#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

#include "runtime/dropin/log.h"
#include "runtime/dropin/process.h"
#include "runtime/dropin/record/recorder.h"
#include "runtime/dropin/settings.h"

namespace tmm::dropin {
namespace {

using Exit = void (*)(int);
std::atomic<Exit> next_exit = nullptr;
std::atomic<Exit> next_Exit = nullptr;

[[noreturn]] void leave(const std::atomic<Exit>& next, int status) {
    write_record_now();
    if (const Exit behind = next.load(std::memory_order_relaxed)) behind(status);
    for (;;) syscall(SYS_exit_group, status);
}

}  // namespace

// What is static is made here, before there are threads: a child that is forked while one makes it would wait for ever.
void at_load(std::initializer_list<NextSymbol*> symbols) noexcept {
    for (NextSymbol* const symbol : symbols) symbol->look_among_first();
    next_exit.store(reinterpret_cast<Exit>(dlsym(RTLD_NEXT, "_exit")));
    next_Exit.store(reinterpret_cast<Exit>(dlsym(RTLD_NEXT, "_Exit")));
    process_number();
    if (settings().mode == Mode::off && settings().complaint.empty()) return;
    begin_log();
    // Products are passed on unseen then, so that this is the time to say why.
    if (settings().mode == Mode::off) return complain_once();
    if (settings().mode == Mode::record) begin_recording();
}

}  // namespace tmm::dropin

// These end a process without the handlers of exit(), as Python's workers do. The record is written before.
extern "C" {
__attribute__((visibility("default"))) void _exit(int status) {
    tmm::dropin::leave(tmm::dropin::next_exit, status);
}
__attribute__((visibility("default"))) void _Exit(int status) noexcept {
    tmm::dropin::leave(tmm::dropin::next_Exit, status);
}
}
