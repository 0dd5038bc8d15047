#pragma once

#include <heddle/solvers/iteration/orthonormal_block.hpp>

namespace heddle::detail {

/// Y ← a B-orthonormal basis of the span of the constraints X, n×c, as `make_orthonormal` computes
/// it, and BY ← B Y. Where B is null, BY is Y.
///
/// Columns of X that are nearly dependent enter Y with large coefficients, whose rounding turns Y
/// away from the span of X: by 1e-7 for columns that are 1e-9 apart. Where coefficients are large,
/// Y ← Y + (X − Y R) R⁺ with R = YᵀBX therefore follows, with residuals summed on the host in twice
/// the digits of double. The span is then that of X to rounding, as long as the columns are told
/// apart.
template <Scalar T, class Ctx>
OrthonormalBlock orthonormal_constraints(Ctx& context, Orthogonalizer<T, Ctx>& orthogonalizer,
                                         LinearOperator<T, Ctx>* B,
                                         ConstBlockView<T, typename Ctx::Space> X,
                                         BlockView<T, typename Ctx::Space> Y,
                                         BlockView<T, typename Ctx::Space> BY, OrthoCounts& counts);

}  // namespace heddle::detail
