#include <algorithm>
#include <cmath>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/small/dense_eigen.hpp>
#include <heddle/solvers/lanczos/nearest/whole_space.hpp>
#include <limits>
#include <vector>

namespace heddle::detail {
namespace {

/// Eigenvalues of the scaled B that are rounding of 0, in units of nε times the largest one.
constexpr double kRoundingsOfZero = 10;

/// D with diagonals of D G D near 1, powers of 2. 1 where G has no positive diagonal.
std::vector<double> scales_of(ConstSmallView<double, HostSpace> G) {
  std::vector<double> scales;
  for (Index i = 0; i < G.rows; ++i) {
    const double size = G(i, i);
    scales.push_back(size > 0 ? std::exp2(std::round(-0.5 * std::log2(size))) : 1);
  }
  return scales;
}

}  // namespace

template <Scalar T, class Ctx>
WholeSpace<T, Ctx>::WholeSpace(Ctx& context, Index n, LinearOperator<T, Ctx>* B, Index block)
    : B_(B),
      host_(1),
      V_(context, n, n),
      product_(context, n, block),
      image_(context, B == nullptr ? 0 : n, B == nullptr ? 0 : block),
      projected_(*host_, n, n),
      small_(context, n, n),
      rank_(n) {
  set_identity(context, V_.view());
  if (B != nullptr) span_range(context);
}

/// V ← an orthonormal basis of the range of B, from V = I.
template <Scalar T, class Ctx>
void WholeSpace<T, Ctx>::span_range(Ctx& context) {
  const Index n = rank_;
  const ConstSmallView<double, HostSpace> B = project(context, *B_, nullptr);
  const std::vector<double> scales = scales_of(B);
  SmallMatrix<double, HostSpace> scaled(*host_, n, n), directions(*host_, n, n),
      sizes(*host_, n, 1);
  const SmallView<double, HostSpace> S = scaled.view(n, n);
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) {
      S(i, j) = scales[static_cast<std::size_t>(i)] * B(i, j) * scales[static_cast<std::size_t>(j)];
    }
  }
  const SmallView<double, HostSpace> Q = directions.view(n, n);
  const SmallView<double, HostSpace> mu = sizes.view(n, 1);
  DenseEigensolver dense(n);
  indefinite_ = dense.solve(S, mu, Q) != DenseFailure::none;
  const double rounding = kRoundingsOfZero * static_cast<double>(n) *
                          static_cast<double>(std::numeric_limits<T>::epsilon()) * mu(n - 1, 0);
  indefinite_ = indefinite_ || !(mu(0, 0) >= -rounding);
  Index zeros = 0;
  while (zeros < n && mu(zeros, 0) <= rounding) ++zeros;
  rank_ = indefinite_ ? 0 : n - zeros;
  if (rank_ == 0) return;
  for (Index j = zeros; j < n; ++j) {
    for (Index i = 0; i < n; ++i) {
      S(i, j - zeros) = scales[static_cast<std::size_t>(i)] * Q(i, j) / std::sqrt(mu(j, 0));
    }
  }
  const SmallView<double, Space> there = small_.view(n, rank_);
  send(context, S.block(0, 0, n, rank_), there);
  multiply<T>(context, 1, std::as_const(V_).view(), there, 0, V_.columns(0, rank_));
  context.synchronize();  // the copy reads `scaled` until then
}

/// VᵀMNV for M = `second`, null for the identity, and N = `first`.
template <Scalar T, class Ctx>
ConstSmallView<double, HostSpace> WholeSpace<T, Ctx>::project(Ctx& context,
                                                              LinearOperator<T, Ctx>& first,
                                                              LinearOperator<T, Ctx>* second) {
  const SmallView<double, HostSpace> here = projected_.view(rank_, rank_);
  for (Index from = 0; from < rank_; from += product_.cols()) {
    const Index width = std::min(product_.cols(), rank_ - from);
    BlockView<T, Space> product = product_.columns(0, width);
    first.apply(context, V().columns(from, width), product);
    if (second != nullptr) {
      second->apply(context, product, image_.columns(0, width));
      product = image_.columns(0, width);
    }
    const SmallView<double, Space> there = small_.view(rank_, width);
    gram<T>(context, V(), product, there);
    fetch(context, there, here.block(0, from, rank_, width));
  }
  return here;
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class WholeSpace<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
