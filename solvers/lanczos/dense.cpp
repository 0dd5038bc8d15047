#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/solvers/lanczos/dense.hpp>
#include <heddle/solvers/lanczos/solve.hpp>
#include <utility>

namespace heddle::detail {

template <Scalar T, class Ctx>
void DenseStandardForm<T, Ctx>::solve() {
  const PencilNorms norms = this->norms();
  s_.pairs.set_norms(norms.A, norms.B);
  choice_.invert({0, norms.C()});
  if (engine_.ended() || !decompose()) return;
  const bool lowered = choice_.separate(s_.verifier.values().front(), last_theta());
  if (lowered && (engine_.ended() || !decompose())) return;
  s_.F.to_eigenvectors(context_, s_.result.eigenvectors.columns(0, options_.nev));
  const std::span<const double> theta = s_.verifier.values();
  std::vector<double> values, errors;
  for (Index j = 0; j < options_.nev; ++j) {
    const double each = theta[static_cast<std::size_t>(j)];
    values.push_back(s_.F.map().lambda_at(each));
    errors.push_back(kInfiniteValue<T> * theta.front() / (each * each));  // of λ = σ + 1/θ
  }
  verification_.set_dense_values(std::move(values), std::move(errors));
}

/// ‖A‖₁ and ‖B‖₁, by products with the whole space where the operators do not know them.
template <Scalar T, class Ctx>
PencilNorms DenseStandardForm<T, Ctx>::norms() {
  const std::optional<double> A = problem_.A->one_norm();
  const std::optional<double> B = problem_.B->one_norm();
  if (A && B) return {*A, *B, true};
  const auto V = s_.result.eigenvectors.view();
  set_identity(context_, V, s_.rows.first);
  s_.verifier.rayleigh_ritz(context_, problem_, options_.which, V, s_.basis.scratch(),
                            s_.F.scratch());
  return {A.value_or(s_.verifier.projected_norm_A()), B.value_or(s_.verifier.projected_norm_B()),
          true};
}

/// V ← the eigenvectors of F, for the wanted eigenvalues first. False if this has ended the solve.
template <Scalar T, class Ctx>
bool DenseStandardForm<T, Ctx>::decompose() {
  EigenProblem<T, Ctx> standard;
  standard.A = &s_.F;
  const auto V = s_.result.eigenvectors.view();
  set_identity(context_, V, s_.rows.first);
  if (s_.verifier.rayleigh_ritz(context_, standard, Which::largest, V, s_.basis.scratch(), {}) !=
      DenseFailure::none) {
    engine_.end(SolveStatus::breakdown, "products with A or B are not finite");
  } else if (last_theta() <= kInfiniteValue<T> * s_.verifier.values().front()) {
    engine_.end(SolveStatus::breakdown, kTooFewFiniteValues);
  }
  return !engine_.ended();
}

/// The θ of the last wanted pair.
template <Scalar T, class Ctx>
double DenseStandardForm<T, Ctx>::last_theta() const {
  return s_.verifier.values()[static_cast<std::size_t>(options_.nev - 1)];
}

template <Scalar T, class Ctx>
void BlockLanczosSolve<T, Ctx>::solve_dense() {
  set_identity(context_, result_.eigenvectors.view(), s_.rows.first);
  const bool transforms = has_standard_form(problem_);
  if (transforms) {
    choice_.use_C();
    DenseStandardForm<T, Ctx>(context_, problem_, options_, s_, choice_, verification_, engine_)
        .solve();
    if (engine_.ended()) return finish();
  }
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

#define HEDDLE_INSTANTIATE(T, Ctx)          \
  template class DenseStandardForm<T, Ctx>; \
  template class BlockLanczosSolve<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
