#pragma once

#include <algorithm>
#include <cmath>
#include <heddle/linalg/orthogonal/orthogonalize.hpp>
#include <heddle/solvers/operators/linear_operator.hpp>
#include <initializer_list>
#include <limits>

namespace heddle::detail {

/// What making a block orthonormal to bases gave.
struct OrthonormalBlock {
  Index rank = 0;  ///< leading columns that are orthonormal; the others are zero
  bool indefinite = false;
  bool finite = true;
};

/// V ← a B-orthonormal basis of what remains of span(V) outside of `bases`, BV ← B V (V itself
/// where B is null). Projections and the orthonormalisation ladder take turns until a round changes
/// nothing by Daniel's test, three rounds at most, so that it ends with a projection onto what is
/// already nearly orthonormal. Adds the ladder's rungs to `counts`.
template <Scalar T, class Ctx>
OrthonormalBlock make_orthonormal(Ctx& context, Orthogonalizer<T, Ctx>& orthogonalizer,
                                  LinearOperator<T, Ctx>* B,
                                  std::initializer_list<Basis<T, typename Ctx::Space>> bases,
                                  BlockView<T, typename Ctx::Space> V,
                                  BlockView<T, typename Ctx::Space> BV, OrthoCounts& counts) {
  constexpr int kMaxRounds = 3;
  constexpr double kUnchanged = 0.70710678118654752;  // 1/√2, Daniel et al. 1976
  OrthonormalBlock result{V.cols()};
  for (int round = 0; round < kMaxRounds && result.rank > 0; ++round) {
    V = V.columns(0, result.rank);
    BV = BV.columns(0, result.rank);
    double remaining = 1;
    for (const auto& basis : bases) {
      if (basis.Q.cols() == 0) continue;
      remaining = std::min(remaining, orthogonalizer.project(context, basis, V, {}));
    }
    if (B != nullptr) B->apply(context, V, BV);
    const OrthoReport report = orthogonalizer.orthonormalize(context, V, BV);
    counts.add(report, result.rank);
    result = {report.rank, report.indefinite, report.finite};
    if (report.indefinite || !report.finite) return {0, report.indefinite, report.finite};
    if (remaining > kUnchanged && report.method == OrthoMethod::cholqr) break;
  }
  return result;
}

/// The same in the common case, queued without waiting: two rounds of block Gram–Schmidt with
/// Cholesky QR. `status` (`CholeskyQrStatus::rows`×2, a column a round) tells
/// `came_out_orthonormal` whether it was the common case; if not, V is lost.
template <Scalar T, class Ctx>
void queue_orthonormal(Ctx& context, Orthogonalizer<T, Ctx>& orthogonalizer,
                       LinearOperator<T, Ctx>* B,
                       std::initializer_list<Basis<T, typename Ctx::Space>> bases,
                       BlockView<T, typename Ctx::Space> V, BlockView<T, typename Ctx::Space> BV,
                       SmallView<double, typename Ctx::Space> status) {
  for (Index round = 0; round < 2; ++round) {
    if (B != nullptr) B->apply(context, V, BV);
    orthogonalizer.gram_schmidt(context, bases, V, BV, round == 1,
                                status.block(0, round, status.rows, 1));
  }
}

/// Whether `queue_orthonormal` left an orthonormal V of b columns: what the first round kept was
/// more than rounding, in the factor and in the bases (whose QᵀQ − I Pythagoras does not know of),
/// and the second, of what was nearly orthonormal, changed little.
template <Scalar T>
bool came_out_orthonormal(ConstSmallView<double, HostSpace> status, Index b) {
  constexpr double kGramEpsilon = std::numeric_limits<double>::epsilon();
  constexpr double kEpsilon = static_cast<double>(std::numeric_limits<T>::epsilon());
  const double m = static_cast<double>(b);
  const double remaining = status(CholeskyQrStatus::remaining, 0);
  const double kept = status(CholeskyQrStatus::diagonal_ratio, 0) * std::sqrt(remaining);
  return kept > std::max(10 * std::sqrt(m * kGramEpsilon), 10 * m * kEpsilon) &&
         remaining > 10 * m * kEpsilon &&
         status(CholeskyQrStatus::growth, 1) <= kOrthonormalGrowth &&
         status(CholeskyQrStatus::remaining, 1) >= 0.5;  // Daniel's test
}

}  // namespace heddle::detail
