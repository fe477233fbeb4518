// Configs of any values that fields may have, whether or not a kernel can be made of them.
#pragma once

#include <random>

#include "tmm/vocabulary/config.h"

namespace tmm {

inline KernelConfig random_config(std::mt19937& random) {
    const auto below = [&](int count) { return static_cast<int>(random() % static_cast<unsigned>(count)); };
    KernelConfig config;
    for (const Parameter& parameter : kParameters) {
        if (parameter.value_names) {
            do {
                config.*parameter.member = below(parameter.value_count);
            } while (!has_name(parameter, config.*parameter.member));
        } else if (below(2) == 0) {
            const int most = below(3) == 0 ? most_value(parameter) - least_value(parameter) + 1 : 4;
            config.*parameter.member = least_value(parameter) + below(most);
        }
    }
    return config;
}

}  // namespace tmm
