#pragma once

#include <heddle/apps/config/programs.hpp>
#include <heddle/apps/config/settings.hpp>
#include <heddle/apps/program_help.hpp>
#include <optional>
#include <string>
#include <vector>

namespace heddle::apps {

/// The command line of a program that solves.
struct CommandLine {
  std::string subject;  ///< the argument CONFIG or MATRIX
  std::vector<Setting> settings;
  std::vector<std::string> overrides;  ///< KEY=VALUE per entry
  bool validate = false;
  bool plan = false;  ///< print the plan
  bool print_config = false;
  bool quiet = false;
  bool verbose = false;
  bool resume = false;   ///< continue from the checkpoint
  bool profile = false;  ///< print the time of each phase
  std::string json;      ///< a file for the content of result.json, `-` for stdout, empty for none
};

/// Parses the command line of `program`. Returns nothing if only help, the version or the list of
/// keys was requested, which it has then printed to stdout. Throws `InvalidArgument`.
std::optional<CommandLine> parse_command_line(int argc, const char* const* argv,
                                              const SolverProgram& program);

/// The arguments and options of `program`, as `parse_command_line` accepts them.
ProgramHelp help_of(const SolverProgram& program);

}  // namespace heddle::apps
