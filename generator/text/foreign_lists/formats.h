// Declares what the readers' files define for the table of formats.
#pragma once

#include <string_view>

#include "generator/text/foreign_lists/foreign_list.h"

namespace tmm {

bool is_tunableop(std::string_view line);
void read_tunableop(std::string_view text, ForeignList& list);

bool is_rocm_bench(std::string_view line);
void read_rocm_bench(std::string_view text, ForeignList& list);
// Adds strides, scalars and epilogue to a product from text like "{ function: matmul, M: 64, …, stride_a: 4096, alpha: 1.0 }".
void add_rocm_parameters(std::string_view text, ForeignProduct& product);

bool is_cublaslt_log(std::string_view line);
void read_cublaslt_log(std::string_view text, ForeignList& list);

bool is_csv(std::string_view line);
void read_csv(std::string_view text, ForeignList& list);

bool is_json(std::string_view line);
void read_json(std::string_view text, ForeignList& list);

bool is_deepbench(std::string_view line);
void read_deepbench(std::string_view text, ForeignList& list);

bool is_tensile(std::string_view line);
void read_tensile(std::string_view text, ForeignList& list);

}  // namespace tmm
