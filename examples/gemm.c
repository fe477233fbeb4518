/* C = A * B with matrices in host memory, through tmm's C interface.
 * Usage: gemm_c [device]   a CUDA ordinal, or -1 for the emulation on the CPU */
#include <stdio.h>
#include <stdlib.h>
#include <tmm/tmm.h>

enum { M = 48, N = 40, K = 64 };

int main(int argc, char** argv) {
    static float a[M * K], b[K * N], c[M * N];
    const float alpha = 1, beta = 0;
    tmmHandle_t tmm;
    for (int i = 0; i < M * K; ++i) a[i] = (float)(i % 7);
    for (int i = 0; i < K * N; ++i) b[i] = (float)(i % 3);

    tmmStatus_t status = tmmCreate(&tmm, argc > 1 ? atoi(argv[1]) : TMM_DEVICE_HOST, NULL);
    if (status == TMM_STATUS_SUCCESS)
        status = tmmHostSgemm(tmm, TMM_ROW_MAJOR, TMM_NO_TRANS, TMM_NO_TRANS, M, N, K, &alpha, a, K, b, N, &beta, c, N);
    if (status != TMM_STATUS_SUCCESS) {
        fprintf(stderr, "%s: %s\n", tmmStatusString(status), tmmLastError(NULL));
        return 1;
    }
    tmmDestroy(tmm);

    float expected = 0;
    for (int i = 0; i < K; ++i) expected += a[3 * K + i] * b[i * N + 5];
    printf("C[3][5] = %g, expected %g\n", (double)c[3 * N + 5], (double)expected);
    return c[3 * N + 5] == expected ? 0 : 1;
}
