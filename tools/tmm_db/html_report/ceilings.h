// The highest rates that a device was measured to reach: the roofs of the report's rooflines.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

namespace tmm {

struct Ceilings {
    // The device's name as the driver spells it.
    std::string device = {};
    double read_gb_s = 0;
    // Rates by what multiplies: "ffma", "tf32", "f16", "bf16".
    std::map<std::string, double> tflops = {};
    // Says by which instruction and on which card the rates were reached; it is part of a sentence.
    std::string source = {};
};

// The ceilings of a device that ceilings.json lists; nothing for others.
std::optional<Ceilings> known_ceilings(const std::string& device);

// Reads the ceilings from a file that `tmm-bench --json` wrote. Throws Error (bad_input) where the file holds no ceilings.
Ceilings read_ceilings(const std::filesystem::path& file);

// The higher rate of both, each time: each is what was seen, and the device can do no less.
Ceilings higher(const Ceilings& known, const Ceilings& measured);

}  // namespace tmm
