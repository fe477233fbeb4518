// What a stand-in library does when a program loads it.
#pragma once

#include <initializer_list>

#include "runtime/dropin/behind.h"

namespace tmm::dropin {

// In the library's constructor. symbols: of all functions that the library stands in for.
void at_load(std::initializer_list<NextSymbol*> symbols) noexcept;

}  // namespace tmm::dropin
