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
      N_(*host_, max_order, max_order),
      ritz_values_(*host_, max_order, 1),
      C_(*host_, max_order, 2 * max_block),
      HP_(*host_, max_order, max_block),
      C_device_(context, max_order, 2 * max_block),
      theta_(static_cast<std::size_t>(max_block)),
      theta_change_(static_cast<std::size_t>(max_block)),
      PAP_(static_cast<std::size_t>(max_block * max_block)) {}

template <Scalar T, class Ctx>
void RayleighRitz<T, Ctx>::project(Ctx& context, ConstBlockView<T, Space> S,
                                   ConstBlockView<T, Space> BS, ConstBlockView<T, Space> AS,
                                   Packet<Ctx>& packet) {
  const PhaseScope phase(context, Phase::rayleigh_ritz);
  order_ = S.cols();
  const Index fresh = order_ - known_;
  gram_ = packet.add(order_, fresh);
  projected_ = packet.add(order_, fresh);
  gram(context, S, BS.columns(known_, fresh), gram_.there, AS.columns(known_, fresh),
       projected_.there);  // Sᵀ B W and Sᵀ A W   m×w
}

template <Scalar T, class Ctx>
double RayleighRitz<T, Ctx>::deviation() const {
  double squares = 0;
  for (Index j = 0; j < gram_.here.cols; ++j) {
    for (Index i = 0; i < order_; ++i) {
      const double entry = gram_.here(i, j) - (i == known_ + j ? 1 : 0);
      squares += entry * entry;
    }
  }
  return std::sqrt(squares);
}

template <Scalar T, class Ctx>
bool RayleighRitz<T, Ctx>::solve(Ctx& context, Index x_cols, Index wanted, Index skip,
                                 Which which) {
  const PhaseScope phase(context, Phase::rayleigh_ritz);
  assemble();
  const Small Z = Z_.view(order_, order_);
  if (!orthonormalize() || dense_.solve(H_.view(order_, order_), ritz_values_.view(order_, 1), Z) !=
                               DenseFailure::none) {
    known_ = 0;
    return false;
  }
  select(Z, wanted, which);
  make_directions(x_cols, skip);
  send_coefficients(context);
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

/// N from SᵀBW, and H ← TᵀHT. False if SᵀBS has no Cholesky factor.
template <Scalar T, class Ctx>
bool RayleighRitz<T, Ctx>::orthonormalize() {
  const Index m = order_;
  const Index w = m - known_;
  if (w == 0) return true;
  const Small N = N_.view(m, w);
  double numbers[CholeskyQrStatus::rows];
  const Small status{numbers, CholeskyQrStatus::rows, 1, CholeskyQrStatus::rows};
  cholesky_qr_coefficients(*host_, gram_.here, N, status);
  if (!(status(CholeskyQrStatus::diagonal_ratio, 0) > 0)) return false;
  const Small H = H_.view(m, m);
  const Small HN = Z_.view(m, w);
  small_multiply(*host_, 1, H, false, N, false, 0, HN);                             // m×w
  small_multiply(*host_, 1, N, true, HN, false, 0, H.block(known_, known_, w, w));  // w×w
  for (Index j = 0; j < w; ++j) {
    for (Index i = 0; i < known_; ++i) H(i, known_ + j) = H(known_ + j, i) = HN(i, j);
    for (Index i = 0; i < j; ++i) {
      double& entry = H(known_ + i, known_ + j);
      entry = H(known_ + j, known_ + i) = 0.5 * (entry + H(known_ + j, known_ + i));
    }
  }
  return true;
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

/// Sends T C with C = [Z₁ C_P].
template <Scalar T, class Ctx>
void RayleighRitz<T, Ctx>::send_coefficients(Ctx& context) {
  const Index k = block_ + directions_;
  const Index w = order_ - known_;
  const Small C = C_.view(order_, k);
  const Small TC = Z_.view(order_, k);
  small_multiply(*host_, 1, N_.view(order_, w), false, C.block(known_, 0, w, k), false, 0, TC);
  for (Index j = 0; j < k; ++j) {
    for (Index i = 0; i < known_; ++i) TC(i, j) += C(i, j);
  }
  const SmallView<double, Space> coefficients = C_device_.view(order_, k);
  send(context, TC, coefficients);
  coefficients_ = coefficients;
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
