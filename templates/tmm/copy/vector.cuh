// Several elements moved in one access.
#pragma once

#include "tmm/ptx.cuh"

namespace tmm {

// No access is wider than 16 bytes: a vector that is makes several.
template <class T, int width>
struct alignas(sizeof(T) * width < 16 ? sizeof(T) * width : 16) Vector {
    T element[width];
};

template <int words>
struct alignas(4 * words) Words {
    unsigned word[words];
};

// The bits of a value as a type of the same size. NVRTC's __builtin_bit_cast makes the better code, but 12.0 to 12.2 have none; and up
// to 12.8 it refuses a class template that nothing has instantiated, which the assertion does.
template <class To, class From>
__device__ inline To bits_as(const From& from) {
    static_assert(sizeof(To) == sizeof(From));
#if __has_builtin(__builtin_bit_cast)
    return __builtin_bit_cast(To, from);
#else
    To to;
    memcpy(&to, &from, sizeof(To));
    return to;
#endif
}

// Elements of 16 bits travel as words: the compiler takes apart an access to structs that are smaller than a register.
template <class T, int width>
inline constexpr bool travels_as_words = sizeof(T) < 4 && sizeof(T) * width >= 4;

template <int width, class T>
__device__ inline Vector<T, width> load_vector(const T* source) {
    if constexpr (travels_as_words<T, width>)
        return bits_as<Vector<T, width>>(ptx::ld<Words<sizeof(T) * width / 4>>(source));
    else
        return ptx::ld<Vector<T, width>>(source);
}

template <class T, int width>
__device__ inline void store_vector(T* destination, const Vector<T, width>& value) {
    if constexpr (travels_as_words<T, width>)
        ptx::st(destination, bits_as<Words<sizeof(T) * width / 4>>(value));
    else
        ptx::st(destination, value);
}

// Stores a vector to global memory that this kernel does not read again.
template <class T, int width>
__device__ inline void store_vector_global(T* destination, const Vector<T, width>& value) {
    constexpr int bytes = sizeof(T) * width;
    if constexpr (bytes == 8 || bytes == 16)
        ptx::st_global(destination, bits_as<Words<bytes / 4>>(value).word);
    else
        store_vector(destination, value);
}

}  // namespace tmm
