/* A shared library with tmm linked in statically. Its program has an sqlite3_open of its own, which tmm's SQLite must neither meet nor
 * call. */
#include <tmm/tmm.h>

int plugin_multiply(float* c);
int sqlite3_open(const char* name, void** database);

int sqlite3_open(const char* name, void** database) {
    (void)name;
    (void)database;
    return -1;
}

int plugin_multiply(float* c) {
    const float alpha = 1, beta = 0, a[4] = {1, 2, 3, 4}, b[4] = {1, 0, 0, 1};
    tmmHandle_t tmm;
    tmmStatus_t status = tmmCreate(&tmm, TMM_DEVICE_HOST, NULL);
    if (status == TMM_STATUS_SUCCESS)
        status = tmmHostSgemm(tmm, TMM_ROW_MAJOR, TMM_NO_TRANS, TMM_NO_TRANS, 2, 2, 2, &alpha, a, 2, b, 2, &beta, c, 2);
    return status == TMM_STATUS_SUCCESS && tmmDestroy(tmm) == TMM_STATUS_SUCCESS ? 0 : 1;
}
