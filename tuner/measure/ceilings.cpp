#include "tuner/measure/ceilings.h"

namespace tmm {

std::string_view name_of(Unit arithmetic) {
    switch (arithmetic) {
        case Unit::ffma: return "ffma";
        case Unit::tf32: return "tf32";
        case Unit::f16: return "f16";
        case Unit::bf16: return "bf16";
    }
    return "?";
}

double DeviceCeilings::flop_per_us(Unit arithmetic) const {
    const auto found = multiplying.find(arithmetic);
    return found == multiplying.end() ? 0 : found->second.flop_per_us;
}

}  // namespace tmm
