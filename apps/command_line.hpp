#pragma once

#include <filesystem>
#include <heddle/apps/config/config.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::apps {

/// The command line of a solver's executable.
struct CommandLine {
  std::filesystem::path config;
  std::vector<std::string> overrides;  ///< KEY=VALUE per entry
  bool validate = false;
  bool print_config = false;
  bool quiet = false;
  bool resume = false;   ///< continue from the checkpoint
  bool profile = false;  ///< print the time of each phase
};

/// Parses the command line of the executable `name` for `solver`. Returns nothing if only help, the
/// version or the list of keys was requested, which it has then printed to stdout. Throws
/// `InvalidArgument`.
std::optional<CommandLine> parse_command_line(int argc, const char* const* argv, SolverType solver,
                                              std::string_view name, std::string_view description);

}  // namespace heddle::apps
