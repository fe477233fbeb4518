#include "runtime/dropin/cublas/cublas_lt_matmul.h"

#include <initializer_list>

#include "runtime/dropin/cublas/cublas_gemm.h"

namespace tmm::dropin::cublas {
namespace {

// Reads the attributes of one descriptor.
class Attributes {
public:
    Attributes(GetAttribute get, LtDescriptor descriptor) : get_(get), descriptor_(descriptor) {}

    // Without an answer the value is as it was, and has_failed() says so.
    template <class Value>
    void read(int attribute, Value& value) {
        std::size_t written = 0;
        if (get_(descriptor_, attribute, &value, sizeof value, &written) != kSuccess) failed_ = true;
    }
    // An attribute that an older cublasLt does not know has its default.
    template <class Value>
    Value read_or(int attribute, Value usual) const {
        Value value = usual;
        std::size_t written = 0;
        return get_(descriptor_, attribute, &value, sizeof value, &written) == kSuccess ? value : usual;
    }
    bool has_failed() const { return failed_; }

private:
    GetAttribute get_;
    LtDescriptor descriptor_;
    bool failed_ = false;
};

// What tells what the descriptors of one cublasLt say.
struct Getters {
    explicit Getters(const Behind& behind)
        : of_product(reinterpret_cast<GetAttribute>(behind.others[0])), of_layout(reinterpret_cast<GetAttribute>(behind.others[1])) {}

    GetAttribute of_product;
    GetAttribute of_layout;
};

struct Layout {
    std::int32_t type = -1;
    std::int32_t order = -1;
    std::uint64_t rows = 0;
    std::uint64_t columns = 0;
    std::int64_t ld = 0;
    std::int32_t batch = 0;
    std::int64_t stride = 0;
    std::int64_t plane_offset = 0;

    friend bool operator==(const Layout&, const Layout&) = default;
};

bool read_layout(const Getters& getters, LtDescriptor descriptor, Layout& layout) {
    if (!descriptor) return false;
    Attributes attributes(getters.of_layout, descriptor);
    attributes.read(kLayoutType, layout.type);
    attributes.read(kLayoutOrder, layout.order);
    attributes.read(kLayoutRows, layout.rows);
    attributes.read(kLayoutColumns, layout.columns);
    attributes.read(kLayoutLd, layout.ld);
    attributes.read(kLayoutBatch, layout.batch);
    attributes.read(kLayoutStride, layout.stride);
    attributes.read(kLayoutPlaneOffset, layout.plane_offset);
    // Batches by an array of pointers are another mode.
    const bool is_strided = attributes.read_or<std::uint32_t>(kLayoutBatchMode, 0) == 0;
    return !attributes.has_failed() && layout.order == kOrderColumns && layout.plane_offset == 0 && is_strided;
}

// What tmm's products know nothing of must be as it is by default.
bool is_plain(const Attributes& attributes) {
    for (const int scale : {kProductScaleA, kProductScaleB, kProductScaleC, kProductScaleD, kProductAmaxD, kProductScaleOutD})
        if (attributes.read_or<const void*>(scale, nullptr)) return false;
    return attributes.read_or<std::int32_t>(kProductOpC, kOpN) == kOpN &&
           attributes.read_or<std::int32_t>(kProductFill, kFillAll) == kFillAll &&
           attributes.read_or<std::int32_t>(kProductSmCount, 0) == 0;
}

// What a descriptor says of a product, as cublasLt has it.
struct Description {
    Epilogue epilogue;
    std::int32_t compute = 0;
    std::int32_t scale_type = 0;
    std::int32_t op_a = 0;
    std::int32_t op_b = 0;
};

const char* read_product(const Getters& getters, LtDescriptor descriptor, Description& into) {
    Attributes attributes(getters.of_product, descriptor);
    std::uint32_t epilogue = 0;
    attributes.read(kProductEpilogue, epilogue);
    if (!translate_epilogue(static_cast<int>(epilogue), into.epilogue)) return "its epilogue is none that tmm has";
    std::int32_t pointer_mode = -1;
    attributes.read(kProductCompute, into.compute);
    attributes.read(kProductScaleType, into.scale_type);
    attributes.read(kProductPointerMode, pointer_mode);
    attributes.read(kProductOpA, into.op_a);
    attributes.read(kProductOpB, into.op_b);
    if (attributes.has_failed()) return "cublasLt does not tell what its descriptor says";
    if (pointer_mode != kPointerHost) return "its scalars are in device memory";
    return is_plain(attributes) ? nullptr : "it has scales, a triangle of D, or a number of SMs to use";
}

// The types and sizes must have been translated.
const char* take_epilogue(const Getters& getters, LtDescriptor descriptor, const Epilogue& epilogue, Product& product) {
    tmmGemmProblem_t& p = product.problem;
    p.activation = epilogue.activation;
    if (!epilogue.has_bias) return nullptr;
    const Attributes attributes(getters.of_product, descriptor);
    p.has_bias = 1;
    p.bias_axis = TMM_BIAS_ROWS;
    p.type_bias = p.type_c;
    const auto type = attributes.read_or<std::int32_t>(kProductBiasType, kTypeOfD);
    if (type != kTypeOfD &&
        (!translate_type(type, p.type_bias) || (p.type_bias != TMM_F32 && p.type_bias != TMM_F16 && p.type_bias != TMM_BF16)))
        return "its bias has a type that tmm has no kernels for";
    if (p.batch > 1 && attributes.read_or<std::int64_t>(kProductBiasStride, 0) != 0) return "its members have a bias each";
    product.bias = attributes.read_or<const void*>(kProductBiasPointer, nullptr);
    return is_element(product.bias, p.type_bias) ? nullptr : "its bias is null, or no multiple of its element's size";
}

// D is m x n; the sizes of the others must fit.
bool translate_sizes(const Layout& a, const Layout& b, const Layout& d, tmmGemmProblem_t& p) {
    const auto op_rows = [](const Layout& matrix, tmmOperation_t op) { return op == TMM_NO_TRANS ? matrix.rows : matrix.columns; };
    const auto op_columns = [](const Layout& matrix, tmmOperation_t op) { return op == TMM_NO_TRANS ? matrix.columns : matrix.rows; };
    if (op_rows(a, p.op_a) != d.rows || op_columns(b, p.op_b) != d.columns || op_columns(a, p.op_a) != op_rows(b, p.op_b)) return false;
    if (a.batch != d.batch || b.batch != d.batch) return false;
    p.m = static_cast<std::int64_t>(d.rows);
    p.n = static_cast<std::int64_t>(d.columns);
    p.k = static_cast<std::int64_t>(op_columns(a, p.op_a));
    p.batch = d.batch;
    p.lda = a.ld;
    p.ldb = b.ld;
    p.ldc = d.ld;
    p.stride_a = a.stride;
    p.stride_b = b.stride;
    p.stride_c = d.stride;
    return true;
}

}  // namespace

bool translate_epilogue(int epilogue, Epilogue& into) noexcept {
    switch (epilogue) {
        case kEpilogueDefault: into = {}; return true;
        case kEpilogueRelu: into = {.activation = TMM_ACTIVATION_RELU, .has_bias = false}; return true;
        case kEpilogueBias: into = {.activation = TMM_ACTIVATION_NONE, .has_bias = true}; return true;
        case kEpilogueReluBias: into = {.activation = TMM_ACTIVATION_RELU, .has_bias = true}; return true;
        case kEpilogueGelu: into = {.activation = TMM_ACTIVATION_GELU_TANH, .has_bias = false}; return true;
        case kEpilogueGeluBias: into = {.activation = TMM_ACTIVATION_GELU_TANH, .has_bias = true}; return true;
        default: return false;
    }
}

const char* translate(const LtMatmul& matmul, Product& product) {
    const Getters getters(matmul.behind);
    if (!getters.of_product || !getters.of_layout) return "cublasLt does not tell what its descriptors say";
    if (!matmul.product || !matmul.alpha || !matmul.beta) return "a pointer is null";
    Description described;
    if (const char* const reason = read_product(getters, matmul.product, described)) return reason;
    Layout a;
    Layout b;
    Layout d;
    if (!read_layout(getters, matmul.layout_a, a) || !read_layout(getters, matmul.layout_b, b) || !read_layout(getters, matmul.layout_d, d))
        return "a matrix does not lie in columns";
    tmmGemmProblem_t& p = product.problem;
    if (const char* const reason = translate_types(a.type, b.type, d.type, p)) return reason;
    if (const char* const reason = translate_compute(described.compute, p)) return reason;
    const bool floats = p.compute != TMM_COMPUTE_F64 && p.compute != TMM_COMPUTE_S32;
    if (described.scale_type != (floats ? kReal32F : p.compute == TMM_COMPUTE_F64 ? kReal64F : kReal32I))
        return "its scalars have another type than its sums";
    // Whether cublasLt has epilogues of FP64 and INT8 is for it to say.
    if (!floats && (described.epilogue.has_bias || described.epilogue.activation != TMM_ACTIVATION_NONE))
        return "its epilogue is one of FP64 or INT8";
    if (const char* const reason = translate_operations(described.op_a, described.op_b, p)) return reason;
    p.layout = TMM_COL_MAJOR;
    if (!translate_sizes(a, b, d, p)) return "the sizes of its matrices do not fit";
    product.a = matmul.a;
    product.b = matmul.b;
    product.c = matmul.d;
    product.stream = matmul.stream;
    if (const char* const reason = take_epilogue(getters, matmul.product, described.epilogue, product)) return reason;
    if (const char* const reason = why_left_to_cublas(product)) return reason;
    product.alpha = Scalar::at(matmul.alpha, p.compute);
    product.beta = Scalar::at(matmul.beta, p.compute);
    // tmm, as cublasSgemm, would not read A and B; of cublasLt NaN and infinities in them come out.
    if (product.alpha.is_zero()) return "its alpha is 0, by which cublasLt multiplies";
    if (!product.beta.is_zero()) {
        Layout c;
        if (matmul.c != matmul.d || !read_layout(getters, matmul.layout_c, c) || c != d) return "C is another matrix than D";
    }
    complete(product);
    return nullptr;
}

}  // namespace tmm::dropin::cublas
