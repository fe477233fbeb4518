// What the search tries of the wgmma family.
#pragma once

#include <vector>

#include "generator/machine/device_info.h"
#include "generator/plan/geometry.h"
#include "tmm/vocabulary/config.h"
#include "tmm/vocabulary/problem.h"

namespace tmm {

// Does the family serve problems of this kind on the device?
bool suits_wgmma(const GemmProblem& problem, const DeviceInfo& device);

// Every config that is worth a prediction; some may be invalid for the problem.
std::vector<KernelConfig> wgmma_configs(const GemmProblem& problem, const DeviceInfo& device);

// Orders of tiles worth trying (KernelConfig::raster).
inline constexpr int kWgmmaRasters[] = {0, 8, 16};

// Whether the config's bands take tiles in another order than the next smaller ones, or than none. extent: that of what the product
// computes.
bool has_order_of_its_own(const KernelConfig& config, const Extent& extent);

// The same config with the boundary mode that its last tiles want: peeled where they lack 8 rows or more (wgmma::missing_rows). Its block_m
// and block_n are not 0.
KernelConfig with_wgmma_boundary(KernelConfig config, const GemmProblem& problem);

}  // namespace tmm
