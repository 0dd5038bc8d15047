#pragma once

#include <heddle/solvers/factor/cudss_solver.hpp>
#include <heddle/solvers/factor/symmetric_factor.hpp>

namespace heddle::detail {

/// L D Lᵀ of an indefinite matrix by cuDSS on the GPU. Its pivots are chosen within dense blocks of
/// columns only, so that entries of L may grow.
class CudssFactor final : public SymmetricFactor<double> {
 public:
  /// `lower`: the lower triangle of the matrix with its diagonal, whose values are not read.
  /// `max_bytes` limits the device memory of the factor. `deterministic`: see `CudssSolver`. Keeps
  /// the context by reference. Throws `OutOfMemory`, and `DeviceError` if cuDSS cannot be loaded.
  CudssFactor(CudaContext& context, const CsrView<double, HostSpace>& lower, double max_bytes,
              bool deterministic);

  std::optional<PivotSigns> factor(const double* lower_values) override;
  void solve(double* X, Index columns) override { solver_.solve_on_host(X, columns); }
  double entries() const noexcept override { return entries_; }

  CudssSolver& solver() noexcept { return solver_; }  ///< for solves on the device

 private:
  CudaContext& context_;
  CsrMatrix<double, DeviceSpace> lower_;
  CudssSolver solver_;
  double entries_ = 0;
};

}  // namespace heddle::detail
