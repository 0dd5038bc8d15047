#pragma once

#include <cstddef>
#include <heddle/drivers/inspect/facts.hpp>
#include <heddle/drivers/problem/request_fields.hpp>
#include <string_view>
#include <vector>

/// The methods that solve. Each is one row of `method_table`.
namespace heddle::detail {

/// The function that carries a method out, see `run_method`.
enum class Algorithm {
  singular_values,
  least_squares,
  interval,
  slices,
  nearest,
  null_space,
  lobpcg,
  block_lanczos,
  block_cg
};

/// The description of one method. The method of the requests passed to its functions has been
/// chosen.
struct MethodKind {
  Algorithm algorithm;
  std::string_view name;
  std::string_view solves;  ///< the equation that it solves
  bool (*suits)(const Request&, const ProblemSizes&);
  /// The number of columns that A multiplies at once.
  Index (*block_size)(const Request&, const ProblemSizes&);
  /// Estimated bytes that the method holds, with its result and without the operators.
  /// `scalar_size`: bytes per scalar.
  double (*memory_bytes)(const Request&, const ProblemSizes&, std::size_t scalar_size);
  /// The number of columns of the eigenvectors or the solution.
  Index (*result_columns)(const Request&, const ProblemSizes&);
  bool both_sides = false;  ///< whether the result has left vectors
};

/// All methods. If several suit a request and a problem, the first one is used.
const std::vector<MethodKind>& method_table();

/// The method for `request`, whose method has been chosen, and a problem of the given sizes.
const MethodKind& method_of(const Request& request, const ProblemSizes& sizes);

/// The tolerance of `request`, or its default.
double tolerance_of(const Request& request) noexcept;

/// Whether pairs of `request`, whose method has been chosen, are counted by factors of A − σB:
/// those nearest to a number and those of an interval by slices.
bool counts_by_factors(const Request& request) noexcept;

/// Whether block Lanczos may factor A − σB for `request`, whose method has been chosen.
bool may_invert(const Request& request, const ProblemSizes& sizes);

}  // namespace heddle::detail
