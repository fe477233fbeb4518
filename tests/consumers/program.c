/* A C99 program that uses tmm: C = A * B on the emulated device, whose result is known. */
#include <stdio.h>
#include <tmm/tmm.h>

enum { M = 8, N = 5, K = 3 };

int main(void) {
    float a[M * K], b[K * N], c[M * N];
    const float alpha = 1, beta = 0;
    tmmHandle_t tmm;
    tmmStatus_t status;
    int i;
    for (i = 0; i < M * K; ++i) a[i] = 2;
    for (i = 0; i < K * N; ++i) b[i] = 3;
    status = tmmCreate(&tmm, TMM_DEVICE_HOST, NULL);
    if (status == TMM_STATUS_SUCCESS)
        status = tmmHostSgemm(tmm, TMM_ROW_MAJOR, TMM_NO_TRANS, TMM_NO_TRANS, M, N, K, &alpha, a, K, b, N, &beta, c, N);
    if (status != TMM_STATUS_SUCCESS) {
        fprintf(stderr, "%s: %s\n", tmmStatusString(status), tmmLastError(NULL));
        return 1;
    }
    tmmDestroy(tmm);
    for (i = 0; i < M * N; ++i)
        if (c[i] != 6 * K) return 2;
    printf("tmm %d: right\n", tmmGetVersion());
    return tmmGetVersion() == TMM_VERSION ? 0 : 3;
}
