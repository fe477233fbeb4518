// Opens cuBLAS and cuBLASLt at run time and declares the few functions and values of theirs that a comparison needs. Neither their headers
// nor their libraries are needed to build tmm.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "tmm/vocabulary/problem.h"

namespace tmm::bench {

// The values and layouts below are part of the libraries' binary interface, the same in CUDA 12 and 13.
using CublasStatus = int;
inline constexpr CublasStatus kCublasSuccess = 0;
inline constexpr int kCublasOpN = 0;
inline constexpr int kCublasOpT = 1;
inline constexpr int kCublasCompute32f = 68;
inline constexpr int kCublasCompute64f = 70;
inline constexpr int kCublasCompute32i = 72;
inline constexpr int kCublasCompute32fTf32 = 77;
inline constexpr int kCublasGemmDefault = -1;
inline constexpr int kCudaR32f = 0;
inline constexpr int kCudaR64f = 1;
inline constexpr int kCudaR16f = 2;
inline constexpr int kCudaR8i = 3;
inline constexpr int kCudaR32i = 10;
inline constexpr int kCudaR16bf = 14;

inline constexpr int kLayoutBatchCount = 5;
inline constexpr int kLayoutBatchStride = 6;
inline constexpr int kDescTransA = 3;
inline constexpr int kDescTransB = 4;
inline constexpr int kDescEpilogue = 7;
inline constexpr int kDescBiasPointer = 8;
inline constexpr int kDescBiasType = 26;
inline constexpr int kPreferenceWorkspace = 1;
inline constexpr int kPreferenceAlignmentA = 5;
inline constexpr int kPreferenceAlignmentB = 6;
inline constexpr int kPreferenceAlignmentC = 7;
inline constexpr int kPreferenceAlignmentD = 8;

struct CublasLtAlgo {
    std::uint64_t data[8];
};
struct CublasLtHeuristic {
    CublasLtAlgo algo;
    std::size_t workspace_bytes;
    CublasStatus state;
    float waves;
    int reserved[4];
};
static_assert(sizeof(CublasLtHeuristic) == 64 + 8 + 4 + 4 + 16);

using CublasHandle = struct CublasContext*;
using CublasLtHandle = struct CublasLtContext*;
using CublasLtDesc = struct CublasLtDescOpaque*;
using CublasLtLayout = struct CublasLtLayoutOpaque*;
using CublasLtPreference = struct CublasLtPreferenceOpaque*;

struct CublasLibrary {
    CublasStatus (*create)(CublasHandle*) = nullptr;
    CublasStatus (*destroy)(CublasHandle) = nullptr;
    CublasStatus (*get_version)(CublasHandle, int*) = nullptr;
    CublasStatus (*set_stream)(CublasHandle, void*) = nullptr;
    CublasStatus (*set_workspace)(CublasHandle, void*, std::size_t) = nullptr;
    CublasStatus (*sgemm)(CublasHandle, int op_a, int op_b, int m, int n, int k, const float* alpha, const float* a, int lda,
                          const float* b, int ldb, const float* beta, float* c, int ldc) = nullptr;
    CublasStatus (*sgemm_strided_batched)(CublasHandle, int op_a, int op_b, int m, int n, int k, const float* alpha, const float* a,
                                          int lda, long long stride_a, const float* b, int ldb, long long stride_b, const float* beta,
                                          float* c, int ldc, long long stride_c, int batch) = nullptr;
    CublasStatus (*dgemm)(CublasHandle, int op_a, int op_b, int m, int n, int k, const double* alpha, const double* a, int lda,
                          const double* b, int ldb, const double* beta, double* c, int ldc) = nullptr;
    CublasStatus (*dgemm_strided_batched)(CublasHandle, int op_a, int op_b, int m, int n, int k, const double* alpha, const double* a,
                                          int lda, long long stride_a, const double* b, int ldb, long long stride_b, const double* beta,
                                          double* c, int ldc, long long stride_c, int batch) = nullptr;
    CublasStatus (*gemm_ex)(CublasHandle, int op_a, int op_b, int m, int n, int k, const void* alpha, const void* a, int type_a, int lda,
                            const void* b, int type_b, int ldb, const void* beta, void* c, int type_c, int ldc, int compute_type,
                            int algorithm) = nullptr;
    CublasStatus (*gemm_strided_batched_ex)(CublasHandle, int op_a, int op_b, int m, int n, int k, const void* alpha, const void* a,
                                            int type_a, int lda, long long stride_a, const void* b, int type_b, int ldb, long long stride_b,
                                            const void* beta, void* c, int type_c, int ldc, long long stride_c, int batch, int compute_type,
                                            int algorithm) = nullptr;
    std::string file_name;
};

struct CublasLtLibrary {
    CublasStatus (*create)(CublasLtHandle*) = nullptr;
    CublasStatus (*destroy)(CublasLtHandle) = nullptr;
    std::size_t (*get_version)() = nullptr;
    CublasStatus (*desc_create)(CublasLtDesc*, int compute_type, int scale_type) = nullptr;
    CublasStatus (*desc_destroy)(CublasLtDesc) = nullptr;
    CublasStatus (*desc_set)(CublasLtDesc, int attribute, const void* value, std::size_t bytes) = nullptr;
    CublasStatus (*layout_create)(CublasLtLayout*, int type, std::uint64_t rows, std::uint64_t columns, std::int64_t ld) = nullptr;
    CublasStatus (*layout_destroy)(CublasLtLayout) = nullptr;
    CublasStatus (*layout_set)(CublasLtLayout, int attribute, const void* value, std::size_t bytes) = nullptr;
    CublasStatus (*preference_create)(CublasLtPreference*) = nullptr;
    CublasStatus (*preference_destroy)(CublasLtPreference) = nullptr;
    CublasStatus (*preference_set)(CublasLtPreference, int attribute, const void* value, std::size_t bytes) = nullptr;
    CublasStatus (*heuristics)(CublasLtHandle, CublasLtDesc, CublasLtLayout a, CublasLtLayout b, CublasLtLayout c, CublasLtLayout d,
                               CublasLtPreference, int requested, CublasLtHeuristic* results, int* returned) = nullptr;
    CublasStatus (*matmul)(CublasLtHandle, CublasLtDesc, const void* alpha, const void* a, CublasLtLayout, const void* b, CublasLtLayout,
                           const void* beta, const void* c, CublasLtLayout, void* d, CublasLtLayout, const CublasLtAlgo*, void* workspace,
                           std::size_t workspace_bytes, void* stream) = nullptr;
    std::string file_name;
};

// The types of elements, and of a problem's products and sums, as cuBLAS names them. The latter are those that tmm promises, so TF32 only
// where the problem asks for it.
int cuda_type(ElementType type);
int cublas_compute_type(ComputeMode mode);
// The type of alpha and beta in a call of that mode.
int cublas_scale_type(ComputeMode mode);

// The libraries are searched for in `directory` where one is given and nowhere else; otherwise on the loader's own path, in the toolkit's
// lib64 and where the system's Python keeps NVIDIA's wheels. Throws Error (no_device) that lists the places searched. The libraries stay
// open until the process ends.
CublasLibrary open_cublas(const std::filesystem::path& directory);
CublasLtLibrary open_cublaslt(const std::filesystem::path& directory);

// Throws std::runtime_error that names the call and the status.
void check_cublas(CublasStatus status, const char* call);

}  // namespace tmm::bench
