// A program that is linked with a dispatcher and has it hand products on to the libraries that it is given, each for a while.
#include <cstddef>
#include <cstdio>

extern "C" {
int dispatch_to(const char* name);
void sgemm_(const char*, const char*, const int*, const int*, const int*, const float*, const float*, const int*, const float*, const int*,
            const float*, float*, const int*, std::size_t, std::size_t);
void cblas_sgemm(int, int, int, int, int, int, float, const float*, int, const float*, int, float, float*, int);
}

int main(int count, char** names) {
    for (int i = 1; i < count; ++i) {
        if (!dispatch_to(names[i])) {
            std::fprintf(stderr, "%s can't be opened\n", names[i]);
            return 3;
        }
        for (int call = 0; call < 3; ++call) {
            const int n = 2;
            const float one = 1;
            const float zero = 0;
            const float a[4] = {1, 2, 3, 4};
            float c[4] = {};
            float d[4] = {};
            sgemm_("n", "n", &n, &n, &n, &one, a, &n, a, &n, &zero, c, &n, 1, 1);
            cblas_sgemm(101, 111, 111, n, n, n, 1, a, n, a, n, 0, d, n);
            const float right[4] = {7, 10, 15, 22};
            for (int j = 0; j < 4; ++j)
                if (c[j] != right[j] || d[j] != right[j]) return 1;
        }
    }
    return 0;
}
