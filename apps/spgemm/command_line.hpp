#pragma once

#include <heddle/apps/program_help.hpp>
#include <heddle/apps/spgemm/format.hpp>
#include <heddle/linalg/edge_list/edge_list.hpp>
#include <optional>
#include <string>

namespace heddle::apps {

/// The command line of heddle-spgemm.
struct SpgemmCommandLine {
  std::string A;
  std::string B;           ///< empty: A itself, or what an option below says
  bool self = false;       ///< A A, the default without B
  bool transpose = false;  ///< A Aᵀ
  int power = 0;           ///< A^power, at least 2. 0: not asked for
  std::string galerkin;    ///< P of Pᵀ A P. Empty: not asked for
  bool single = false;     ///< in single precision
  FirstLine first_line = FirstLine::automatic;
  SpgemmFormat format = SpgemmFormat::automatic;
  double device_megabytes = 0;  ///< of C on a GPU at a time. 0: what is free
  int threads = 0;              ///< of the host, 0: by the machine
  std::string output;           ///< a Matrix Market file for the result. Empty: none
  std::string json;  ///< a file for the report as JSON, `-` for stdout, empty: text on stdout
};

inline constexpr const char* kSpgemmName = "heddle-spgemm";

/// Parses the command line. Returns nothing if only help or the version was requested, which it has
/// then printed to stdout. Throws `InvalidArgument`.
std::optional<SpgemmCommandLine> parse_spgemm_command_line(int argc, const char* const* argv);

/// The arguments and options of heddle-spgemm.
ProgramHelp spgemm_help();

}  // namespace heddle::apps
