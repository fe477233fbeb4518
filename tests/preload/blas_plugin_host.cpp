// A program that opens libraries in turn, has each multiply, and closes it again: blas_plugin_host ROUNDS LIBRARY SUM [LIBRARY SUM]... Each
// SUM is what the library's own BLAS makes of its products. What was mapped meanwhile stands where a closed library was.
#include <dlfcn.h>
#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>

int main(int count, char** words) {
    if (count < 4) return 3;
    const int libraries = (count - 2) / 2;
    for (int round = 0; round < std::atoi(words[1]); ++round) {
        char** const named = words + 2 + 2 * (round % libraries);
        void* const library = dlopen(named[0], RTLD_NOW | RTLD_LOCAL);
        const auto multiply = library ? reinterpret_cast<float (*)()>(dlsym(library, "plugin_multiply")) : nullptr;
        if (!multiply) {
            std::fprintf(stderr, "%s\n", dlerror());
            return 3;
        }
        for (int call = 0; call < 2; ++call) {
            const float sum = multiply();
            if (sum == std::strtof(named[1], nullptr)) continue;
            std::fprintf(stderr, "round %d, %s: %g\n", round, named[0], static_cast<double>(sum));
            return 1;
        }
        dlclose(library);
        if (round % 3 != 0) continue;
        void* const memory = mmap(nullptr, 4096u * static_cast<unsigned>(1 + round % 8), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) return 3;
    }
    return 0;
}
