#!/bin/bash
./rocblas-bench -f gemm_ex -r h -m 64 -n 64 \
    -k 128 --transposeA T --lda 136
hipblaslt-bench --api_method c -m 96 -n 64 -k 32 --lda 32 --ldb 32 --ldc 96 --ldd 96 --stride_a 0 --stride_b 0 --stride_c 0 --stride_d 0 --alpha 1.000000 --beta 0.500000 --transA T --transB N --batch_count 1 --scaleA 0 --a_type f16_r --b_type f16_r --c_type f16_r --d_type f16_r --compute_type f32_r --activation_type gelu --bias_vector --bias_type f32_r > log.txt
./rocblas-bench -f gemm_strided_batched_ex --transposeB T -m 33 -n 32 -k 33 --a_type bf16_r --lda 33 --stride_a 1089 --b_type bf16_r --ldb 32 --stride_b 0 --d_type bf16_r --ldd 33 --stride_d 1056 --batch_count 5 --compute_type f32_r
- { rocblas_function: "rocblas_sgemm", transA: 'N', transB: 'T', M: 18, N: 17, K: 16, alpha: 1.0, lda: 18, ldb: 18, beta: 0.0, ldc: 18, call_count: 1 }
- { function: matmul, M: 64, N: 32, K: 16, batch_count: 4, stride_a: 1024, a_type: f8_r, b_type: f8_r, d_type: bf16_r, compute_type: c_f32_r, activation_type: none }
