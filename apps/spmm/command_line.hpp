#pragma once

#include <heddle/apps/program_help.hpp>
#include <heddle/apps/spmm/comparison.hpp>
#include <heddle/apps/spmm/product.hpp>
#include <heddle/apps/spmm/reordering.hpp>
#include <heddle/linalg/edge_list/edge_list.hpp>
#include <optional>
#include <string>
#include <vector>

namespace heddle::apps {

/// The command line of heddle-spmm. With a block to multiply, products are computed. Without,
/// kernels are timed on a GPU, or products in other orders of rows and columns.
struct SpmmCommandLine {
  std::vector<std::string> matrices;
  FirstLine first_line = FirstLine::automatic;
  SpmmProductOptions product;
  ReorderingOptions reordering;
  std::vector<std::string> timed_precisions;  ///< "double", "single"
  ComparisonOptions comparison;
  bool explain = false;
  std::string json;      ///< a file for all numbers, `-` for stdout
  std::string roofline;  ///< a file for the roofline as SVG, empty: none

  bool reorders() const noexcept { return reordering.all || !reordering.orders.empty(); }
  bool multiplies() const noexcept {
    return !reorders() && (!product.block.empty() || product.columns > 0);
  }
};

inline constexpr const char* kSpmmName = "heddle-spmm";

/// Parses the command line. Returns nothing if only help or the version was requested, which it has
/// then printed to stdout. Throws `InvalidArgument`.
std::optional<SpmmCommandLine> parse_spmm_command_line(int argc, const char* const* argv);

/// The arguments and options of heddle-spmm.
ProgramHelp spmm_help();

}  // namespace heddle::apps
