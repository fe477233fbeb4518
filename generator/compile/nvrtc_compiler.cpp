// KernelSource -> cubin by NVRTC, with registers and spills read from the assembler's remarks.
#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>
#include <utility>

#include "base/error.h"
#include "generator/compile/compile_attempts.h"
#include "generator/compile/compiler.h"
#include "generator/compile/nvrtc_library.h"
#include "generator/compile/spill_guards.h"
#include "generator/kernel/template_files.h"

namespace tmm {
namespace {

NvrtcTarget target_for(const NvrtcLibrary& nvrtc, int compute_capability) {
    NvrtcTarget target = nvrtc_target(nvrtc.architectures, compute_capability);
    if (target.architecture.empty())
        throw Error(ExitStatus::no_compiler,
                    fmt::format("NVRTC {}.{} compiles for compute capability {}.{} and newer, not for {}.{}", nvrtc.major, nvrtc.minor,
                                nvrtc.architectures.front() / 10, nvrtc.architectures.front() % 10, compute_capability / 10,
                                compute_capability % 10),
                    nvrtc.path, "set TMM_NVRTC to the libnvrtc of an older toolkit");
    return target;
}

// The in-memory headers; the emulation's own are not for NVRTC.
struct Headers {
    std::vector<const char*> names;
    std::vector<const char*> texts;

    explicit Headers(const TemplateFiles& files) {
        for (const auto& [name, text] : files) {
            if (name.starts_with("host/")) continue;
            names.push_back(name.c_str());
            texts.push_back(text.c_str());
        }
    }
};

class Program {
public:
    Program(const NvrtcLibrary& nvrtc, const KernelSource& source, const TemplateFiles& files) : nvrtc_(nvrtc) {
        const Headers headers(files);
        check(nvrtc_.create_program(&program_, source.text.c_str(), (source.name + ".cu").c_str(), static_cast<int>(headers.names.size()),
                                    headers.texts.data(), headers.names.data()));
    }
    ~Program() { nvrtc_.destroy_program(&program_); }
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;

    // The result is false where the source is at fault; the log says how.
    bool compile(const std::vector<std::string>& options) {
        std::vector<const char*> pointers;
        for (const std::string& option : options) pointers.push_back(option.c_str());
        const nvrtcResult result = nvrtc_.compile_program(program_, static_cast<int>(pointers.size()), pointers.data());
        if (result == NVRTC_ERROR_COMPILATION) return false;
        if (result != NVRTC_SUCCESS)
            throw Error(ExitStatus::no_compiler, fmt::format("NVRTC failed: {}\n{}", nvrtc_.get_error_string(result), log()), nvrtc_.path);
        return true;
    }

    std::string log() const {
        std::string text = fetch<std::string>(nvrtc_.get_program_log_size, nvrtc_.get_program_log);
        text.erase(std::find(text.begin(), text.end(), '\0'), text.end());
        return text;
    }
    // The text has its NUL at the end, as the driver wants it.
    std::string ptx() const { return fetch<std::string>(nvrtc_.get_ptx_size, nvrtc_.get_ptx); }
    std::string cubin() const { return fetch<std::string>(nvrtc_.get_cubin_size, nvrtc_.get_cubin); }

private:
    template <typename Container, typename Size, typename Get>
    Container fetch(Size get_size, Get get) const {
        std::size_t size = 0;
        check(get_size(program_, &size));
        Container content(size, {});
        if (size) check(get(program_, content.data()));
        return content;
    }
    void check(nvrtcResult result) const {
        if (result == NVRTC_SUCCESS) return;
        throw Error(ExitStatus::no_compiler, fmt::format("NVRTC failed: {}", nvrtc_.get_error_string(result)), nvrtc_.path);
    }

    const NvrtcLibrary& nvrtc_;
    nvrtcProgram program_ = nullptr;
};

// What a kernel out of NVRTC's own cache, which it has had since 12.9, needs of registers and spills no log says; tmm keeps kernels itself.
bool has_cache_of_its_own(const NvrtcLibrary& nvrtc) {
    return nvrtc.major * 100 + nvrtc.minor >= 1209;
}

std::vector<std::string> options_for(const NvrtcLibrary& nvrtc, const NvrtcTarget& target) {
    std::vector<std::string> options{"--std=c++20", "-default-device", "--gpu-architecture=" + target.architecture, "--ptxas-options=-v"};
    if (has_cache_of_its_own(nvrtc)) options.emplace_back("--no-cache");
    return options;
}

// With it the assembler spills less, and was not seen to store what spills under a predicate.
constexpr const char* kCarefulAssembler = "--ptxas-options=-O2";

// "Used 40 registers" gives 40; "… 8 bytes spill stores" gives 8.
std::optional<int> number_before(std::string_view line, std::string_view words) {
    const auto at = line.find(words);
    if (at == std::string_view::npos) return std::nullopt;
    auto first = at;
    while (first > 0 && line[first - 1] >= '0' && line[first - 1] <= '9') --first;
    int value = 0;
    if (std::from_chars(line.data() + first, line.data() + at, value).ec != std::errc()) return std::nullopt;
    return value;
}

// The assembler's words where it makes wgmma wait for each instruction, whatever the reason: remarks C7510, C7511 and their like.
constexpr std::string_view kSerialized = "wgmma.mma_async instructions are serialized";

struct Remarks {
    int registers = -1;
    int spill_bytes = -1;
    // The lines that say so.
    std::string serialized;
    // The log without the assembler's statistics: empty where the compiler had nothing to say.
    std::string rest;
};

Remarks parse_log(std::string_view log) {
    Remarks remarks;
    while (!log.empty()) {
        const auto end = log.find('\n');
        const std::string_view line = log.substr(0, end);
        log.remove_prefix(end == std::string_view::npos ? log.size() : end + 1);
        if (const auto stores = number_before(line, " bytes spill stores")) {
            remarks.spill_bytes = std::max(remarks.spill_bytes, *stores + number_before(line, " bytes spill loads").value_or(0));
        } else if (line.find(kSerialized) != std::string_view::npos) {
            remarks.serialized.append(line).push_back('\n');
        } else if (line.starts_with("ptxas info")) {
            if (const auto registers = number_before(line, " registers")) remarks.registers = std::max(remarks.registers, *registers);
        } else if (line.find_first_not_of(" \t\r") != std::string_view::npos) {
            remarks.rest.append(line).push_back('\n');
        }
    }
    return remarks;
}

class NvrtcCompiler : public Compiler {
public:
    NvrtcCompiler(const NvrtcLibrary& nvrtc, int compute_capability, const TemplateFiles& files)
        : nvrtc_(nvrtc), target_(target_for(nvrtc_, compute_capability)), files_(files) {}

    CompileResult compile(const KernelSource& source) const override {
        const std::vector<std::string> options = options_for(nvrtc_, target_);
        CompileResult result = compile_patiently([&] { return attempt(source, options); });
        if (!is_wrong(result)) return result;
        std::vector<std::string> careful = options;
        careful.emplace_back(kCarefulAssembler);
        result = compile_patiently([&] { return attempt(source, careful); });
        if (is_wrong(result)) return CompileFailure{wrong_code_log("the predicate of a register's spill is lost")};
        return result;
    }

    std::string identity() const override {
        std::string text = fmt::format("nvrtc {}.{}", nvrtc_.major, nvrtc_.minor);
        for (const std::string& option : options_for(nvrtc_, target_)) text += " " + option;
        return text + ", or " + kCarefulAssembler;
    }

private:
    static bool is_wrong(const CompileResult& result) {
        const auto* const kernel = std::get_if<CompiledKernel>(&result);
        return kernel && spills_wrongly(*kernel);
    }

    CompileResult attempt(const KernelSource& source, const std::vector<std::string>& options) const {
        Program program(nvrtc_, source, files_);
        if (!program.compile(options)) {
            std::string log = program.log();
            if (blames_source(log)) return CompileFailure{std::move(log)};
            throw Error(ExitStatus::no_compiler, fmt::format("NVRTC could not do its work: {}", first_error_line(log)), nvrtc_.path,
                        "see to memory, and run again: what was measured is kept");
        }
        const std::string image = target_.ptx ? program.ptx() : program.cubin();
        Remarks remarks = parse_log(program.log());
        // Such a kernel is right, but its tensor cores idle most of the time.
        if (!remarks.serialized.empty()) return CompileFailure{"the pipeline of wgmma instructions was serialized:\n" + remarks.serialized};
        CompiledKernel kernel{
            .image = {}, .registers = remarks.registers, .spill_bytes = remarks.spill_bytes, .log = std::move(remarks.rest)};
        kernel.image.resize(image.size());
        std::memcpy(kernel.image.data(), image.data(), image.size());
        return kernel;
    }

    const NvrtcLibrary& nvrtc_;
    NvrtcTarget target_;
    TemplateFiles files_;
};

}  // namespace

std::unique_ptr<Compiler> make_nvrtc_compiler(int compute_capability) {
    return make_nvrtc_compiler(nvrtc_library(), compute_capability);
}
std::unique_ptr<Compiler> make_nvrtc_compiler(int compute_capability, const TemplateFiles& files) {
    return std::make_unique<NvrtcCompiler>(nvrtc_library(), compute_capability, files);
}
std::unique_ptr<Compiler> make_nvrtc_compiler(const NvrtcLibrary& library, int compute_capability) {
    return std::make_unique<NvrtcCompiler>(library, compute_capability, active_templates());
}

int nvrtc_version() {
    try {
        const NvrtcLibrary& nvrtc = nvrtc_library();
        return nvrtc.major * 1000 + nvrtc.minor * 10;
    } catch (const Error&) {
        return 0;
    }
}

std::string compile_to_ptx(const KernelSource& source, int compute_capability) {
    const NvrtcLibrary& nvrtc = nvrtc_library();
    Program program(nvrtc, source, active_templates());
    if (!program.compile(options_for(nvrtc, target_for(nvrtc, compute_capability))))
        throw Error(ExitStatus::bad_input, fmt::format("{} does not compile:\n{}", source.name, program.log()));
    std::string text = program.ptx();
    text.erase(std::find(text.begin(), text.end(), '\0'), text.end());
    return text;
}

}  // namespace tmm
