// Tests that the functions that tmm-bench needs of cuBLAS and cuBLASLt are there, wherever they are installed; calling them needs a GPU.
#include <doctest/doctest.h>

#include <stdexcept>
#include <string>

#include "base/error.h"
#include "bench/peers/cublas_library.h"
#include "bench/peers/cublaslt_epilogue.h"

#if __has_include(<cublasLt.h>)
#include <cublasLt.h>
#endif

using namespace tmm;
using namespace tmm::bench;

TEST_CASE("every function of cuBLAS and cuBLASLt is found in an installed library") {
    CublasLibrary cublas;
    CublasLtLibrary cublaslt;
    try {
        cublas = open_cublas({});
        cublaslt = open_cublaslt({});
    } catch (const Error& error) {
        // A library that is installed but lacks a function is a failure.
        REQUIRE(std::string(error.what()).find("was not found") != std::string::npos);
        MESSAGE("skipped: " << error.what());
        return;
    }
    CHECK(cublas.file_name.starts_with("libcublas.so"));
    CHECK(cublaslt.file_name.starts_with("libcublasLt.so"));
    // A version is known without a GPU.
    CHECK(cublaslt.get_version() >= 120000);
}

TEST_CASE("a folder without the libraries is named") {
    std::string text;
    try {
        open_cublaslt("/no/such/folder");
    } catch (const Error& error) {
        text = error.what();
    }
    CHECK(text.find("/no/such/folder/libcublasLt.so.13") != std::string::npos);
}

TEST_CASE("types and modes have the libraries' numbers, and TF32 only where a problem asks for it") {
    // The values are those of library_types.h and cublas_api.h.
    CHECK(cuda_type(ElementType::f32) == 0);
    CHECK(cuda_type(ElementType::f16) == 2);
    CHECK(cuda_type(ElementType::bf16) == 14);
    CHECK(cuda_type(ElementType::f64) == 1);
    CHECK(cublas_compute_type(ComputeMode::f32) == 68);
    CHECK(cublas_compute_type(ComputeMode::f32_strict) == 68);
    CHECK(cublas_compute_type(ComputeMode::tf32) == 77);
    CHECK(cublas_compute_type(ComputeMode::f64) == 70);
    CHECK(cublas_scale_type(ComputeMode::f64) == 1);
    CHECK(cublas_scale_type(ComputeMode::tf32) == 0);
}

#ifdef CUBLAS_VERSION
TEST_CASE("the values and layouts are those of an installed header") {
    CHECK(kCublasOpT == CUBLAS_OP_T);
    CHECK(kCublasCompute32f == CUBLAS_COMPUTE_32F);
    CHECK(kCublasCompute32fTf32 == CUBLAS_COMPUTE_32F_FAST_TF32);
    CHECK(kLayoutBatchCount == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT);
    CHECK(kLayoutBatchStride == CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET);
    CHECK(kDescTransA == CUBLASLT_MATMUL_DESC_TRANSA);
    CHECK(kDescTransB == CUBLASLT_MATMUL_DESC_TRANSB);
    CHECK(kDescEpilogue == CUBLASLT_MATMUL_DESC_EPILOGUE);
    CHECK(kDescBiasPointer == CUBLASLT_MATMUL_DESC_BIAS_POINTER);
    CHECK(kDescBiasType == CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE);
    CHECK(kLtEpilogueDefault == CUBLASLT_EPILOGUE_DEFAULT);
    CHECK(kLtEpilogueRelu == CUBLASLT_EPILOGUE_RELU);
    CHECK(kLtEpilogueBias == CUBLASLT_EPILOGUE_BIAS);
    CHECK(kLtEpilogueReluBias == CUBLASLT_EPILOGUE_RELU_BIAS);
    CHECK(kLtEpilogueGelu == CUBLASLT_EPILOGUE_GELU);
    CHECK(kLtEpilogueGeluBias == CUBLASLT_EPILOGUE_GELU_BIAS);
    CHECK(kPreferenceWorkspace == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES);
    CHECK(kPreferenceAlignmentA == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES);
    CHECK(kPreferenceAlignmentD == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES);
    CHECK(sizeof(CublasLtHeuristic) == sizeof(cublasLtMatmulHeuristicResult_t));
}
#endif
