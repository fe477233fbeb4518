// The functions that a stand-in library hides from the programs that load it first.
#pragma once

namespace tmm::dropin {

// The function of this name in the libraries behind the one that calls: in the search order, else in one that was opened for its user
// alone, such as those that Python's wheels bring. Null where there is none.
void* function_behind(const char* name);

}  // namespace tmm::dropin
