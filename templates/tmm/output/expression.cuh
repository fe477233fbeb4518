// What the text of a caller's expression gives becomes a float. Where it can't, these messages reach the caller, who knows nothing of
// templates (words_on_expression in generator/kernel/expression.h).
#pragma once

#include "tmm/output/epilogue.cuh"

// An expression may name them; neither device's compiler has the headers that define them.
#ifndef INFINITY
#define INFINITY (__int_as_float(0x7f800000))
#endif
#ifndef NAN
#define NAN (__int_as_float(0x7fffffff))
#endif

namespace tmm::expression {

// (text, End()) is a Value of what the text gives. Of void it is End itself, since C++'s own comma takes void and this one does not.
struct End {};
template <class T>
struct Value {
    T value;
};
template <class T>
__device__ inline Value<T> operator,(T value, End) {
    return {value};
}

template <class T>
constexpr bool is_address = false;
template <class T>
constexpr bool is_address<T*> = true;
template <>
constexpr bool is_address<decltype(nullptr)> = true;

template <class T, class Float = decltype(static_cast<float>(T()))>
constexpr bool becomes_float(int) {
    return true;
}
template <class T>
constexpr bool becomes_float(...) {
    return false;
}

template <class T>
__device__ inline float as_float(Value<T> given) {
    static_assert(!is_address<T>, "the expression gives an address, not a number");
    static_assert(is_address<T> || becomes_float<T>(0), "the expression gives a struct, not a number");
    if constexpr (!is_address<T> && becomes_float<T>(0))
        return static_cast<float>(given.value);
    else
        return 0.0f;
}
template <class T>
__device__ inline float as_float(T) {
    static_assert(sizeof(T) == 0, "the expression gives nothing (void), not a number");
    return 0.0f;
}

}  // namespace tmm::expression
