#pragma once

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

  MultiVector<T, Space> X;        // n×pairs
  MultiVector<T, Space> product;  // A times b columns of X
  EigenVerifier<T, Ctx> verifier;
  Index count = 0;            // of the columns of X that hold Ritz vectors
  std::vector<Index> inside;  // the Ritz pairs in the interval, ascending
};

}  // namespace heddle::detail
