// Runs many cases in child processes, so that a crash or a hang of one is its failure and the others go on.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace tmm::testing {

struct CaseFailure {
    std::size_t number = 0;
    std::string reason;
};

// The report of a case from its child: a reason for failing, or numbers to be added up or compared by name.
class CaseReport {
public:
    explicit CaseReport(int pipe) : pipe_(pipe) {}
    void begin(std::size_t number) const { line("begin", number, ""); }
    void end(std::size_t number) const { line("end", number, ""); }
    void fail(std::size_t number, const std::string& reason) const { line("fail", number, reason); }
    void note(std::size_t number, const std::string& text) const { line("note", number, text); }

private:
    void line(const char* kind, std::size_t number, const std::string& text) const;
    int pipe_;
};

struct CasesRun {
    std::vector<CaseFailure> failures;
    std::vector<std::string> notes;
    std::size_t ended = 0;
};

// Runs body(number, report) for each number in a child that serves as many cases as it survives. A case that has not ended after the
// seconds, which no slow machine comes near, is killed with all its processes.
CasesRun run_in_children(const std::vector<std::size_t>& numbers, int seconds,
                         const std::function<void(std::size_t, const CaseReport&)>& body);

}  // namespace tmm::testing
