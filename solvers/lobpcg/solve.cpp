#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/solvers/iteration/solve_identity.hpp>
#include <heddle/solvers/lobpcg/solve.hpp>
#include <string>
#include <vector>

// The loop. The steps are in steps.cpp, the end in ending.cpp.
namespace heddle::detail {
namespace {

constexpr Index kMostRefuted = 4;  // the solve ends with this many refuted claims of convergence

template <Scalar T, class Ctx>
std::vector<std::string> identity(const EigenProblem<T, Ctx>& problem, const LobpcgOptions& options,
                                  Index block) {
  std::vector<std::string> facts = eigen_identity("lobpcg", problem, options, block);
  if (facts.empty()) return facts;
  facts.push_back(fact("refresh_interval", options.refresh_interval));
  facts.push_back(fact("start", static_cast<int>(options.start)));
  return facts;
}

}  // namespace

template <Scalar T, class Ctx>
LobpcgSolve<T, Ctx>::LobpcgSolve(Ctx& context, const EigenProblem<T, Ctx>& problem,
                                 const LobpcgOptions& options, const Monitor& monitor,
                                 Storage& storage)
    : context_(context),
      s_(storage),
      constrained_A_(*problem.A, storage.blocks.basis_of_constraints(problem.constraints.cols()),
                     storage.multipliers),
      problem_(problem),
      options_(options),
      blocks_(storage.blocks),
      ritz_(storage.ritz),
      pairs_(storage.pairs),
      result_(storage.result),
      engine_(context, options, identity(problem, options, storage.shape.block), monitor,
              result_.history, kMostRefuted),
      verification_(context, problem_, options, storage),
      missed_pairs_(context, problem_, options, storage),
      preconditioner_(schedule_of(problem.preconditioner, own_preconditioner_)),
      step_residuals_(storage),
      directions_(context, problem_, storage, preconditioner_, options.seed) {
  if (problem.constraints.cols() > 0) problem_.A = &constrained_A_;
  applications_before_ = problem_.A->columns_applied();
  pairs_.reset(options, problem.null_vectors.cols());
  if (preconditioner_ != nullptr) preconditioner_->begin();
}

template <Scalar T, class Ctx>
void LobpcgSolve<T, Ctx>::run() {
  // start: X n×b with XᵀBX = I and XᵀAX = Θ
  for (Index k = start(); !engine_.ended(); ++k) {
    if (missed_pairs_.due())
      search_missed();            // P ← a Krylov space outside X, Rayleigh–Ritz over [X P]
    if (refresh_due_) refresh();  // X, P orthonormal anew, A X, A P by fresh products
    engine_.capture(*this);       // the state for a checkpoint
    residuals();                  // R = A X − B X Θ                                  n×b
    // If no decision depends on R, the host reads its norms together with the results of the next
    // step.
    if (pairs_.decision_due(ritz_.values(), k)) {
      if (!finish_iteration(k)) continue;
      lock_converged();  // Y ← [Y X₁]
    }
    search_directions();  // W = T⁻¹R_J ⟂_B [Y X P], WᵀBW = I; A W, SᵀAW      n×w
    if (!finish_iteration(k)) continue;
    rayleigh_ritz(pairs_.errors());  // SᵀAS Z = Z Θ; X ← S Z₁, P ← S C_P; S = [X P W]  n×m
  }
  finish();
}

template <Scalar T, class Ctx>
bool LobpcgSolve<T, Ctx>::refine(Index steps) {
  refining_ = true;
  blocks_.reset();
  start_X();
  if (!engine_.ended()) set_norms();
  for (Index k = 0; k < steps && !engine_.ended(); ++k) {
    residuals();
    if (k == 0) read_residuals();  // because the start counts no column as active
    search_directions();
    if (!engine_.ended()) rayleigh_ritz(pairs_.errors());
  }
  return !engine_.ended();
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class LobpcgSolve<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
