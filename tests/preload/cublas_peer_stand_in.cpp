// What tmm-bench calls of cuBLAS and cublasLt beside products: versions, workspaces and heuristics. With cublas_stand_in.cpp it makes the
// two libraries that tests open in place of the real ones.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <vector>

#define TMM_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

using Descriptor = std::map<int, std::vector<unsigned char>>;

template <class Value>
Value value_of(const Descriptor& descriptor, int attribute) {
    Value value{};
    const auto found = descriptor.find(attribute);
    if (found != descriptor.end() && found->second.size() == sizeof value) std::memcpy(&value, found->second.data(), sizeof value);
    return value;
}

struct Heuristic {
    std::uint64_t algorithm[8];
    std::size_t workspace_bytes;
    int state;
    float waves;
    int reserved[4];
};

}  // namespace

TMM_EXPORT int cublasGetVersion_v2(void*, int* version) {
    *version = 130000;
    return 0;
}
TMM_EXPORT int cublasSetWorkspace_v2(void*, void*, std::size_t) {
    return 0;
}
TMM_EXPORT int cublasLtCreate(void** handle) {
    *handle = new int(0);
    return 0;
}
TMM_EXPORT int cublasLtDestroy(void* handle) {
    delete static_cast<int*>(handle);
    return 0;
}
TMM_EXPORT std::size_t cublasLtGetVersion() {
    return 130000;
}
TMM_EXPORT int cublasLtMatmulPreferenceCreate(Descriptor** preference) {
    *preference = new Descriptor;
    return 0;
}
TMM_EXPORT int cublasLtMatmulPreferenceDestroy(Descriptor* preference) {
    delete preference;
    return 0;
}
TMM_EXPORT int cublasLtMatmulPreferenceSetAttribute(Descriptor* preference, int attribute, const void* value, std::size_t size) {
    const auto* const bytes = static_cast<const unsigned char*>(value);
    (*preference)[attribute].assign(bytes, bytes + size);
    return 0;
}

// One heuristic, where an epilogue with a bias is told where it lies, and what is read has the sizes of what is written.
TMM_EXPORT int cublasLtMatmulAlgoGetHeuristic(void*, Descriptor* product, Descriptor*, Descriptor*, Descriptor* layout_c,
                                              Descriptor* layout_d, Descriptor*, int requested, Heuristic* results, int* returned) {
    constexpr int kNotSupported = 15;
    *returned = 0;
    const bool has_bias = (value_of<std::uint32_t>(*product, 7) & 4) != 0;
    if (has_bias && !value_of<const void*>(*product, 8)) return kNotSupported;
    for (const int attribute : {2, 3})
        if (value_of<std::uint64_t>(*layout_c, attribute) != value_of<std::uint64_t>(*layout_d, attribute)) return kNotSupported;
    if (requested < 1) return 0;
    results[0] = {};
    *returned = 1;
    return 0;
}
