// Functions as programs know them that were linked with an older libtmm.so: the linker bound these to the version TMM_0 of the name.
#include <cstddef>
#include <cstring>

#include "tmm/tmm.h"

// Before version 0.3 a tmmGemmProblem_t ended where the epilogue's fields begin, and more must not be written.
extern "C" TMM_API tmmStatus_t init_problem_without_epilogue(tmmGemmProblem_t* problem);
__asm__(".symver init_problem_without_epilogue, tmmGemmProblemInit@TMM_0");

tmmStatus_t init_problem_without_epilogue(tmmGemmProblem_t* problem) {
    tmmGemmProblem_t whole;
    if (!problem) return tmmGemmProblemInit(nullptr);
    const tmmStatus_t status = tmmGemmProblemInit(&whole);
    whole.struct_size = offsetof(tmmGemmProblem_t, activation);
    std::memcpy(problem, &whole, whole.struct_size);
    return status;
}
