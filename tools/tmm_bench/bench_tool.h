// The command line of tmm-bench.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/command_line/command_line.h"
#include "generator/text/shapes_file.h"

namespace tmm::bench {

const ToolDescription& bench_tool();

// The arguments of the command line, after they were checked.
struct Arguments {
    std::filesystem::path shapes;
    ShapeOverrides overrides;
    // The peers; the device's usual ones where the list is empty.
    std::vector<std::string> peers;
    std::string gpu;
    std::filesystem::path database;
    // Files of results; where a name is empty, none is written.
    std::string csv;
    std::string json;
    // The label of the results; where it is empty, the commit that tmm was built from is used.
    std::string label;
    std::string cublas_directory;
    int pairs = 30;
    double settle_seconds = 1;
    std::int64_t workspace_bytes = 0;
    std::optional<std::int64_t> max_workspace;
    std::string prepared;
    bool roofline = false;
    bool accuracy = false;
    // The epilogue of all shapes; where it is empty, each has its own.
    std::string expression;
    bool wide = false;
};

// Throws Error (usage).
Arguments arguments_of(const CommandLine& line);

}  // namespace tmm::bench
