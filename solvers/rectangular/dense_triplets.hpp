#pragma once

#include <algorithm>
#include <heddle/linalg/data/small_matrix.hpp>
#include <heddle/solvers/operators/linear_operator.hpp>
#include <heddle/solvers/problem/options.hpp>
#include <optional>
#include <vector>

namespace heddle::detail {

/// The n singular values of an m×n A, m ≥ n, from the wanted end, by a dense decomposition on the
/// host in double. U m×k and V n×k ← the vectors of the first k of them, exact to the rounding to
/// T. Nothing if A is not finite.
///
/// Of a distributed A, process 0 collects the rows, decomposes, and sends the others their rows of
/// U and V. Allocates blocks of up to `kPanelColumns` columns in the context's memory, and in that
/// of `host`, on process 0, three matrices of A's size.
template <Scalar T, class Ctx>
std::optional<std::vector<double>> dense_triplets(Ctx& context, HostContext& host,
                                                  LinearOperator<T, Ctx>& A, Which which,
                                                  BlockView<T, typename Ctx::Space> U,
                                                  BlockView<T, typename Ctx::Space> V);

/// Reverses the order of the columns of M.
template <WideScalar W>
void reverse_columns(SmallView<W, HostSpace> M) {
  for (Index j = 0; j < M.cols / 2; ++j) {
    std::swap_ranges(&M(0, j), &M(0, j) + M.rows, &M(0, M.cols - 1 - j));
  }
}

}  // namespace heddle::detail
