// Runs tmm-bench as a user would, in a folder of its own and without a database.
#pragma once

#include <doctest/doctest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace bench_testing {

namespace fs = std::filesystem;

struct Outcome {
    int status = -1;
    std::string text;
};

class Folder {
public:
    Folder() {
        std::string pattern = (fs::temp_directory_path() / "tmm-bench-XXXXXX").string();
        if (mkdtemp(pattern.data())) path_ = pattern;
    }
    ~Folder() {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;

    std::string file(const std::string& name) const { return (path_ / name).string(); }
    std::string with(const std::string& name, const std::string& text) const {
        std::ofstream(file(name)) << text;
        return file(name);
    }

private:
    fs::path path_;
};

inline std::string read(const std::string& file) {
    std::ifstream in(file);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
}

struct Csv {
    // Lines that begin with '#'.
    std::string comments;
    // The rows of the table, its head first.
    std::vector<std::string> rows;
};
inline Csv csv_of(const std::string& text) {
    Csv csv;
    std::stringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("#"))
            csv.comments += line + "\n";
        else
            csv.rows.push_back(line);
    }
    return csv;
}

// Runs tmm-bench and captures stdout and stderr together.
inline Outcome bench(const Folder& folder, const std::string& arguments) {
    const std::string command = "TMM_DB=" + folder.file("none.db") + " " TMM_BINARY_DIR "/tools/tmm-bench " + arguments + " 2>&1";
    Outcome outcome;
    FILE* pipe = popen(command.c_str(), "r");
    REQUIRE(pipe);
    std::array<char, 4096> buffer;
    for (std::size_t count; (count = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) outcome.text.append(buffer.data(), count);
    const int status = pclose(pipe);
    if (WIFEXITED(status)) outcome.status = WEXITSTATUS(status);
    return outcome;
}

inline bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace bench_testing
