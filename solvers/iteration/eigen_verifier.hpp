#pragma once

#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/small/dense_eigen.hpp>
#include <heddle/solvers/iteration/convergence.hpp>
#include <heddle/solvers/problem/eigen_problem.hpp>
#include <heddle/solvers/problem/options.hpp>
#include <heddle/solvers/problem/result.hpp>
#include <span>
#include <string>
#include <vector>

namespace heddle::detail {

/// Verifies eigenpairs: a Rayleigh–Ritz step over all of them, their residuals and their
/// orthogonality, all from fresh products with A and B. Shared by the eigensolvers.
template <Scalar T, class Ctx>
class EigenVerifier {
 public:
  using Space = typename Ctx::Space;

  EigenVerifier() = default;

  /// Memory for up to `max_pairs` pairs.
  EigenVerifier(Ctx& context, Index max_pairs);

  /// V ← V Z with VᵀBV = I and VᵀAV = diag(values), best first. V n×k, its columns independent. AV
  /// and BV are scratch memory of n rows and any width. Products are computed for as many columns
  /// at a time as they have. BV is unused if B = I.
  DenseFailure rayleigh_ritz(Ctx& context, const EigenProblem<T, Ctx>& problem, Which which,
                             BlockView<T, Space> V, BlockView<T, Space> AV, BlockView<T, Space> BV);

  /// Measures the pairs (values, V) of the last `rayleigh_ritz`.
  void measure(Ctx& context, const EigenProblem<T, Ctx>& problem, ConstBlockView<T, Space> V,
               BlockView<T, Space> AV, BlockView<T, Space> BV);

  /// Writes the numbers of the last `measure` to `result`. True if all pairs pass and their vectors
  /// are orthonormal.
  bool report(const EigenConvergence& convergence, EigenResult<T, Space>& result) const;

  /// ‖VᵀAV‖₁ and ‖VᵀBV‖₁ for the V that the last `rayleigh_ritz` was given.
  double projected_norm_A() const noexcept { return projected_norm_A_; }
  double projected_norm_B() const noexcept { return projected_norm_B_; }

  std::span<const double> values() const noexcept { return values_; }

  /// ‖A v − λ B v‖₂ / ‖v‖₂ of each pair.
  std::span<const double> residuals() const noexcept { return residuals_; }

  /// max |VᵀBV − I|.
  double orthogonality() const noexcept { return orthogonality_; }

  /// Whether every entry of VᵀBV − I is within `orthogonality_limit`.
  bool orthonormal() const noexcept { return orthogonality_excess_ <= 1; }

  /// Names the first check that the pairs of the last `measure` fail, with its numbers.
  std::string refutation(const EigenConvergence& convergence) const;

 private:
  DenseEigensolver dense_;
  std::unique_ptr<HostContext> host_;  // its address must stay when this object moves
  SmallMatrix<double, HostSpace> H_, G_, Z_, theta_host_;
  SmallMatrix<double, Space> product_, Z_device_, theta_, residual_norms_, norms_;
  std::vector<double> values_;
  std::vector<double> residuals_;
  double orthogonality_ = 0;
  double orthogonality_excess_ = 0;  // the largest |VᵀBV − I| relative to what is allowed
  double projected_norm_A_ = 0;
  double projected_norm_B_ = 0;
};

}  // namespace heddle::detail
