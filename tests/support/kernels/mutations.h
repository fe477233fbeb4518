// Faults to plant in the kernel templates, one at a time: a barrier removed, a boundary condition dropped, an index of a load or store
// swapped. Each is an exact fragment of a template and the text that replaces it.
#pragma once

#include <string>
#include <vector>

#include "generator/kernel/template_files.h"

namespace tmm::testing {

struct Mutation {
    // The template's file, "tmm/families/tiled/kernel.cuh".
    const char* file;
    const char* name;
    // Found exactly `occurrences` times in the file, of which the one numbered `which` is replaced.
    const char* anchor;
    const char* replacement;
    // The case (test_mutations.cpp) that is tried first; the family's other cases follow.
    const char* first_case;
    int occurrences = 1;
    int which = 0;
};

const std::vector<Mutation>& mutations();

int count_of(const std::string& text, const std::string& fragment);

// The templates with the fault planted; empty where the anchor is not found as often as stated.
TemplateFiles mutated(const TemplateFiles& files, const Mutation& mutation);

}  // namespace tmm::testing
