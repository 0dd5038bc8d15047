#pragma once

#include <algorithm>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/context/owned_host_context.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/small/dense_eigen.hpp>

namespace heddle::detail {

/// The Ritz vectors of an operator in the span of a few columns V, of which those with small values
/// are kept.
template <Scalar T, class Ctx>
class SpanRitz {
 public:
  using Space = typename Ctx::Space;

  SpanRitz() = default;

  /// Memory for up to `columns` columns.
  SpanRitz(Ctx& context, Index columns)
      : host_(1),
        dense_(columns),
        H_(*host_, columns, columns),
        Z_(*host_, columns, columns),
        values_(*host_, columns, 1),
        Z_device_(context, columns, columns) {}

  /// The numbers in doubles that this memory takes.
  static double size(double columns) { return 6 * columns * columns; }

  /// Takes H = VᵀAV, of which `sign` A is the operator, for columns that are orthonormal in the
  /// inner product of the operator. Returns the number of Ritz values below `limit`, or 0 if H is
  /// not finite.
  Index solve(ConstSmallView<Wide<T>, HostSpace> H, double sign, double limit) {
    const Index k = order_ = H.cols;
    const SmallView<Wide<T>, HostSpace> mean = H_.view(k, k);
    for (Index j = 0; j < k; ++j) {
      for (Index i = 0; i < k; ++i) mean(i, j) = 0.5 * sign * (H(i, j) + conjugate(H(j, i)));
    }
    const SmallView<double, HostSpace> values = values_.view(k, 1);
    if (dense_.solve(mean, values, Z_.view(k, k)) != DenseFailure::none) return 0;
    return std::count_if(values.data, values.data + k, [&](double each) { return each < limit; });
  }

  /// The first columns of V ← the `count` Ritz vectors of the smallest values.
  void rotate(Ctx& context, BlockView<T, Space> V, Index count) {
    if (count == 0) return;
    const SmallView<Wide<T>, Space> Z = Z_device_.view(order_, count);
    send(context, Z_.view(order_, order_).block(0, 0, order_, count), Z);
    multiply<T>(context, 1.0, V, Z, 0.0, V.columns(0, count));
  }

 private:
  OwnedHostContext host_;
  DenseSolverOf<Wide<T>> dense_;
  SmallMatrix<Wide<T>, HostSpace> H_, Z_;
  SmallMatrix<double, HostSpace> values_;
  SmallMatrix<Wide<T>, Space> Z_device_;
  Index order_ = 0;
};

}  // namespace heddle::detail
