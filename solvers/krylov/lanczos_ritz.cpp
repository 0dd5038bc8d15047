#include <algorithm>
#include <cmath>
#include <heddle/linalg/small/small_dense.hpp>
#include <heddle/solvers/krylov/lanczos_ritz.hpp>
#include <utility>

namespace heddle::detail {

template <WideScalar W>
LanczosRitzOf<W>::LanczosRitzOf(DenseSolverOf<W> dense, Index max_order, Index block)
    : host_(1),
      dense_(std::move(dense)),
      Z_(*host_, max_order, max_order),
      product_(*host_, block, max_order),
      combination_(*host_, max_order, block),
      front_vectors_(*host_, block, block),
      front_theta_(static_cast<std::size_t>(block)) {
  theta_.resize(static_cast<std::size_t>(max_order));
  residuals_.resize(static_cast<std::size_t>(max_order));
}

template <WideScalar W>
bool LanczosRitzOf<W>::solve(ConstSmallView<W, HostSpace> T, ConstSmallView<W, HostSpace> column) {
  const Index k = order_ = T.rows;
  const Index b = column.cols;
  const ConstSmallView<W, HostSpace> S = column.block(0, 0, k, b);
  const SmallView<W, HostSpace> Z = Z_.view(k, k);
  if (dense_.solve(T, {theta_.data(), k, 1, k}, Z) != DenseFailure::none) return false;
  std::reverse(theta_.begin(), theta_.begin() + k);
  for (Index j = 0; j < k / 2; ++j) std::swap_ranges(&Z(0, j), &Z(0, j) + k, &Z(0, k - 1 - j));
  const SmallView<W, HostSpace> product = product_.view(S.cols, k);
  small_multiply(*host_, 1, S, true, Z, false, 0, product);  // Sᵀ Z   b×k
  for (Index j = 0; j < k; ++j) {
    double square = 0;
    for (Index i = 0; i < S.cols; ++i) square += squared(product(i, j));
    residuals_[static_cast<std::size_t>(j)] = std::sqrt(square);
  }
  if (dense_.solve(column.block(k, 0, b, b), {front_theta_.data(), b, 1, b},
                   front_vectors_.view(b, b)) != DenseFailure::none) {
    return false;
  }
  front_value_ = front_theta_.back();
  return true;
}

template <WideScalar W>
ConstSmallView<W, HostSpace> LanczosRitzOf<W>::combination(Index count, Index b) noexcept {
  const ConstSmallView<W, HostSpace> vectors = Z(order_);
  const SmallView<W, HostSpace> C = combination_.view(order_, b);
  for (Index j = 0; j < b; ++j) {
    std::fill_n(&C(0, j), order_, W{0});
    for (Index l = j; l < count; l += b) {
      for (Index i = 0; i < order_; ++i) C(i, j) += vectors(i, l);
    }
  }
  return C;
}

template class LanczosRitzOf<double>;
template class LanczosRitzOf<std::complex<double>>;

}  // namespace heddle::detail
