#pragma once

#include <heddle/solvers/operators/linear_operator.hpp>

namespace heddle::detail {

/// Sets `mask` (n×1) to 1 in the rows of A that large positive entries couple, and in the rows that
/// these are coupled to. Their soft motions change sign, however soft the rows are: A x is small
/// for opposite entries. A preconditioner that suits equal entries, as multigrid does, hides them.
///
/// `mask` stays as it is where more than the share `most` of all rows is coupled in this way, as in
/// most elastic bodies, and if A is not stored in host memory with all rows on this process.
/// `scratch` (n×1) is overwritten.
template <Scalar T, class Ctx>
void mark_coupled_rows(const LinearOperator<T, Ctx>& A, double most,
                       BlockView<T, typename Ctx::Space> scratch,
                       BlockView<T, typename Ctx::Space> mask);

/// Sets `mask` (n×1) to 1 in the rows that a large entry of A, of any sign, couples to a row where
/// it is at least a half. A row inside a stiff part, or at its end, may look soft by chance;
/// without it the rest of the part would be held there. Stays as it is if A is not stored in host
/// memory with all rows on this process. `scratch` (n×1) is overwritten.
template <Scalar T, class Ctx>
void join_coupled_rows(const LinearOperator<T, Ctx>& A, BlockView<T, typename Ctx::Space> scratch,
                       BlockView<T, typename Ctx::Space> mask);

}  // namespace heddle::detail
