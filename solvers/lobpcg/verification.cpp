#include <algorithm>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/solvers/lobpcg/verification.hpp>

namespace heddle::detail {

template <Scalar T, class Ctx>
Verdict LobpcgVerification<T, Ctx>::verify(const EigenConvergence& convergence) {
  const Index count = std::min(options_.nev, s_.pairs.locked() + s_.blocks.x());
  const Block V = s_.result.eigenvectors.columns(0, count);
  current_ = true;
  verdict_ = {};
  s_.result.eigenvalues.clear();
  s_.result.residuals.clear();
  s_.result.error_bounds.clear();
  s_.result.limited_by_rounding.clear();
  if (rotate_pairs(V)) {
    const Block AV = s_.blocks.AS_scratch();
    const Block BV = s_.blocks.BS_scratch();
    s_.verifier.measure(context_, problem_, V, AV, BV);
    s_.verifier.reduce_residuals(context_, problem_, convergence, V, AV, BV);
    s_.verifier.measure_accurately(context_, problem_, convergence, V, AV, BV);
    const Index from_X = std::min(count, s_.pairs.wanted_in_X());
    Neighbours others = neighbours(count - from_X, from_X);
    if (from_X < count) others.couplings = couplings(V, from_X);
    verdict_ = s_.verifier.judge(convergence, others);
    s_.verifier.report(convergence, s_.result);
  }
  return verdict_;
}

template <Scalar T, class Ctx>
StopControl::Stop LobpcgVerification<T, Ctx>::stop_at_rounding(std::string_view reason) {
  const EigenConvergence& convergence = s_.pairs.convergence();
  if (!s_.pairs.more_to_come() && convergence.bounds_values() &&
      verify(convergence.at_rounding()).confirmed()) {
    return {SolveStatus::converged,
            "all pairs converged as far as rounding allows, and passed verification"};
  }
  return {SolveStatus::stagnated, reason};
}

/// The Ritz values other than those of the best `from_Y` locked pairs and the first `from_X` of X.
template <Scalar T, class Ctx>
Neighbours LobpcgVerification<T, Ctx>::neighbours(Index from_Y, Index from_X) {
  s_.pairs.list_others(s_.ritz.values(), from_Y, from_X, s_.other_values, s_.other_residuals);
  const bool all = s_.blocks.locked() + s_.blocks.x() == s_.shape.n();
  const double inner = all ? ErrorBounds::kNoneBeyond : ErrorBounds::kUnknown;
  const bool smallest = options_.which == Which::smallest;
  return {.values = s_.other_values,
          .residuals = s_.other_residuals,
          .joint = true,
          .below = smallest ? ErrorBounds::kNoneBeyond : inner,
          .above = smallest ? inner : ErrorBounds::kNoneBeyond,
          .unseen = s_.pairs.locked_pairs().unseen(s_.ritz.theta(), s_.pairs.errors(),
                                                   s_.pairs.convergence()),
          .end = options_.which,
          .dense = all};
}

/// The parts of the residuals of these neighbours along V. Locked vectors and X were never in one
/// Rayleigh–Ritz step.
template <Scalar T, class Ctx>
std::span<const double> LobpcgVerification<T, Ctx>::couplings(Block V, Index from_X) {
  s_.other_couplings.clear();
  const auto measure = [&](Block U) {
    const auto parts = s_.verifier.couplings(context_, problem_, V, U, s_.blocks.AS_scratch(),
                                             s_.blocks.BS_scratch());
    s_.other_couplings.insert(s_.other_couplings.end(), parts.begin(), parts.end());
  };
  const Index constraints = s_.blocks.locked() - s_.pairs.locked();
  for (Index i = 0; i < s_.pairs.locked(); ++i) {
    if (s_.pairs.locked_pairs().is_best(i, V.cols() - from_X)) continue;
    measure(s_.blocks.Y(constraints + i, 1));
  }
  measure(s_.blocks.S().X.columns(from_X, s_.blocks.x() - from_X));
  return s_.other_couplings;
}

/// V ← the Ritz vectors of the best locked pairs and the wanted columns of X together.
template <Scalar T, class Ctx>
bool LobpcgVerification<T, Ctx>::rotate_pairs(Block V) {
  const Index from_X = std::min(V.cols(), s_.pairs.wanted_in_X());
  const Index from_Y = V.cols() - from_X;
  const Index constraints = s_.blocks.locked() - s_.pairs.locked();
  Index filled = 0;
  for (Index i = 0; i < s_.pairs.locked() && filled < from_Y; ++i) {
    if (!s_.pairs.locked_pairs().is_best(i, from_Y)) continue;
    copy(context_, s_.blocks.Y(constraints + i, 1), V.columns(filled++, 1));
  }
  copy(context_, s_.blocks.S().X.columns(0, from_X), V.columns(filled, from_X));
  return s_.verifier.rayleigh_ritz(context_, problem_, options_.which, V, s_.blocks.AS_scratch(),
                                   s_.blocks.BS_scratch()) == DenseFailure::none;
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class LobpcgVerification<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
