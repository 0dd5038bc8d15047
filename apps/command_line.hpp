#pragma once

#include <filesystem>
#include <heddle/apps/config/config.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::apps {

/// What a solver's executable was asked for.
struct CommandLine {
  std::filesystem::path config;
  std::vector<std::string> overrides;  ///< KEY=VALUE each
  bool validate = false;
  bool print_config = false;
  bool quiet = false;
  bool resume = false;   ///< goes on from the checkpoint
  bool profile = false;  ///< what the time went to is printed, too
};

/// Reads the command line of the executable `name` for `solver`. Empty if it only asked for help,
/// the version or the list of keys, which is then on stdout. Throws `InvalidArgument`.
std::optional<CommandLine> parse_command_line(int argc, const char* const* argv, SolverType solver,
                                              std::string_view name, std::string_view description);

}  // namespace heddle::apps
