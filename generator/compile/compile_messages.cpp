#include "generator/compile/compile_messages.h"

#include <nlohmann/json.hpp>

#include <stdexcept>
#include <utility>
#include <vector>

namespace tmm {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kDigits = "0123456789abcdef";

std::string hex(const std::vector<std::byte>& bytes) {
    std::string text;
    text.reserve(2 * bytes.size());
    for (const std::byte byte : bytes) {
        text += kDigits[std::to_integer<unsigned>(byte >> 4)];
        text += kDigits[std::to_integer<unsigned>(byte & std::byte{15})];
    }
    return text;
}

std::vector<std::byte> bytes_from(const std::string& text) {
    const auto digit = [&](std::size_t i) {
        const auto value = kDigits.find(text.at(i));
        if (value == std::string_view::npos) throw std::runtime_error("an image is written in hex digits");
        return static_cast<unsigned>(value);
    };
    std::vector<std::byte> bytes(text.size() / 2);
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(digit(2 * i) << 4 | digit(2 * i + 1));
    return bytes;
}

Json to_json(const CompilerReady& ready) {
    return {{"ready", ready.templates}};
}
Json to_json(const CompiledKernel& kernel) {
    return {{"image", hex(kernel.image)}, {"registers", kernel.registers}, {"spill_bytes", kernel.spill_bytes}, {"log", kernel.log}};
}
Json to_json(const CompileFailure& failure) {
    return {{"failure", failure.log}};
}
Json to_json(const CompilerBroken& broken) {
    return {{"broken", broken.message}};
}

// What a compiler says need not be UTF-8.
std::string line_of(const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string encode(const KernelSource& source) {
    return line_of({{"name", source.name}, {"text", source.text}});
}

KernelSource decode_source(std::string_view line) {
    const Json j = Json::parse(line);
    return {.name = j.at("name"), .text = j.at("text"), .entries = {}};
}

std::string encode(const CompileReply& reply) {
    return line_of(std::visit([](const auto& it) { return to_json(it); }, reply));
}

CompileReply decode_compile_reply(std::string_view line) {
    const Json j = Json::parse(line);
    if (j.contains("ready")) return CompilerReady{.templates = j.at("ready")};
    if (j.contains("failure")) return CompileFailure{.log = j.at("failure")};
    if (j.contains("broken")) return CompilerBroken{.message = j.at("broken")};
    return CompiledKernel{
        .image = bytes_from(j.at("image")), .registers = j.at("registers"), .spill_bytes = j.at("spill_bytes"), .log = j.at("log")};
}

}  // namespace tmm
