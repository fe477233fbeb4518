/* tmm multiplies matrices on a GPU with kernels that it writes, compiles, measures and picks by itself:
 *
 *     C = epilogue(alpha * op(A) * op(B) + beta * C)
 *
 * This is its C interface: C99, includes nothing of CUDA, no C++ exception crosses it.
 *
 * Matrices. op(A) has m rows and k columns, op(B) k rows and n columns, C m rows and n columns. Row-major: element (i, j) of a
 * stored matrix stands at i * ld + j; column-major: at i + j * ld. A leading dimension counts elements and is at least the
 * length of a stored row (row-major) or column (column-major), and at least 1. With TMM_TRANS the stored matrix is the transpose
 * of the operand: A is then stored with k rows and m columns. Sizes have 64 bits; element counts past 2^31 work.
 *
 * Pointers. a, b, c, bias, residual, workspaces and prepared operands point to memory of the handle's device; for a handle on
 * TMM_DEVICE_HOST that is the process's own memory. Any pointer that is a multiple of its element's size works; multiples of 16 bytes are
 * fastest. alpha and beta stand in host memory, in the compute type: double for TMM_COMPUTE_F64, int32_t for TMM_COMPUTE_S32, float for
 * every other mode. They are read before the call returns. C must not overlap anything else that a call is given. A call in which it meets
 * a, b, bias or the residual is refused (TMM_STATUS_OVERLAP), but for layouts with which that would take long to see; the result is then
 * undefined, as it is where C overlaps a workspace or a prepared operand. tmmHostSgemm and tmmHostDgemm copy first. Nothing outside the
 * m x n elements of C is written.
 *
 * Edges. beta = 0 assigns C without reading it, so NaN there does not spread. alpha = 0 or k = 0 gives beta * C; a and b are not
 * read and may be null. m = 0, n = 0 or batch = 0 does nothing, and no pointer is needed. NaN and Inf in A and B come out where
 * a loop of FMAs puts them. Same plan, same inputs, same device: same bits.
 *
 * Order. Work is queued on a stream and the call returns; on TMM_DEVICE_HOST it is done when the call returns. Making a handle
 * or a plan may compile, load and allocate, and so may a handle's first call of a problem, with less aligned pointers, with a workspace
 * or without one, or on another stream; they take their time, so let them go before a stream capture. All later calls only launch, but for
 * three. A handle keeps 16,384 plans, of its first 8,192 problems and of the 8,192 others that it used last, as many for calls that bring
 * a workspace, and of expressions the last 64; the call of a problem whose plan it has dropped makes it again. It keeps 32 workspaces,
 * and those that captured calls use besides; the call on a stream whose workspace it has dropped allocates. And where threads call at the
 * same time, each takes a workspace of the handle's, which allocates one where none is free.
 * On compute capability 9.0 and later a kernel of tmm's may begin while the kernel before it in the stream ends (programmatic
 * dependent launch); it waits for that one's end before it reads or writes memory. A kernel that a program launches behind a call
 * in the same way must wait itself, too (cudaGridDependencySynchronize).
 * A captured call keeps using its handle or plan, which the graph must not outlive, and the workspace of that: replay it in the order of
 * the stream that it was captured on, or bring a workspace of its own.
 *
 * Threads. A handle may be used by several threads at once, in all functions but tmmDestroy; they share its stream, which must then be the
 * same for all of them (the per-thread default stream is not), or name one in each call (tmmGemmOnStream). A plan may be run by one thread
 * at a time and on one stream at a time, unless each run brings its own workspace or the plan needs none. Nothing else may use a handle or
 * plan while it is destroyed. A plan outlives its handle: they may be destroyed in either order. No thread is cancelled (pthread_cancel)
 * within a call. After fork() the parent goes on. CUDA works in no child: handles and plans of a GPU that the parent made give
 * TMM_STATUS_DEVICE there, and destroying them does nothing; those on TMM_DEVICE_HOST serve it. Where another thread was within a call when
 * the process was forked, every call in the child gives TMM_STATUS_DEVICE.
 *
 * Failure. Every function that can fail gives a status; a handle or plan that it should have made is then null. A bad argument
 * has a status of its own and launches nothing; tmmLastError() then holds a sentence. What a function gives besides, whatever its
 * arguments: TMM_STATUS_INVALID_HANDLE or _PLAN for a null one, TMM_STATUS_NULL_POINTER for null where a result or a struct is needed,
 * TMM_STATUS_OUT_OF_MEMORY, and, if it makes a plan or launches, TMM_STATUS_DEVICE and TMM_STATUS_COMPILER. A missing, locked, damaged or
 * newer tuning database is no failure: tmm chooses kernels without it and logs one line, for the handle, or for a choice where the database
 * can't be read later. */
#ifndef TMM_TMM_H
#define TMM_TMM_H

#include <stddef.h>
#include <stdint.h>

#define TMM_VERSION_MAJOR 0
#define TMM_VERSION_MINOR 3
#define TMM_VERSION_PATCH 0
#define TMM_VERSION (TMM_VERSION_MAJOR * 10000 + TMM_VERSION_MINOR * 100 + TMM_VERSION_PATCH)

#if defined(__GNUC__)
#define TMM_API __attribute__((visibility("default")))
#else
#define TMM_API
#endif

/* Enumerations have int's size and range, so that a bad value is an error and not undefined behaviour. */
#ifdef __cplusplus
#define TMM_INT_ENUM : int
extern "C" {
#else
#define TMM_INT_ENUM
#endif

/* A CUDA stream: the driver's CUstream, the runtime's cudaStream_t. Null is the default stream. */
struct CUstream_st;

/* A device, its winners, and the plans of the problems that tmmSgemm and tmmGemm have seen. */
typedef struct tmmHandle_s* tmmHandle_t;
/* The kernels of one problem, chosen and loaded, with the workspace that they run in. */
typedef struct tmmPlan_s* tmmPlan_t;

/* In place of a CUDA ordinal: the emulation on the CPU. Right but slow; for tests and machines without a GPU. */
#define TMM_DEVICE_HOST (-1)

/* Values never change their meaning; new ones are appended. */
typedef enum tmmStatus TMM_INT_ENUM {
    TMM_STATUS_SUCCESS = 0,
    TMM_STATUS_INVALID_HANDLE = 1,      /* the handle is null */
    TMM_STATUS_INVALID_PLAN = 2,        /* the plan is null */
    TMM_STATUS_INVALID_STRUCT_SIZE = 3, /* struct_size is none that this library knows */
    TMM_STATUS_INVALID_LAYOUT = 4,      /* no tmmLayout_t; likewise operation, type, compute */
    TMM_STATUS_INVALID_OPERATION = 5,
    TMM_STATUS_INVALID_TYPE = 6,
    TMM_STATUS_INVALID_COMPUTE = 7,
    TMM_STATUS_INVALID_EPILOGUE = 8, /* no tmmEpilogue_t, or not what the problem's other fields amount to */
    TMM_STATUS_INVALID_M = 9,        /* negative; likewise n, k, batch */
    TMM_STATUS_INVALID_N = 10,
    TMM_STATUS_INVALID_K = 11,
    TMM_STATUS_INVALID_BATCH = 12,
    TMM_STATUS_INVALID_LDA = 13, /* shorter than the stored row (column-major: column), or than 1; likewise ldb, ldc */
    TMM_STATUS_INVALID_LDB = 14,
    TMM_STATUS_INVALID_LDC = 15,
    TMM_STATUS_INVALID_STRIDE = 16,    /* negative, or a stride_c with which matrices C overlap */
    TMM_STATUS_INVALID_ALIGNMENT = 17, /* the promised alignment is no power of two */
    TMM_STATUS_TOO_LARGE = 18,         /* a matrix's extent in bytes, or the number of C's elements, does not fit 63 bits */
    TMM_STATUS_NULL_A = 19,            /* null where it is needed; likewise b, c, alpha, beta */
    TMM_STATUS_NULL_B = 20,
    TMM_STATUS_NULL_C = 21,
    TMM_STATUS_NULL_ALPHA = 22,
    TMM_STATUS_NULL_BETA = 23,
    TMM_STATUS_NULL_POINTER = 24,         /* another pointer that is needed is null */
    TMM_STATUS_MISALIGNED_POINTER = 25,   /* a, b, c, bias or residual is no multiple of its element's size */
    TMM_STATUS_MISALIGNED_WORKSPACE = 26, /* no multiple of TMM_WORKSPACE_ALIGNMENT */
    TMM_STATUS_WORKSPACE_TOO_SMALL = 27,  /* smaller than tmmPlanWorkspaceSize says; of max_workspace: than any kernel takes */
    TMM_STATUS_BETA_NOT_DECLARED = 28,    /* beta is not 0, but the problem says reads_c = 0 */
    TMM_STATUS_UNSUPPORTED_TYPE = 29,     /* a valid type that this version has no kernels for; likewise compute mode, epilogue. A
                                             bias or residual that the problem does not have is such an epilogue, too */
    TMM_STATUS_UNSUPPORTED_COMPUTE = 30,
    TMM_STATUS_UNSUPPORTED_EPILOGUE = 31,
    TMM_STATUS_NO_DEVICE = 32,           /* no driver, or no GPU of that number */
    TMM_STATUS_DEVICE = 33,              /* the device failed; after a fault the process must be replaced */
    TMM_STATUS_OUT_OF_MEMORY = 34,       /* of the device or of the host */
    TMM_STATUS_COMPILER = 35,            /* no compiler for kernels, or it failed */
    TMM_STATUS_INTERNAL = 36,            /* a fault of tmm: please report it */
    TMM_STATUS_INVALID_OPERAND = 37,     /* no tmmOperand_t */
    TMM_STATUS_MISALIGNED_PREPARED = 38, /* no multiple of TMM_WORKSPACE_ALIGNMENT */
    TMM_STATUS_PREPARED_TOO_SMALL = 39,  /* smaller than tmmPlanPreparedSize says */
    TMM_STATUS_INVALID_EXPRESSION = 40,  /* none, or one that does not compile: tmmLastError has the compiler's words */
    TMM_STATUS_INVALID_ACTIVATION = 41,  /* no tmmActivation_t */
    TMM_STATUS_INVALID_BIAS_AXIS = 42,   /* no tmmBiasAxis_t */
    TMM_STATUS_INVALID_LDR = 43,         /* as TMM_STATUS_INVALID_LDC, of the residual */
    TMM_STATUS_NULL_BIAS = 44,           /* null where the problem says has_bias */
    TMM_STATUS_NULL_RESIDUAL = 45,       /* null where the problem says has_residual */
    TMM_STATUS_UNREADABLE_BUNDLE = 46,   /* missing, no file, or one that this process may not read or others may replace */
    TMM_STATUS_INVALID_BUNDLE = 47,      /* no bundle, or a damaged one */
    TMM_STATUS_BUNDLE_VERSION = 48,      /* of another version of tmm, whose kernels or format differ */
    TMM_STATUS_BUNDLE_DEVICE = 49,       /* for another device than the handle's */
    TMM_STATUS_OVERLAP = 50,             /* c shares memory with a, b, bias or the residual */
    TMM_STATUS_INVALID_CONFIG = 51,      /* no config, or none that the problem can be served by; tmmLastError says why */
    TMM_STATUS_INVALID_RESULT = 52,      /* no tmmResult_t */
    TMM_STATUS_NOT_SQUARE = 53           /* the result is symmetric, lower or upper, but m is not n */
} tmmStatus_t;

/* CBLAS's values. */
typedef enum tmmLayout TMM_INT_ENUM { TMM_ROW_MAJOR = 101, TMM_COL_MAJOR = 102 } tmmLayout_t;
typedef enum tmmOperation TMM_INT_ENUM {
    TMM_NO_TRANS = 111,
    TMM_TRANS = 112,
    TMM_CONJ_TRANS = 113 /* the same as TMM_TRANS: every type is real */
} tmmOperation_t;

/* The operands of a product, as the caller's problem names them whatever its layout. */
typedef enum tmmOperand TMM_INT_ENUM { TMM_OPERAND_A = 0, TMM_OPERAND_B = 1 } tmmOperand_t;

/* Elements. This version has kernels for A and B of one type, TMM_F32, TMM_F16 or TMM_BF16, and C of that type or TMM_F32, for all of
 * TMM_F64, whose epilogues are computed in FP64 and have no expression, and for A and B of TMM_S8 and C of TMM_S32, without an epilogue;
 * other combinations give TMM_STATUS_UNSUPPORTED_TYPE. TMM_F16 is IEEE's binary16, TMM_BF16 the upper half of a float, TMM_S8 and TMM_S32
 * are int8_t and int32_t. Products of 16-bit elements are summed in FP32, and what comes out is rounded once to the type of C, to the
 * nearest, ties to even. Products of TMM_S8 are summed exactly, and results that do not fit 32 bits wrap around, modulo 2^32. */
typedef enum tmmType TMM_INT_ENUM { TMM_F32 = 0, TMM_F16 = 1, TMM_BF16 = 2, TMM_F64 = 3, TMM_S8 = 4, TMM_S32 = 5 } tmmType_t;

/* What the result promises. As accurate as a loop of FP32 FMAs over k in order means: of errors relative to |A| |B|, over random inputs of
 * ten families, the root of the mean square is at most 1.125 times the loop's, the largest of 256 elements on average at most 1.25 times,
 * and no element is twice as far off as any of the loop's (docs/accuracy.md; tmm-bench --accuracy measures it).
 *
 * This version has kernels for the first three with FP32 operands, for the first with 16-bit ones, for TMM_COMPUTE_F64
 * with FP64 ones and for TMM_COMPUTE_S32 with TMM_S8.
 * TMM_COMPUTE_TF32 lets tensor cores multiply operands rounded to TF32, which has a float's sign and exponent and 10 of its 23 bits of
 * fraction: to the nearest, ties to even, so by at most 2^-11 of a normal number. Numbers beyond the largest of TF32 become infinite,
 * infinities and NaNs stay. The products are summed in FP32. Where this version has no such kernels, on other GPUs than Hopper and on
 * TMM_DEVICE_HOST, and where CUDA cores are faster, it computes as in TMM_COMPUTE_F32. */
typedef enum tmmCompute TMM_INT_ENUM {
    TMM_COMPUTE_F32 = 0,        /* as accurate as a loop of FP32 FMAs, by whatever unit; the mode of 16-bit operands */
    TMM_COMPUTE_F32_STRICT = 1, /* FP32 FMAs only */
    TMM_COMPUTE_TF32 = 2,       /* FP32 operands may be rounded to TF32, to nearest */
    TMM_COMPUTE_F64 = 3,        /* as accurate as a loop of FP64 FMAs; the mode of TMM_F64, with alpha and beta of type double */
    TMM_COMPUTE_S32 = 4         /* exact modulo 2^32; the mode of TMM_S8, with alpha and beta of type int32_t */
} tmmCompute_t;

/* What of C a product makes; other results than TMM_RESULT_FULL are square, and computed in about half the time where the product is large.
 * TMM_RESULT_SYMMETRIC: the caller knows that the result is symmetric, as that of A times its transpose is. One triangle is computed, and C
 * is complete and equal to its transpose, bit for bit. Of beta * C and the residual one triangle counts, so that these are symmetric, too.
 * There is no bias with it, and an expression must not name row or column. TMM_RESULT_LOWER, _UPPER: only that triangle of C, with the
 * diagonal, is read and written, as in the BLAS's syrk and gemmt. No gate goes with any of the three. */
typedef enum tmmResult TMM_INT_ENUM {
    TMM_RESULT_FULL = 0,
    TMM_RESULT_SYMMETRIC = 1,
    TMM_RESULT_LOWER = 2,
    TMM_RESULT_UPPER = 3
} tmmResult_t;

/* What is done to x = alpha * op(A) * op(B) + beta * C, in FP32, before it is rounded to an element of C:
 *
 *     C = activation(x + bias) + residual
 *
 * each where the problem has it, or C = expression where the epilogue is TMM_EPILOGUE_CUSTOM. The class is TMM_EPILOGUE_NONE, or what the
 * problem's other fields amount to: TMM_EPILOGUE_ACTIVATION with an activation, else TMM_EPILOGUE_BIAS with a bias or a residual. NONE
 * leaves it to these fields. */
typedef enum tmmEpilogue TMM_INT_ENUM {
    TMM_EPILOGUE_NONE = 0,
    TMM_EPILOGUE_BIAS = 1,
    TMM_EPILOGUE_ACTIVATION = 2,
    TMM_EPILOGUE_CUSTOM = 3
} tmmEpilogue_t;

/* NaN stays NaN, and at infinities these are what their formulas give. */
typedef enum tmmActivation TMM_INT_ENUM {
    TMM_ACTIVATION_NONE = 0,
    TMM_ACTIVATION_RELU = 1,      /* 0 for x < 0, else x */
    TMM_ACTIVATION_GELU = 2,      /* x / 2 * (1 + erf(x / sqrt(2))) */
    TMM_ACTIVATION_GELU_TANH = 3, /* x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))) */
    TMM_ACTIVATION_SILU = 4,      /* x / (1 + exp(-x)) */
    TMM_ACTIVATION_SIGMOID = 5,   /* 1 / (1 + exp(-x)) */
    TMM_ACTIVATION_TANH = 6,
    /* A gate (Shazeer, arXiv 2002.05202): op(B) has 2 n columns, and C, m x n, is silu of the first n columns of x times the last n. A
     * bias along the columns has 2 n elements. reads_c must be 0, else TMM_STATUS_UNSUPPORTED_EPILOGUE. */
    TMM_ACTIVATION_SWIGLU = 7,
    /* The same of rows: op(A) has 2 m rows, and C, m x n, is silu of the first m rows of x times the last m. A bias along the rows has 2 m
     * elements. */
    TMM_ACTIVATION_SWIGLU_ROWS = 8
} tmmActivation_t;

/* Which of C's axes, as the caller sees them, a bias has its elements along. */
typedef enum tmmBiasAxis TMM_INT_ENUM {
    TMM_BIAS_COLUMNS = 0, /* n elements, one for each column; 2 n with TMM_ACTIVATION_SWIGLU */
    TMM_BIAS_ROWS = 1     /* m elements, one for each row; 2 m with TMM_ACTIVATION_SWIGLU_ROWS */
} tmmBiasAxis_t;

/* What is asked: everything that a kernel is chosen by, and no values. New fields are appended; the struct_size of
 * a header without them is taken too, and they then have their defaults. */
typedef struct tmmGemmProblem {
    size_t struct_size; /* sizeof(tmmGemmProblem_t) */
    tmmLayout_t layout;
    tmmOperation_t op_a;
    tmmOperation_t op_b;
    int64_t m;
    int64_t n;
    int64_t k;
    int64_t batch; /* how many multiplications of this shape; member i takes a + i * stride_a, and so on */
    tmmType_t type_a;
    tmmType_t type_b;
    tmmType_t type_c;
    tmmCompute_t compute;
    int64_t lda; /* elements */
    int64_t ldb;
    int64_t ldc;
    int64_t stride_a; /* elements; 0: every member shares A. Of no meaning where batch is 1 */
    int64_t stride_b;
    int64_t stride_c; /* one behind the other, or side by side in common rows: any with which no two elements of C share a place */
    int alignment;    /* a power of two: a, b, c and the residual will be multiples of this many bytes; more than 16 count as 16.
                         Pointers that are not still work, by a slower kernel */
    int reads_c;      /* 0: beta will be 0, and C is not read */
    tmmEpilogue_t epilogue;
    size_t max_workspace; /* bytes that the plan's workspace may have at most: the fastest kernel within them is chosen. 0: none.
                             SIZE_MAX: whatever the fastest of all takes, which may be as much as the operands do. Some
                             workspace is needed for a gate's sums, unless a kernel applies the gate (wgmma's of 16 bits, to aligned
                             pointers): where the bound is too small for it, TMM_STATUS_WORKSPACE_TOO_SMALL */
    tmmActivation_t activation;
    int has_bias; /* 1: every member of the batch adds the same bias */
    tmmBiasAxis_t bias_axis;
    tmmType_t type_bias; /* TMM_F32, TMM_F16 or TMM_BF16; of no meaning without a bias */
    int has_residual;    /* 1: a matrix of C's layout, type, rows and columns is added; it must not overlap C */
    int64_t ldr;         /* elements; of no meaning without a residual, as stride_r */
    int64_t stride_r;    /* elements between the batch's members; 0: all add the same residual */
    /* With TMM_EPILOGUE_CUSTOM, what C becomes, in C++: an expression of floats and the functions of CUDA's math library over x, row,
     * column, batch (64-bit integers, counted from 0 as the caller sees C), bias and residual (0 where the problem has none), and p0 to p3,
     * which each call gives: "fmaxf(x + bias, p0) * p1". At most 4,096 characters, without literals in quotes, comments, statements and
     * preprocessor lines. It is read when a plan is made or a product begun, and copied. Its kernel is compiled once and kept in the cache;
     * its tiles are those that won for the same shape with another epilogue, where one was tuned. Null otherwise. */
    const char* expression;
    tmmResult_t result;
    /* 1: the matrices of the batch stand anywhere in memory, each with the problem's leading dimension and alignment, and a call gives
     * arrays of their addresses (a_array, b_array, c_array). Strides of A, B and C are of no meaning then; a residual has its own. No gate
     * goes with it. Neither the addresses nor whether matrices overlap are looked at. */
    int pointer_array;
    /* 1: the bits of a row of C hang on that row of op(A), on op(B), n, k, types, operations and the device's model alone: not on m, on the
     * row's place, on the batch or on the other rows. So a row comes out alike whatever it is multiplied with, in calls of any size. Costs
     * speed where few rows meet a deep K, whose parts are then not added up apart. tmmPlanDescribe says in which order sums are made. */
    int invariant;
} tmmGemmProblem_t;

/* The values of one call. A field that is not used is 0, so begin with
 * tmmGemmArgs_t args = {.struct_size = sizeof args}. Fields are only ever appended; where struct_size says
 * that a program was compiled before a field was there, that field is null. */
typedef struct tmmGemmArgs {
    size_t struct_size; /* sizeof(tmmGemmArgs_t) */
    const void* alpha;  /* host memory, in the compute type */
    const void* beta;   /* likewise; may be null where the problem says reads_c = 0 */
    const void* a;
    const void* b;
    void* c;
    const void* bias;      /* null where the problem has no bias */
    void* workspace;       /* a multiple of TMM_WORKSPACE_ALIGNMENT; null: the plan's, or the handle's */
    size_t workspace_size; /* bytes; at least tmmPlanWorkspaceSize's. The content is of no meaning before and after a run */
    /* What tmmPlanPrepare made of a, and of b, which are given all the same; null: nothing. Only tmmPlanRun uses them. */
    const void* prepared_a;
    const void* prepared_b;
    const void* residual; /* null where the problem has no residual */
    float parameters[4];  /* p0 to p3 of an expression */
    /* With pointer_array, in place of a, b and c: arrays in device memory of the addresses of the batch's matrices, `batch` of them each.
     * They are read when the work is done, in the stream's order. */
    const void* const* a_array;
    const void* const* b_array;
    void* const* c_array;
} tmmGemmArgs_t;

/* A workspace that the caller brings, and a prepared operand, is a multiple of this many bytes. */
#define TMM_WORKSPACE_ALIGNMENT 256

/* Opens a device. device: a CUDA ordinal, or TMM_DEVICE_HOST. database_path: a file, or null for the one that TMM_DB names, else
 * ${XDG_DATA_HOME:-~/.local/share}/tmm/tmm.db. The winners of the tuning database are read once, and a compiler is looked for, when a
 * problem first needs them. TMM_STATUS_NO_DEVICE: there is no driver, or no GPU of that number. */
TMM_API tmmStatus_t tmmCreate(tmmHandle_t* handle, int device, const char* database_path);
/* Loads a bundle, a file of kernels for one model of GPU that tmm-db bundle made. A problem that it holds, with pointers of any alignment,
 * then runs without compiler, tuning database and cache. Any other problem is served as without a bundle; where no compiler is found, by
 * what the bundle has for the nearest problem of the same types, operations and epilogue. Problems that the handle has run already stay as
 * they are. Of several bundles the one that was loaded last goes first. A bundle that is refused changes nothing. Null is refused.
 * tmmCreate loads the file that TMM_BUNDLE names; one that can't be used costs a log line. */
TMM_API tmmStatus_t tmmLoadBundle(tmmHandle_t handle, const char* path);
/* Does not wait for work that is queued, but memory the handle owns is freed, which waits for the device. Null does nothing. */
TMM_API tmmStatus_t tmmDestroy(tmmHandle_t handle);
/* The stream of tmmSgemm and tmmGemm from now on; the default stream at first. It must belong to the device's primary context. */
TMM_API tmmStatus_t tmmSetStream(tmmHandle_t handle, struct CUstream_st* stream);

/* May a plan be measured while it is made, from now on? No, at first. Where it may, an epilogue or expression that was not tuned for its
 * shape runs two ways, for a few milliseconds, in memory that is allocated for it: in the kernel that multiplies, and in a step behind the
 * kernel of the plain product. The faster one serves, and the handle keeps the result; tmmPlanDescribe tells both times. This holds for
 * tmmPlanCreate and for the first tmmGemm of a problem, which then must not be captured. Problems that tmmGemm has run already stay as they
 * are. */
TMM_API tmmStatus_t tmmSetTuning(tmmHandle_t handle, int allowed);

/* C = alpha * op(A) * op(B) + beta * C of FP32 matrices in device memory, compute mode TMM_COMPUTE_F32, on the handle's stream. The
 * first call of a problem makes its plan, as tmmPlanCreate does, and the handle keeps it for the next, among its 16,384 plans; later ones
 * only launch. */
TMM_API tmmStatus_t tmmSgemm(tmmHandle_t handle, tmmLayout_t layout, tmmOperation_t op_a, tmmOperation_t op_b, int64_t m, int64_t n,
                             int64_t k, const float* alpha, const float* a, int64_t lda, const float* b, int64_t ldb, const float* beta,
                             float* c, int64_t ldc);
/* The same with matrices in host memory: allocates on the device, copies, multiplies, copies back, frees. It runs on the default stream,
 * whatever the handle's is. C is complete when the call returns; the padding between its rows is left as it was. */
TMM_API tmmStatus_t tmmHostSgemm(tmmHandle_t handle, tmmLayout_t layout, tmmOperation_t op_a, tmmOperation_t op_b, int64_t m, int64_t n,
                                 int64_t k, const float* alpha, const float* a, int64_t lda, const float* b, int64_t ldb, const float* beta,
                                 float* c, int64_t ldc);
/* Both for FP64 matrices, compute mode TMM_COMPUTE_F64. */
TMM_API tmmStatus_t tmmDgemm(tmmHandle_t handle, tmmLayout_t layout, tmmOperation_t op_a, tmmOperation_t op_b, int64_t m, int64_t n,
                             int64_t k, const double* alpha, const double* a, int64_t lda, const double* b, int64_t ldb, const double* beta,
                             double* c, int64_t ldc);
TMM_API tmmStatus_t tmmHostDgemm(tmmHandle_t handle, tmmLayout_t layout, tmmOperation_t op_a, tmmOperation_t op_b, int64_t m, int64_t n,
                                 int64_t k, const double* alpha, const double* a, int64_t lda, const double* b, int64_t ldb,
                                 const double* beta, double* c, int64_t ldc);
/* Any problem, on the handle's stream, in device memory. The plan is made at the first call and kept for the next, as tmmSgemm's is; the
 * problem's text of an expression may be gone then. prepared_a and prepared_b of args are not used. */
TMM_API tmmStatus_t tmmGemm(tmmHandle_t handle, const tmmGemmProblem_t* problem, const tmmGemmArgs_t* args);
/* The same on that stream, whatever the handle's is, so that one handle serves threads that have streams of their own. */
TMM_API tmmStatus_t tmmGemmOnStream(tmmHandle_t handle, struct CUstream_st* stream, const tmmGemmProblem_t* problem,
                                    const tmmGemmArgs_t* args);
/* The same with matrices in host memory, as tmmHostSgemm does it. Of a result that is lower or upper the other triangle of C stays as it
 * was; A and B that are one matrix are copied once. The workspace of args is not used. TMM_STATUS_INVALID_BATCH: a batch of several
 * products, or arrays of pointers. TMM_STATUS_UNSUPPORTED_EPILOGUE: a bias or a residual. */
TMM_API tmmStatus_t tmmHostGemm(tmmHandle_t handle, const tmmGemmProblem_t* problem, const tmmGemmArgs_t* args);
/* Waits until all work is done that was queued on the stream; null is the default stream. On TMM_DEVICE_HOST it always is. */
TMM_API tmmStatus_t tmmSynchronize(tmmHandle_t handle, struct CUstream_st* stream);

/* Fills in the defaults: row-major, no transposes, f32, one multiplication, alignment 16, C not read, max_workspace SIZE_MAX, no
 * epilogue, all of C; invariant is 1 where the environment has TMM_INVARIANT=1, for tmmSgemm and its like, too. Sizes and leading
 * dimensions are 0 and for the caller to set. */
TMM_API tmmStatus_t tmmGemmProblemInit(tmmGemmProblem_t* problem);

/* Chooses, compiles and loads the kernels of a problem and allocates its workspace: seconds for kernels that are not in the cache, else
 * milliseconds. Where the workspace of the fastest can't be had, a plainer kernel serves. TMM_STATUS_WORKSPACE_TOO_SMALL: max_workspace is
 * too small for a gate's sums, be it with the pointers that are less aligned than the problem promises; tmmLastError has the bytes. */
TMM_API tmmStatus_t tmmPlanCreate(tmmHandle_t handle, const tmmGemmProblem_t* problem, tmmPlan_t* plan);
/* A plan for a caller that brings a workspace to each run and keeps the problem's promise of alignment. It has no workspace of its own,
 * so that several threads and streams may run it at once, and no second kernel for pointers that are less aligned: a run with those
 * gives TMM_STATUS_MISALIGNED_POINTER. */
TMM_API tmmStatus_t tmmPlanCreateBare(tmmHandle_t handle, const tmmGemmProblem_t* problem, tmmPlan_t* plan);
/* How many bytes of device memory a workspace must have that a run brings along: at most the problem's max_workspace, and 0 where the
 * plan's kernels need none. */
TMM_API tmmStatus_t tmmPlanWorkspaceSize(tmmPlan_t plan, size_t* bytes);
/* Queues one run on the stream, which must belong to the device's primary context; null is the default stream. It only launches: it
 * neither allocates nor waits, and may be captured. */
TMM_API tmmStatus_t tmmPlanRun(tmmPlan_t plan, struct CUstream_st* stream, const tmmGemmArgs_t* args);
/* An operand that stays the same from run to run, such as weights, may be prepared once: some kernels rewrite their operands first
 * (FP32 products on tensor cores split them into 16-bit planes), and runs that find an operand rewritten leave that out. Results
 * are the same, bit for bit.
 * tmmPlanPreparedSize: how many bytes of device memory a prepared operand takes. 0 where the plan's kernels rewrite none; then
 * tmmPlanPrepare does nothing, and prepared_a and prepared_b of tmmGemmArgs_t are of no meaning. */
TMM_API tmmStatus_t tmmPlanPreparedSize(tmmPlan_t plan, tmmOperand_t operand, size_t* bytes);
/* Rewrites all of an operand's batch into the caller's device memory of that size, a multiple of TMM_WORKSPACE_ALIGNMENT. Only
 * launches, and takes no workspace. It serves runs of this plan, or of a plan of the same problem and the same config, that come
 * after it in the order of the streams. They only read it: any number of them may at once. The matrix is given to them all the
 * same: those that meet Inf, NaN or too wide a range read it. When its content changes it must be prepared again, while no run uses
 * what was prepared before; of runs in between, the result is undefined. */
TMM_API tmmStatus_t tmmPlanPrepare(tmmPlan_t plan, struct CUstream_st* stream, tmmOperand_t operand, const void* matrix, void* prepared,
                                   size_t prepared_size);
/* Writes what was chosen, lines "config: …", "match: exact, near, predicted or fallback", "why: …", "predicted: …", the time that a run
 * is expected to take and what it is made of, "measured: …" where this very problem was measured, "library: …" where it raced a library
 * (tmmRemember), and "order of sums: …" of an invariant problem: at most size bytes with the terminating zero, cut off where they do not
 * fit; 4,096 bytes are plenty. A size of 0 is refused. A line "misaligned pointers: …" names the config for pointers that are less aligned
 * than the problem promises, where it is another one. */
TMM_API tmmStatus_t tmmPlanDescribe(tmmPlan_t plan, char* text, size_t size);
/* Writes the same of the plan that tmmPlanCreateBare would make of a problem, and compiles, loads, allocates and measures nothing. So it
 * takes for granted that a compiler is found and kernels compile; and of an epilogue that tmmSetTuning lets plans measure it says what is
 * predicted until a plan of the problem was made. */
TMM_API tmmStatus_t tmmProblemDescribe(tmmHandle_t handle, const tmmGemmProblem_t* problem, char* text, size_t size);
/* For a program that lets tmm race another library, as libtmm_cublas.so does.
 * tmmSetCompileTool: kernels that are not in the cache are compiled by processes of that program from now on, which is tmm-tune, several at
 * once, each at low priority, and never in this process. Null: in this process, as at first. No effect on TMM_DEVICE_HOST.
 * tmmProblemCandidates: writes the configs that are predicted to be the fastest, the best first and at most count of them, a line each, in
 * the spelling that tmm-tune and tmm-gen use.
 * tmmPlanCreateOf: a bare plan of that config. TMM_STATUS_INVALID_CONFIG: the problem can't be served by it.
 * tmmRemember: keeps in the handle's database that the config took so many microseconds in a program where the library took library_us, as
 * a decision of origin raced; handles that are made from now on know it, and tmmProblemDescribe then has a line "library: …". */
TMM_API tmmStatus_t tmmSetCompileTool(tmmHandle_t handle, const char* program);
TMM_API tmmStatus_t tmmProblemCandidates(tmmHandle_t handle, const tmmGemmProblem_t* problem, int count, char* text, size_t size);
TMM_API tmmStatus_t tmmPlanCreateOf(tmmHandle_t handle, const tmmGemmProblem_t* problem, const char* config, tmmPlan_t* plan);
TMM_API tmmStatus_t tmmRemember(tmmHandle_t handle, const tmmGemmProblem_t* problem, const char* config, double us, double library_us);
/* Frees the plan's workspace where it has one, which waits for the device. Null does nothing. */
TMM_API tmmStatus_t tmmPlanDestroy(tmmPlan_t plan);

/* The status in a few words, which live as long as the library; never null, for any number. */
TMM_API const char* tmmStatusString(tmmStatus_t status);
/* The sentence of the calling thread's last failed call, if that call was on this handle or one of its plans; else "". With a null
 * handle, whatever the call was on: so after a failed tmmCreate. Valid until the thread's next failed call. */
TMM_API const char* tmmLastError(tmmHandle_t handle);

/* Gets what tmm has to say that is no error, a line at a time, from any thread; it must not call tmm. Null: stderr, as at first.
 * One callback for the process; it may be set at any time, by any thread, but a line that another thread has under way may still reach the
 * callback and user that were set before, after this returns. line lives until the callback returns. */
typedef void (*tmmLogCallback_t)(const char* line, void* user);
TMM_API void tmmSetLogCallback(tmmLogCallback_t callback, void* user);

/* TMM_VERSION of the library, 10000 * major + 100 * minor + patch, which may differ from that of the header. */
TMM_API int tmmGetVersion(void);

#ifdef __cplusplus
}
#endif

#endif
