// Says what the library would run on devices that need not be here, for the tools that show it.
#pragma once

#include <filesystem>
#include <optional>

#include "tools/tmm_db/library_choice.h"

namespace tmm {

// Chooses as a handle on the device would that uses this database, or none. Each device's winners are read when they are first asked for.
// The result is not thread-safe.
LibraryChooser make_library_chooser(const std::optional<std::filesystem::path>& database);

}  // namespace tmm
