// From versions 1 to 13, whose problems and configs had a column for each field, to version 14. The names and neutral values here are those
// of version 13. They stay, whatever becomes of the fields.
#include <fmt/core.h>

#include <algorithm>
#include <sstream>
#include <string>

#include "db/store/migration.h"

namespace tmm {
namespace {

// Columns with their neutral values and, where texts have names, the names of the values 0, 1, …; a number without a name has an empty one.
constexpr const char* kProblem =
    "m=0 n=0 k=0 batch=1 type_a=0:f32,f16,bf16,f64,s8,s32 type_b=0:f32,f16,bf16,f64,s8,s32 type_c=0:f32,f16,bf16,f64,s8,s32 op_a=0:n,t "
    "op_b=0:n,t lda=0 ldb=0 ldc=0 stride_a=0 stride_b=0 stride_c=0 alignment=16 reads_c=0 bias=0:none,columns,rows "
    "activation=0:none,relu,gelu,gelu_tanh,silu,sigmoid,tanh,swiglu,swiglu_rows residual=0:no,yes epilogue=0:none,bias,activation,custom "
    "type_bias=0:f32,f16,bf16,f64,s8,s32 ldr=0 stride_r=0";
constexpr const char* kConfig =
    "family=0:naive,tiled,simt,gemv,,,wgmma,mma,,,,,,skinny block_m=1 block_n=1 block_k=1 thread_m=1 thread_n=1 stages=1 async_copy=0 "
    "vector_width=1 boundary=1:exact,guarded,peeled,hardware split_k=1 raster=0 min_blocks=1 swap_ab=0 pack_ab=0 cluster=1 along_k=0 "
    "trim=0 warps_m=1 warps_n=1 multicast_a=1 multicast_b=1 planes=1 promote_k=0 ping_pong=0 overlap=0 fma_order=0 stream_k=0 slice_k=1";

bool has_row(SQLite::Database& database, const std::string& from) {
    return database.execAndGet("SELECT count(*) FROM " + from).getInt() == 1;
}

// The value as JSON. What has no name, and should have one, stays a number, which no field with names takes.
std::string json_of(const std::string& column, const std::string& names) {
    std::istringstream list(names);
    std::string cases, name;
    for (int value = 0; std::getline(list, name, ','); ++value)
        if (!name.empty()) cases += fmt::format(" WHEN {} THEN '\"{}\"'", value, name);
    const std::string number = fmt::format("coalesce({}, 'null')", column);
    return cases.empty() ? number : fmt::format("CASE {}{} ELSE {} END", column, cases, number);
}

void write_fields(SQLite::Database& database, const char* table, const char* columns) {
    std::istringstream list(columns);
    std::string text;
    for (std::string column; list >> column;) {
        const std::size_t equals = column.find('='), colon = std::min(column.find(':'), column.size());
        const std::string name = column.substr(0, equals), neutral = column.substr(equals + 1, colon - equals - 1);
        // Earlier versions had fewer columns, whose fields are neutral in all of their rows.
        if (!has_row(database, fmt::format("pragma_table_info('{}') WHERE name = '{}'", table, name))) continue;
        text += fmt::format("{}iif({} IS {}, '', ',\"{}\":' || {})", text.empty() ? "" : " || ", name, neutral, name,
                            json_of(name, colon < column.size() ? column.substr(colon + 1) : ""));
    }
    database.exec(fmt::format("ALTER TABLE main.{} ADD COLUMN fields TEXT", table));
    database.exec(fmt::format("UPDATE main.{} SET fields = '{{' || substr({}, 2) || '}}'", table, text));
}

}  // namespace

void migrate_to_14(SQLite::Database& database) {
    // Rows that break a check are kept as they are.
    database.exec("PRAGMA ignore_check_constraints = ON");
    write_fields(database, "problem", kProblem);
    write_fields(database, "config", kConfig);
    database.exec("PRAGMA ignore_check_constraints = OFF");
    // A stranger's table of that name, which may run code when it is dropped, stays.
    for (const char* table : {"element_type", "bias_axis", "activation", "epilogue", "family", "boundary"})
        if (has_row(database, fmt::format("pragma_table_list WHERE schema = 'main' AND type = 'table' AND name = '{}'", table)))
            database.exec(fmt::format("DROP TABLE main.{}", table));
}

}  // namespace tmm
