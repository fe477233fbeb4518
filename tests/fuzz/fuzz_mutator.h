// Damages texts at random, but the same way on every machine for the same seed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tmm::testing {

class Mutator {
public:
    // corpus: inputs that a door takes, and their words, which may turn up anywhere.
    explicit Mutator(std::vector<std::string> corpus);

    // The input of that number: one of the corpus with a few changes.
    std::string input(std::uint64_t seed, std::uint64_t number) const;

private:
    std::vector<std::string> corpus_;
    std::vector<std::string> words_;
};

}  // namespace tmm::testing
