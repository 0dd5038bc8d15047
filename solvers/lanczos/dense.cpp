#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/solvers/lanczos/solve.hpp>

/// Problems so small that they are solved as dense ones.
namespace heddle::detail {

/// Solves the standard form of a small pencil without B⁻¹ as a dense problem, and replaces its
/// eigenvectors by those of the pencil. False if this has ended the solve.
template <Scalar T, class Ctx>
bool BlockLanczosSolve<T, Ctx>::solve_dense_standard_form() {
  const Block V = s_.result.eigenvectors.view();
  const Block scratch = basis_.scratch();
  s_.verifier.rayleigh_ritz(context_, problem_, options_.which, V, scratch, F_.scratch());
  set_norms();  // by the projected norms of the last step, where the operators have none
  choice_.use_C();
  choice_.invert({0, pairs_.norms().C()});
  if (engine_.ended()) return false;
  set_identity(context_, V, s_.rows.first);
  EigenProblem<T, Ctx> standard;
  standard.A = &F_;
  const DenseFailure failure =
      s_.verifier.rayleigh_ritz(context_, standard, Which::largest, V, scratch, {});
  if (failure != DenseFailure::none) {
    engine_.end(SolveStatus::breakdown, "products with A or B are not finite");
    return false;
  }
  const std::span<const double> theta = s_.verifier.values();
  if (theta[static_cast<std::size_t>(options_.nev - 1)] <= kInfiniteValue<T> * theta.front()) {
    engine_.end(SolveStatus::breakdown, kTooFewFiniteValues);
    return false;
  }
  F_.to_eigenvectors(context_, V.columns(0, options_.nev));
  return true;
}

template <Scalar T, class Ctx>
void BlockLanczosSolve<T, Ctx>::solve_dense() {
  set_identity(context_, result_.eigenvectors.view(), s_.rows.first);
  const bool transforms = has_standard_form(problem_);
  if (transforms && !solve_dense_standard_form()) return finish();
  const Index count = transforms ? options_.nev : s_.shape.n;
  if (verification_.rayleigh_ritz(count)) {
    set_norms();
    verification_.measure(count, pairs_.convergence());
  }
  engine_.append_record(*this);
  if (verification_.verdict().confirmed()) {
    engine_.end(SolveStatus::converged, "solved as a dense problem");
  } else if (result_.eigenvalues.empty()) {
    const bool indefinite = verification_.failure() == DenseFailure::indefinite;
    engine_.end(indefinite ? SolveStatus::indefinite : SolveStatus::breakdown,
                "the dense problem has no solution: B is not positive definite, or A not finite");
  } else {
    engine_.end(SolveStatus::stagnated, "the dense solution is as good as the precision allows");
  }
  finish();
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class BlockLanczosSolve<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
