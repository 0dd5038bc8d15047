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
template <WideScalar W>
std::vector<double> scales_of(ConstSmallView<W, HostSpace> G) {
  std::vector<double> scales;
  for (Index i = 0; i < G.rows; ++i) {
    const double size = real_part(G(i, i));
    scales.push_back(size > 0 ? std::exp2(std::round(-0.5 * std::log2(size))) : 1);
  }
  return scales;
}

}  // namespace

template <Scalar T, class Ctx>
WholeSpace<T, Ctx>::WholeSpace(Ctx& context, Index n, LinearOperator<T, Ctx>* B, bool definite,
                               Index block)
    : B_(B),
      host_(1),
      V_(context, n, n),
      product_(context, n, block),
      image_(context, B == nullptr ? 0 : n, B == nullptr ? 0 : block),
      projected_(*host_, n, n),
      small_(context, n, n),
      rank_(n) {
  set_identity(context, V_.view());
  constexpr auto kOfDense = std::numeric_limits<double>::epsilon();
  constexpr auto kOfEntries = static_cast<double>(std::numeric_limits<RealOf<T>>::epsilon());
  if (B != nullptr) span_range(context, definite ? kOfDense : kOfEntries);
}

/// V ← an orthonormal basis of the range of B, from V = I. `rounding`: of B, relative to its size.
template <Scalar T, class Ctx>
void WholeSpace<T, Ctx>::span_range(Ctx& context, double rounding) {
  const Index n = rank_;
  const ConstSmallView<Wide<T>, HostSpace> B = project(context, *B_, nullptr);
  const std::vector<double> scales = scales_of(B);
  SmallMatrix<Wide<T>, HostSpace> scaled(*host_, n, n), directions(*host_, n, n);
  SmallMatrix<double, HostSpace> sizes(*host_, n, 1);
  const SmallView<Wide<T>, HostSpace> S = scaled.view(n, n);
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) {
      S(i, j) = scales[static_cast<std::size_t>(i)] * B(i, j) * scales[static_cast<std::size_t>(j)];
    }
  }
  const SmallView<Wide<T>, HostSpace> Q = directions.view(n, n);
  const SmallView<double, HostSpace> mu = sizes.view(n, 1);
  DenseSolverOf<Wide<T>> dense(n);
  indefinite_ = dense.solve(S, mu, Q) != DenseFailure::none;
  const double zero = kRoundingsOfZero * static_cast<double>(n) * rounding * mu(n - 1, 0);
  indefinite_ = indefinite_ || !(mu(0, 0) >= -zero);
  Index zeros = 0;
  while (zeros < n && mu(zeros, 0) <= zero) ++zeros;
  rank_ = indefinite_ ? 0 : n - zeros;
  if (rank_ == 0) return;
  for (Index j = zeros; j < n; ++j) {
    for (Index i = 0; i < n; ++i) {
      S(i, j - zeros) = scales[static_cast<std::size_t>(i)] * Q(i, j) / std::sqrt(mu(j, 0));
    }
  }
  combine(context, S.block(0, 0, n, rank_));
}

/// V ← V Z.
template <Scalar T, class Ctx>
void WholeSpace<T, Ctx>::combine(Ctx& context, ConstSmallView<Wide<T>, HostSpace> Z) {
  const SmallView<Wide<T>, Space> there = small_.view(Z.rows, Z.cols);
  send(context, Z, there);
  multiply<T>(context, 1, std::as_const(V_).columns(0, Z.rows), there, 0, V_.columns(0, Z.cols));
  context.synchronize();  // the copy reads Z until then
}

/// For Y = VᴴBX, I − YYᴴ is the projector on what is left, whose eigenvalues are 0 and 1.
template <Scalar T, class Ctx>
void WholeSpace<T, Ctx>::exclude(Ctx& context, ConstBlockView<T, Space> X) {
  const Index r = rank_, k = X.cols();
  if (r == 0 || k == 0) return;
  SmallMatrix<Wide<T>, HostSpace> parts(*host_, r, k), directions(*host_, r, r);
  SmallMatrix<double, HostSpace> sizes(*host_, r, 1);
  const SmallView<Wide<T>, HostSpace> Y = parts.view(r, k);
  for (Index from = 0; from < k; from += product_.cols()) {
    const Index width = std::min(product_.cols(), k - from);
    ConstBlockView<T, Space> image = X.columns(from, width);
    if (B_ != nullptr) {
      B_->apply(context, image, image_.columns(0, width));
      image = image_.columns(0, width);
    }
    const SmallView<Wide<T>, Space> there = small_.view(r, width);
    gram<T>(context, V(), image, there);
    fetch(context, there, Y.block(0, from, r, width));
  }
  const SmallView<Wide<T>, HostSpace> P = projected_.view(r, r);
  for (Index j = 0; j < r; ++j) {
    for (Index i = 0; i < r; ++i) {
      P(i, j) = i == j ? 1 : 0;
      for (Index l = 0; l < k; ++l) P(i, j) -= Y(i, l) * conjugate(Y(j, l));
    }
  }
  const SmallView<Wide<T>, HostSpace> Q = directions.view(r, r);
  const SmallView<double, HostSpace> mu = sizes.view(r, 1);
  DenseSolverOf<Wide<T>> dense(r);
  if (dense.solve(P, mu, Q) != DenseFailure::none) return;
  Index excluded = 0;
  while (excluded < r && mu(excluded, 0) < 0.5) ++excluded;
  rank_ = r - excluded;
  if (rank_ > 0) combine(context, Q.block(0, excluded, r, rank_));
}

/// VᴴMNV for M = `second`, null for the identity, and N = `first`.
template <Scalar T, class Ctx>
ConstSmallView<Wide<T>, HostSpace> WholeSpace<T, Ctx>::project(Ctx& context,
                                                               LinearOperator<T, Ctx>& first,
                                                               LinearOperator<T, Ctx>* second) {
  const SmallView<Wide<T>, HostSpace> here = projected_.view(rank_, rank_);
  for (Index from = 0; from < rank_; from += product_.cols()) {
    const Index width = std::min(product_.cols(), rank_ - from);
    BlockView<T, Space> product = product_.columns(0, width);
    first.apply(context, V().columns(from, width), product);
    if (second != nullptr) {
      second->apply(context, product, image_.columns(0, width));
      product = image_.columns(0, width);
    }
    const SmallView<Wide<T>, Space> there = small_.view(rank_, width);
    gram<T>(context, V(), product, there);
    fetch(context, there, here.block(0, from, rank_, width));
  }
  return here;
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class WholeSpace<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
