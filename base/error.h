// The environment's failures: what went wrong, where, and what to do. A candidate's failure is data and never one of these.
#pragma once

#include <stdexcept>
#include <string>

namespace tmm {

// The tools' exit statuses.
enum class ExitStatus : int {
    done = 0,
    usage = 1,
    bad_input = 2,
    no_device = 3,
    no_compiler = 4,
    database = 5,
    no_winner = 6,
    interrupted = 130,
};

class Error : public std::runtime_error {
public:
    // where may be empty ("shapes.txt:12:7" otherwise), remedy may be empty; what() joins the three into one line.
    Error(ExitStatus status, std::string what, std::string where = {}, std::string remedy = {});
    ExitStatus status() const noexcept { return status_; }
    const std::string& where() const noexcept { return where_; }
    const std::string& remedy() const noexcept { return remedy_; }

private:
    ExitStatus status_;
    std::string where_;
    std::string remedy_;
};

}  // namespace tmm
