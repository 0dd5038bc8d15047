#pragma once

#include <algorithm>
#include <cmath>
#include <heddle/solvers/interval/interval_eigenpairs.hpp>
#include <heddle/solvers/iteration/eigen_verifier.hpp>
#include <vector>

namespace heddle::detail {

/// Ritz pairs of A, and the memory to compute them.
template <Scalar T, class Ctx>
struct IntervalPairs {
  using Space = typename Ctx::Space;

  /// For up to `pairs` pairs with `n` rows in the memory of this process. Products with A have b
  /// columns.
  IntervalPairs(Ctx& context, Index n, Index pairs, Index b);

  double value(Index j) const { return verifier.values()[static_cast<std::size_t>(j)]; }
  double residual(Index j) const { return verifier.residuals()[static_cast<std::size_t>(j)]; }
  double error(Index j) const { return verifier.errors()[static_cast<std::size_t>(j)]; }
  /// The distance of a value from the interval, negative within it.
  double beyond(Index j, const IntervalOptions& ends) const {
    return std::max(ends.lower - value(j), value(j) - ends.upper);
  }

  /// Whether the bound of the error of a value leaves open on which side of an end it lies.
  bool straddles(Index j, const IntervalOptions& ends) const {
    return std::abs(value(j) - ends.lower) <= error(j) ||
           std::abs(value(j) - ends.upper) <= error(j);
  }

  bool passes(Index j) const { return verifier.passed()[static_cast<std::size_t>(j)]; }

  MultiVector<T, Space> X;        // n×pairs
  MultiVector<T, Space> product;  // A times b columns of X
  EigenVerifier<T, Ctx> verifier;
  Index count = 0;            // of the columns of X that hold Ritz vectors
  std::vector<Index> inside;  // the Ritz pairs in the interval, ascending
};

}  // namespace heddle::detail
