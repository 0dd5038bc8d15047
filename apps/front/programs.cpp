#include <algorithm>
#include <heddle/apps/command_line.hpp>
#include <heddle/apps/front/programs.hpp>
#include <heddle/apps/info/command_line.hpp>
#include <heddle/apps/spgemm/command_line.hpp>
#include <heddle/apps/spmm/command_line.hpp>

namespace heddle::apps {

std::vector<ProgramHelp> programs_with_options() {
  std::vector<ProgramHelp> programs;
  for (const SolverProgram& program : solver_programs()) programs.push_back(help_of(program));
  programs.push_back(info_help());
  programs.push_back(spgemm_help());
  programs.push_back(spmm_help());
  return programs;
}

std::string one_word(std::string name) {
  std::replace(name.begin(), name.end(), ' ', '-');
  return name;
}

}  // namespace heddle::apps
