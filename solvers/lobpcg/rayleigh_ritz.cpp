#include <algorithm>
#include <cmath>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/solvers/lobpcg/rayleigh_ritz.hpp>
#include <limits>
#include <utility>

namespace heddle::detail {
namespace {

using Small = SmallView<double, HostSpace>;

double dot(Small M, Index i, Index j) {
  const double* x = &M(0, i);
  const double* y = &M(0, j);
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (Index r = 0; r < M.rows; ++r) sum += x[r] * y[r];
  return sum;
}

void scale_column(Small M, Index j, double factor) {
  for (Index r = 0; r < M.rows; ++r) M(r, j) *= factor;
}

/// Orthonormalises column j of M against columns 0 … j − 1 by two Gram-Schmidt sweeps. False if
/// less than √ε of its norm remains, because such a direction would be rounding noise.
bool orthonormalize_column(Small M, Index j) {
  const double before = std::sqrt(dot(M, j, j));
  if (!(before > 0)) return false;
  scale_column(M, j, 1 / before);
  for (int sweep = 0; sweep < 2; ++sweep) {
    for (Index i = 0; i < j; ++i) {
      const double projection = dot(M, i, j);
      for (Index r = 0; r < M.rows; ++r) M(r, j) -= projection * M(r, i);
    }
  }
  const double after = std::sqrt(dot(M, j, j));
  if (!(after > std::sqrt(std::numeric_limits<double>::epsilon()))) return false;
  scale_column(M, j, 1 / after);
  return true;
}

}  // namespace

template <Scalar T, class Ctx>
RayleighRitz<T, Ctx>::RayleighRitz(Ctx& context, Index max_order, Index max_block)
    : host_(1),
      dense_(context, max_order),
      H_(*host_, max_order, max_order),
      Z_(*host_, max_order, max_order),
      ritz_values_(*host_, max_order, 1),
      C_(*host_, max_order, 2 * max_block),
      HP_(*host_, max_order, max_block),
      C_device_(context, max_order, 2 * max_block),
      theta_(static_cast<std::size_t>(max_block)),
      theta_change_(static_cast<std::size_t>(max_block)),
      PAP_(static_cast<std::size_t>(max_block * max_block)) {}

template <Scalar T, class Ctx>
void RayleighRitz<T, Ctx>::project(Ctx& context, ConstBlockView<T, Space> S,
                                   ConstBlockView<T, Space> AS, Packet<Ctx>& packet) {
  const PhaseScope phase(context, Phase::rayleigh_ritz);
  order_ = S.cols();
  projected_ = packet.add(order_, order_ - known_);
  gram(context, S, AS.columns(known_, order_ - known_), projected_.there);  // Sᵀ A W   m×w
}

template <Scalar T, class Ctx>
bool RayleighRitz<T, Ctx>::solve(Ctx& context, Index x_cols, Index wanted, Index skip,
                                 Which which) {
  const PhaseScope phase(context, Phase::rayleigh_ritz);
  assemble();
  const Small Z = Z_.view(order_, order_);
  if (dense_.solve(H_.view(order_, order_), ritz_values_.view(order_, 1), Z) !=
      DenseFailure::none) {
    known_ = 0;
    return false;
  }
  select(Z, wanted, which);
  make_directions(x_cols, skip);
  carry_over();
  const SmallView<double, Space> coefficients = C_device_.view(order_, block_ + directions_);
  send(context, C_.view(order_, block_ + directions_), coefficients);
  coefficients_ = coefficients;
  return true;
}

template <Scalar T, class Ctx>
void RayleighRitz<T, Ctx>::assemble() {
  const Index m = order_;
  const Index fresh = m - known_;
  const Small H = H_.view(m, m);
  for (Index j = 0; j < known_; ++j) {
    for (Index i = 0; i < known_; ++i) {
      const bool in_X = i < block_ || j < block_;
      H(i, j) = in_X ? (i == j ? theta_[static_cast<std::size_t>(i)] : 0)
                     : PAP_[static_cast<std::size_t>(i - block_ + (j - block_) * directions_)];
    }
  }
  const Small G = projected_.here;
  for (Index j = 0; j < fresh; ++j) {
    for (Index i = 0; i < known_; ++i) H(i, known_ + j) = H(known_ + j, i) = G(i, j);
    for (Index i = 0; i <= j; ++i) {
      const double mean = 0.5 * (G(known_ + i, j) + G(known_ + j, i));
      H(known_ + i, known_ + j) = H(known_ + j, known_ + i) = mean;
    }
  }
}

template <Scalar T, class Ctx>
void RayleighRitz<T, Ctx>::select(Small Z, Index wanted, Which which) {
  const Small values = ritz_values_.view(order_, 1);
  const bool grown = order_ > block_ + directions_;  // a step without W changes no Ritz value
  const Index block_before = std::exchange(block_, std::min(wanted, order_));
  const Small Z1 = C_.view(order_, block_);
  for (Index j = 0; j < block_; ++j) {
    const Index source = which == Which::smallest ? j : order_ - 1 - j;
    double& theta = theta_[static_cast<std::size_t>(j)];
    double& change = theta_change_[static_cast<std::size_t>(j)];
    if (j >= block_before) change = std::numeric_limits<double>::infinity();
    if (j < block_before && grown) change = std::abs(values(source, 0) - theta);
    theta = values(source, 0);
    for (Index r = 0; r < order_; ++r) Z1(r, j) = Z(r, source);
  }
}

template <Scalar T, class Ctx>
void RayleighRitz<T, Ctx>::make_directions(Index x_cols, Index skip) {
  directions_ = 0;
  const Index candidates_end = std::min(x_cols, block_);
  for (Index j = skip; j < candidates_end && block_ + directions_ < order_; ++j) {
    const Index column = block_ + directions_;
    const Small C = C_.view(order_, column + 1);
    for (Index r = 0; r < order_; ++r) C(r, column) = r < x_cols ? 0 : C(r, j);
    if (orthonormalize_column(C, column)) ++directions_;
  }
}

template <Scalar T, class Ctx>
void RayleighRitz<T, Ctx>::carry_over() {
  const Index p = directions_;
  known_ = block_ + p;
  if (p == 0) return;
  const Small P = C_.view(order_, block_ + p).block(0, block_, order_, p);
  const Small HP = HP_.view(order_, p);
  small_multiply(*host_, 1, H_.view(order_, order_), false, P, false, 0, HP);  // H C_P     m×p
  small_multiply(*host_, 1, P, true, HP, false, 0, {PAP_.data(), p, p, p});    // C_Pᵀ H C_P p×p
}

template <Scalar T, class Ctx>
void RayleighRitz<T, Ctx>::drop_leading(Index k) {
  std::copy(theta_.begin() + k, theta_.begin() + block_, theta_.begin());
  std::copy(theta_change_.begin() + k, theta_change_.begin() + block_, theta_change_.begin());
  block_ -= k;
  known_ = std::max<Index>(0, known_ - k);
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class RayleighRitz<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
