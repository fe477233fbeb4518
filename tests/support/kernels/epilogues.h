// Runs a kernel with an epilogue, and compares C with a plain loop in double precision.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "generator/compile/compiler.h"
#include "generator/machine/device_info.h"
#include "generator/schedule/schedule.h"
#include "runtime/device/device.h"
#include "tests/support/writers.h"

namespace tmm::testing {

struct Epilogued {
    // Words of a shapes file.
    std::string text = {};
    std::string expression = {};
    // The expression's value in double precision.
    double (*value)(double x, double row, double column, double batch, double bias, double residual, const float* p) = nullptr;
};

// Epilogues of every kind.
const std::vector<Epilogued>& epilogues();

// Shapes whose sums a step finishes in every way: rows of whole accesses and others, of less than an access, of one element, and of many
// blocks; in C and in the workspace.
const std::vector<const char*>& shapes_behind_product();

// The text of the epilogue, where rows of a residual have room between them.
std::string with_room(const std::string& text, const Writer& writer);

// "" where every element of C is right, and nothing else of C has changed. planned_for: the device that the plan is made for, for which
// the emulated one may stand in. offset_of_bias: elements that the bias stands behind an aligned address.
std::string wrong_element(const Writer& writer, const Epilogued& epilogue, const std::shared_ptr<Device>& device,
                          const DeviceInfo& planned_for, const std::shared_ptr<const Compiler>& compiler,
                          EpiloguePlace place = EpiloguePlace::kernel, int offset_of_bias = 0);

}  // namespace tmm::testing
