#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/solvers/lanczos/workspace.hpp>

namespace heddle {

template <Scalar T, class Ctx>
BlockLanczosWorkspace<T, Ctx>::Storage::Storage(Ctx& ctx, const BlockLanczosShape& sizes,
                                                const RowRange& local)
    : context(&ctx),
      shape(sizes),
      rows(local),
      basis(ctx, local, sizes.max_basis, sizes.block, sizes.pencil),
      F(ctx, local, sizes.block),
      ritz(DenseSolverOf<Wide<T>>(ctx, sizes.max_basis), sizes.max_basis, sizes.block),
      pairs(F.map(), ritz, sizes),
      verifier(ctx, local.local, sizes.pairs(), sizes.pencil),
      coefficients(ctx, sizes.max_basis, sizes.nev),
      factors(ctx, std::max(sizes.block, sizes.nev), 1) {
  result.eigenvalues.reserve(static_cast<std::size_t>(sizes.pairs()));
  result.residuals.reserve(static_cast<std::size_t>(sizes.pairs()));
  result.error_bounds.reserve(static_cast<std::size_t>(sizes.pairs()));
  result.limited_by_rounding.reserve(static_cast<std::size_t>(sizes.pairs()));
  result.eigenvectors = MultiVector<T, Space>(ctx, local.local, sizes.pairs());
}

template <Scalar T, class Ctx>
void BlockLanczosWorkspace<T, Ctx>::Storage::reset() {
  result.eigenvalues.clear();
  result.residuals.clear();
  result.error_bounds.clear();
  result.limited_by_rounding.clear();
  result.status = SolveStatus::breakdown;
  result.reason.clear();
  result.iterations = result.operator_applications = result.inverse_applications = 0;
  result.completeness = {};
  result.orthogonality = 0;
  result.history.clear();
  result.orthogonalization = {};
}

template <Scalar T, class Ctx>
BlockLanczosWorkspace<T, Ctx>::BlockLanczosWorkspace() = default;

template <Scalar T, class Ctx>
BlockLanczosWorkspace<T, Ctx>::~BlockLanczosWorkspace() = default;

template <Scalar T, class Ctx>
BlockLanczosWorkspace<T, Ctx>::BlockLanczosWorkspace(BlockLanczosWorkspace&&) noexcept = default;

template <Scalar T, class Ctx>
BlockLanczosWorkspace<T, Ctx>& BlockLanczosWorkspace<T, Ctx>::operator=(
    BlockLanczosWorkspace&&) noexcept = default;

#define HEDDLE_INSTANTIATE(T, Ctx) template class BlockLanczosWorkspace<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
