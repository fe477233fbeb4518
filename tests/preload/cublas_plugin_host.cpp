// A program that opens the library named by its argument, keeps its names to itself, has it multiply, and closes it, again and again:
// cublas_plugin_host LIBRARY ROUNDS.
#include <dlfcn.h>
#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>

int main(int count, char** arguments) {
    if (count != 3) return 3;
    for (int round = 0; round < std::atoi(arguments[2]); ++round) {
        void* const library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
        const auto multiply = library ? reinterpret_cast<int (*)()>(dlsym(library, "plugin_multiply")) : nullptr;
        if (!multiply) {
            std::fprintf(stderr, "%s\n", dlerror());
            return 3;
        }
        if (const int status = multiply(); status != 0) return status;
        dlclose(library);
        // Next time it stands elsewhere.
        if (mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED) return 3;
    }
    return 0;
}
