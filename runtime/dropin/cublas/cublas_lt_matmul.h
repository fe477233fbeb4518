// cublasLtMatmul's arguments, whose descriptors cublasLt reads out.
#pragma once

#include "runtime/dropin/behind.h"
#include "runtime/dropin/cublas/cublas_abi.h"
#include "runtime/dropin/cublas/product.h"

namespace tmm::dropin::cublas {

// The functions that tell what descriptors say.
inline constexpr Names kGettersOfDescriptors{"cublasLtMatmulDescGetAttribute", "cublasLtMatrixLayoutGetAttribute"};

struct LtMatmul {
    // What stands behind cublasLtMatmul.
    const Behind& behind;
    LtDescriptor product;
    const void* alpha;
    const void* a;
    LtDescriptor layout_a;
    const void* b;
    LtDescriptor layout_b;
    const void* beta;
    const void* c;
    LtDescriptor layout_c;
    void* d;
    LtDescriptor layout_d;
    Stream stream;
};

// What is done to the sums besides alpha and beta.
struct Epilogue {
    tmmActivation_t activation = TMM_ACTIVATION_NONE;
    // An element for each row of D.
    bool has_bias = false;
};
// False where the epilogue is none of these: it gives a gradient, or writes a second matrix.
bool translate_epilogue(int epilogue, Epilogue& into) noexcept;

// Turns a call into a product. Returns why tmm does not multiply it, a clause, or null where it may. Throws std::bad_alloc.
const char* translate(const LtMatmul& matmul, Product& product);

}  // namespace tmm::dropin::cublas
