#pragma once

#include <heddle/linalg/context/context.hpp>
#include <heddle/solvers/cg/energy_steps.hpp>
#include <limits>
#include <span>
#include <vector>

namespace heddle::detail {

/// The numbers of one column A x = b of a linear system. Norms are those of the scaled column that
/// is solved.
struct LinearColumn {
  Index index = 0;             ///< its place in B
  double scale = 1;            ///< power of two that b and x are multiplied by
  double rhs_norm = 0;         ///< ‖b‖
  double limit = 0;            ///< ‖r‖ up to which it counts as converged
  double norm = 0;             ///< ‖r‖
  double recurrence_norm = 0;  ///< ‖r‖ before r was last computed as b − A x
  double x_norm = 0;           ///< ‖x‖ when r was last computed as b − A x
  double first_norm = std::numeric_limits<double>::infinity();  ///< ‖r‖ of the first x
  double first_x_norm = 0;                                      ///< ‖x‖ of the first x
  double energy = 0;                                            ///< rᵀM⁻¹r
  double earlier_energy = 0;   ///< rᵀM⁻¹r before the last step
  double x_energy = 0;         ///< xᵀA x when r was last computed as b − A x
  EnergySteps steps{};         ///< by how much the steps have reduced the error
  double softness = 0;         ///< of `LooseRows` that ‖r‖ within the tolerance may move, m/w
  bool doubted = false;        ///< whether ‖r‖ met the limit with too large an error estimate
  bool without_guess = false;  ///< whether the first x is 0 in place of a useless initial guess

  bool converged() const noexcept { return norm <= limit; }

  /// An estimate of ‖error of x‖_A/‖x‖_A, see `EnergySteps`, and at least ‖r‖ √(m/w)/‖x‖_A while
  /// ‖r‖ may move loose rows. NaN before the first step.
  double error_estimate() const noexcept;

  /// Whether x, at the scale of B, is 0 or has a norm between `least` and `most`. ‖x‖ is that of
  /// the last fresh residual.
  bool representable(double least, double most) const noexcept {
    const double size = x_norm / scale;
    return x_norm == 0 || (size >= least && size <= most);
  }
};

/// The columns of a linear system in the order in which X and R hold them: the active ones first,
/// then those that have left the block, then those with b = 0. Host memory only.
struct ColumnLedger {
  explicit ColumnLedger(Index b) : columns(static_cast<std::size_t>(b)) {}

  /// Forgets all columns, for a new solve. Keeps the memory.
  void reset();

  LinearColumn& operator[](Index j) { return columns[static_cast<std::size_t>(j)]; }
  const LinearColumn& operator[](Index j) const { return columns[static_cast<std::size_t>(j)]; }

  std::span<LinearColumn> active_columns() {
    return {columns.data(), static_cast<std::size_t>(active)};
  }
  std::span<const LinearColumn> active_columns() const {
    return {columns.data(), static_cast<std::size_t>(active)};
  }

  /// The number of converged columns, those with b = 0 included.
  Index converged() const;

  /// The largest ‖r‖/‖b‖ of all columns, or NaN if one of them is.
  double worst_residual() const;

  /// The largest ‖r‖ of the active columns relative to their limits, or NaN if one of them is.
  double worst_excess() const;

  /// residuals_j ← ‖r_j‖/‖b_j‖ in the order of B, 0 where r_j = 0.
  void list_residuals(std::vector<double>& residuals) const;

  std::vector<LinearColumn> columns;
  Index active = 0;
  Index nonzero = 0;  ///< leading columns with b ≠ 0
};

}  // namespace heddle::detail
