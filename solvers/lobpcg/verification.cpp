#include <algorithm>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/solvers/lobpcg/verification.hpp>

namespace heddle::detail {

template <Scalar T, class Ctx>
bool LobpcgVerification<T, Ctx>::verify() {
  const Index count = std::min(options_.nev, s_.pairs.locked() + s_.blocks.x());
  const Block V = s_.result.eigenvectors.columns(0, count);
  current_ = true;
  s_.result.eigenvalues.clear();
  s_.result.residuals.clear();
  if (rotate_pairs(V)) {
    s_.verifier.measure(context_, problem_, V, s_.blocks.AS_scratch(), s_.blocks.BS_scratch());
    if (s_.verifier.report(s_.pairs.convergence(), s_.result)) return true;
  }
  s_.pairs.tighten();  // because a Rayleigh–Ritz step in a cluster mixes residuals that just passed
  return false;
}

/// V ← the Ritz vectors of the best locked pairs and the wanted columns of X together.
template <Scalar T, class Ctx>
bool LobpcgVerification<T, Ctx>::rotate_pairs(Block V) {
  const Index from_X = std::min(V.cols(), s_.pairs.wanted_in_X());
  const Index from_Y = V.cols() - from_X;
  const Index constraints = s_.blocks.locked() - s_.pairs.locked();
  Index filled = 0;
  for (Index i = 0; i < s_.pairs.locked() && filled < from_Y; ++i) {
    if (!s_.pairs.is_best_locked(i, from_Y)) continue;
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
