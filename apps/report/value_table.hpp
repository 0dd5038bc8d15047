#pragma once

#include <cstddef>
#include <functional>
#include <heddle/apps/config/config.hpp>
#include <heddle/drivers/problem/solution.hpp>
#include <string>
#include <string_view>

/// The table of eigenvalues on the terminal.
namespace heddle::apps {

/// The lines of a table of results.
struct Table {
  std::string head;
  std::function<std::string(std::size_t)> row;
  int width;             // width of the second column, which also shows how many rows are omitted
  std::string legend{};  // explains the marks of the rows
};

/// How numbers are shown.
struct TableStyle {
  FrequencyUnit unit = FrequencyUnit::automatic;
  bool bold = false;  ///< whether certain digits are bold, in rows where others are shown
  std::string_view eigenvalue = "eigenvalue";  ///< the name of eigenvalues
};

/// The mark of row i if it has not converged. A solve that converged has no such rows, whatever its
/// method verified.
std::string_view unconverged_mark(const Solution& result, std::size_t i);

/// √λ/2π with the sign of λ, in cycles per unit of time of the matrices.
double frequency_of(double lambda);

/// The table of eigenpairs or singular triplets. Frequencies come first where there are any.
Table value_table(const Solution& result, TableStyle style);

}  // namespace heddle::apps
