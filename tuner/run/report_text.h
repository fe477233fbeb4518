// Pieces of what a run and a dry one print.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "base/text/terminal.h"
#include "db/store/fields.h"
#include "generator/machine/device_info.h"

namespace tmm {

std::string device_text(const DeviceInfo& device);
// "1 problem", "12 problems".
std::string count_text(std::size_t count, std::string_view what);
// The most frequent reason comes first.
Json rejections_json(const std::map<std::string, int>& rejections);
// A sentence in as many lines as it takes on the screen; those after the first are indented.
std::string prose(const std::string& text, const Screen& screen, std::size_t indent = 4);

}  // namespace tmm
