// One line from what went wrong, where, and what to do.
#include "generator/error.h"

#include <utility>

namespace tmm {
namespace {

std::string joined(const std::string& what, const std::string& where, const std::string& remedy) {
    std::string line;
    if (!where.empty()) line = where + ": ";
    line += what;
    if (!remedy.empty()) line += "; " + remedy;
    return line;
}

}  // namespace

Error::Error(ExitStatus status, std::string what, std::string where, std::string remedy)
    : std::runtime_error(joined(what, where, remedy)), status_(status), where_(std::move(where)), remedy_(std::move(remedy)) {}

}  // namespace tmm
