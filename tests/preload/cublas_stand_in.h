// What the stand-in for cuBLAS, a plain loop that the tests are linked with, tells of the calls that reached it.
#pragma once

#include <cstdint>
#include <vector>

// Calls of functions that multiply since the process began.
long stand_in_calls();
// The last one's arguments, each of them as 64 bits, in order.
const std::vector<std::uint64_t>& stand_in_arguments();
// What it returns from now on; 0 at first.
void stand_in_returns(int status);
// Whether it throws an int from now on.
void stand_in_throws(bool does);
