#pragma once

#include <heddle/solvers/iteration/eigen_verifier.hpp>
#include <heddle/solvers/krylov/krylov_basis.hpp>
#include <heddle/solvers/krylov/lanczos_ritz.hpp>
#include <heddle/solvers/lanczos/block_lanczos.hpp>
#include <heddle/solvers/lanczos/lanczos_operator.hpp>
#include <heddle/solvers/lanczos/pair_ledger.hpp>

namespace heddle {

/// The memory behind `BlockLanczosWorkspace`, for one shape on one context.
template <Scalar T, class Ctx>
struct BlockLanczosWorkspace<T, Ctx>::Storage {
  /// `local`: the rows of the n-vectors that this process holds.
  Storage(Ctx& ctx, const BlockLanczosShape& sizes, const RowRange& local);

  /// Removes the data of the last solve. Keeps all memory.
  void reset();

  Ctx* context;
  BlockLanczosShape shape;
  RowRange rows;
  detail::KrylovBasis<T, Ctx> basis;
  detail::LanczosOperator<T, Ctx> F;
  detail::LanczosRitzOf<Wide<T>> ritz;
  detail::PairLedger pairs;
  detail::EigenVerifier<T, Ctx> verifier;
  SmallMatrix<Wide<T>, Space> coefficients;  // of the wanted Ritz vectors
  SmallMatrix<double, Space> factors;        // of columns
  EigenResult<T, Space> result;
};

}  // namespace heddle
