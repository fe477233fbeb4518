// What runtime/dropin/cublas/cublas_abi.h says of libcublas and libcublasLt is what their own headers say, where these are installed.
#include <doctest/doctest.h>

#include "runtime/dropin/cublas/cublas_abi.h"

#if __has_include(<cublasLt.h>) && __has_include(<cublas_v2.h>)
#include <cublasLt.h>
#include <cublas_v2.h>

#include <type_traits>

namespace ours = tmm::dropin::cublas;

TEST_CASE("values are those of the headers of cuBLAS") {
    CHECK(ours::kSuccess == CUBLAS_STATUS_SUCCESS);
    CHECK(ours::kNotSupported == CUBLAS_STATUS_NOT_SUPPORTED);
    CHECK(ours::kOpN == static_cast<int>(CUBLAS_OP_N));
    CHECK(ours::kOpT == static_cast<int>(CUBLAS_OP_T));
    CHECK(ours::kOpC == static_cast<int>(CUBLAS_OP_C));
    CHECK(ours::kPointerHost == static_cast<int>(CUBLAS_POINTER_MODE_HOST));
    CHECK(ours::kPointerHost == static_cast<int>(CUBLASLT_POINTER_MODE_HOST));
    CHECK(ours::kReal32F == static_cast<int>(CUDA_R_32F));
    CHECK(ours::kReal64F == static_cast<int>(CUDA_R_64F));
    CHECK(ours::kCompute64F == static_cast<int>(CUBLAS_COMPUTE_64F));
    CHECK(ours::kCompute64FPedantic == static_cast<int>(CUBLAS_COMPUTE_64F_PEDANTIC));
    CHECK(ours::kReal16F == static_cast<int>(CUDA_R_16F));
    CHECK(ours::kReal16BF == static_cast<int>(CUDA_R_16BF));
    CHECK(ours::kCompute32F == static_cast<int>(CUBLAS_COMPUTE_32F));
    CHECK(ours::kCompute32FPedantic == static_cast<int>(CUBLAS_COMPUTE_32F_PEDANTIC));
    CHECK(ours::kCompute32FFastTf32 == static_cast<int>(CUBLAS_COMPUTE_32F_FAST_TF32));
    CHECK(ours::kMathDefault == static_cast<int>(CUBLAS_DEFAULT_MATH));
    CHECK(ours::kMathTensorOp == 1);
    CHECK(ours::kMathPedantic == static_cast<int>(CUBLAS_PEDANTIC_MATH));
    CHECK(ours::kMathTf32 == static_cast<int>(CUBLAS_TF32_TENSOR_OP_MATH));
    CHECK(ours::kMathNoReducedPrecision == static_cast<int>(CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION));
    CHECK(ours::kAlgorithmDefault == static_cast<int>(CUBLAS_GEMM_DEFAULT));
    CHECK(ours::kAlgorithmDefaultTensorOp == static_cast<int>(CUBLAS_GEMM_DEFAULT_TENSOR_OP));
}

TEST_CASE("attributes are those of the headers of cublasLt") {
    CHECK(ours::kLayoutType == static_cast<int>(CUBLASLT_MATRIX_LAYOUT_TYPE));
    CHECK(ours::kLayoutOrder == static_cast<int>(CUBLASLT_MATRIX_LAYOUT_ORDER));
    CHECK(ours::kLayoutRows == static_cast<int>(CUBLASLT_MATRIX_LAYOUT_ROWS));
    CHECK(ours::kLayoutColumns == static_cast<int>(CUBLASLT_MATRIX_LAYOUT_COLS));
    CHECK(ours::kLayoutLd == static_cast<int>(CUBLASLT_MATRIX_LAYOUT_LD));
    CHECK(ours::kLayoutBatch == static_cast<int>(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT));
    CHECK(ours::kLayoutStride == static_cast<int>(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET));
    CHECK(ours::kLayoutPlaneOffset == static_cast<int>(CUBLASLT_MATRIX_LAYOUT_PLANE_OFFSET));
    CHECK(ours::kOrderColumns == static_cast<int>(CUBLASLT_ORDER_COL));
    CHECK(ours::kProductCompute == static_cast<int>(CUBLASLT_MATMUL_DESC_COMPUTE_TYPE));
    CHECK(ours::kProductScaleType == static_cast<int>(CUBLASLT_MATMUL_DESC_SCALE_TYPE));
    CHECK(ours::kProductPointerMode == static_cast<int>(CUBLASLT_MATMUL_DESC_POINTER_MODE));
    CHECK(ours::kProductOpA == static_cast<int>(CUBLASLT_MATMUL_DESC_TRANSA));
    CHECK(ours::kProductOpB == static_cast<int>(CUBLASLT_MATMUL_DESC_TRANSB));
    CHECK(ours::kProductOpC == static_cast<int>(CUBLASLT_MATMUL_DESC_TRANSC));
    CHECK(ours::kProductFill == static_cast<int>(CUBLASLT_MATMUL_DESC_FILL_MODE));
    CHECK(ours::kFillLower == static_cast<int>(CUBLAS_FILL_MODE_LOWER));
    CHECK(ours::kFillUpper == static_cast<int>(CUBLAS_FILL_MODE_UPPER));
    CHECK(ours::kFillAll == static_cast<int>(CUBLAS_FILL_MODE_FULL));
    CHECK(ours::kProductEpilogue == static_cast<int>(CUBLASLT_MATMUL_DESC_EPILOGUE));
    CHECK(ours::kProductBiasPointer == static_cast<int>(CUBLASLT_MATMUL_DESC_BIAS_POINTER));
    CHECK(ours::kProductBiasStride == static_cast<int>(CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE));
    CHECK(ours::kProductSmCount == static_cast<int>(CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET));
    CHECK(ours::kProductScaleA == static_cast<int>(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER));
    CHECK(ours::kProductScaleB == static_cast<int>(CUBLASLT_MATMUL_DESC_B_SCALE_POINTER));
    CHECK(ours::kProductScaleC == static_cast<int>(CUBLASLT_MATMUL_DESC_C_SCALE_POINTER));
    CHECK(ours::kProductScaleD == static_cast<int>(CUBLASLT_MATMUL_DESC_D_SCALE_POINTER));
    CHECK(ours::kProductAmaxD == static_cast<int>(CUBLASLT_MATMUL_DESC_AMAX_D_POINTER));
    CHECK(ours::kProductBiasType == static_cast<int>(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE));
    CHECK(ours::kEpilogueDefault == static_cast<int>(CUBLASLT_EPILOGUE_DEFAULT));
    CHECK(ours::kEpilogueRelu == static_cast<int>(CUBLASLT_EPILOGUE_RELU));
    CHECK(ours::kEpilogueBias == static_cast<int>(CUBLASLT_EPILOGUE_BIAS));
    CHECK(ours::kEpilogueReluBias == static_cast<int>(CUBLASLT_EPILOGUE_RELU_BIAS));
    CHECK(ours::kEpilogueGelu == static_cast<int>(CUBLASLT_EPILOGUE_GELU));
    CHECK(ours::kEpilogueGeluBias == static_cast<int>(CUBLASLT_EPILOGUE_GELU_BIAS));
#if CUBLAS_VERSION >= 130000
    CHECK(ours::kLayoutBatchMode == static_cast<int>(CUBLASLT_MATRIX_LAYOUT_BATCH_MODE));
    CHECK(ours::kProductScaleOutD == static_cast<int>(CUBLASLT_MATMUL_DESC_D_OUT_SCALE_POINTER));
#endif
}

TEST_CASE("enumerations are passed as ints, and handles as pointers") {
    CHECK(sizeof(cublasStatus_t) == sizeof(ours::Status));
    CHECK(sizeof(cublasOperation_t) == sizeof(int));
    CHECK(sizeof(cublasMath_t) == sizeof(int));
    CHECK(sizeof(cublasPointerMode_t) == sizeof(int));
    CHECK(sizeof(cublasComputeType_t) == sizeof(int));
    CHECK(sizeof(cublasGemmAlgo_t) == sizeof(int));
    CHECK(sizeof(cudaDataType) == sizeof(int));
    CHECK(std::is_pointer_v<cublasHandle_t>);
    CHECK(std::is_pointer_v<cublasLtMatrixLayout_t>);
    CHECK(std::is_pointer_v<cublasLtMatmulDesc_t>);
    CHECK(std::is_pointer_v<cudaStream_t>);
}
#else
TEST_CASE("values are those of the headers of cuBLAS") {
    MESSAGE("skipped: cublas_v2.h and cublasLt.h are not installed");
    CHECK(tmm::dropin::cublas::kSuccess == 0);
}
#endif
