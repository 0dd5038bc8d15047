#pragma once

#include <heddle/solvers/operators/preconditioner.hpp>
#include <memory>

namespace heddle {

namespace detail {

template <Scalar T, class Ctx>
class FactorSolves;

}  // namespace detail

/// The ways of applying L⁻ᴴL⁻¹ for an incomplete Cholesky factor L.
enum class TriangularSolve {
  automatic,        ///< level_scheduled, because sweeps do not suit every matrix
  level_scheduled,  ///< exact substitution. Rows that do not depend on each other run in parallel.
  iterated,         ///< up to four Jacobi sweeps per triangle, as long as corrections shrink
};

/// Y = L⁻ᴴ L⁻¹ X with L Lᴴ ≈ A the incomplete Cholesky factorisation without fill, IC(0). It is
/// positive definite for every Hermitian A: where a pivot is not positive, A + σ diag(A) is
/// factored with the first of σ = 10⁻³, 2·10⁻³, 4·10⁻³, … for which all pivots are positive.
///
/// Iterated triangular solves are a positive definite preconditioner, too. They are nearly as good
/// as exact ones where off-diagonal entries are of one sign (Laplacians), and of little use where
/// pivots are small (ill-conditioned structures). Sums have a fixed order, so that results have the
/// same bits every time, and on the host for every number of threads. Sources: Meijerink & van der
/// Vorst, Math. Comp. 31 (1977) 148; Manteuffel, Math. Comp. 34 (1980) 473; Anderson & Saad, Int.
/// J. High Speed Computing 1 (1989) 73; Anzt, Chow, Dongarra, Euro-Par 2015, 650.
template <Scalar T, class Ctx>
class IncompleteCholeskyPreconditioner final : public Preconditioner<T, Ctx> {
 public:
  using Space = typename Ctx::Space;

  /// Factors A where it is, in the context's memory. On a GPU, matrices with very long chains of
  /// rows that wait for each other are factored on the host. A is not needed afterwards. Throws
  /// `InvalidArgument` if A is not square. Throws `OutOfMemory`.
  IncompleteCholeskyPreconditioner(Ctx& context, CsrView<T, Space> A,
                                   TriangularSolve solve = TriangularSolve::automatic);

  /// The same in single precision for an A in double precision, whose factor is rounded.
  template <std::same_as<double> U>
  IncompleteCholeskyPreconditioner(Ctx& context, CsrView<U, Space> A,
                                   TriangularSolve solve = TriangularSolve::automatic);
  ~IncompleteCholeskyPreconditioner() override;

  double shift() const noexcept { return shift_; }           ///< σ
  Index row_levels() const noexcept { return row_levels_; }  ///< of the rows of L, 0 if iterated

 protected:
  void apply_block(Ctx& context, ConstBlockView<T, Space> X, BlockView<T, Space> Y) override;

 private:
  template <Scalar U>
  void factor(Ctx& context, CsrView<U, Space> A, TriangularSolve solve);

  double shift_ = 0;
  Index row_levels_ = 0;
  std::unique_ptr<detail::FactorSolves<T, Ctx>> solves_;
};

}  // namespace heddle
