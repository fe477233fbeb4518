// What winners are listed by: the keys of ls --sort and --where.
#pragma once

#include <string>
#include <vector>

#include "tools/tmm_db/winner_list.h"

namespace tmm {

// The conditions are as --where has them: a key, one of = != < <= > >=, and a value, such as "m<=16" or "dtype=bf16". Winners that do not
// meet all of them are left out. Throws Error: usage, where one is no condition; no_winner, where it leaves none of some winners.
std::vector<ListedWinner> with_conditions(std::vector<ListedWinner> winners, const std::vector<std::string>& conditions);

// The key is as --sort has it: "us", or "-us" for the largest first. Where a value is not known, the winner comes last. Throws Error
// (usage) for a key that there is not.
void sort_by(std::vector<ListedWinner>& winners, const std::string& key);

// All keys: "shape", "us", …, the keys of shapes files, and the fields of configs.
std::vector<std::string> list_keys();

}  // namespace tmm
