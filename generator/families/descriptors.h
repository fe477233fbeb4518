// The families' descriptors, each in the file of its name.
#pragma once

#include "generator/families/family.h"

namespace tmm {

extern const Family kNaive;
extern const Family kTiled;
extern const Family kSimt;
extern const Family kGemv;
extern const Family kWgmma;
extern const Family kMma;
extern const Family kSkinny;

}  // namespace tmm
