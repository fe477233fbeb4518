#include "tuner/certainty.h"

namespace tmm {

Certainty certainty_of(Effort effort) {
    switch (effort) {
        case Effort::quick: return {.margin = 0.02, .chance = 0.2, .least_observations = 16, .seconds = 1, .least_results = 12};
        case Effort::normal: return {.margin = 0.01, .chance = 0.1, .least_observations = 32, .seconds = 5, .least_results = 32};
        case Effort::full: break;
    }
    return {.margin = 0.002, .chance = 0.01, .least_observations = 32};
}

}  // namespace tmm
