// Several elements moved in one access.
#pragma once

namespace tmm {

template <class T, int width>
struct alignas(sizeof(T) * width) Vector {
    T element[width];
};

template <int width, class T>
__device__ inline Vector<T, width> load_vector(const T* source) {
    return *reinterpret_cast<const Vector<T, width>*>(source);
}

template <class T, int width>
__device__ inline void store_vector(T* destination, const Vector<T, width>& value) {
    *reinterpret_cast<Vector<T, width>*>(destination) = value;
}

}  // namespace tmm
