#pragma once

#include <heddle/apps/program_help.hpp>
#include <heddle/linalg/data/views.hpp>
#include <heddle/linalg/edge_list/edge_list.hpp>
#include <optional>
#include <string>

namespace heddle::apps {

/// The command line of heddle-info.
struct InfoCommandLine {
  std::string matrix;
  std::string mass;  ///< a mass matrix, given as the matrix is, empty: none
  std::string transform = "none";
  std::string weights = "stored";
  bool symmetrize = false;
  FirstLine first_line = FirstLine::automatic;
  bool products = false;
  bool spectrum = false;
  Index bins = 20;
  bool multigrid = false;
  std::string coordinates;  ///< a file with the positions of the nodes for multigrid, empty: none
  std::string json;  ///< a file for the report as JSON, `-` for stdout, empty: text on stdout
  bool list_generators = false;
};

inline constexpr const char* kInfoName = "heddle-info";

/// Parses the command line. Returns nothing if only help or the version was requested, which it has
/// then printed to stdout. Throws `InvalidArgument`.
std::optional<InfoCommandLine> parse_info_command_line(int argc, const char* const* argv);

/// The arguments and options of heddle-info.
ProgramHelp info_help();

}  // namespace heddle::apps
