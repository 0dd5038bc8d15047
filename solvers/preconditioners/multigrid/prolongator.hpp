#pragma once

#include <heddle/solvers/preconditioners/multigrid/aggregates.hpp>

namespace heddle::detail {

/// A prolongator T with orthonormal columns, and what the coarser level inherits.
struct TentativeProlongator {
  HostCsrMatrix<double> T;
  std::vector<std::int64_t> nodes;           ///< as `Grid::nodes`, of the coarser level
  MultiVector<double, HostSpace> near_null;  ///< X_c with T X_c = X in all aggregates
};

/// The prolongator whose columns are the near null vectors X cut off at the borders of the
/// aggregates: in each aggregate X = Q R, Q is its part of T and R its part of X_c. Columns of X
/// that depend linearly on others in an aggregate give no column of T there.
TentativeProlongator tentative_prolongator(HostContext& context, const Grid& grid,
                                           const Aggregates& aggregates);

/// P = (I − ω D⁻¹ Ā) T with ω = 4/(3 λ) and λ ≥ λ_max(D⁻¹Ā). Ā is A without the entries of
/// connections that are not strong. These are added to the diagonal, so that Ā has the row sums
/// of A, but for rows in which they would leave less than a tenth of the diagonal. D is the
/// diagonal of Ā. `upper_bound` bounds the spectrum of D⁻¹A. Source: Vaněk, Mandel, Brezina,
/// Computing 56 (1996) 179, section 2.
HostCsrMatrix<double> smoothed_prolongator(HostContext& context, const Grid& grid,
                                           const NodeGraph& strong,
                                           CsrView<double, HostSpace> tentative,
                                           double upper_bound);

}  // namespace heddle::detail
