#pragma once

#include <heddle/linalg/data/small_matrix.hpp>
#include <heddle/linalg/data/views.hpp>
#include <heddle/solvers/operators/linear_operator.hpp>

/// Matrices and blocks as dense matrices in double on the host, where process 0 of several collects
/// the rows of all.
namespace heddle::detail {

/// Columns of the widest block that `collect_matrix` multiplies by A.
inline constexpr Index kPanelColumns = 16;

/// Whether this process collects.
template <class Ctx>
bool collects(Ctx& context) {
  return context.processes() == nullptr || context.processes()->leads();
}

/// M ← A on process 0, by products with panels of the identity. M is 0×n or smaller on the others.
template <Scalar T, class Ctx>
void collect_matrix(Ctx& context, HostContext& host, LinearOperator<T, Ctx>& A,
                    SmallView<Wide<T>, HostSpace> M);

/// The first columns of M ← the rows of X from all processes, on process 0. M has 0 rows on the
/// others.
template <Scalar T, class Ctx>
void collect_rows(Ctx& context, HostContext& host, ConstBlockView<T, typename Ctx::Space> X,
                  SmallView<Wide<T>, HostSpace> M);

/// X ← the rows of this process of the first columns of M, which process 0 holds, rounded to T.
template <Scalar T, class Ctx>
void send_rounded(Ctx& context, HostContext& host, ConstSmallView<Wide<T>, HostSpace> M,
                  BlockView<T, typename Ctx::Space> X);

}  // namespace heddle::detail
