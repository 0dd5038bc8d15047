#pragma once

#include <heddle/linalg/data/packet.hpp>
#include <heddle/solvers/problem/result.hpp>
#include <limits>
#include <vector>

namespace heddle::detail {

/// What is known of a column of a linear system, in the scaling in which it is solved.
struct LinearColumn {
  Index index = 0;             ///< its place in B
  double scale = 1;            ///< power of two that B and X are multiplied by
  double rhs_norm = 0;         ///< ‖b‖
  double limit = 0;            ///< ‖r‖ up to which it counts as converged
  double norm = 0;             ///< ‖r‖
  double recurrence_norm = 0;  ///< ‖r‖ before R was last made afresh
  double x_norm = 0;           ///< ‖x‖, as of the last fresh residual
  double first_norm = std::numeric_limits<double>::infinity();  ///< ‖r‖ of the x that it began with
  double first_x_norm = 0;                                      ///< ‖x‖ of the same
  double energy = 0;                                            ///< rᵀM⁻¹r
  double earlier_energy = 0;  ///< rᵀM⁻¹r before the last step

  bool converged() const noexcept { return norm <= limit; }
};

/// What a method carries from one iteration to the next beside X and R.
template <Scalar T, class Space>
struct SearchDirections {
  MultiVector<T, Space> P;
  Index count = 0;              ///< columns of P that are in use
  bool follow_columns = false;  ///< column j of P belongs to column j of X and moves with it
  bool careful = false;         ///< PᵀAP was singular or indefinite once
};

/// The memory of `LinearColumns` for n×b systems.
template <Scalar T, class Ctx>
struct LinearColumnsStorage {
  using Space = typename Ctx::Space;

  LinearColumnsStorage(Ctx& context, Index n, Index b);

  /// Empties what a solve fills, keeping all memory.
  void reset();

  MultiVector<T, Space> R;
  SearchDirections<T, Space> directions;
  MultiVector<T, Space> scratch;  // A X while R is made afresh; the solver's own between
  Packet<Ctx> packet;
  SmallMatrix<double, Space> factors;
  std::vector<LinearColumn> columns;      // in the order in which X and R hold them
  std::vector<double> monitor_residuals;  // in the order of B
  LinearResult<T, Space> result;
};

}  // namespace heddle::detail
