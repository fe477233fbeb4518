// One line from what went wrong, where, and what to do.
#include "base/error.h"

#include <utility>

#include "base/text/printable.h"

namespace tmm {
namespace {

std::string joined(std::string what, const std::string& where, const std::string& remedy) {
    if (!where.empty()) what.insert(0, where + ": ");
    if (!remedy.empty()) what += "; " + remedy;
    // Each of the three may hold a name that a user or a file gave.
    return printable(what);
}

}  // namespace

Error::Error(ExitStatus status, std::string what, std::string where, std::string remedy)
    : std::runtime_error(joined(std::move(what), where, remedy)), status_(status), where_(std::move(where)), remedy_(std::move(remedy)) {}

}  // namespace tmm
