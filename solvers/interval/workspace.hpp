#pragma once

#include <heddle/linalg/orthogonal/orthogonalize.hpp>
#include <heddle/solvers/iteration/eigen_verifier.hpp>
#include <heddle/solvers/spectrum/chebyshev_series.hpp>
#include <vector>

namespace heddle::detail {

/// The memory of filtered subspace iteration with m columns, which are multiplied in blocks of b.
template <Scalar T, class Ctx>
struct IntervalWorkspace {
  using Space = typename Ctx::Space;

  /// For X of m columns with n rows in the memory of this process.
  IntervalWorkspace(Ctx& context, Index n, Index m, Index b);

  MultiVector<T, Space> X;        // n×m
  MultiVector<T, Space> product;  // F or A times b columns of X
  ChebyshevRecurrence<T, Ctx> recurrence;
  Orthogonalizer<T, Ctx> orthogonalizer;
  EigenVerifier<T, Ctx> verifier;
  SmallMatrix<double, Space> dots;  // xᵀFx, m×1
  std::vector<double> weights;      // the same on the host
  std::vector<Index> inside;        // the Ritz pairs in the interval, least residuals first
};

}  // namespace heddle::detail
