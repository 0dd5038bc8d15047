#pragma once

#include <heddle/apps/program_help.hpp>
#include <heddle/apps/spmm/product.hpp>
#include <optional>
#include <string>

namespace heddle::apps {

/// The command line of heddle-spmm.
struct SpmmCommandLine {
  SpmmProductOptions product;
  std::string json;  ///< a file for the report as JSON, `-` for stdout
};

inline constexpr const char* kSpmmName = "heddle-spmm";

/// Parses the command line. Returns nothing if only help or the version was requested, which it has
/// then printed to stdout. Throws `InvalidArgument`.
std::optional<SpmmCommandLine> parse_spmm_command_line(int argc, const char* const* argv);

/// The arguments and options of heddle-spmm.
ProgramHelp spmm_help();

}  // namespace heddle::apps
