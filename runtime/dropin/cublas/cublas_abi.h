// What libcublas and libcublasLt look like to a program that is compiled without their headers: values and parameter types of their binary
// interface, which stay the same from version 11 on. tests/dropin/test_cublas_abi.cpp compares them with the headers where these are
// installed.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tmm::dropin::cublas {

// Enumerations are passed as int; a program may pass any value.
using Status = int;
using Handle = void*;
using LtHandle = void*;
using LtDescriptor = void*;
using Stream = void*;

inline constexpr Status kSuccess = 0;
inline constexpr Status kNotSupported = 15;

enum Operation : int { kOpN = 0, kOpT = 1, kOpC = 2 };
enum PointerMode : int { kPointerHost = 0 };
enum Fill : int { kFillLower = 0, kFillUpper = 1, kFillAll = 2 };

enum DataType : int { kReal32F = 0, kReal64F = 1, kReal16F = 2, kReal8I = 3, kReal32I = 10, kReal16BF = 14 };

enum ComputeType : int {
    kCompute32F = 68,
    kCompute32FPedantic = 69,
    kCompute64F = 70,
    kCompute64FPedantic = 71,
    kCompute32I = 72,
    kCompute32IPedantic = 73,
    kCompute32FFastTf32 = 77
};

// The mode is one of these four, in the lowest bits, or one that is not served; above them stand flags.
enum MathMode : int { kMathDefault = 0, kMathTensorOp = 1, kMathPedantic = 2, kMathTf32 = 3 };
inline constexpr int kMathNoReducedPrecision = 16;
inline constexpr int kMathBase = 15;

enum Algorithm : int { kAlgorithmDefault = -1, kAlgorithmDefaultTensorOp = 99 };

// Attributes of cublasLt's descriptors of layouts and products.
enum LtLayout : int {
    kLayoutType = 0,
    kLayoutOrder = 1,
    kLayoutRows = 2,
    kLayoutColumns = 3,
    kLayoutLd = 4,
    kLayoutBatch = 5,
    kLayoutStride = 6,
    kLayoutPlaneOffset = 7,
    kLayoutBatchMode = 8
};
enum LtOrder : int { kOrderColumns = 0 };
enum LtProduct : int {
    kProductCompute = 0,
    kProductScaleType = 1,
    kProductPointerMode = 2,
    kProductOpA = 3,
    kProductOpB = 4,
    kProductOpC = 5,
    kProductFill = 6,
    kProductEpilogue = 7,
    kProductBiasPointer = 8,
    kProductBiasStride = 10,
    kProductSmCount = 15,
    kProductScaleA = 17,
    kProductScaleB = 18,
    kProductScaleC = 19,
    kProductScaleD = 20,
    kProductAmaxD = 21,
    kProductBiasType = 26,
    kProductScaleOutD = 36
};
// The type of a bias that was not said.
inline constexpr int kTypeOfD = -1;
enum LtEpilogue : int {
    kEpilogueDefault = 1,
    kEpilogueRelu = 2,
    kEpilogueBias = 4,
    kEpilogueReluBias = 6,
    kEpilogueGelu = 32,
    kEpilogueGeluBias = 36
};

using GetStream = Status (*)(Handle, Stream*);
using GetInt = Status (*)(Handle, int*);
using GetAttribute = Status (*)(LtDescriptor, int attribute, void* value, std::size_t size, std::size_t* written);

}  // namespace tmm::dropin::cublas
