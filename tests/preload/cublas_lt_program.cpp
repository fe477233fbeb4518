// A program that calls the real cublasLt: its descriptors are made without a GPU, and tmm's emulated device multiplies. The exit status is
// 0 where all products are right.
#include <cublasLt.h>

#include <algorithm>
#include <cstdio>
#include <iterator>

namespace {

constexpr int kM = 5;
constexpr int kN = 2;
constexpr int kK = 3;
constexpr int kLdA = 4;
constexpr int kLdC = 6;

struct Matrices {
    alignas(16) float a[kM * kLdA];
    alignas(16) float b[kK * kN];
    alignas(16) float c[kN * kLdC];
    alignas(16) float bias[kM];
};

float expected(const Matrices& with, int row, int column, cublasLtEpilogue_t epilogue) {
    float sum = 0;
    for (int i = 0; i < kK; ++i) sum += with.a[i + row * kLdA] * with.b[i + column * kK];
    if ((epilogue & CUBLASLT_EPILOGUE_BIAS) != 0) sum += with.bias[row];
    return (epilogue & CUBLASLT_EPILOGUE_RELU) != 0 ? std::max(sum, 0.0f) : sum;
}

bool is_right(cublasLtEpilogue_t epilogue, cublasComputeType_t compute) {
    Matrices with{};
    for (int at = 0; at < kM * kLdA; ++at) with.a[at] = static_cast<float>(at % 5 - 2);
    for (int at = 0; at < kK * kN; ++at) with.b[at] = static_cast<float>(at % 3 - 1);
    for (int at = 0; at < kM; ++at) with.bias[at] = static_cast<float>(at - 2);
    std::fill(std::begin(with.c), std::end(with.c), 77.0f);
    const void* const bias = with.bias;
    const cublasOperation_t transposed = CUBLAS_OP_T;
    const float one = 1;
    const float zero = 0;
    cublasLtMatmulDesc_t product = nullptr;
    cublasLtMatrixLayout_t a = nullptr;
    cublasLtMatrixLayout_t b = nullptr;
    cublasLtMatrixLayout_t c = nullptr;
    cublasLtMatmulDescCreate(&product, compute, CUDA_R_32F);
    cublasLtMatmulDescSetAttribute(product, CUBLASLT_MATMUL_DESC_TRANSA, &transposed, sizeof transposed);
    cublasLtMatmulDescSetAttribute(product, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue);
    cublasLtMatmulDescSetAttribute(product, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof bias);
    cublasLtMatrixLayoutCreate(&a, CUDA_R_32F, kK, kM, kLdA);
    cublasLtMatrixLayoutCreate(&b, CUDA_R_32F, kK, kN, kK);
    cublasLtMatrixLayoutCreate(&c, CUDA_R_32F, kM, kN, kLdC);
    const cublasStatus_t status =
        cublasLtMatmul(nullptr, product, &one, with.a, a, with.b, b, &zero, with.c, c, with.c, c, nullptr, nullptr, 0, nullptr);
    cublasLtMatrixLayoutDestroy(a);
    cublasLtMatrixLayoutDestroy(b);
    cublasLtMatrixLayoutDestroy(c);
    cublasLtMatmulDescDestroy(product);
    bool right = status == CUBLAS_STATUS_SUCCESS;
    for (int column = 0; column < kN; ++column)
        for (int row = 0; row < kLdC; ++row)
            right = right && with.c[row + column * kLdC] == (row < kM ? expected(with, row, column, epilogue) : 77.0f);
    if (!right)
        std::fprintf(stderr, "epilogue %d, compute type %d: status %d\n", static_cast<int>(epilogue), static_cast<int>(compute),
                     static_cast<int>(status));
    return right;
}

}  // namespace

int main() {
    bool right = true;
    for (const cublasLtEpilogue_t epilogue :
         {CUBLASLT_EPILOGUE_DEFAULT, CUBLASLT_EPILOGUE_RELU, CUBLASLT_EPILOGUE_BIAS, CUBLASLT_EPILOGUE_RELU_BIAS})
        for (const cublasComputeType_t compute : {CUBLAS_COMPUTE_32F, CUBLAS_COMPUTE_32F_FAST_TF32, CUBLAS_COMPUTE_32F_PEDANTIC})
            right = is_right(epilogue, compute) && right;
    return right ? 0 : 1;
}
