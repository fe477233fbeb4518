#include "runtime/dropin/cublas/product.h"

#include <algorithm>

namespace tmm::dropin {
namespace {

bool is_long_enough(std::int64_t ld, tmmOperation_t op, std::int64_t op_rows, std::int64_t op_columns) {
    return ld >= std::max<std::int64_t>(1, op == TMM_NO_TRANS ? op_rows : op_columns);
}

std::size_t size_of(tmmType_t type) {
    switch (type) {
        case TMM_F64: return 8;
        case TMM_F32:
        case TMM_S32: return 4;
        case TMM_S8: return 1;
        default: return 2;
    }
}

// What the addresses are multiples of, up to 16 bytes. Of those in arrays only the device knows more than that elements ask for.
int alignment_of(const Product& product) {
    const tmmGemmProblem_t& p = product.problem;
    if (p.pointer_array) return static_cast<int>(std::min(size_of(p.type_a), size_of(p.type_c)));
    const std::uintptr_t bits = reinterpret_cast<std::uintptr_t>(product.a) | reinterpret_cast<std::uintptr_t>(product.b) |
                                reinterpret_cast<std::uintptr_t>(product.c) | 16U;
    return static_cast<int>(bits & (~bits + 1));
}

// A and B are one matrix, and one of them is transposed.
bool meets_its_transpose(const Product& product) {
    const tmmGemmProblem_t& p = product.problem;
    return product.a == product.b && p.op_a != p.op_b && p.m == p.n && p.lda == p.ldb && p.stride_a == p.stride_b;
}

}  // namespace

bool is_element(const void* pointer, tmmType_t type) noexcept {
    return pointer && reinterpret_cast<std::uintptr_t>(pointer) % size_of(type) == 0;
}

void complete(Product& product) noexcept {
    tmmGemmProblem_t& p = product.problem;
    p.reads_c = product.beta.is_zero() ? 0 : 1;
    if (p.batch == 1 || p.pointer_array) p.stride_a = p.stride_b = p.stride_c = 0;
    p.alignment = alignment_of(product);
    // One element is as soon computed as mirrored.
    if (p.result == TMM_RESULT_FULL && p.m > 1 && !p.reads_c && !p.has_bias && meets_its_transpose(product))
        p.result = TMM_RESULT_SYMMETRIC;
}

const char* why_left_to_cublas(const Product& product) noexcept {
    const tmmGemmProblem_t& p = product.problem;
    if (p.m < 0 || p.n < 0 || p.k < 0 || p.batch < 0) return "a size is negative";
    if (p.m == 0 || p.n == 0 || p.batch == 0) return "there is no element to compute";
    if (!is_long_enough(p.lda, p.op_a, p.m, p.k) || !is_long_enough(p.ldb, p.op_b, p.k, p.n) || p.ldc < std::max<std::int64_t>(1, p.m))
        return "a leading dimension is too short";
    if (p.pointer_array) {
        for (const void* const array : {product.a, product.b, static_cast<const void*>(product.c)})
            if (!array || reinterpret_cast<std::uintptr_t>(array) % sizeof(void*) != 0) return "an array is null, or holds no addresses";
        return nullptr;
    }
    if (!is_element(product.a, p.type_a) || !is_element(product.b, p.type_b) || !is_element(product.c, p.type_c))
        return "a pointer is null, or no multiple of its element's size";
    return nullptr;
}

}  // namespace tmm::dropin
