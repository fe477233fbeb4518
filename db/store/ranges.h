// The values that columns may have, whichever way they come in: exports, rows of a file, and the checks of schema.sql, which are as wide or
// wider.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

namespace tmm {

// Most bytes of the texts.
inline constexpr std::size_t kDeviceNameLimit = 200;
inline constexpr std::size_t kDataNameLimit = 100;
inline constexpr std::size_t kNameLimit = 2000;
inline constexpr std::size_t kTextLimit = 2000;
inline constexpr std::size_t kHashLimit = 500;
inline constexpr std::size_t kFieldsLimit = 10'000;

inline constexpr std::int64_t kAnyNumber = std::numeric_limits<std::int64_t>::max();
inline constexpr std::int64_t kCountLimit = 1'000'000'000;
inline constexpr std::int64_t kCapabilityLimit = 10'000;
inline constexpr std::int64_t kSmLimit = 1'000'000;
inline constexpr std::int64_t kWattLimit = 1'000'000;
inline constexpr std::int64_t kVersionLimit = 10'000'000;
inline constexpr std::int64_t kRegisterLimit = 1'000'000;
inline constexpr std::int64_t kClockLimit = 1'000'000;
// Most bytes of a thread block's shared memory, 1 GiB, and of a device's memory and of workspace, 1 PiB.
inline constexpr std::int64_t kSharedLimit = std::int64_t{1} << 30;
inline constexpr std::int64_t kMemoryLimit = std::int64_t{1} << 50;

// Times are seconds since 1970, in the years 1 to 9999: SQLite's date functions take them, and any clock gives them.
inline constexpr std::int64_t kEarliestTime = -62135596800;
inline constexpr std::int64_t kLatestTime = 253402300799;

struct RealRange {
    double lowest;
    double highest;
    // No range contains NaN.
    constexpr bool contains(double value) const { return value >= lowest && value <= highest; }
};

// Times range from a millionth of a microsecond to twelve days.
inline constexpr RealRange kMicroseconds{1e-6, 1e12};
// A result that is not finite is infinitely wrong.
inline constexpr RealRange kErrorRatio{0, std::numeric_limits<double>::infinity()};

}  // namespace tmm
