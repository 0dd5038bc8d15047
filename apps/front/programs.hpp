#pragma once

#include <heddle/apps/program_help.hpp>
#include <string>
#include <vector>

namespace heddle::apps {

/// The programs with options: `heddle solve`, the program of each method, heddle-info,
/// heddle-spgemm, heddle-spmm.
std::vector<ProgramHelp> programs_with_options();

/// The name of a program as one word: "heddle-solve" for "heddle solve".
std::string one_word(std::string name);

}  // namespace heddle::apps
