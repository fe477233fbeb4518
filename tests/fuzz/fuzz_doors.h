// The doors by which what others wrote comes in, each as a function of any bytes. Tests give them damaged texts, libFuzzer what it thinks
// of.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tmm::testing {

struct Answer {
    bool taken = false;
    // Says what is wrong with how the input was taken or refused; empty where nothing is.
    std::string complaint = {};
};

struct FuzzDoor {
    // The door's name, which is also the name of the folder in tests/fuzz/corpus with its inputs.
    const char* name;
    // Whatever it throws is wrong, too.
    Answer (*answer)(std::string_view input);
    // By default one in `slices` of the full run's inputs is tried.
    unsigned slices;
};

const std::vector<FuzzDoor>& fuzz_doors();

// The inputs are shapes files, lists of other programs, configs in both spellings, exports in both formats, and the tools' arguments, one a
// line.
Answer answer_to_shapes(std::string_view input);
Answer answer_to_lists(std::string_view input);
Answer answer_to_config(std::string_view input);
Answer answer_to_import(std::string_view input);
Answer answer_to_arguments(std::string_view input);
// What follows the line of templates in a bundle's manifest, or where it does not begin so, what follows the device; behind a zero byte,
// the table of its kernels and their images.
Answer answer_to_bundle(std::string_view input);
// Calls of the C interface: bytes say what is called with what.
Answer answer_to_call(std::string_view input);

}  // namespace tmm::testing
