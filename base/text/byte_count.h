// Numbers of bytes as people write them: "67108864", "64MiB".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tmm {

// Reads digits, and KiB, MiB or GiB, with or without a space before. Returns nothing where the text is none of that or the number does not
// fit into 63 bits.
std::optional<std::int64_t> parse_bytes(std::string_view text);

// "64 MiB"; a number that is no multiple of a KiB is given in bytes.
std::string exact_bytes_text(std::int64_t bytes);

}  // namespace tmm
