// Opens cuBLAS and cuBLASLt; see cublas_library.h.
#include "bench/peers/cublas_library.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <stdexcept>
#include <vector>

#include "base/error.h"
#include "base/processes/shared_library.h"
#include "base/text/environment.h"
#include "generator/compile/python_sites.h"

namespace tmm::bench {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> search_directories(const fs::path& given) {
    if (!given.empty()) return {given};
    std::vector<fs::path> directories = {fs::path()};
    for (const fs::path& toolkit : cuda_toolkits()) directories.push_back(toolkit / "lib64");
    directories.emplace_back("/usr/local/cuda/lib64");
    for (fs::path& wheel : wheel_library_directories(python_sites(python_hints()))) directories.push_back(std::move(wheel));
    return directories;
}

struct Opened {
    void* library;
    std::string path;
};

Opened open_library(const std::string& stem, const fs::path& given) {
    std::vector<std::string> tried;
    for (const fs::path& directory : search_directories(given)) {
        for (const char* version : {".so.13", ".so.12", ".so"}) {
            const std::string path = (directory / (stem + version)).string();
            const SharedLibrary opened = open_shared_library(path, RTLD_GLOBAL);
            if (opened.handle) return {.library = opened.handle, .path = path};
            std::error_code ignored;
            tried.push_back(fs::exists(path, ignored) ? fmt::format("{} ({})", path, opened.fault) : path);
        }
    }
    throw Error(ExitStatus::no_device, fmt::format("{} was not found; tried {}", stem, fmt::join(tried, ", ")), {},
                "name its folder with --cublas-dir, or leave it out of --vs");
}

template <class Function>
void resolve(const Opened& opened, const char* symbol, Function& function) {
    void* address = dlsym(opened.library, symbol);
    if (!address) throw Error(ExitStatus::no_device, fmt::format("{} lacks {}", opened.path, symbol), {}, "use cuBLAS 12 or 13");
    function = reinterpret_cast<Function>(address);
}

}  // namespace

CublasLibrary open_cublas(const fs::path& directory) {
    // cuBLAS needs cuBLASLt from the same folder; opened first, it is the one that the loader takes.
    open_library("libcublasLt", directory);
    const Opened opened = open_library("libcublas", directory);
    CublasLibrary library;
    library.file_name = fs::path(opened.path).filename().string();
    resolve(opened, "cublasCreate_v2", library.create);
    resolve(opened, "cublasDestroy_v2", library.destroy);
    resolve(opened, "cublasGetVersion_v2", library.get_version);
    resolve(opened, "cublasSetStream_v2", library.set_stream);
    resolve(opened, "cublasSetWorkspace_v2", library.set_workspace);
    resolve(opened, "cublasSgemm_v2", library.sgemm);
    resolve(opened, "cublasSgemmStridedBatched", library.sgemm_strided_batched);
    resolve(opened, "cublasDgemm_v2", library.dgemm);
    resolve(opened, "cublasDgemmStridedBatched", library.dgemm_strided_batched);
    resolve(opened, "cublasGemmEx", library.gemm_ex);
    resolve(opened, "cublasGemmStridedBatchedEx", library.gemm_strided_batched_ex);
    return library;
}

CublasLtLibrary open_cublaslt(const fs::path& directory) {
    const Opened opened = open_library("libcublasLt", directory);
    CublasLtLibrary library;
    library.file_name = fs::path(opened.path).filename().string();
    resolve(opened, "cublasLtCreate", library.create);
    resolve(opened, "cublasLtDestroy", library.destroy);
    resolve(opened, "cublasLtGetVersion", library.get_version);
    resolve(opened, "cublasLtMatmulDescCreate", library.desc_create);
    resolve(opened, "cublasLtMatmulDescDestroy", library.desc_destroy);
    resolve(opened, "cublasLtMatmulDescSetAttribute", library.desc_set);
    resolve(opened, "cublasLtMatrixLayoutCreate", library.layout_create);
    resolve(opened, "cublasLtMatrixLayoutDestroy", library.layout_destroy);
    resolve(opened, "cublasLtMatrixLayoutSetAttribute", library.layout_set);
    resolve(opened, "cublasLtMatmulPreferenceCreate", library.preference_create);
    resolve(opened, "cublasLtMatmulPreferenceDestroy", library.preference_destroy);
    resolve(opened, "cublasLtMatmulPreferenceSetAttribute", library.preference_set);
    resolve(opened, "cublasLtMatmulAlgoGetHeuristic", library.heuristics);
    resolve(opened, "cublasLtMatmul", library.matmul);
    return library;
}

int cuda_type(ElementType type) {
    switch (type) {
        case ElementType::f32: return kCudaR32f;
        case ElementType::f16: return kCudaR16f;
        case ElementType::bf16: return kCudaR16bf;
        case ElementType::f64: return kCudaR64f;
        case ElementType::s8: return kCudaR8i;
        case ElementType::s32: return kCudaR32i;
    }
    throw std::invalid_argument("an element type without a name");
}

int cublas_compute_type(ComputeMode mode) {
    switch (mode) {
        case ComputeMode::f32:
        case ComputeMode::f32_strict: return kCublasCompute32f;
        case ComputeMode::tf32: return kCublasCompute32fTf32;
        case ComputeMode::f64: return kCublasCompute64f;
        case ComputeMode::s32: return kCublasCompute32i;
    }
    throw std::invalid_argument("a compute mode without a name");
}

int cublas_scale_type(ComputeMode mode) {
    if (mode == ComputeMode::s32) return kCudaR32i;
    return mode == ComputeMode::f64 ? kCudaR64f : kCudaR32f;
}

void check_cublas(CublasStatus status, const char* call) {
    if (status == kCublasSuccess) return;
    const char* meaning = "";
    switch (status) {
        case 1: meaning = ", not initialised"; break;
        case 3: meaning = ", out of memory"; break;
        case 7: meaning = ", invalid value"; break;
        case 8: meaning = ", this GPU is not supported"; break;
        case 13: meaning = ", execution failed"; break;
        case 15: meaning = ", not supported"; break;
        default: break;
    }
    throw std::runtime_error(fmt::format("{} failed with status {}{}", call, status, meaning));
}

}  // namespace tmm::bench
