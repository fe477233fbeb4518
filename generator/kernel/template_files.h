// The text of the kernel templates: embedded in the library at build, or read from a directory for whoever works on them.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace tmm {

// Include path ("tmm/families/simt/kernel.cuh", "host/cuda_builtins.h") -> text.
using TemplateFiles = std::map<std::string, std::string>;

const TemplateFiles& embedded_templates();
// Every .h and .cuh file below the directory. Throws Error (bad_input) if it can't be read.
TemplateFiles read_templates(const std::filesystem::path& directory);
// The directory that TMM_TEMPLATES names, else the embedded ones; read once.
const TemplateFiles& active_templates();

// 16 hex digits that differ where the files do.
std::string hash_of(const TemplateFiles& files);

// The text with every #include "…" replaced by its file, each once. Throws Error if a file is missing.
// Files below host/ are not inlined.
std::string flatten(const std::string& text, const TemplateFiles& files);
// The same for the next piece of a text, whole lines, which has included these files so far.
std::string flatten(std::string_view text, const TemplateFiles& files, std::set<std::string>& included);

}  // namespace tmm
