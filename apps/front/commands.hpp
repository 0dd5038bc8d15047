#pragma once

#include <filesystem>
#include <functional>
#include <heddle/apps/exit_codes.hpp>
#include <optional>
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

/// The names of the programs heddle-NAME that the command `heddle NAME` may run: those in the
/// folder of this executable, then those on the path, each once, sorted.
std::vector<std::string> program_names();

/// The file of the program heddle-NAME: in the folder of this executable, else on the path.
std::optional<std::filesystem::path> find_program(std::string_view name);

/// The overview of all commands that `heddle help` prints.
std::string overview();

}  // namespace heddle::apps
