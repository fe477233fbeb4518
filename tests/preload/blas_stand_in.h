// What a program may ask of the BLAS that tests/preload/blas_stand_in.cpp stands in for, besides products.
#pragma once

extern "C" {
// Called within each product, as a BLAS calls a handler of errors that the program brings; null: nothing.
__attribute__((visibility("default"))) extern void (*blas_stand_in_hook)();
// Products so far, of any thread.
__attribute__((visibility("default"))) extern int blas_stand_in_calls;
}
