// What a failed compilation says of its source, and patience with what fails for another reason.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "generator/compile/compiler.h"

namespace tmm {

// Whether the log, or its line that tells of the error, finds fault with the source. A compiler says where in it; whatever else ends one
// (memory, a disk, a signal, an option that it does not know) has no such place, or is called fatal. Logs are in English.
bool blames_source(std::string_view log);
// The first line that finds fault with the source, else the first that holds "error", else the first that holds anything; at most 400
// characters.
std::string first_error_line(std::string_view log);

// The log of a source that crashes the compiler; how: "was ended by signal 11". It blames the source.
std::string crash_log(std::string_view how);
// The log of a source of which the compiler makes machine code that is wrong; what: "the predicate of a register's spill is lost". It
// blames the source, too.
std::string wrong_code_log(std::string_view what);

// The result of the attempt. One that throws Error (no_compiler) is made again a few times, a moment later and without others beside it:
// what the machine lacks for all of them together it may have for one.
CompileResult compile_patiently(const std::function<CompileResult()>& attempt);

}  // namespace tmm
