// Where the matrices of a member of the batch stand: one behind the other, or each at an address of its own.
#pragma once

#include "tmm/number/number.cuh"
#include "tmm/ptx.cuh"
#include "tmm/vocabulary/args.h"

namespace tmm {

// first: the first matrix, or the array of all matrices' addresses where the problem has pointers; null where a call does not read it.
template <class Kernel, class Element>
__device__ inline Element* matrix_of_member(void* first, i64 stride, i64 batch) {
    if constexpr (Kernel::signature.pointers) {
        // The kernel before this one may be the one that writes the addresses.
        ptx::griddepcontrol_wait();
        return first ? static_cast<Element* const*>(first)[batch] : nullptr;
    } else {
        return static_cast<Element*>(first) + batch * stride;
    }
}
template <class Kernel, class Element>
__device__ inline const Element* matrix_of_member(const void* first, i64 stride, i64 batch) {
    if constexpr (Kernel::signature.pointers)
        return matrix_of_member<Kernel, Element>(const_cast<void*>(first), stride, batch);
    else
        return static_cast<const Element*>(first) + batch * stride;
}

template <class Kernel>
__device__ inline const ElementOfA<Kernel>* matrix_a(const GemmArgs& args, i64 batch) {
    return matrix_of_member<Kernel, ElementOfA<Kernel>>(args.a, args.stride_a, batch);
}
template <class Kernel>
__device__ inline const ElementOfB<Kernel>* matrix_b(const GemmArgs& args, i64 batch) {
    return matrix_of_member<Kernel, ElementOfB<Kernel>>(args.b, args.stride_b, batch);
}

}  // namespace tmm
