// The families' descriptors, each in the file of its name; those of steps are together in steps.cpp.
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

extern const Family kReduce;
extern const Family kPack;
extern const Family kPad;
extern const Family kScan;
extern const Family kPlanes;
extern const Family kRescue;
extern const Family kFixup;

}  // namespace tmm
