#pragma once

#include <heddle/linalg/data/csr_matrix.hpp>
#include <heddle/solvers/operators/factor_library.hpp>
#include <heddle/solvers/operators/linear_operator.hpp>
#include <memory>
#include <string>
#include <vector>

namespace heddle {
namespace detail {
template <Scalar T, class Ctx>
class ShiftedSolves;
template <Scalar T, class Ctx>
class ConstraintFactor;
struct FactorCost;
struct FactorLibraryRow;
}  // namespace detail

/// Estimates for a factor of A − σB, from the patterns of A and B alone.
struct FactorEstimate {
  double operations = 0;  ///< multiplications of one factorisation
  double bytes = 0;       ///< host memory of the factor
  double once = 0;        ///< the cost of ordering the rows, in products of A with one column
  double factor = 0;      ///< the cost of one factorisation, in the same unit
  double column = 0;      ///< the cost of a solve for one column, in the same unit
};

/// Y = (A − σB)⁻¹X for σ anywhere in the spectrum, by a factorisation L D Lᵀ in double, with the
/// number of eigenvalues below σ.
///
/// The constructor computes nothing. On a GPU, cuDSS factors and solves where it can be loaded and
/// the factor fits. Otherwise the host does, and blocks are copied: Eigen where that is estimated
/// to be cheaper, or MUMPS cannot be loaded, else MUMPS. Eigen and cuDSS take no pivots. Where
/// Eigen has no certain factor, and where cuDSS is not stable for a matrix, MUMPS takes over.
/// `ShiftedFactor` describes when a factor is certain.
template <Scalar T, class Ctx>
class IndefiniteInverse final : public LinearOperator<T, Ctx> {
 public:
  using Space = typename Ctx::Space;
  /// The type of A and B.
  using Matrix = CsrView<T, Space>;

  /// The limit of memory if the caller sets none, in bytes.
  static constexpr double kDefaultMaxBytes = 4.0 * 1024 * 1024 * 1024;

  /// A and B are symmetric, lie in the context's memory and must outlive this object. A B without
  /// rows stands for the identity. `max_bytes` limits the memory of the factor, on the host or on
  /// the GPU. Throws `InvalidArgument` if A is not square or B has another shape.
  explicit IndefiniteInverse(Matrix A, Matrix B = {}, double max_bytes = kDefaultMaxBytes,
                             FactorLibrary library = FactorLibrary::automatic);
  ~IndefiniteInverse() override;

  /// Estimates of the size and the cost of a factor on the host. Takes time O(nnz) in the first
  /// call.
  FactorEstimate estimate(Ctx& context);

  /// The limit of the memory of the factor.
  double max_bytes() const noexcept { return max_bytes_; }

  /// Factors A − σB in place of the shift before, unless that is σ. It cannot be interrupted. False
  /// if σ is an eigenvalue to rounding, or if the library is not stable for this σ. The inverse
  /// cannot be applied then. Throws `OutOfMemory`. With a `library` of cuDSS, throws `DeviceError`
  /// if it cannot be loaded, and `InvalidArgument` for a matrix on the host.
  bool factor(Ctx& context, double sigma);

  /// Restricts the problem to the vectors x with Cᵀx = 0, for C n×c in the context's memory with
  /// independent columns, which must outlive the restriction. From the next `factor` on, Y solves
  ///
  ///     [A − σB  C] [Y]   [X]
  ///     [Cᵀ      0] [M] = [0],
  ///
  /// and `below` counts eigenvalues of the restricted problem. `factor` computes (A − σB)⁻¹C, too,
  /// and is false where σ is an eigenvalue of either problem to rounding. A C without columns lifts
  /// the restriction. Throws `InvalidArgument` if C has other rows.
  void constrain(Ctx& context, ConstBlockView<T, Space> C);

  double shift() const noexcept;  ///< σ of the last factor

  /// The number of eigenvalues below σ of the last factor, as `ShiftedFactor::below` has it.
  Index below() const noexcept;

  /// Whether the rows of A − σB differ by 10⁶ in size, for the σ that was tried last.
  bool graded() const noexcept;

  /// How much rounding errors of the last factor may change xᵀ(A − σB)x, for each column x of X, an
  /// estimate. Empty unless `graded`: these errors are then those of ‖A − σB‖.
  std::vector<double> errors_along(Ctx& context, ConstBlockView<T, Space> X) const;

  /// The number of entries of L, 0 before the first factorisation.
  double factor_entries() const noexcept;

  /// The name of the library that factors. Empty before the first factorisation.
  std::string library() const;

 protected:
  void apply_block(Ctx& context, ConstBlockView<T, Space> X, BlockView<T, Space> Y) override;

 private:
  const detail::FactorLibraryRow& host_library(Ctx& context);
  bool pivots_may_help() const;

  Matrix A_, B_;
  double max_bytes_;
  FactorLibrary choice_;
  bool needs_pivots_ = false;                              // a library without them has failed
  std::unique_ptr<detail::ShiftedSolves<T, Ctx>> solves_;  // empty before the first factorisation
  std::unique_ptr<detail::ConstraintFactor<T, Ctx>> constraints_;  // empty without a restriction
  std::unique_ptr<const detail::FactorCost> estimate_;  // empty before the first estimate
};

}  // namespace heddle
