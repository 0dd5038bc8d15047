#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/solvers/cg/workspace.hpp>

namespace heddle {

template <Scalar T, class Ctx>
BlockCgWorkspace<T, Ctx>::Storage::Storage(Ctx& ctx, Index n, Index b)
    : context(&ctx),
      columns(ctx, n, b),
      orthogonalizer(ctx, b, b),
      F(ctx, b, b),
      W(ctx, b, b),
      product(ctx, b, b),
      half(ctx, b, b),
      coefficient(ctx, b, b),
      host(1),
      eigenvectors(*host, b, b),
      eigenvalues(*host, b, 1),
      rayleigh(ctx, 2 * b),
      factors(*host, b, 1),
      unused_norms(ctx, b, 1) {}

template <Scalar T, class Ctx>
BlockCgWorkspace<T, Ctx>::BlockCgWorkspace() = default;

template <Scalar T, class Ctx>
BlockCgWorkspace<T, Ctx>::~BlockCgWorkspace() = default;

template <Scalar T, class Ctx>
BlockCgWorkspace<T, Ctx>::BlockCgWorkspace(BlockCgWorkspace&&) noexcept = default;

template <Scalar T, class Ctx>
BlockCgWorkspace<T, Ctx>& BlockCgWorkspace<T, Ctx>::operator=(BlockCgWorkspace&&) noexcept =
    default;

#define HEDDLE_INSTANTIATE(T, Ctx) template class BlockCgWorkspace<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
