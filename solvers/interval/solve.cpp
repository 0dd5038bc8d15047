#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/solvers/interval/solve.hpp>
#include <utility>

/// The loop. The steps are in steps.cpp, the end in ending.cpp.
namespace heddle::detail {
namespace {

/// Claims of convergence are based on fresh products and cannot be refuted.
constexpr Index kMostRefuted = 1;

}  // namespace

template <Scalar T, class Ctx>
IntervalSolve<T, Ctx>::IntervalSolve(Ctx& context, const EigenProblem<T, Ctx>& problem,
                                     const IntervalOptions& options, const Monitor& monitor)
    : context_(context),
      problem_(problem),
      options_(options),
      rows_(problem.A->row_range()),
      applications_before_(problem.A->columns_applied()),
      engine_(context, options, {}, monitor, result_.history, kMostRefuted) {}

template <Scalar T, class Ctx>
EigenResult<T, typename Ctx::Space> IntervalSolve<T, Ctx>::run() {
  plan();  // X random                                                      n×m
  while (!engine_.ended()) {
    filter();  // ρ = xᵀF x, X ← F X                                        n×m
    ritz();    // XᵀX = I, XᵀA X = Λ, ‖A x − λ x‖                           m×m
    if (engine_.ended()) break;
    engine_.finish_iteration(*this, "all pairs of the interval converged and passed verification");
    if (!engine_.ended() && trusted()) adapt();  // X wider, or F sharper?
  }
  finish();
  return std::move(result_);
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class IntervalSolve<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
