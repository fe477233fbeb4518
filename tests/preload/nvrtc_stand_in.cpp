// An NVRTC for tests: it makes no machine code, and fails as TMM_TEST_NVRTC says, "how=word": what it does with programs whose text or name
// holds the word. TMM_TEST_NVRTC_LOG names a file that gets a line for each compilation, the process and the program.
#include <fcntl.h>
#include <nvrtc.h>
#include <signal.h>
#include <sys/file.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>

#define TMM_EXPORT extern "C" __attribute__((visibility("default")))

struct _nvrtcProgram {
    std::string name;
    std::string text;
    std::string log;
    std::string image;
};

namespace {

bool holds(const nvrtcProgram program, const std::string& word) {
    return program->text.find(word) != std::string::npos || program->name.find(word) != std::string::npos;
}

void note(const nvrtcProgram program) {
    const char* const file = std::getenv("TMM_TEST_NVRTC_LOG");
    if (!file) return;
    const int log = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    const std::string line = std::to_string(getpid()) + " " + program->name + "\n";
    if (write(log, line.data(), line.size()) < 0) abort();
    close(log);
}

// The first process that comes here makes the file beside the log.
bool is_first() {
    const std::string file = std::string(std::getenv("TMM_TEST_NVRTC_LOG")) + ".first";
    const int made = open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (made >= 0) close(made);
    return made >= 0;
}

// One process at a time gets past, as if there were one core.
void wait_in_turn() {
    const int log = open(std::getenv("TMM_TEST_NVRTC_LOG"), O_RDONLY | O_CLOEXEC);
    if (log < 0 || flock(log, LOCK_EX) != 0) abort();
    usleep(100'000);
    close(log);
}

[[noreturn]] void hang() {
    while (true) pause();
}

void fail_as_told(const nvrtcProgram program) {
    const char* const told = std::getenv("TMM_TEST_NVRTC");
    const char* const word = told ? std::strchr(told, '=') : nullptr;
    if (!word || !holds(program, word + 1)) return;
    const std::string how(told, static_cast<std::size_t>(word - told));
    if (how == "crash") raise(SIGSEGV);
    if (how == "crash once" && is_first()) raise(SIGABRT);
    if (how == "killed") raise(SIGKILL);
    if (how == "killed once" && is_first()) raise(SIGKILL);
    if (how == "exit") _exit(3);
    if (how == "hang") hang();
    if (how == "slow") usleep(50'000);
    if (how == "in turn") wait_in_turn();
}

nvrtcResult give(const std::string& text, size_t* size) {
    *size = text.size();
    return NVRTC_SUCCESS;
}
nvrtcResult give(const std::string& text, char* copy) {
    std::memcpy(copy, text.data(), text.size());
    return NVRTC_SUCCESS;
}

}  // namespace

TMM_EXPORT const char* nvrtcGetErrorString(nvrtcResult) {
    return "an error of the stand-in";
}
TMM_EXPORT nvrtcResult nvrtcVersion(int* major, int* minor) {
    *major = 13;
    *minor = 0;
    return NVRTC_SUCCESS;
}
TMM_EXPORT nvrtcResult nvrtcGetNumSupportedArchs(int* count) {
    *count = 1;
    return NVRTC_SUCCESS;
}
TMM_EXPORT nvrtcResult nvrtcGetSupportedArchs(int* architectures) {
    *architectures = 90;
    return NVRTC_SUCCESS;
}
TMM_EXPORT nvrtcResult nvrtcCreateProgram(nvrtcProgram* program, const char* text, const char* name, int, const char* const*,
                                          const char* const*) {
    *program = new _nvrtcProgram{.name = name, .text = text, .log = {}, .image = {}};
    return NVRTC_SUCCESS;
}
TMM_EXPORT nvrtcResult nvrtcDestroyProgram(nvrtcProgram* program) {
    delete *program;
    *program = nullptr;
    return NVRTC_SUCCESS;
}
TMM_EXPORT nvrtcResult nvrtcCompileProgram(nvrtcProgram program, int, const char* const*) {
    note(program);
    fail_as_told(program);
    program->log = "ptxas info    : 0 bytes spill stores, 0 bytes spill loads\nptxas info    : Used 40 registers\n";
    program->image = "machine code of " + program->name;
    return NVRTC_SUCCESS;
}
TMM_EXPORT nvrtcResult nvrtcGetPTXSize(nvrtcProgram program, size_t* size) {
    return give(program->image, size);
}
TMM_EXPORT nvrtcResult nvrtcGetPTX(nvrtcProgram program, char* text) {
    return give(program->image, text);
}
TMM_EXPORT nvrtcResult nvrtcGetCUBINSize(nvrtcProgram program, size_t* size) {
    return give(program->image, size);
}
TMM_EXPORT nvrtcResult nvrtcGetCUBIN(nvrtcProgram program, char* image) {
    return give(program->image, image);
}
TMM_EXPORT nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram program, size_t* size) {
    return give(program->log, size);
}
TMM_EXPORT nvrtcResult nvrtcGetProgramLog(nvrtcProgram program, char* text) {
    return give(program->log, text);
}
