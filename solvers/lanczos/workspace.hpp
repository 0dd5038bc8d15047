#pragma once

#include <heddle/solvers/iteration/eigen_verifier.hpp>
#include <heddle/solvers/lanczos/block_lanczos.hpp>
#include <heddle/solvers/lanczos/krylov_basis.hpp>
#include <heddle/solvers/lanczos/lanczos_operator.hpp>
#include <heddle/solvers/lanczos/lanczos_ritz.hpp>
#include <vector>

namespace heddle {

/// The memory behind `BlockLanczosWorkspace`, for one shape on one context.
template <Scalar T, class Ctx>
struct BlockLanczosWorkspace<T, Ctx>::Storage {
  Storage(Ctx& ctx, const BlockLanczosShape& sizes);

  /// Empties what a solve fills, keeping all memory.
  void reset();

  Ctx* context;
  BlockLanczosShape shape;
  KrylovBasis<T, Ctx> basis;
  LanczosOperator<T, Ctx> F;
  LanczosRitz ritz;
  EigenVerifier<T, Ctx> verifier;
  SmallMatrix<double, Space> coefficients;  // of the wanted Ritz vectors
  std::vector<double> locked_values;        // eigenvalues of the locked pairs, best first
  std::vector<double> locked_residuals;     // theirs, as estimated
  std::vector<double> values;               // of the wanted pairs, those of the last cycle
  std::vector<double> residuals;            // theirs, as estimated
  std::vector<double> scaled_residuals;     // what a monitor sees
  EigenResult<T, Space> result;
};

}  // namespace heddle
