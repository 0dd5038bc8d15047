#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <heddle/linalg/error.hpp>
#include <heddle/linalg/instantiate.hpp>
#include <heddle/linalg/orthogonalize.hpp>
#include <heddle/linalg/transfer.hpp>
#include <limits>

namespace heddle {
namespace {

using Small = SmallView<HostSpace>;

template <class T>
constexpr double kEps = static_cast<double>(std::numeric_limits<T>::epsilon());

/// Each round multiplies the smallest singular value by 10⁴ or more: after this many nothing is
/// left to gain.
constexpr int kMaxRounds = 10;

/// ‖R⁻¹‖²_F/m up to which X R⁻¹ is orthonormal to a small multiple of m·ε: the error of CholQR
/// grows with it, from 1 for an orthonormal X.
constexpr double kLastRoundGrowth = 4;

/// A column is dropped when rounding may be more than this part of it.
constexpr double kNoiseLimit = 0.1;

/// For Gram matrices XᵀX: negative eigenvalues are never more than rounding.
constexpr double kAnyRounding = std::numeric_limits<double>::infinity();

/// The rounding to expect in a Gram matrix of m unit columns: c·m·ε.
template <class T>
double gram_rounding(Index m) {
  return 10 * static_cast<double>(m) * kEps<T>;
}

double squared_norm(Small A) {
  double sum = 0;
  for (Index j = 0; j < A.cols; ++j) {
    for (Index i = 0; i < A.rows; ++i) sum += A(i, j) * A(i, j);
  }
  return sum;
}

template <class T, class Space>
bool separate(const BlockView<T, Space>& X, const BlockView<T, Space>& BX) {
  return BX.data() != X.data();
}

void require_room(const char* operation, const char* what, Index cols, Index max_cols) {
  if (cols > max_cols) {
    throw InvalidArgument(fmt::format("Orthogonalizer::{}: {} of {} columns, made for {}",
                                      operation, what, cols, max_cols));
  }
}

}  // namespace

void OrthoCounts::add(const OrthoReport& report, Index columns) noexcept {
  cholqr += report.method == OrthoMethod::cholqr ? 1 : 0;
  cholqr2 += report.method == OrthoMethod::cholqr2 ? 1 : 0;
  shifted += report.method == OrthoMethod::shifted_cholqr3 ? 1 : 0;
  svqb += report.method == OrthoMethod::svqb ? 1 : 0;
  dropped += columns - report.rank;
}

template <Scalar T, class Ctx>
Orthogonalizer<T, Ctx>::Orthogonalizer(Ctx& context, Index max_cols, Index max_basis)
    : host_(std::make_unique<HostContext>(1)),
      max_cols_(max_cols),
      max_basis_(max_basis),
      small_(context, std::max(max_cols, max_basis), max_cols),
      norms_(context, max_cols, 2),
      gram_(*host_, max_cols, max_cols),
      factor_(*host_, max_cols, max_cols),
      coefficients_(*host_, max_cols, max_cols),
      host_norms_(*host_, max_cols, 2),
      theta_(*host_, max_cols, 1),
      noise_(static_cast<std::size_t>(max_cols)) {
  kept_.reserve(noise_.size());
  scale_.reserve(noise_.size());
}

template <Scalar T, class Ctx>
double Orthogonalizer<T, Ctx>::project(Ctx& context, const Basis<T, Space>& basis, Block X,
                                       Block BX) {
  const PhaseScope phase(context, Phase::orthogonalize);
  const Index b = X.cols();
  require_room("project", "a block", b, max_cols_);
  require_room("project", "a basis", basis.Q.cols(), max_basis_);
  if (X.empty() || basis.Q.cols() == 0) return 1;
  const SmallView<Space> norms = norms_.view(b, 2);
  const SmallView<Space> C = small_.view(basis.Q.cols(), b);
  column_norms(context, ConstBlock(X), norms.block(0, 0, b, 1));
  gram(context, basis.BQ, ConstBlock(X), C);   // C = (BQ)ᵀX      c×b
  multiply<T>(context, -1, basis.Q, C, 1, X);  // X ← X − Q C     n×b
  if (!BX.empty() && separate(X, BX)) {
    multiply<T>(context, -1, basis.BQ, C, 1, BX);  // BX ← BX − BQ C  n×b
  }
  column_norms(context, ConstBlock(X), norms.block(0, 1, b, 1));
  const Small host = host_norms_.view(b, 2);
  fetch(context, norms, host);
  double smallest = std::numeric_limits<double>::infinity();
  for (Index j = 0; j < b; ++j) {
    if (!std::isfinite(host(j, 0)) || !std::isfinite(host(j, 1))) return 0;
    if (host(j, 0) > 0) smallest = std::min(smallest, host(j, 1) / host(j, 0));
  }
  return smallest;
}

template <Scalar T, class Ctx>
OrthoReport Orthogonalizer<T, Ctx>::orthonormalize(Ctx& context, Block X, Block BX) {
  const PhaseScope phase(context, Phase::orthogonalize);
  require_room("orthonormalize", "a block", X.cols(), max_cols_);
  OrthoReport report = climb(context, X, BX);
  if (report.indefinite || !report.finite) return report;
  report.rank = cols_;
  const Index lost = X.cols() - cols_;
  set_zero(context, X.columns(cols_, lost));
  if (separate(X, BX)) set_zero(context, BX.columns(cols_, lost));
  return report;
}

template <Scalar T, class Ctx>
OrthoReport Orthogonalizer<T, Ctx>::climb(Ctx& context, Block X, Block BX) {
  OrthoReport report;
  cols_ = X.cols();
  std::fill(noise_.begin(), noise_.end(), 0.0);
  for (int round = 0; round < kMaxRounds && cols_ > 0; ++round) {
    X = X.columns(0, cols_);
    BX = BX.columns(0, cols_);
    Gram state = Gram::usable;
    if (round == 0) {
      state = first_gram(context, X, BX);
    } else if (!read_gram(context, X, BX)) {
      state = Gram::not_finite;
    }
    report.finite = state != Gram::not_finite;
    report.indefinite = state == Gram::indefinite;
    if (state != Gram::usable || already_orthonormal()) return report;
    drop_noise();
    if (kept_.empty()) {
      cols_ = 0;
      return report;
    }
    const std::optional<OrthoMethod> rung = factor(context, X, BX, report.method);
    report.indefinite = !rung.has_value();
    if (report.indefinite) return report;
    report.method = std::max(report.method, *rung);
    if (round > 0) report.method = std::max(report.method, OrthoMethod::cholqr2);
    transform(context, X, BX);
    if (*rung == OrthoMethod::cholqr) return report;
  }
  return report;
}

/// G of the block as it was given. Columns whose squares leave the range, and columns without a
/// positive B-norm, are looked at by their 2-norms, and the block is scaled by those.
template <Scalar T, class Ctx>
auto Orthogonalizer<T, Ctx>::first_gram(Ctx& context, Block X, Block BX) -> Gram {
  if (read_gram(context, X, BX) && gram_in_range()) return Gram::usable;
  if (!normalize_columns(context, X, BX) || !read_gram(context, X, BX)) return Gram::not_finite;
  const Small G = gram_.view(cols_, cols_);
  const Small norms = host_norms_.view(cols_, 2);
  for (Index j = 0; j < cols_; ++j) {
    const double rounding = gram_rounding<T>(cols_) * norms(j, 0) * norms(j, 1);
    if (G(j, j) < -rounding) return Gram::indefinite;
    if (G(j, j) <= rounding) G(j, j) = 0;
  }
  return Gram::usable;
}

/// gram_ ← XᵀBX, symmetric to the bit. False if it is not finite.
template <Scalar T, class Ctx>
bool Orthogonalizer<T, Ctx>::read_gram(Ctx& context, Block X, Block BX) {
  const Small G = gram_.view(cols_, cols_);
  gram(context, ConstBlock(X), ConstBlock(BX), small_.view(cols_, cols_));
  fetch(context, small_.view(cols_, cols_), G);
  bool finite = true;
  for (Index j = 0; j < cols_; ++j) {
    for (Index i = 0; i <= j; ++i) {
      G(i, j) = G(j, i) = 0.5 * (G(i, j) + G(j, i));
      finite = finite && std::isfinite(G(i, j));
    }
  }
  return finite;
}

/// Whether the norms of all columns are so far inside the range of T that their squares and
/// inverses are too.
template <Scalar T, class Ctx>
bool Orthogonalizer<T, Ctx>::gram_in_range() {
  const double lowest = std::pow(static_cast<double>(std::numeric_limits<T>::min()), 0.8);
  for (Index j = 0; j < cols_; ++j) {
    const double square = gram_.view(cols_, cols_)(j, j);
    if (!(square > lowest && square < 1 / lowest)) return false;
  }
  return true;
}

/// host_norms_ ← 2-norms of the columns of X and of BX.
template <Scalar T, class Ctx>
void Orthogonalizer<T, Ctx>::read_norms(Ctx& context, Block X, Block BX) {
  const SmallView<Space> norms = norms_.view(cols_, 2);
  column_norms(context, ConstBlock(X), norms.block(0, 0, cols_, 1));
  column_norms(context, ConstBlock(BX), norms.block(0, 1, cols_, 1));
  fetch(context, norms, host_norms_.view(cols_, 2));
}

/// Scales X and BX so that ‖x_j‖₂ = 1 or 0; host_norms_ are those after. False, with nothing
/// changed, if a norm is not finite.
template <Scalar T, class Ctx>
bool Orthogonalizer<T, Ctx>::normalize_columns(Ctx& context, Block X, Block BX) {
  read_norms(context, X, BX);
  const Small norms = host_norms_.view(cols_, 2);
  for (Index j = 0; j < cols_; ++j) {
    if (!std::isfinite(norms(j, 0)) || !std::isfinite(norms(j, 1))) return false;
  }
  const Small factors = theta_.view(cols_, 1);
  for (Index j = 0; j < cols_; ++j) {
    factors(j, 0) = 1 / std::max(norms(j, 0), std::numeric_limits<double>::min());
    norms(j, 0) *= factors(j, 0);
    norms(j, 1) *= factors(j, 0);
  }
  const SmallView<Space> device = norms_.view(cols_, 1);
  send(context, factors, device);
  scale_columns<T>(context, device, X);
  if (separate(X, BX)) scale_columns<T>(context, device, BX);
  return true;
}

template <Scalar T, class Ctx>
bool Orthogonalizer<T, Ctx>::already_orthonormal() {
  const double tolerance = 4 * static_cast<double>(cols_) * kEps<T>;
  for (Index j = 0; j < cols_; ++j) {
    for (Index i = 0; i <= j; ++i) {
      if (!(std::abs(gram_.view(cols_, cols_)(i, j) - (i == j ? 1 : 0)) <= tolerance)) return false;
    }
  }
  return true;
}

/// kept_ ← the columns that hold more than rounding, scale_ ← one over their norms.
template <Scalar T, class Ctx>
void Orthogonalizer<T, Ctx>::drop_noise() {
  const Small G = gram_.view(cols_, cols_);
  kept_.clear();
  scale_.clear();
  for (Index j = 0; j < cols_; ++j) {
    if (!(G(j, j) > 0)) continue;
    const double norm = std::sqrt(G(j, j));
    if (noise_[static_cast<std::size_t>(j)] > kNoiseLimit * norm) continue;
    kept_.push_back(j);
    scale_.push_back(1 / norm);
  }
}

/// factor_ ← F such that the kept columns, scaled to norm 1, times F are nearer to orthonormal, and
/// orthonormal if the rung is `cholqr`. Empty if their Gram matrix is indefinite beyond rounding.
template <Scalar T, class Ctx>
std::optional<OrthoMethod> Orthogonalizer<T, Ctx>::factor(Ctx& context, Block X, Block BX,
                                                          OrthoMethod before) {
  const Index k = std::ssize(kept_);
  const double m = static_cast<double>(k);
  const double rows = static_cast<double>(X.rows());
  const bool shifted_before = before >= OrthoMethod::shifted_cholqr3;
  // Below this diagonal ratio the factor may be nothing but rounding, unless a shift went before.
  const double trusted = shifted_before ? 0 : 10 * std::sqrt(m * kEps<double>);
  if (factor_gram(0, trusted)) {
    return squared_norm(factor_.view(k, k)) <= kLastRoundGrowth * m ? OrthoMethod::cholqr
                                                                    : OrthoMethod::cholqr2;
  }
  // The shift of Fukaya et al. with ‖X‖² ≤ trace(G) = m, and √n for n: sums over rows are cut into
  // chunks and their errors are random.
  const double shift = 11 * (m * std::sqrt(rows) + m * (m + 1)) * 0.5 * kEps<double> * m;
  if (!shifted_before && factor_gram(shift, 0)) return OrthoMethod::shifted_cholqr3;
  if (factor_eigenvectors(separate(X, BX) ? image_rounding(context, X, BX) : kAnyRounding)) {
    return OrthoMethod::svqb;
  }
  return std::nullopt;
}

/// factor_ ← the Gram matrix of the kept columns scaled to norm 1.
template <Scalar T, class Ctx>
void Orthogonalizer<T, Ctx>::scale_gram() {
  const Small G = gram_.view(cols_, cols_);
  const Small F = factor_.view(std::ssize(kept_), std::ssize(kept_));
  for (Index q = 0; q < F.cols; ++q) {
    for (Index p = 0; p < F.rows; ++p) {
      F(p, q) = G(kept_[static_cast<std::size_t>(p)], kept_[static_cast<std::size_t>(q)]) *
                scale_[static_cast<std::size_t>(p)] * scale_[static_cast<std::size_t>(q)];
    }
  }
}

/// factor_ ← R⁻¹ of the Cholesky factor of the scaled Gram matrix + shift·I, if there is one with a
/// diagonal ratio above `trusted`.
template <Scalar T, class Ctx>
bool Orthogonalizer<T, Ctx>::factor_gram(double shift, double trusted) {
  scale_gram();
  const Small F = factor_.view(std::ssize(kept_), std::ssize(kept_));
  for (Index j = 0; j < F.cols; ++j) F(j, j) += shift;
  const CholeskyStatus status = cholesky(*host_, F);
  if (!status.positive_definite || status.diagonal_ratio <= trusted) return false;
  invert_upper(*host_, F);
  return true;
}

/// factor_ ← Z max(Θ, floor)^(-1/2) of the scaled Gram matrix, largest θ first. False if an
/// eigenvalue lies below −`rounding`.
template <Scalar T, class Ctx>
bool Orthogonalizer<T, Ctx>::factor_eigenvectors(double rounding) {
  scale_gram();
  const Index k = std::ssize(kept_);
  const Small F = factor_.view(k, k);
  const Small theta = theta_.view(k, 1);
  if (!eigensolver_.compute(*host_, F, theta, F) || theta(0, 0) < -rounding) return false;
  const double floor = gram_rounding<double>(k) * theta(k - 1, 0);
  for (Index j = 0; j < k / 2; ++j) std::swap_ranges(&F(0, j), &F(0, j) + k, &F(0, k - 1 - j));
  for (Index j = 0; j < k; ++j) {
    const double factor = 1 / std::sqrt(std::max(theta(k - 1 - j, 0), floor));
    for (Index i = 0; i < k; ++i) F(i, j) *= factor;
  }
  return true;
}

/// The rounding to expect in the scaled Gram matrix where BX is a rounded product with B.
template <Scalar T, class Ctx>
double Orthogonalizer<T, Ctx>::image_rounding(Ctx& context, Block X, Block BX) {
  read_norms(context, X, BX);
  const Small norms = host_norms_.view(cols_, 2);
  double largest = 1;
  for (std::size_t p = 0; p < kept_.size(); ++p) {
    largest = std::max(largest, norms(kept_[p], 0) * scale_[p] * norms(kept_[p], 1) * scale_[p]);
  }
  return gram_rounding<T>(std::ssize(kept_)) * largest;
}

/// X ← X M and BX ← BX M, where M scales the kept columns and multiplies them by factor_.
template <Scalar T, class Ctx>
void Orthogonalizer<T, Ctx>::transform(Ctx& context, Block X, Block BX) {
  const Index k = std::ssize(kept_);
  const Small F = factor_.view(k, k);
  const Small M = coefficients_.view(cols_, k);
  std::fill_n(M.data, M.rows * M.cols, 0.0);
  for (std::size_t p = 0; p < kept_.size(); ++p) {
    for (Index q = 0; q < k; ++q) M(kept_[p], q) = scale_[p] * F(static_cast<Index>(p), q);
    noise_[p] = std::hypot(noise_[static_cast<std::size_t>(kept_[p])] * scale_[p],
                           static_cast<double>(k) * kEps<T>);  // of a sum of k terms
  }
  const Small noise = theta_.view(k, 1);
  for (Index q = 0; q < k; ++q) {
    noise(q, 0) = 0;
    for (Index p = 0; p < k; ++p) {
      noise(q, 0) += std::pow(noise_[static_cast<std::size_t>(p)] * F(p, q), 2);
    }
  }
  for (Index q = 0; q < k; ++q) noise_[static_cast<std::size_t>(q)] = std::sqrt(noise(q, 0));
  const SmallView<Space> C = small_.view(cols_, k);
  send(context, M, C);
  multiply<T>(context, 1, X, C, 0, X.columns(0, k));
  if (separate(X, BX)) multiply<T>(context, 1, BX, C, 0, BX.columns(0, k));
  cols_ = k;
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class Orthogonalizer<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
