#pragma once

#include <algorithm>
#include <cmath>
#include <heddle/linalg/orthogonal/orthogonalize.hpp>
#include <heddle/solvers/operators/linear_operator.hpp>
#include <initializer_list>
#include <limits>

namespace heddle::detail {

/// The outcome of `make_orthonormal`.
struct OrthonormalBlock {
  Index rank = 0;  ///< number of leading columns that are orthonormal. The others are zero
  bool indefinite = false;
  bool finite = true;
};

/// V ← a B-orthonormal basis of span((I − QQᵀB) V) for the columns Q of all `bases`. BV ← B V.
/// Where B is null, BV is V.
///
/// A round consists of a projection and the orthonormalisation ladder. There are at most three
/// rounds. The last one is the first in which the projection changes V little (Daniel's test) and V
/// is nearly orthonormal before the ladder. Columns that the third projection still changes lie in
/// the span of the bases, and are dropped. Adds the rungs of the ladder to `counts`.
template <Scalar T, class Ctx>
OrthonormalBlock make_orthonormal(Ctx& context, Orthogonalizer<T, Ctx>& orthogonalizer,
                                  LinearOperator<T, Ctx>* B,
                                  std::initializer_list<Basis<T, typename Ctx::Space>> bases,
                                  BlockView<T, typename Ctx::Space> V,
                                  BlockView<T, typename Ctx::Space> BV, OrthoCounts& counts) {
  constexpr int kMaxRounds = 3;
  OrthonormalBlock result{V.cols()};
  for (int round = 0; round < kMaxRounds && result.rank > 0; ++round) {
    V = V.columns(0, result.rank);
    BV = BV.columns(0, result.rank);
    double remaining = 1;
    for (const auto& basis : bases) {
      if (basis.Q.cols() == 0) continue;
      const bool drop = round + 1 == kMaxRounds;
      remaining = std::min(remaining, orthogonalizer.project(context, basis, V, {}, drop));
    }
    if (B != nullptr) B->apply(context, V, BV);
    const OrthoReport report = orthogonalizer.orthonormalize(context, V, BV);
    counts.add(report, result.rank);
    result = {report.rank, report.indefinite, report.finite};
    if (report.indefinite || !report.finite) return {0, report.indefinite, report.finite};
    if (remaining > orthogonalizer.kUnchanged && report.method == OrthoMethod::cholqr) break;
  }
  return result;
}

/// Whether a round of block Gram–Schmidt with Cholesky QR kept more of a block of b columns than
/// rounding errors, both in the Cholesky factor and relative to the projections. `status` is the
/// round's column of `CholeskyQrStatus::rows` numbers. (The test assumes that the bases are exactly
/// orthonormal.)
template <Scalar T>
bool kept_digits(ConstSmallView<double, HostSpace> status, Index b) {
  constexpr double kGramEpsilon = std::numeric_limits<double>::epsilon();
  constexpr double kEpsilon = static_cast<double>(std::numeric_limits<RealOf<T>>::epsilon());
  const double m = static_cast<double>(b);
  const double remaining = status(CholeskyQrStatus::remaining, 0);
  const double kept = status(CholeskyQrStatus::diagonal_ratio, 0) * std::sqrt(remaining);
  return kept > std::max(10 * std::sqrt(m * kGramEpsilon), 10 * m * kEpsilon) &&
         remaining > 10 * m * kEpsilon;
}

/// Whether two rounds of block Gram–Schmidt with Cholesky QR left an orthonormal block of b
/// columns. `status` has one column per round. The first round must have kept digits. The block
/// must have been nearly orthonormal before the second round, and that must have changed it little.
template <Scalar T>
bool came_out_orthonormal(ConstSmallView<double, HostSpace> status, Index b) {
  return kept_digits<T>(status.block(0, 0, status.rows, 1), b) &&
         status(CholeskyQrStatus::growth, 1) <= kOrthonormalGrowth &&
         status(CholeskyQrStatus::remaining, 1) >= 0.5;  // Daniel's test
}

}  // namespace heddle::detail
