// What the host knows of a step around a product: each step has a struct of its own (templates/tmm/steps/X/rules.h), which is a template
// parameter of its kernel, and a room in this folder.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/mandatory.h"
#include "tmm/steps/finishing/rules.h"
#include "tmm/steps/fixup/rules.h"
#include "tmm/steps/mirror/rules.h"
#include "tmm/steps/pack/rules.h"
#include "tmm/steps/pad/rules.h"
#include "tmm/steps/planes/rules.h"
#include "tmm/steps/reduce/rules.h"
#include "tmm/steps/rescue/rules.h"
#include "tmm/vocabulary/config.h"
#include "tmm/vocabulary/signature.h"

namespace tmm {

// A kernel of a plan: a product's, by its config, or a step's around it.
using PlanKernel = std::variant<KernelConfig, Pack, Pad, Planes, Reduce, Fixup, Finishing, Rescue, Mirror>;

// What a launch of a kernel needs.
struct LaunchNeeds {
    Mandatory<int> threads;
    // Bytes of dynamic shared memory of a block.
    Mandatory<i64> shared_bytes;
    // Blocks that run together and reach into each other's shared memory.
    Mandatory<int> cluster;
    // The blocks come to an SM while those of the kernel before still leave it room, whether the plan's config has overlap or not.
    Mandatory<bool> leaves_room;
};

// A field of a step's struct, as the generated text initialises it and as the kernel's name has it; fields without a word in the name say
// nothing there.
struct StepField {
    std::string name;
    std::string value;
    std::string word;
};

// What the generator and the plan must know of a step's kernel.
struct StepFacts {
    // The step's room and namespace, and the type of its struct without tmm::.
    Mandatory<const char*> name;
    Mandatory<const char*> type;
    // The C++ type of the kernel's only parameter.
    Mandatory<const char*> arguments_type;
    std::vector<StepField> fields;
    // How many elements of A and B, and of C, the kernel moves at once: an alignment beyond these does not matter to it.
    Mandatory<int> vector_of_ab;
    Mandatory<int> vector_of_c;
    // compute=tf32 is something else to it than f32.
    Mandatory<bool> knows_tf32;
    // It sees neither A nor B, but floats that others have multiplied.
    Mandatory<bool> adds_partial_sums;
    // It writes elements of C, so that an epilogue is part of it.
    Mandatory<bool> finishes_results;
    // Why no kernel can be made of the struct for the signature; null where one can.
    Mandatory<const char*> violation;
    // Blocks that an SM should hold, which bounds the registers.
    Mandatory<int> blocks_per_sm;
    LaunchNeeds needs;
};
StepFacts facts_of(const Pack& step, const KernelSignature& signature);
StepFacts facts_of(const Pad& step, const KernelSignature& signature);
StepFacts facts_of(const Planes& step, const KernelSignature& signature);
StepFacts facts_of(const Reduce& step, const KernelSignature& signature);
StepFacts facts_of(const Fixup& step, const KernelSignature& signature);
StepFacts facts_of(const Finishing& step, const KernelSignature& signature);
StepFacts facts_of(const Rescue& step, const KernelSignature& signature);
StepFacts facts_of(const Mirror& step, const KernelSignature& signature);

// Nothing for a product.
std::optional<StepFacts> facts_of_step(const PlanKernel& kernel, const KernelSignature& signature);

// A field that is a number, or a flag: the name has a flag's word where it is set.
StepField number_field(const char* name, int value);
StepField flag_field(const char* name, bool value);

}  // namespace tmm
