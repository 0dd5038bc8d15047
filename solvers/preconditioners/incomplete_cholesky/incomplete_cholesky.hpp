#pragma once

#include <heddle/solvers/operators/linear_operator.hpp>
#include <heddle/solvers/preconditioners/setup_cost.hpp>
#include <memory>

namespace heddle {

/// How L⁻ᵀL⁻¹ of an incomplete Cholesky factor is applied.
enum class TriangularSolve {
  automatic,        ///< level_scheduled: it serves every matrix, sweeps do not
  level_scheduled,  ///< exact substitution, rows that wait for none another side by side
  iterated,         ///< up to four Jacobi sweeps for each triangle, as long as they converge
};

/// Y = L⁻ᵀ L⁻¹ X with L Lᵀ ≈ A the incomplete Cholesky factorisation without fill, IC(0). Positive
/// definite for every symmetric A: where a pivot is lost, A + σ diag(A) is factored, with the first
/// of σ = 10⁻³, 2·10⁻³, 4·10⁻³, … that keeps all of them.
///
/// Iterated triangular solves are themselves a positive definite preconditioner: nearly as good
/// where off-diagonal entries are of one sign (Laplacians), of little use where pivots are small
/// (ill-conditioned structures). Sums are in a fixed order: the same bits every time, on the host
/// for every number of threads. Sources: Meijerink & van der Vorst, Math.
/// Comp. 31 (1977) 148; Manteuffel, Math. Comp. 34 (1980) 473; Anderson & Saad, Int. J. High Speed
/// Computing 1 (1989) 73; Anzt, Chow, Dongarra, Euro-Par 2015, 650.
template <Scalar T, class Ctx>
class IncompleteCholeskyPreconditioner final : public Preconditioner<T, Ctx> {
 public:
  using Space = typename Ctx::Space;

  /// Factors A on the host; A, in the context's memory, may go. Throws `InvalidArgument` if A is
  /// not square, `OutOfMemory`.
  IncompleteCholeskyPreconditioner(Ctx& context, CsrView<T, Space> A,
                                   TriangularSolve solve = TriangularSolve::automatic);
  ~IncompleteCholeskyPreconditioner() override;

  double shift() const noexcept { return shift_; }   ///< σ
  Index levels() const noexcept { return levels_; }  ///< of L; 0 if iterated
  const SetupCost& setup_cost() const noexcept { return cost_; }

 protected:
  void apply_block(Ctx& context, ConstBlockView<T, Space> X, BlockView<T, Space> Y) override;

 private:
  struct Solves;

  SetupCost cost_;
  double shift_ = 0;
  Index levels_ = 0;
  std::unique_ptr<Solves> solves_;
};

}  // namespace heddle
