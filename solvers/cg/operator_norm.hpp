#pragma once

#include <algorithm>
#include <cmath>
#include <heddle/solvers/cg/column_ledger.hpp>
#include <heddle/solvers/iteration/stop_control.hpp>
#include <heddle/solvers/operators/linear_operator.hpp>
#include <optional>

namespace heddle::detail {

/// The norm of A: ‖A‖₁ if the operator provides it, else the largest Rayleigh quotient of the
/// search directions, a lower bound of ‖A‖₂. Backward errors are relative to it, and it determines
/// whether a negative Rayleigh quotient is due to rounding.
template <Scalar T, class Ctx>
class OperatorNorm {
 public:
  using Stop = StopControl::Stop;

  /// Keeps a reference to A.
  explicit OperatorNorm(const LinearOperator<T, Ctx>& A) noexcept : A_(A) {}

  /// ‖A‖₁ or its estimate.
  double value() const { return A_.one_norm().value_or(rayleigh_); }

  /// Takes the Rayleigh quotient pᵀAp/pᵀp of a search direction. One that is not finite is ignored.
  void add_rayleigh_quotient(double quotient) noexcept {
    if (std::isfinite(quotient)) rayleigh_ = std::max(rayleigh_, quotient);
  }
  double largest_rayleigh_quotient() const noexcept { return rayleigh_; }

  /// Returns a stop if the least Rayleigh quotient of m directions is not finite or less than −10 m
  /// ε ‖A‖. In the latter case A is indefinite.
  std::optional<Stop> check_least_rayleigh_quotient(double least, Index m) const;

  /// The normwise backward error ‖r‖/(‖A‖ ‖x‖ + ‖b‖) of a column, 0 where r = 0.
  double backward_error(const LinearColumn& column) const {
    return column.norm == 0 ? 0 : column.norm / (value() * column.x_norm + column.rhs_norm);
  }

  void archive(Archive& archive) { archive.values(rayleigh_); }

 private:
  const LinearOperator<T, Ctx>& A_;
  double rayleigh_ = 0;  // the largest so far
};

}  // namespace heddle::detail
