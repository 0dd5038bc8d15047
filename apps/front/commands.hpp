#pragma once

#include <heddle/apps/exit_codes.hpp>
#include <string>
#include <string_view>
#include <vector>

/// The commands of the program `heddle`.
namespace heddle::apps {

/// A command that heddle runs itself. `arguments`: the words after the command.
struct Command {
  std::string_view name;
  std::string_view usage;    ///< what follows the name
  std::string_view summary;  ///< one line
  ExitCode (*run)(const std::vector<std::string>& arguments);
};

/// `config`, `completion`, `man`, `help` and `version`. `heddle solve` is none of them, because it
/// has a main function of its own.
const std::vector<Command>& own_commands();

/// A program heddle-NAME of heddle's Python package, which may not be installed.
struct PackageProgram {
  std::string_view name;
  std::string_view usage;    ///< what follows the name
  std::string_view summary;  ///< one line
};

/// `fetch`, `study` and `plot`.
const std::vector<PackageProgram>& package_programs();

/// The overview of all commands that `heddle help` prints.
std::string overview();

}  // namespace heddle::apps
