#pragma once

#include <functional>
#include <heddle/linalg/context/owned_host_context.hpp>
#include <heddle/solvers/factor/factor_libraries.hpp>
#include <heddle/solvers/factor/lower_triangles.hpp>
#include <memory>
#include <vector>

namespace heddle::detail {

/// The factorisation A − σB = L D Lᵀ for any number of shifts σ anywhere in the spectrum, with the
/// number of eigenvalues below σ.
///
/// The matrix is scaled by powers of 2 to entries near 1, S(A − σB)S, which changes no sign of its
/// eigenvalues. A factor is exact for a matrix that differs from this one by E. Its signs are those
/// of A − σB if ‖E‖ is smaller than the smallest |eigenvalue|, 1/‖(S(A − σB)S)⁻¹‖. Both are
/// estimated: ‖E‖ by residuals of solves, the norm of the inverse by inverse iteration. Where they
/// are not far apart, ρ < 1 suffices for the spectral radius ρ of E (S(A − σB)S + E)⁻¹: no matrix
/// S(A − σB)S + tE, 0 ≤ t ≤ 1, is singular then. ρ is the contraction of iterative refinement, by
/// which it is estimated. Where neither is certain, there is no factor: σ is an eigenvalue to
/// rounding, or the library is not stable for it, and another σ must be taken. Sources: Parlett,
/// The Symmetric Eigenvalue Problem, SIAM 1998, 1.3 and 3.3 (inertia); Ericsson & Ruhe, Math.
/// Comp. 35 (1980) 1251; Kato, Perturbation Theory for Linear Operators, Springer 1995, II.1
/// (eigenvalues are continuous).
class ShiftedFactor {
 public:
  /// Analyses the patterns. A and B are symmetric of one order and are not needed afterwards. A B
  /// without rows is the identity. `max_bytes` limits the memory of the factor. Throws
  /// `OutOfMemory`.
  ShiftedFactor(const CsrView<double, HostSpace>& A, const CsrView<double, HostSpace>& B,
                double max_bytes, const FactorLibraryRow& library = indefinite_library());

  /// The same with a factor that `make` makes of the pattern of the lower triangle.
  ShiftedFactor(const CsrView<double, HostSpace>& A, const CsrView<double, HostSpace>& B,
                const FactorLibraryRow& library,
                const std::function<std::unique_ptr<SymmetricFactor<double>>(
                    const CsrView<double, HostSpace>& lower)>& make);

  const FactorLibraryRow& library() const noexcept { return library_; }

  /// How many times smaller than the smallest |eigenvalue| ‖E‖ must be for signs that are certain.
  static constexpr double kCertain = 100;

  /// Factors A − σB in place of the shift before, unless that is σ. False if the smallest
  /// |eigenvalue| is not `margin` times larger than ‖E‖, and ρ not as many times smaller than 1. By
  /// default, signs are certain.
  /// Nothing can be solved then. Throws `OutOfMemory`.
  bool factor(double sigma, double margin = kCertain);

  /// Takes the values of another A. `factor` must follow. False, and nothing happens, if it has an
  /// entry where neither A nor B had one.
  bool set_values(const CsrView<double, HostSpace>& A);

  bool factored() const noexcept { return factored_; }

  /// Whether the signs of the last factor are certain.
  bool certain() const noexcept { return factored_ && margin_ >= kCertain; }

  /// Whether the last factorisation has a larger error than pivoting would have left. `factor` then
  /// returns false for other σ, too.
  bool unstable() const noexcept { return unstable_; }

  double shift() const noexcept { return shift_; }  ///< σ of the last factor
  double error() const noexcept { return error_; }  ///< ‖E‖ of the last factor, an estimate

  /// max(‖E‖, ε) ‖S⁻¹x‖² for an x of order n with entries rounded to ε: by this much, xᵀ(A − σB)x
  /// may differ in the matrix that was factored, or for the x before rounding.
  double error_along(const double* x, double epsilon) const noexcept;

  /// Whether rows of A − σB differ by 10⁶ in size.
  bool graded() const noexcept;

  /// The number of eigenvalues below σ, for a positive definite B. For a semidefinite one,
  /// differences between two σ are those of the finite eigenvalues.
  Index below() const noexcept { return negative_; }

  double entries() const noexcept { return factor_->entries(); }  ///< of L

  /// X ← (A − σB)⁻¹X for an n×`columns` block X with one column after the other, with at least so
  /// many steps of iterative refinement.
  void solve(double* X, Index columns, int refinements = 0);

  /// S, for solves by the library itself: (A − σB)⁻¹ = S (S(A − σB)S)⁻¹S.
  const std::vector<double>& scaling() const noexcept { return scaling_; }

  /// The steps of iterative refinement that a solve with S(A − σB)S needs.
  int refinements() const noexcept;

 private:
  void shift_values(double sigma);
  void scale_values();
  double largest_row_sum() const;
  void multiply(const double* x, double* y) const;
  double error_of_solves();
  double smallest_eigenvalue();
  double contraction();
  double measured_margin(double pivoted, double wanted);
  void solve_scaled(double* X, Index columns, int steps);

  const FactorLibraryRow& library_;
  OwnedHostContext host_;
  LowerTriangles lower_;
  std::vector<double> values_;   // of the scaled A − σB
  std::vector<double> scaling_;  // S
  std::unique_ptr<SymmetricFactor<double>> factor_;
  std::vector<double> kept_, rest_;  // of refined solves
  bool unstable_ = false;
  bool factored_ = false;
  double shift_ = 0;
  double error_ = 0;   // ‖E‖
  double margin_ = 0;  // the smallest |eigenvalue| in units of ‖E‖, or 1/ρ
  Index negative_ = 0;
};

}  // namespace heddle::detail
