// A program that opens the library named by its argument, keeps its names to itself, and has it multiply.
#include <dlfcn.h>

#include <cstdio>

int main(int count, char** arguments) {
    void* const library = count == 2 ? dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL) : nullptr;
    if (!library) {
        std::fprintf(stderr, "%s\n", count == 2 ? dlerror() : "usage: cublas_plugin_host LIBRARY");
        return 3;
    }
    const auto multiply = reinterpret_cast<int (*)()>(dlsym(library, "plugin_multiply"));
    return multiply ? multiply() : 4;
}
