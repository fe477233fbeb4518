// A library that is linked with cuBLAS and opened by a program that is not, as Python's extension modules are.
extern "C" {
int cublasCreate_v2(void** handle);
int cublasSgemm_v2(void*, int, int, int, int, int, const float*, const float*, int, const float*, int, const float*, float*, int);

// The result is 0 where the product is right.
__attribute__((visibility("default"))) int plugin_multiply() {
    void* handle = nullptr;
    cublasCreate_v2(&handle);
    const float a[4] = {1, 2, 3, 4};
    const float b[4] = {5, 6, 7, 8};
    const float one = 1;
    const float zero = 0;
    float c[4] = {};
    if (cublasSgemm_v2(handle, 0, 0, 2, 2, 2, &one, a, 2, b, 2, &zero, c, 2) != 0) return 2;
    return c[0] == 23 && c[1] == 34 && c[2] == 31 && c[3] == 46 ? 0 : 1;
}
}
