// What a device was measured to do at most: the roofs of the report's rooflines.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

namespace tmm {

struct Ceilings {
    // As the driver spells it.
    std::string device = {};
    double read_gb_s = 0;
    // By what multiplies: "ffma", "tf32", "f16", "bf16".
    std::map<std::string, double> tflops = {};
    // By which instruction, on which card: a sentence's part.
    std::string source = {};
};

// Of the devices of ceilings.json; nothing for others.
std::optional<Ceilings> known_ceilings(const std::string& device);

// From what `tmm-bench --json` wrote. Throws Error (bad_input) where the file holds no ceilings.
Ceilings read_ceilings(const std::filesystem::path& file);

// The highest of both: each is what was seen, and the device can do no less.
Ceilings higher(const Ceilings& known, const Ceilings& measured);

}  // namespace tmm
