#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/solvers/factor/triangular_solves.hpp>
#include <heddle/solvers/preconditioners/incomplete_cholesky/incomplete_cholesky.hpp>
#include <heddle/solvers/preconditioners/incomplete_cholesky/incomplete_factor.hpp>
#include <heddle/solvers/preconditioners/incomplete_cholesky/iterated_solves.hpp>
#include <heddle/solvers/preconditioners/rounded.hpp>
#include <utility>
#include <variant>

namespace heddle {
namespace detail {
/// Applies L⁻ᴴL⁻¹ in one of the two ways.
template <Scalar T, class Ctx>
class FactorSolves {
 public:
  using Space = typename Ctx::Space;

  FactorSolves(Ctx& context, CsrView<T, Space> L, TriangularSolve solve)
      : way_(solve == TriangularSolve::iterated ? Way(std::in_place_type<Iterated>, context, L)
                                                : Way(std::in_place_type<Exact>, context, L)) {}

  void solve(Ctx& context, ConstBlockView<T, Space> X, BlockView<T, Space> Y) {
    std::visit([&](auto& way) { way.solve(context, X, Y); }, way_);
  }

  /// The levels of the rows of L, 0 if iterated.
  Index levels() const {
    const Exact* exact = std::get_if<Exact>(&way_);
    return exact != nullptr ? exact->levels() : 0;
  }

 private:
  using Exact = TriangularSolves<T, Ctx>;
  using Iterated = IteratedSolves<T, Ctx>;
  using Way = std::variant<Exact, Iterated>;

  Way way_;
};

}  // namespace detail

template <Scalar T, class Ctx>
IncompleteCholeskyPreconditioner<T, Ctx>::IncompleteCholeskyPreconditioner(Ctx& context,
                                                                           CsrView<T, Space> A,
                                                                           TriangularSolve solve)
    : Preconditioner<T, Ctx>(A.rows, A.cols) {
  factor(context, A, solve);
}

template <Scalar T, class Ctx>
template <std::same_as<double> U>
IncompleteCholeskyPreconditioner<T, Ctx>::IncompleteCholeskyPreconditioner(Ctx& context,
                                                                           CsrView<U, Space> A,
                                                                           TriangularSolve solve)
    : Preconditioner<T, Ctx>(A.rows, A.cols) {
  factor(context, A, solve);
}

/// Factors A, which is in the precision U, and rounds the factor to T.
template <Scalar T, class Ctx>
template <Scalar U>
void IncompleteCholeskyPreconditioner<T, Ctx>::factor(Ctx& context, CsrView<U, Space> A,
                                                      TriangularSolve solve) {
  SetupCost cost(context);
  detail::IncompleteFactor<U, Space> made = detail::incomplete_cholesky(context, A);
  shift_ = made.shift;
  {
    const CsrMatrix<T, Space> L = detail::rounded<T>(context, std::move(made.L));
    solves_ = std::make_unique<detail::FactorSolves<T, Ctx>>(context, L.view(), solve);
  }
  row_levels_ = solves_->levels();
  cost.stop(context);
  this->note_cost(cost);
}

template <Scalar T, class Ctx>
IncompleteCholeskyPreconditioner<T, Ctx>::~IncompleteCholeskyPreconditioner() = default;

template <Scalar T, class Ctx>
void IncompleteCholeskyPreconditioner<T, Ctx>::apply_block(Ctx& context, ConstBlockView<T, Space> X,
                                                           BlockView<T, Space> Y) {
  const PhaseScope phase(context, Phase::preconditioner);
  solves_->solve(context, X, Y);
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class IncompleteCholeskyPreconditioner<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

#define HEDDLE_INSTANTIATE(Ctx)                                                            \
  template IncompleteCholeskyPreconditioner<float, Ctx>::IncompleteCholeskyPreconditioner( \
      Ctx&, CsrView<double, Ctx::Space>, TriangularSolve);
HEDDLE_FOR_EACH_ROUNDING(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
