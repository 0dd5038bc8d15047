#include <algorithm>
#include <cmath>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/small/small_dense.hpp>
#include <heddle/solvers/lobpcg/rayleigh_ritz.hpp>
#include <limits>
#include <utility>

namespace heddle::detail {
namespace {

template <WideScalar W>
using Small = SmallView<W, HostSpace>;

/// The product of columns i and j.
double dot(Small<double> M, Index i, Index j) {
  const double* x = &M(0, i);
  const double* y = &M(0, j);
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (Index r = 0; r < M.rows; ++r) sum += x[r] * y[r];
  return sum;
}
std::complex<double> dot(Small<std::complex<double>> M, Index i, Index j) {
  std::complex<double> sum = 0;
  for (Index r = 0; r < M.rows; ++r) sum += product(std::conj(M(r, i)), M(r, j));
  return sum;
}

template <WideScalar W>
void scale_column(Small<W> M, Index j, double factor) {
  for (Index r = 0; r < M.rows; ++r) M(r, j) *= factor;
}

/// Ritz values that differ by less than this, in units of ε‖H‖, are not told apart. Where S holds
/// more vectors of an eigenspace than the block, rounding would else choose among them in each
/// step, and vectors with small residuals would give way to others.
constexpr double kEqualValues = 300;

/// The same as a part of the errors of the values, so that the residuals hardly grow.
constexpr double kPartOfError = 0.1;

/// Orthonormalises column j of M against columns 0 … j − 1 by two Gram-Schmidt sweeps. False if
/// less than √ε of its norm remains, because such a direction would be rounding noise.
template <WideScalar W>
bool orthonormalize_column(Small<W> M, Index j) {
  const double before = std::sqrt(real_part(dot(M, j, j)));
  if (!(before > 0)) return false;
  scale_column(M, j, 1 / before);
  for (int sweep = 0; sweep < 2; ++sweep) {
    for (Index i = 0; i < j; ++i) {
      const W projection = dot(M, i, j);
      for (Index r = 0; r < M.rows; ++r) M(r, j) -= product(projection, M(r, i));
    }
  }
  const double after = std::sqrt(real_part(dot(M, j, j)));
  if (!(after > std::sqrt(std::numeric_limits<double>::epsilon()))) return false;
  scale_column(M, j, 1 / after);
  return true;
}

/// Rotates columns p and q of Z such that entry (row, q) becomes 0 and (row, p) is real and not
/// negative, and K with them, the part of ZᴴHZ in which these columns are i and j.
template <WideScalar W>
void rotate(Small<W> Z, Index row, Index p, Index q, Small<W> K, Index i, Index j) {
  const double length = std::hypot(std::abs(Z(row, p)), std::abs(Z(row, q)));
  if (!(length > 0)) return;
  const W c = Z(row, p) / length;
  const W s = Z(row, q) / length;
  const auto turn = [](W& a, W& b, W cosine, W sine) {
    const W before = a;
    a = product(conjugate(cosine), before) + product(conjugate(sine), b);
    b = product(cosine, b) - product(sine, before);
  };
  for (Index r = 0; r < Z.rows; ++r) turn(Z(r, p), Z(r, q), c, s);
  for (Index r = 0; r < K.rows; ++r) turn(K(r, i), K(r, j), c, s);
  for (Index r = 0; r < K.rows; ++r) turn(K(i, r), K(j, r), conjugate(c), conjugate(s));
}

/// H(i, j) ← entry, and its conjugate at (j, i).
template <WideScalar W>
void set_both(Small<W> H, Index i, Index j, W entry) {
  H(j, i) = conjugate(entry);
  H(i, j) = entry;
}

}  // namespace

template <Scalar T, class Ctx>
RayleighRitz<T, Ctx>::RayleighRitz(Ctx& context, Index max_order, Index max_block)
    : host_(1),
      dense_(context, max_order),
      H_(*host_, max_order, max_order),
      Z_(*host_, max_order, max_order),
      N_(*host_, max_order, max_order),
      known_H_(*host_, max_order, max_order),
      C_(*host_, max_order, 2 * max_block),
      HP_(*host_, max_order, max_block),
      ritz_values_(*host_, max_order, 1),
      C_device_(context, max_order, 2 * max_block),
      theta_(static_cast<std::size_t>(max_block)),
      theta_change_(static_cast<std::size_t>(max_block)),
      max_order_(max_order) {}

template <Scalar T, class Ctx>
void RayleighRitz<T, Ctx>::project(Ctx& context, ConstBlockView<T, Space> S,
                                   ConstBlockView<T, Space> BS, ConstBlockView<T, Space> AS,
                                   Packet<Ctx>& packet) {
  const PhaseScope phase(context, Phase::rayleigh_ritz);
  order_ = S.cols();
  const Index fresh = order_ - known_;
  gram_ = packet.template add<Wide<T>>(order_, fresh);
  projected_ = packet.template add<Wide<T>>(order_, fresh);
  gram(context, S, BS.columns(known_, fresh), gram_.there, AS.columns(known_, fresh),
       projected_.there);  // Sᵀ B W and Sᵀ A W   m×w
}

template <Scalar T, class Ctx>
double RayleighRitz<T, Ctx>::deviation() const {
  double squares = 0;
  for (Index j = 0; j < gram_.here.cols; ++j) {
    for (Index i = 0; i < order_; ++i) {
      squares += squared(gram_.here(i, j) - (i == known_ + j ? 1.0 : 0.0));
    }
  }
  return std::sqrt(squares);
}

template <Scalar T, class Ctx>
bool RayleighRitz<T, Ctx>::solve(Ctx& context, Index x_cols, Index wanted, Index skip, Which which,
                                 std::span<const double> errors) {
  const PhaseScope phase(context, Phase::rayleigh_ritz);
  assemble();
  const Dense Z = Z_.view(order_, order_);
  if (!orthonormalize() || dense_.solve(H_.view(order_, order_), ritz_values_.view(order_, 1), Z) !=
                               DenseFailure::none) {
    known_ = 0;
    return false;
  }
  const bool grown = order_ > block_ + directions_;  // a step without W changes no Ritz value
  const Index block_before = block_;
  select(Z, wanted, x_cols, which, errors);
  set_values(block_before, grown);
  make_directions(x_cols, skip);
  send_coefficients(context);
  return true;
}

template <Scalar T, class Ctx>
void RayleighRitz<T, Ctx>::assemble() {
  const Index m = order_;
  const Index fresh = m - known_;
  const Dense H = H_.view(m, m);
  const Dense XP = known_H(known_);
  for (Index j = 0; j < known_; ++j) {
    for (Index i = 0; i < known_; ++i) H(i, j) = XP(i, j);
  }
  const Dense G = projected_.here;
  for (Index j = 0; j < fresh; ++j) {
    for (Index i = 0; i < known_; ++i) set_both(H, i, known_ + j, G(i, j));
    for (Index i = 0; i <= j; ++i) {
      const Wide<T> mean = 0.5 * (G(known_ + i, j) + conjugate(G(known_ + j, i)));
      set_both(H, known_ + i, known_ + j, mean);
    }
  }
}

/// N from SᵀBW, and H ← TᵀHT. False if SᵀBS is singular up to rounding.
template <Scalar T, class Ctx>
bool RayleighRitz<T, Ctx>::orthonormalize() {
  const Index m = order_;
  const Index w = m - known_;
  if (w == 0) return true;
  const Dense N = N_.view(m, w);
  double numbers[CholeskyQrStatus::rows];
  const Small<double> status{numbers, CholeskyQrStatus::rows, 1, CholeskyQrStatus::rows};
  cholesky_qr_coefficients(*host_, gram_.here, N, status);
  const double rounding = static_cast<double>(m) * std::numeric_limits<RealOf<T>>::epsilon();
  const double independent = std::pow(status(CholeskyQrStatus::diagonal_ratio, 0), 2);
  if (!(independent > rounding && status(CholeskyQrStatus::remaining, 0) > rounding)) return false;
  const Dense H = H_.view(m, m);
  const Dense HN = Z_.view(m, w);
  small_multiply(*host_, 1, H, false, N, false, 0, HN);                             // m×w
  small_multiply(*host_, 1, N, true, HN, false, 0, H.block(known_, known_, w, w));  // w×w
  for (Index j = 0; j < w; ++j) {
    for (Index i = 0; i < known_; ++i) set_both(H, i, known_ + j, HN(i, j));
    for (Index i = 0; i < j; ++i) {
      const Wide<T> other = conjugate(H(known_ + j, known_ + i));
      set_both(H, known_ + i, known_ + j, 0.5 * (H(known_ + i, known_ + j) + other));
    }
  }
  return true;
}

/// Takes the best Ritz pairs, and gives those vectors of equal values that are nearest to the old
/// X. Rotations of the columns of Z make their rows of X lower triangular: column i of X is kept as
/// far as the columns before it leave it.
template <Scalar T, class Ctx>
void RayleighRitz<T, Ctx>::select(Dense Z, Index wanted, Index x_cols, Which which,
                                  std::span<const double> errors) {
  const Small<double> values = ritz_values_.view(order_, 1);
  const Dense K = known_H(order_);
  const auto source = [&](Index j) { return which == Which::smallest ? j : order_ - 1 - j; };
  for (Index j = 0; j < order_; ++j) {
    for (Index r = 0; r < order_; ++r) K(r, j) = r == j ? values(source(j), 0) : 0.0;
  }
  block_ = std::min(wanted, order_);
  const Index places = std::min({block_, x_cols, static_cast<Index>(errors.size())});
  const double norm = std::max(std::abs(K(0, 0)), std::abs(K(order_ - 1, order_ - 1)));
  const double rounding = kEqualValues * std::numeric_limits<RealOf<T>>::epsilon() * norm;
  const auto equal_to_next = [&](Index i) {
    const double error = errors[static_cast<std::size_t>(std::min(i, places - 1))];
    return std::abs(K(i + 1, i + 1) - K(i, i)) <= std::min(rounding, kPartOfError * error);
  };
  for (Index first = 0, end = 0; first < places; first = end) {
    end = first + 1;
    while (end < order_ && equal_to_next(end - 1)) ++end;
    const Dense K_equal = K.block(first, first, end - first, end - first);
    for (Index i = first; i < std::min(end, places); ++i) {
      for (Index j = i + 1; j < end; ++j) {
        rotate(Z, i, source(i), source(j), K_equal, i - first, j - first);
      }
    }
  }
  const Dense Z1 = C_.view(order_, block_);
  for (Index j = 0; j < block_; ++j) {
    for (Index r = 0; r < order_; ++r) Z1(r, j) = Z(r, source(j));
  }
}

template <Scalar T, class Ctx>
void RayleighRitz<T, Ctx>::set_values(Index block_before, bool grown) {
  const Dense XAX = known_H(block_);
  for (Index j = 0; j < block_; ++j) {
    double& theta = theta_[static_cast<std::size_t>(j)];
    double& change = theta_change_[static_cast<std::size_t>(j)];
    if (j >= block_before) change = std::numeric_limits<double>::infinity();
    if (j < block_before && grown) change = std::abs(real_part(XAX(j, j)) - theta);
    theta = real_part(XAX(j, j));
  }
}

template <Scalar T, class Ctx>
void RayleighRitz<T, Ctx>::make_directions(Index x_cols, Index skip) {
  directions_ = 0;
  const Index candidates_end = std::min(x_cols, block_);
  for (Index j = skip; j < candidates_end && block_ + directions_ < order_; ++j) {
    const Index column = block_ + directions_;
    const Dense C = C_.view(order_, column + 1);
    for (Index r = 0; r < order_; ++r) C(r, column) = r < x_cols ? Wide<T>{0} : C(r, j);
    if (orthonormalize_column(C, column)) ++directions_;
  }
}

/// Sends T C with C = [Z₁ C_P].
template <Scalar T, class Ctx>
void RayleighRitz<T, Ctx>::send_coefficients(Ctx& context) {
  const Index k = block_ + directions_;
  const Index w = order_ - known_;
  const Dense C = C_.view(order_, k);
  const Dense TC = Z_.view(order_, k);
  small_multiply(*host_, 1, N_.view(order_, w), false, C.block(known_, 0, w, k), false, 0, TC);
  for (Index j = 0; j < k; ++j) {
    for (Index i = 0; i < known_; ++i) TC(i, j) += C(i, j);
  }
  const SmallView<Wide<T>, Space> coefficients = C_device_.view(order_, k);
  send(context, TC, coefficients);
  coefficients_ = coefficients;
}

template <Scalar T, class Ctx>
void RayleighRitz<T, Ctx>::carry_over() {
  const Index p = directions_;
  known_ = block_ + p;
  const Dense H = known_H(known_);
  for (Index j = block_; j < known_; ++j) {
    for (Index i = 0; i < block_; ++i) H(i, j) = H(j, i) = 0;
  }
  if (p == 0) return;
  const Dense P = C_.view(order_, block_ + p).block(0, block_, order_, p);
  const Dense HP = HP_.view(order_, p);
  small_multiply(*host_, 1, H_.view(order_, order_), false, P, false, 0, HP);  // H C_P     m×p
  small_multiply(*host_, 1, P, true, HP, false, 0, H.block(block_, block_, p, p));  // C_Pᵀ H C_P
}

template <Scalar T, class Ctx>
void RayleighRitz<T, Ctx>::drop_leading(Index k) {
  std::copy(theta_.begin() + k, theta_.begin() + block_, theta_.begin());
  std::copy(theta_change_.begin() + k, theta_change_.begin() + block_, theta_change_.begin());
  const Dense H = known_H(known_);
  for (Index j = k; j < known_; ++j) {
    for (Index i = k; i < known_; ++i) H(i - k, j - k) = H(i, j);
  }
  block_ -= k;
  known_ = std::max<Index>(0, known_ - k);
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class RayleighRitz<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
