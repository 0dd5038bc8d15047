#pragma once

#include <heddle/solvers/interval/band_pass_filter.hpp>
#include <heddle/solvers/iteration/eigen_verifier.hpp>
#include <heddle/solvers/krylov/krylov_basis.hpp>
#include <heddle/solvers/krylov/lanczos_ritz.hpp>
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

/// The memory of block Lanczos on F with a basis of up to m columns.
template <Scalar T, class Ctx>
struct FilteredBasis {
  using Space = typename Ctx::Space;

  /// Throws `OutOfMemory`. `stop`: see `BandPassFilter`.
  FilteredBasis(Ctx& context, LinearOperator<T, Ctx>& A, Index m, Index b, Index pairs,
                std::function<bool()> stop);

  Index room() const noexcept { return size - V.locked(); }  ///< columns beside the locked ones

  Index size;   // m
  Index block;  // b
  BandPassFilter<T, Ctx> F;
  KrylovBasis<T, Ctx> V;
  LanczosRitz ritz;
  SmallMatrix<double, Space> coefficients;  // of the leading Ritz vectors
};

}  // namespace heddle::detail
