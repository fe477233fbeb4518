// Lists of other programs: what each line means, and that one which can't be served says so with its place and costs no other.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <chrono>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "generator/text/foreign_lists/foreign_list.h"
#include "generator/text/shapes_file.h"
#include "generator/text/text.h"

using namespace tmm;

namespace {

ShapeList list_of(const std::string& text, const ShapeOverrides& overrides = {}) {
    return parse_shape_list(text, "list", overrides);
}

// The list's problems, each as a row-major line of a shapes file, with alpha and beta.
std::vector<std::string> lines_of(const ShapeList& list) {
    std::vector<std::string> lines;
    for (const Shape& shape : list.shapes) lines.push_back(to_text(shape));
    return lines;
}

// What lines of a shapes file in the list's own layout come to.
std::vector<std::string> read(const std::vector<std::string>& lines) {
    std::vector<std::string> texts;
    for (const std::string& line : lines) texts.push_back(to_text(parse_shape(line)));
    return texts;
}

void check_list(const std::string& text, const std::vector<std::string>& shapes) {
    CAPTURE(text);
    const ShapeList list = list_of(text);
    REQUIRE(list.format != nullptr);
    CHECK(lines_of(list) == read(shapes));
    CHECK(list.left_out == 0);
}

// The lines come to the shapes, and others are left out: in which line, at which of its texts (or at its end), for what reason.
struct Reason {
    int line;
    std::string at;
    const char* what;
};
std::string place_of(const std::string& text, const Reason& reason) {
    std::istringstream stream(text);
    std::string line;
    for (int i = 0; i < reason.line; ++i) std::getline(stream, line);
    const std::size_t column = reason.at.empty() ? line.size() : line.find(reason.at);
    REQUIRE(column != std::string::npos);
    return fmt::format("list:{}:{}", reason.line, column + 1);
}
void check_mixed(const std::string& text, const std::vector<std::string>& shapes, const std::vector<Reason>& reasons) {
    CAPTURE(text);
    const ShapeList list = list_of(text);
    CHECK(lines_of(list) == read(shapes));
    REQUIRE(list.remarks.size() == reasons.size());
    CHECK(list.left_out == reasons.size());
    for (std::size_t i = 0; i < reasons.size(); ++i) {
        CHECK(list.remarks[i].where == place_of(text, reasons[i]));
        CHECK_MESSAGE(list.remarks[i].what.find(reasons[i].what) != std::string::npos, list.remarks[i].what);
    }
}

Error error_of(const std::string& text) {
    try {
        list_of(text);
    } catch (const Error& error) {
        return error;
    }
    return Error(ExitStatus::done, "no error");
}

const std::string kCutlass =
    "Problem,Provider,OperationKind,Operation,Disposition,Status,gemm_kind,m,n,k,A,B,C,D,alpha,beta,split_k_mode,"
    "split_k_slices,batch_count,raster_order,op_class,accum,cta_m,cta_n,cta_k,Runtime\n";

std::string matmul(const std::string& a, const std::string& b, const std::string& d, const std::string& product,
                   const std::string& beta = "0") {
    return fmt::format(
        "[2025-11-03 19:02:38][cublasLt][55][Trace][cublasLtMatmul] A=0X7F01 Adesc=[{}] B=0X7F02 Bdesc=[{}] C=0X7F03 Cdesc=[{}] "
        "D=0X7F03 Ddesc=[{}] computeDesc=[{}] algo=[algoId=66 tile=MATMUL_TILE_128x128] workSpace=0X0 "
        "workSpaceSizeInBytes=0 beta={} outOfPlace=0 stream=0X0\n",
        a, b, d, d, product, beta);
}

}  // namespace

TEST_CASE("TunableOp's untuned records and tuned results") {
    check_list(
        "GemmTunableOp_Half_TN,tn_768_24_64_ld_64_64_768\n"
        "GemmStridedBatchedTunableOp_float_NN,nn_64_32_16_B_6_ld_64_16_64\n"
        "GemmAndBiasTunableOp_BFloat16_TN,tn_768_24_64_ld_64_72_800\n"
        "GemmTunableOp_tf32_NT,nt_48_40_24_ld_48_40_48\n",
        {"768 24 64 layout=col ops=tn dtype=f16", "64 32 16 layout=col batch=6",
         "768 24 64 layout=col ops=tn dtype=bf16 ldb=72 ldc=800 epilogue=bias_rows", "48 40 24 layout=col ops=nt compute=tf32"});
    // Older versions write no leading dimensions.
    check_list(
        "Validator,PT_VERSION,2.2.0\nValidator,ROCM_VERSION,6.0.0.0-12969-1544e39\nGemmTunableOp_float_NT,nt_25088_4096_64,Gemm_Hipblaslt_"
        "1219,"
        "1.262\nGemmTunableOp_float_NT,nt_4096_4097_64,Gemm_Rocblas_1216,0.033\n",
        {"25088 4096 64 layout=col ops=nt", "4096 4097 64 layout=col ops=nt"});
    // With PYTORCH_TUNABLEOP_BLAS_LOG=1 the strides and scalars are known.
    check_list(
        "GemmStridedBatchedTunableOp_Half_TN,tn_64_32_16_B_6_ld_96_96_64,Default,1,BLAS_PARAMS: - { function: matmul, M: 64, N: 32, K: 16, "
        "lda: 96, ldb: 96, ldc: 64, ldd: 64, stride_a: 16, stride_b: 16, stride_c: 2048, stride_d: 2048, alpha: 0.1250, beta: 1.0000, "
        "transA: T, transB: N, batch_count: 6, a_type: f16_r, b_type: f16_r, c_type: f16_r, d_type: f16_r, scale_type: f32_r, "
        "compute_type: f32_r }\n",
        {"64 32 16 layout=col ops=tn dtype=f16 batch=6 lda=96 ldb=96 stride_a=16 stride_b=16 alpha=0.125 beta=1"});
    check_mixed(
        "Validator,PT_VERSION,2.6.0\nGemmTunableOp_c10::complex<float>_NN,nn_64_32_16_ld_64_16_64,Default,1\n"
        "GemmTunableOp_Half_NN,nn_64_32_16_ld_64_16_64,Default,1\n"
        "ScaledGemmTunableOp_Float8_e4m3fn_Float8_e4m3fn_BFloat16_TN,tn_64_128_256_ld_256_256_64_rw_1_bias_None,Default,1\n"
        "GemmTunableOp_Half_NN,nn_64_32_17_ld_63_17_64,Default,1\nGemmTunableOp_Half_NN,nn_64_32\n"
        "x,GemmTunableOp_Half_NN,nn_8_8_8\n",
        {"64 32 16 layout=col dtype=f16"},
        {{2, "c10::complex", "complex"},
         {4, "Float8", "FP8"},
         {5, "63_17", "lda = 63 is shorter than a stored column of 64"},
         {6, "", "K is missing"},
         {7, "x,Gemm", "'x' is no operation of TunableOp"}});
}

TEST_CASE("commands of rocblas-bench and hipblaslt-bench, in scripts and in logs") {
    check_list(
        "./rocblas-bench -f gemm -r f32_r --transposeA N --transposeB T -m 48 -n 40 -k 24 --alpha 1 --lda 48 --ldb 40 --beta 0 --ldc 48\n",
        {"48 40 24 layout=col ops=nt"});
    check_list(
        "#!/bin/bash\n# rocblas-bench -f gemm -r s -m 9 -n 9 -k 9\nrocblas-bench -f gemm_ex -r h -m 64 -n 32 \\\n  -k 128 --transposeA T "
        "--lda 136 > a.log\n"
        "hipblaslt-bench -m 96 -n 64 -k 32 --lda 32 --ldb 32 --ldc 96 --transA T --transB N --batch_count 1 --a_type f16_r --d_type f16_r "
        "--b_type f16_r --compute_type f32_r\n",
        {"64 32 128 layout=col ops=tn dtype=f16 lda=136", "96 64 32 layout=col ops=tn dtype=f16"});
    check_list(
        "./rocblas-bench -f gemm_strided_batched_ex --transposeA N --transposeB T -m 33 -n 32 -k 31 --alpha 1 --a_type bf16_r --lda 33 "
        "--stride_a 1089 --b_type bf16_r --ldb 32 --stride_b 0 --beta 0.5 --c_type bf16_r --ldc 33 --stride_c 1056 --d_type bf16_r "
        "--ldd 33 --stride_d 1056 --batch_count 200 --compute_type f32_r --algo 0 --solution_index 0 --flags 0\n",
        {"33 32 31 layout=col ops=nt dtype=bf16 batch=200 stride_a=1089 stride_b=0 beta=0.5"});
    check_list(
        "hipblaslt-bench --api_method c -m 48 -n 176 -k 102 --lda 48 --ldb 176 --ldc 48 --ldd 56  --stride_a 0 --stride_b 0 --stride_c 0 "
        "--stride_d 0  --alpha 1.000000 --beta 0.000000 --transA N --transB T --batch_count 1 --scaleA 0 --scaleB 0  --a_type bf16_r "
        "--b_type bf16_r --c_type bf16_r --d_type f32_r --scale_type f32_r --bias_type bf16_r   --compute_type f32_r --algo_method index "
        "--solution_index 218160 --activation_type gelu --bias_vector\n",
        {"48 176 102 layout=col ops=nt dtype=bf16 ctype=f32 ldc=56 epilogue=bias_rows+gelu_tanh bias_type=bf16"});
    check_list(
        "hipblaslt-bench -m 48 -n 17 -k 10 -r f32_r --compute_type xf32_r\nrocblas-bench -f gemm_ex -m 49 -n 17 -k 10 --math_mode 1\n",
        {"48 17 10 layout=col compute=tf32", "49 17 10 layout=col compute=tf32"});
    check_mixed(
        "rocblas-bench -f trsm -r s -m 64 -n 64\nrocblas-bench -f gemm_ex --a_type i8_r --b_type i8_r --c_type i32_r --d_type i32_r "
        "--compute_type i32_r -m 64 -n 64 -k 64\nrocblas-bench -f gemm -r s -m 64 -n 65 -k 66\nrocblas-bench -f gemm_batched -r s -m 64 -n "
        "64 "
        "-k 64 --batch_count 4\nhipblaslt-bench -m 64 -n 64 -k 64 -r f16_r --activation_type gelu --gradient\n"
        "hipblaslt-bench -m 64 -n 64 -k 64 --a_type f8_r --b_type f8_r --d_type bf16_r --scaleA 1 --scaleB 1\n"
        "rocblas-bench -f gemm -r s -m 64 -n 65 -k\n",
        {"64 64 64 layout=col dtype=s8", "64 65 66 layout=col"},
        {{1, "trsm", "'trsm'"},
         {4, "gemm_batched", "arrays of pointers"},
         {5, "gradient", "backward pass"},
         {6, "f8_r", "FP8"},
         {7, "k", "K = 'k' is not a whole number"}});
}

TEST_CASE("YAML that rocBLAS and hipBLASLt log") {
    check_list(
        "- { rocblas_function: \"rocblas_gemm_ex\", atomics_mode: atomics_allowed, a_type: \"f16_r\", b_type: \"f16_r\", c_type: "
        "\"f16_r\", d_type: "
        "\"f16_r\", compute_type: \"f32_r\", transA: 'N', transB: 'T', M: 108, N: 107, K: 106, alpha: 1.0, lda: 108, ldb: 110, beta: 0.0, "
        "ldc: "
        "108, ldd: 108, algo: 0, solution_index: 0, flags: none, call_count: 136 }\n"
        "- { rocblas_function: \"rocblas_sgemm_strided_batched\", transA: 'T', transB: 'N', M: 18, N: 17, K: 16, alpha: 1, lda: 16, "
        "stride_a: "
        "300, ldb: 16, stride_b: 272, beta: 1, ldc: 18, stride_c: 306, batch_count: 3, call_count: 2 }\n"
        "- { function: matmul, M: 64, N: 32, K: 16, lda: 64, ldb: 16, ldc: 64, ldd: 64, stride_a: 0, stride_b: 0, stride_c: 0, stride_d: "
        "0, "
        "alpha: 1, beta: 0, transA: N, transB: N, batch_count: 1, scaleA: 0, scaleB: 0, gradient: false, use_e: false, bias_vector: true, "
        "a_type: bf16_r, b_type: bf16_r, c_type: bf16_r, d_type: bf16_r, bias_type: bf16_r, compute_type: c_f32_r, activation_type: relu "
        "}\n",
        {"108 107 106 layout=col ops=nt dtype=f16 ldb=110", "18 17 16 layout=col ops=tn batch=3 stride_a=300 beta=1",
         "64 32 16 layout=col dtype=bf16 epilogue=bias_rows+relu"});
    check_mixed(
        "- { rocblas_function: \"rocblas_zgemm\", transA: 'N', transB: 'N', M: 8, N: 8, K: 8 }\n- { function: matmul, M: 8, N: 8, K: 9, "
        "a_type: "
        "f32_r, b_type: f32_r, d_type: f32_r, compute_type: f32_r }\n- { function: matmul, M: 64, N: 32, K\n",
        {"8 8 9 layout=col"}, {{1, "zgemm", "complex"}, {3, "", "no }"}});
}

TEST_CASE("logs of cublasLt, and those of hipBLASLt in the same form") {
    const std::string half = "type=R_16F rows=32 cols=16 ld=32";
    // Among lines of all other calls; a layout says where it is not as by default.
    check_list(
        "loading\n[x][cublasLt][5][Api][cublasLtMatmulAlgoGetHeuristic] Adesc=[type=R_32F rows=9 cols=9 ld=9] Bdesc=[type=R_32F rows=9 "
        "cols=9 "
        "ld=9] Cdesc=[type=R_32F rows=9 cols=9 ld=9] Ddesc=[type=R_32F rows=9 cols=9 ld=9] computeDesc=[computeType=COMPUTE_32F]\n" +
            matmul(half, "type=R_16F rows=16 cols=64 ld=24", "type=R_16F rows=32 cols=64 ld=40",
                   "computeType=COMPUTE_32F scaleType=R_32F") +
            matmul("type=R_32F rows=240 cols=128 ld=240", "type=R_32F rows=48 cols=240 ld=48", "type=R_32F rows=128 cols=48 ld=128",
                   "computeType=COMPUTE_32F_FAST_TF32 scaleType=R_32F transa=OP_T transb=OP_T", "1"),
        {"32 64 16 layout=col dtype=f16 ldb=24 ldc=40", "128 48 240 layout=col ops=tt compute=tf32 beta=1"});
    check_list(
        matmul("type=R_16BF rows=64 cols=24 ld=64 batchCount=4 stridedBatchOffset=2000", "type=R_16BF rows=24 cols=32 ld=24 batchCount=4",
               "type=R_16BF rows=64 cols=32 ld=64 batchCount=4 stridedBatchOffset=2048",
               "computeType=COMPUTE_32F scaleType=R_32F epilogue=EPILOGUE_GELU_BIAS biasPointer=0x7f biasDataType=R_32F"),
        {"64 32 24 layout=col dtype=bf16 batch=4 stride_a=2000 stride_b=0 epilogue=bias_rows+gelu_tanh bias_type=f32"});
    // A in rows is the transposed matrix in columns; where D is in rows all is row-major.
    check_list(matmul("type=R_32F rows=16 cols=32 ld=36 order=ORDER_ROW", "type=R_32F rows=32 cols=8 ld=32",
                      "type=R_32F rows=16 cols=8 ld=16", "computeType=COMPUTE_32F_PEDANTIC scaleType=R_32F") +
                   matmul("type=R_32F rows=16 cols=32 ld=36 order=ORDER_ROW", "type=R_32F rows=32 cols=8 ld=32",
                          "type=R_32F rows=16 cols=8 ld=9 order=ORDER_ROW", "computeType=COMPUTE_32F scaleType=R_32F"),
               {"16 8 32 layout=col ops=tn lda=36 compute=f32_strict", "16 8 32 ops=nt lda=36 ldc=9"});
    check_list(
        "[2025-02-28 11:24:46][HIPBLASLT][18][Trace][rocblaslt_matmul] A=0x7f66 Adesc=[type=R_16BF rows=48 cols=1024 ld=48] B=0x7f68 "
        "Bdesc=[type=R_16BF rows=176 cols=1024 ld=176] C=0x7f69 Cdesc=[type=R_16BF rows=48 cols=176 ld=48] D=0x7f70 Ddesc=[type=R_16BF "
        "rows=48 cols=176 ld=48] computeDesc=[computeType=COMPUTE_32F scaleType=R_32F transA=OP_N transB=OP_T "
        "epilogue=EPILOGUE_DEFAULT biasPointer=0x0] workSpace=0 workSpaceSizeInBytes=0 alpha=1 beta=0 stream=0 \n",
        {"48 176 1024 layout=col ops=nt dtype=bf16"});
    // beta is unknown where it is in device memory.
    check_list(
        matmul(half, "type=R_16F rows=16 cols=8 ld=16", "type=R_16F rows=32 cols=8 ld=32", "computeType=COMPUTE_16F scaleType=R_16F", "?"),
        {"32 8 16 layout=col dtype=f16 beta=1"});
    const std::string b8 = "type=R_8F_E4M3 rows=16 cols=64 ld=16";
    check_mixed(matmul("type=R_8F_E4M3 rows=16 cols=32 ld=16", b8, "type=R_16BF rows=32 cols=64 ld=32",
                       "computeType=COMPUTE_32F scaleType=R_32F transa=OP_T aScalePointer=0x7f bScalePointer=0x7f") +
                    matmul(half, "type=R_16F rows=16 cols=64 ld=16", "type=R_16F rows=32 cols=64 ld=32",
                           "computeType=COMPUTE_32F scaleType=R_32F") +
                    matmul(half, "type=R_16F rows=16 cols=64 ld=16", "type=R_16F rows=32 cols=64 ld=32",
                           "computeType=COMPUTE_32F scaleType=R_32F epilogue=EPILOGUE_DGELU_BGRAD") +
                    matmul(half, "type=R_16F rows=17 cols=64 ld=17", "type=R_16F rows=32 cols=64 ld=32",
                           "computeType=COMPUTE_32F scaleType=R_32F") +
                    matmul(half, "type=R_16F rows=16 cols=64 ld=16", "type=R_16F rows=32 cols=64 ld=32", "").substr(0, 120),
                {"32 64 16 layout=col dtype=f16"},
                {{1, "R_8F_E4M3", "FP8"},
                 {3, "EPILOGUE_DGELU", "EPILOGUE_DGELU_BGRAD"},
                 {4, "[2025", "they do not fit"},
                 {5, "", "Bdesc is missing"}});
    CHECK(std::string(error_of("[x][cublasLt][5][Info][cublasLtCreate] lightHandle=0X1\n").what()).find("there is no product in it") !=
          std::string::npos);
}

TEST_CASE("tables of the CUTLASS profiler") {
    check_list(
        "CSV Results:\n\n" + kCutlass +
            "1,CUTLASS,gemm,cutlass3x_sm90_tensorop_gemm,passed,success,universal,352,96,95,bf16:row,bf16:column,bf16:column,bf16:column,1,"
            "0,"
            "serial,1,1,heuristic,tensorop,f32,64,64,64,1.5\n"
            "1,CUTLASS,gemm,cutlass3x_sm90_tensorop_gemm_other,passed,success,universal,352,96,95,bf16:row,bf16:column,bf16:column,bf16:"
            "column,1,0,serial,1,1,heuristic,tensorop,f32,64,64,64,1.5\n"
            "2,CUTLASS,gemm,cutlass_tensorop_s1688tf32gemm_256x128_16x3_nt_align4,passed,success,universal,80,81,82,f32:column,f32:row,f32:"
            "column,f32:column,1,0.5,serial,1,1,heuristic,tensorop,f32,64,64,64,1.5\n"
            "3,CUTLASS,gemm,cutlass3x_sm90_tensorop_gemm,passed,success,universal,64,65,66,tf32:row,tf32:column,void:row,f32:row,1,0,"
            "serial,1,3,"
            "heuristic,tensorop,f32,64,64,64,1.5\n\n=============================\n",
        {"352 96 95 layout=col ops=tn dtype=bf16", "80 81 82 layout=col ops=nt compute=tf32 beta=0.5",
         "64 65 66 ops=nt compute=tf32 batch=3"});
    check_mixed(
        kCutlass +
            "1,CUTLASS,spgemm,x,passed,success,spgemm,352,96,95,f16:row,f16:column,f16:column,f16:column,1,0,serial,1,1,h,tensorop,f32\n"
            "1,CUTLASS,gemm,x,passed,success,universal,352,96,95,e4m3:row,e4m3:column,void:column,bf16:column,1,0,serial,1,1,h,t,f32\n"
            "1,CUTLASS,gemm,x,passed,success,universal,8,9,10,f16:row,f16:row,f16:row,f32:row,1,0,serial,1,1,h,tensorop,f16\n"
            "1,CUTLASS,gemm,x,passed,success,universal,352,96\n",
        {"8 9 10 dtype=f16 ctype=f32"}, {{2, "spgemm", "'spgemm'"}, {3, "e4m3", "FP8"}, {5, "", "no type:row or type:column"}});
}

TEST_CASE("tables of nvMatmulHeuristics, aiter, vLLM, and plain ones") {
    check_list(
        "operation_name,m,n,k,dtype_a,dtype_b,dtype_c,dtype_d,layout,beta,batch_count,cta_tile_m\n"
        "cutlass3x,1024,512,256,f16,f16,f32,f32,tnn,0.0,1,128\ncutlass3x,1024,512,256,bf16,bf16,bf16,bf16,nnt,1.0,2,128\n",
        {"1024 512 256 layout=col ops=tn dtype=f16 ctype=f32", "1024 512 256 ops=tt dtype=bf16 batch=2 beta=1"});
    check_list("m,n,k,dtype_a,dtype_b,dtype_d,layout_a,layout_b,layout_d,dtype_acc\n64,65,66,f16,f16,f16,t,n,t,f32\n",
               {"64 65 66 ops=nt dtype=f16"});
    // The problems that nvMatmulHeuristics is given, alone or with the configs that it found.
    check_list(
        "[\n  {\n    \"m\": 1024, \"n\": 512, \"k\": 256,\n    \"dtype_a\": \"f16\", \"dtype_b\": \"f16\", \"dtype_c\": null, \"dtype_d\": "
        "\"f32\",\n"
        "    \"layout\": \"tnn\", \"configs\": [{\"cta_tile_m\": 128, \"layout_a\": \"t\"}], \"batch_count\": 2\n  },\n"
        "  {\"M\": 8, \"N\": 9, \"K\": 10, \"dtype\": \"half\"}\n]\n",
        {"1024 512 256 layout=col ops=tn dtype=f16 ctype=f32 batch=2", "8 9 10 dtype=f16"});
    check_mixed(
        "[{\"m\": 8, \"n\": 9, \"k\": 10, \"dtype_a\": \"e4m3\", \"dtype_b\": \"e4m3\", \"dtype_d\": \"f16\", \"layout\": \"tnn\"},\n"
        "{\"m\": 8, \"n\": 9, \"k\": 11, \"dtype_a\": \"f16\", \"dtype_b\": \"f16\", \"dtype_d\": \"f16\", \"layout\": \"tnn\"},\n"
        "{\"m\": 8, \"n\": 9, \"k\": 11, \"dtype_a\": \"f1",
        {"8 9 11 layout=col ops=tn dtype=f16"}, {{1, "e4m3", "FP8"}, {3, "", "no }"}});
    // aiter's inputs are M x K, its weights N x K; in vLLM's gradlib M counts the weights.
    check_list("M,N,K,bias,dtype,outdtype\n16,96,64,False,torch.bfloat16,torch.bfloat16\n", {"16 96 64 ops=nt dtype=bf16"});
    check_list(
        "cu_num,M,N,K,bias,dtype,outdtype,scaleAB,bpreshuffle,libtype,solidx,splitK,us,kernelName\r\n80,1,5120,3072,True,torch.float16,"
        "torch."
        "float32,False,False,hipblaslt,204196,0,12.34,\"Cijk<1, 2>\"\r\n",
        {"1 5120 3072 ops=nt dtype=f16 ctype=f32 epilogue=bias"});
    check_list("M,N,K,bias,dtype\n96,16,64,True,torch.float16\n", {"96 16 64 layout=col ops=tn dtype=f16 epilogue=bias_rows"});
    check_list("M,N,K\n96,16,64\n", {"96 16 64"});
    CHECK(
        std::string(error_of("# sizes\nM,N,K\n").what()).find("2:1: the table ends with its heading; write a product's values below it") !=
        std::string::npos);
    check_list("M,N,K\n96,16,64\nM,N,K\n", {"96 16 64"});
    check_list("\"name\";\"K\";\"M\";\"N\";\"dtype\";\"ops\";\"lda\"\nfirst;64;96;16;Half;NT;72\n", {"96 16 64 ops=nt dtype=f16 lda=72"});
    check_mixed(
        "M,N,K,bias,dtype,outdtype,scaleAB\n16,96,64,False,torch.float8_e4m3fnuz,torch.bfloat16,True\n16,96,65,False,torch.bfloat16,torch."
        "bfloat16,True\n16,96,66,False,torch.bfloat16,torch.bfloat16,False\n16,ninety,64,False,torch.half,torch.half,False\n16,9",
        {"16 96 66 ops=nt dtype=bf16"},
        {{2, "torch.float8", "FP8"}, {3, "True", "scales"}, {5, "ninety", "N = 'ninety' is not a whole number"}, {6, "", "K is missing"}});
}

TEST_CASE("headers of DeepBench") {
    const std::string header =
        "// Vector saves m, n, k, a_t, b_t\nstd::vector<std::tuple<int, int, int, bool, bool>> training_set = {\n"
        "    std::make_tuple(1760, 16, 1761, false, false),\n    // std::make_tuple(9, 9, 9, false, false),\n"
        "    std::make_tuple(5124, 700, 2048, true, false), std::make_tuple(5, 6, 7, false, true)\n};\n";
    check_list(header, {"1760 16 1761 layout=col", "5124 700 2048 layout=col ops=tn", "5 6 7 layout=col ops=nt"});
    CHECK(lines_of(list_of(header, {{"dtype", "f16"}}))[2] == "6x5x7 dtype=f16 ops=tn");
    check_mixed(
        "std::make_tuple(1, 2, 3, true, true),\nstd::make_tuple(7680, 1, 2560, false, false, 0.95),\nstd::make_tuple(4, 5, 6, false, 2),\n"
        "std::make_tuple(4, 5,\n",
        {"1 2 3 layout=col ops=tt"}, {{2, "make_tuple", "6 values"}, {3, "2)", "'2' is neither"}, {4, "", "no )"}});
}

TEST_CASE("Tensile's configurations") {
    const std::string head =
        "GlobalParameters:\n  PrintLevel: 1\nBenchmarkProblems:\n  -\n    - # ProblemType\n      OperationType: GEMM\n      DataType: ";
    check_list(head +
                   "s\n      TransposeA: False\n      TransposeB: True\n      UseBeta: True\n      Batched: True\n    - ForkParameters:\n"
                   "        - ThreadTile:\n          - [ 2, 2 ]\n      BenchmarkFinalParameters:\n        - ProblemSizes:\n"
                   "          - Exact: [ 512, 1, 1, 500 ]\n          - Exact: [ 512, 4, 3, 500 ] # a batch\n"
                   "          - Range: [ [64, 64, 192], 0, [1], [512] ]\n",
               {"512 1 500 layout=col ops=nt", "512 4 500 layout=col ops=nt batch=3", "64 64 512 layout=col ops=nt",
                "128 128 512 layout=col ops=nt", "192 192 512 layout=col ops=nt"});
    // Leading dimensions are those of D, C, A and B; a type's keys may stand in one line, in any order.
    check_list(
        "BenchmarkProblems:\n- - {DataType: b, OperationType: GEMM, DestDataType: s, ComputeDataType: s, TransposeA: true,\n     "
        "TransposeB: 0, "
        "UseBias: 1}\n  - BenchmarkFinalParameters:\n    - ProblemSizes:\n      - Exact: [512, 8, 1, 500, 520, 520, 504, 0]\n"
        "- - OperationType: GEMM\n    DataType: h\n  - BenchmarkFinalParameters:\n    - ProblemSizes:\n      - Range: [[16, 16, 16, 64], "
        "[8], [4]]\n",
        {"512 8 500 layout=col ops=tn dtype=bf16 ctype=f32 ldc=520 lda=504 epilogue=bias_rows", "16 8 4 layout=col dtype=f16",
         "32 8 4 layout=col dtype=f16", "64 8 4 layout=col dtype=f16"});
    check_mixed(
        head +
            "F8\n    - ProblemSizes:\n      - Exact: [512, 8, 1, 500]\n      - Range: [[64, 64, 192], [64], [1], [512]]\n  -\n    - "
            "OperationType: "
            "GEMM\n      DataType: d\n      ProblemSizes:\n        - Exact: [5, 6, 1, 7]\n  - - OperationType: GEMM\n      DataType: s\n"
            "      ProblemSizes:\n        - Exact: [5, 6, 1, 7]\n        - Exact: [5, 6,\n        - Range: [[1, 1, 1000], [1, 1, 1000], "
            "[1], [1, 1, 9]]\n",
        {"5 6 7 layout=col dtype=f64", "5 6 7 layout=col"},
        {{9, "Exact", "FP8"}, {10, "Range", "FP8"}, {20, "[5, 6", "no list in brackets"}, {21, "[[1, 1", "more than 1000000"}});
}

TEST_CASE("docs/lists.md shows a problem in each format, and what it is read as") {
    std::ifstream page(TMM_SOURCE_DIR "/docs/lists.md");
    std::string line, list;
    std::set<std::string> formats;
    bool is_list = false;
    int problems = 0;
    while (std::getline(page, line)) {
        if (line == "```") {
            is_list = !is_list;
            if (is_list) list.clear();
        } else if (is_list) {
            list += line + "\n";
        } else if (!list.empty() && line.starts_with('`')) {
            const std::string shape = line.substr(1, line.rfind('`') - 1);
            check_list(list, {shape});
            formats.insert(list_of(list).format);
            ++problems;
            list.clear();
        }
    }
    CHECK(problems == 12);
    CHECK(formats.size() == foreign_formats().size());
}

TEST_CASE("what sums are computed in becomes the least mode that is as accurate") {
    const auto mode = [](const std::string& type, const std::string& compute) {
        return list_of(fmt::format("hipblaslt-bench -m 8 -n 8 -k 8 -r {} --compute_type {}\n", type, compute)).shapes.at(0).problem.compute;
    };
    for (const char* full : {"f32_r", "c_f32_r", "s", "COMPUTE_32F", "CUBLAS_COMPUTE_32F_EMULATED_16BFX9"})
        CHECK(mode("f32_r", full) == ComputeMode::f32);
    for (const char* reduced :
         {"xf32_r", "tf32", "COMPUTE_32F_FAST_TF32", "COMPUTE_32F_FAST_16BF", "COMPUTE_32F_FAST_16F", "c_f32_fast_bf16_r", "f32_f16_r"})
        CHECK(mode("f32_r", reduced) == ComputeMode::tf32);
    CHECK(mode("f32_r", "COMPUTE_32F_PEDANTIC") == ComputeMode::f32_strict);
    for (const char* sums : {"f32_r", "f16_r", "COMPUTE_16F", "COMPUTE_32F_FAST_16F"}) CHECK(mode("f16_r", sums) == ComputeMode::f32);
    CHECK_THROWS_AS(mode("f16_r", "COMPUTE_32F_PEDANTIC"), Error);
    CHECK_THROWS_AS(mode("bf16_r", "f64_r"), Error);
    for (const char* sums : {"f64_r", "c_f64_r", "d", "COMPUTE_64F"}) CHECK(mode("f64_r", sums) == ComputeMode::f64);
    CHECK_THROWS_AS(mode("f64_r", "f32_r"), Error);
    for (const char* sums : {"i32_r", "COMPUTE_32I"}) CHECK(mode("i8_r --c_type i32_r --d_type i32_r", sums) == ComputeMode::s32);
    CHECK_THROWS_AS(mode("i8_r --c_type i32_r --d_type i32_r", "f32_r"), Error);
}

TEST_CASE("an integer type is taken where it is served, and named where it is not") {
    const auto refusal = [](const std::string& types) {
        const auto list = list_of("hipblaslt-bench -m 8 -n 8 -k 8 " + types + "\nhipblaslt-bench -m 8 -n 8 -k 9 -r f32_r\n");
        REQUIRE(list.remarks.size() == 1);
        return list.remarks.front().what + "; " + list.remarks.front().remedy;
    };
    CHECK(lines_of(list_of("hipblaslt-bench -m 8 -n 8 -k 8 --a_type i8_r --b_type i8_r --d_type i32_r\n")) ==
          read({"8 8 8 layout=col dtype=s8"}));
    CHECK(refusal("--a_type u8_r --b_type i8_r --d_type i32_r").find("int8 without signs") != std::string::npos);
    CHECK(refusal("--a_type i32_r --b_type i32_r --d_type i32_r").find("A is") != std::string::npos);
    CHECK(refusal("--a_type i8_r --b_type i8_r --d_type i8_r").find("tmm stores C in s32") != std::string::npos);
}

TEST_CASE("a list is known by its content, whatever else stands in it") {
    CHECK(list_of("8 8 8 # as rocblas-bench -f gemm -m 8 has it\n").format == nullptr);
    CHECK(list_of("# M,N,K\n128:256:128x8x8\n").format == nullptr);
    CHECK(list_of("\xef\xbb\xbfM,N,K\r\n8,9,10\r\n").remarks.empty());
    CHECK(lines_of(list_of("\xef\xbb\xbfGemmTunableOp_float_NN,nn_8_9_10_ld_8_10_8\r\n")) == read({"8 9 10 layout=col"}));
    // Without an end of the last line, behind a program's own words, and with a line that is cut off.
    CHECK(list_of("2024-01-01 12:00 INFO 8 8\nhipblaslt-bench -m 8 -n 9 -k 10").shapes.size() == 1);
    const Error utf16 = error_of(std::string("\xff\xfeM\0,\0N\0,\0K\0\n\0", 14));
    CHECK(utf16.status() == ExitStatus::bad_input);
    CHECK(std::string(utf16.what()).find("UTF-16") != std::string::npos);
    CHECK(std::string(error_of("M;B\n1;2\n").what()).find("docs/lists.md") == std::string::npos);
}

TEST_CASE("a list of which nothing is left is refused at its first line, and --set is heard") {
    const Error error = error_of(
        "Validator,PT_VERSION,2\nGemmTunableOp_Float8_e4m3fn_NN,nn_8_8_8_ld_8_8_8\nGemmTunableOp_c10::complex<float>_NN,nn_8_8_8\n");
    CHECK(error.status() == ExitStatus::bad_input);
    CHECK(error.where() == "list:2:15");
    CHECK(std::string(error.what()).find("none of the 2 lines") != std::string::npos);
    CHECK_FALSE(error.remedy().empty());
    CHECK(lines_of(list_of("M,N,K\n8,9,10\n", {{"dtype", "half"}, {"beta", "2"}})) == read({"8 9 10 dtype=f16 beta=2"}));
    CHECK_THROWS_WITH_AS(list_of("M,N,K\n8,9,10\n", {{"dtype", "f17"}}), doctest::Contains("--set dtype=f17"), Error);
}

TEST_CASE("what is left out is said in log lines, the first hundred of many") {
    std::vector<std::string> said;
    set_log_sink([&](const std::string& line) { said.push_back(line); });
    std::string text = "M,N,K,bias,dtype,outdtype\n8,9,10,False,torch.half,torch.half\n";
    for (int i = 1; i <= 150; ++i) text += fmt::format("{},9,10,False,torch.float8_e4m3fn,torch.half\n", i);
    const std::vector<Shape> shapes = parse_shapes(text, "f.csv");
    set_log_sink({});
    CHECK(shapes.size() == 1);
    CHECK(shapes[0].line == 2);
    REQUIRE(said.size() == 102);
    CHECK(said[0].starts_with("f.csv:3:14: left out: A is FP8 ('torch.float8_e4m3fn')"));
    CHECK(said[100] == "f.csv: 50 more lines are left out");
    CHECK(said[101] == "f.csv: read as a CSV table: 1 problem, 150 lines left out");
}

TEST_CASE("millions of lines take seconds, and each problem is kept once") {
    const auto start = std::chrono::steady_clock::now();
    std::string table = kCutlass;
    while (table.size() < 20 << 20)
        table +=
            "1,CUTLASS,gemm,cutlass3x_sm90_tensorop_gemm,passed,success,universal,352,96,95,bf16:row,bf16:column,bf16:column,bf16:column,1,"
            "0,serial,"
            "1,1,heuristic,tensorop,f32,64,64,64,1.5\n";
    CHECK(list_of(table).shapes.size() == 1);
    std::string log;
    for (int i = 1; log.size() < 20 << 20; ++i)
        log += fmt::format("hipblaslt-bench -m {} -n {} -k 64 -r f16_r\nsome other line of the log\n", i, i % 7 + 1);
    CHECK(list_of(log).shapes.size() > 200000);
    CHECK(error_of(std::string(10 << 20, 'x')).where() == "list:1:1");
    CHECK(error_of(std::string(10 << 20, ',')).status() == ExitStatus::bad_input);
    CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(60));
}
