#include "base/command_line/tool_main.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "base/command_line/shell_completion.h"
#include "base/command_line/tool_help.h"
#include "base/files/output_file.h"
#include "base/text/environment.h"
#include "base/text/printable.h"

namespace tmm {

namespace {

// A standard stream that is closed leaves its number to the next file that is opened, and what is printed would go into that. Writing to
// stdout goes on to fail, as it should.
void hold_standard_streams() {
    for (const int fd : {0, 1, 2}) {
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == 2 ? O_WRONLY : O_RDONLY) != fd) return;
    }
}

ExitStatus answer(const CommandLine& line, const std::function<ExitStatus(const CommandLine&)>& run) {
    const ToolDescription& tool = line.tool();
    if (line.has("help")) {
        const CommandDescription* command = find_command(tool, line.command());
        fmt::print("{}", command ? command_help(tool, *command) : help_text(tool));
    } else if (line.has("version")) {
        fmt::print("{} {}\n", tool.name, tool_version());
    } else if (line.has("print-man")) {
        fmt::print("{}", manual_page(tool));
    } else if (line.has("print-completion")) {
        fmt::print("{}", shell_completion(tool, line.text("print-completion")));
    } else {
        check_distinct_files(line);
        return run(line);
    }
    return ExitStatus::done;
}

}  // namespace

int tool_main(const ToolDescription& tool, int argc, char** argv, const std::function<ExitStatus(const CommandLine&)>& run) {
    hold_standard_streams();
    // Where a file reaches its largest size (ulimit -f), writing fails instead, which has a message.
    signal(SIGXFSZ, SIG_IGN);
    const auto fail = [&](const char* what, ExitStatus status) {
        std::fflush(stdout);
        std::fprintf(stderr, "%s: %s\n", tool.name.c_str(), printable(what).c_str());
        return static_cast<int>(status);
    };
    try {
        const ExitStatus status = answer(CommandLine(tool, {argv + (argc > 0), argv + argc}), run);
        // A full disk or a closed pipe shows here at the latest.
        if (std::fflush(stdout) != 0 || std::ferror(stdout)) return fail("can't write the results to stdout", ExitStatus::usage);
        return static_cast<int>(status);
    } catch (const Error& error) {
        return fail(error.what(), error.status());
    } catch (const std::bad_alloc&) {
        return fail("out of memory; use smaller problems or free some", ExitStatus::bad_input);
    } catch (const std::exception& error) {
        return fail(error.what(), ExitStatus::usage);
    }
}

namespace {

namespace fs = std::filesystem;

struct UsedFile {
    // As it was given: "--html page.html".
    std::string spelled;
    // What the command does with it: "the database".
    std::string what;
    std::optional<FileIdentity> identity;
};

class UsedFiles {
public:
    explicit UsedFiles(const CommandLine& line) {
        for (const OptionDescription& option : all_options(line.tool())) {
            if (option.completion != Completion::file || !belongs_to(option, line.command())) continue;
            const std::string name = "--" + option.name;
            if (line.has(option.name))
                add(option.file_use, line.text(option.name), fmt::format("{} {}", name, line.text(option.name)));
            else if (option.file_use == FileUse::database)
                add(option.file_use, default_database_path(), default_database_path());
        }
        const CommandDescription* command = find_command(line.tool(), line.command());
        if (command && command->completion == Completion::file)
            for (const std::string& word : line.words()) add(command->file_use, word, word);
        if (const auto bundle = bundle_path()) add(FileUse::read, *bundle, "TMM_BUNDLE=" + bundle->string());
    }

    void check() const {
        for (std::size_t i = 0; i < written_.size(); ++i) {
            for (const UsedFile& read : read_) check(written_[i], read);
            for (std::size_t j = 0; j < i; ++j) check(written_[i], written_[j]);
        }
        const UsedFile printed{"standard output", "what is printed would go into", FileIdentity::of_descriptor(STDOUT_FILENO)};
        for (const UsedFile& read : read_) check(printed, read, printed.what);
    }

private:
    static void check(const UsedFile& output, const UsedFile& other, const std::string& what = "it would replace") {
        if (!output.identity || output.identity != other.identity) return;
        throw Error(ExitStatus::usage, fmt::format("{} {} ({})", what, other.what, printable(other.spelled)), printable(output.spelled),
                    "name another file");
    }

    void add(FileUse use, const fs::path& file, const std::string& spelled) {
        switch (use) {
            case FileUse::written: written_.push_back({spelled, "the other file that the command writes", FileIdentity::of(file)}); break;
            case FileUse::read:
                read_.push_back(
                    {spelled, "what the command reads", file == "-" ? FileIdentity::of_descriptor(STDIN_FILENO) : FileIdentity::of(file)});
                break;
            case FileUse::database: add_database(file, spelled);
        }
    }

    void add_database(const fs::path& file, const std::string& spelled) {
        read_.push_back({spelled, "the command's database", FileIdentity::of(file)});
        std::error_code error;
        const fs::path target = fs::weakly_canonical(file, error);
        for (const char* suffix : {"-journal", "-wal", "-shm"})
            read_.push_back({spelled, fmt::format("what SQLite keeps beside the command's database as {}", suffix),
                             FileIdentity::of((error ? file : target).string() + suffix)});
    }

    std::vector<UsedFile> read_;
    std::vector<UsedFile> written_;
};

}  // namespace

void check_distinct_files(const CommandLine& line) {
    for (const OptionDescription& option : line.tool().options)
        if (option.alone && line.has(option.name)) return;
    UsedFiles(line).check();
}

}  // namespace tmm
