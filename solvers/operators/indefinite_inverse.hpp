#pragma once

#include <heddle/linalg/data/csr_matrix.hpp>
#include <heddle/solvers/operators/linear_operator.hpp>
#include <memory>
#include <string>

namespace heddle {
namespace detail {
class ShiftedFactor;
}  // namespace detail

/// Y = (A − σB)⁻¹X for σ anywhere in the spectrum, by a factorisation L D Lᵀ on the host in double,
/// with the number of eigenvalues below σ.
///
/// The constructor computes nothing. MUMPS factors where it can be loaded, else Eigen.
/// `ShiftedFactor` describes when a factor is certain.
template <Scalar T, class Ctx>
class IndefiniteInverse final : public LinearOperator<T, Ctx> {
 public:
  using Space = typename Ctx::Space;
  /// The type of A and B.
  using Matrix = CsrView<T, Space>;

  /// The limit of host memory if the caller sets none, in bytes.
  static constexpr double kDefaultMaxBytes = 4.0 * 1024 * 1024 * 1024;

  /// A and B are symmetric, lie in the context's memory and must outlive this object. A B without
  /// rows stands for the identity. `max_bytes` limits the host memory of the factor. Throws
  /// `InvalidArgument` if A is not square or B has another shape.
  explicit IndefiniteInverse(Matrix A, Matrix B = {}, double max_bytes = kDefaultMaxBytes);
  ~IndefiniteInverse() override;

  /// Factors A − σB in place of the shift before, unless that is σ. It cannot be interrupted. False if σ is an
  /// eigenvalue to rounding, or if the library is not stable for this σ. The inverse cannot be
  /// applied then. Throws `OutOfMemory`.
  bool factor(Ctx& context, double sigma);

  double shift() const noexcept;  ///< σ of the last factor

  /// The number of eigenvalues below σ of the last factor, as `ShiftedFactor::below` has it.
  Index below() const noexcept;

  /// The number of entries of L, 0 before the first factorisation.
  double factor_entries() const noexcept;

  /// The name of the library that factors. Empty before the first factorisation.
  std::string library() const;

 protected:
  void apply_block(Ctx& context, ConstBlockView<T, Space> X, BlockView<T, Space> Y) override;

 private:
  Matrix A_, B_;
  double max_bytes_;
  std::unique_ptr<detail::ShiftedFactor> factor_;  // empty before the first factorisation
};

}  // namespace heddle
