#include "runtime/dropin/cublas/call_table.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <vector>

#include "runtime/dropin/log.h"
#include "runtime/dropin/process.h"

namespace tmm::dropin {
namespace {

struct Row {
    const Decision* decision;
    std::string shape;

    std::int64_t by_tmm() const { return decision->calls_by_tmm; }
    std::int64_t calls() const { return by_tmm() + decision->calls_by_cublas; }
    // Nothing is known where not both were timed.
    bool is_compared() const { return decision->us_of_tmm > 0 && decision->us_of_cublas > 0; }
    double saved_us() const { return is_compared() ? static_cast<double>(by_tmm()) * (decision->us_of_cublas - decision->us_of_tmm) : 0; }
};

std::string cell(double value, bool is_known, const char* format) {
    if (!is_known) return "-";
    char text[40];
    std::snprintf(text, sizeof text, format, value);
    return text;
}

std::string line_of(const std::string& shape, const std::string& calls, const std::string& who, const std::string& tmm,
                    const std::string& cublas, const std::string& saved) {
    char text[1000];
    std::snprintf(text, sizeof text, "%12s %-6s %10s %10s %12s  %s", calls.c_str(), who.c_str(), tmm.c_str(), cublas.c_str(), saved.c_str(),
                  shape.c_str());
    return text;
}

class Table {
public:
    Table() {
        std::atexit([] { table().write(); });
    }
    static Table& table() {
        static auto* const made = new Table;
        return *made;
    }

    void add(Row row) {
        const std::lock_guard lock(mutex_);
        rows_.push_back(std::move(row));
    }

private:
    void write() noexcept {
        // A forked child that ends leaves the table to its parent.
        if (process_number() != owner_) return;
        try {
            write_rows();
        } catch (...) {
            // There is too little memory for a table that nobody waits for.
        }
    }
    void write_rows() {
        const std::lock_guard lock(mutex_);
        std::erase_if(rows_, [](const Row& row) { return row.calls() == 0; });
        if (rows_.empty()) return;
        std::ranges::stable_sort(rows_, std::ranges::greater{}, [](const Row& row) { return std::pair(row.saved_us(), row.calls()); });
        std::string text =
            "who multiplied, the most time saved first\n" + line_of("shape", "calls", "by", "us by tmm", "by cuBLAS", "saved ms");
        double saved = 0;
        for (const Row& row : rows_) {
            const Decision& decision = *row.decision;
            const bool serves = decision.who.load() == Decision::Who::tmm;
            text += '\n' + line_of(row.shape, std::to_string(row.calls()), serves ? "tmm" : "cuBLAS",
                                   cell(decision.us_of_tmm, decision.us_of_tmm > 0, "%.2f"),
                                   cell(decision.us_of_cublas, decision.us_of_cublas > 0, "%.2f"),
                                   cell(row.saved_us() / 1e3, row.is_compared(), "%.2f"));
            saved += row.saved_us();
        }
        log(LogLevel::info, text + "\nsaved in all: " + cell(saved / 1e3, true, "%.2f") + " ms");
    }

    const unsigned owner_ = process_number();
    std::mutex mutex_;
    std::vector<Row> rows_;
};

}  // namespace

void add_to_table(const Decision& decision, const std::string& shape) {
    if (logs(LogLevel::info)) Table::table().add({.decision = &decision, .shape = shape});
}

}  // namespace tmm::dropin
