#include <algorithm>
#include <cmath>
#include <heddle/linalg/orthogonal/ortho_ladder.hpp>
#include <limits>

namespace heddle {
namespace {

template <WideScalar W>
using SmallOf = SmallView<W, HostSpace>;

/// The rounding unit of G, which is summed in double for blocks of every precision.
constexpr double kGramEpsilon = std::numeric_limits<double>::epsilon();

/// A column is dropped if rounding may account for more than this fraction of it.
constexpr double kNoiseLimit = 0.1;

template <WideScalar W>
double squared_norm(SmallOf<W> A) {
  double sum = 0;
  for (Index j = 0; j < A.cols; ++j) {
    for (Index i = 0; i < A.rows; ++i) sum += squared(A(i, j));
  }
  return sum;
}

}  // namespace

template <WideScalar W>
OrthoLadder<W>::OrthoLadder(Index max_cols, double epsilon)
    : epsilon_(epsilon),
      host_(1),
      gram_(*host_, max_cols, max_cols),
      factor_(*host_, max_cols, max_cols),
      coefficients_(*host_, max_cols, max_cols),
      theta_(*host_, max_cols, 1),
      noise_(static_cast<std::size_t>(max_cols)),
      next_noise_(static_cast<std::size_t>(max_cols)) {
  kept_.reserve(noise_.size());
  scale_.reserve(noise_.size());
}

template <WideScalar W>
void OrthoLadder<W>::begin(Index cols) {
  cols_ = cols;
  first_ = true;
  shifted_ = false;
  smallest_eigenvalue_ = 0;
  std::fill(noise_.begin(), noise_.end(), 0.0);
}

template <WideScalar W>
bool OrthoLadder<W>::orthonormal() {
  const double tolerance = 4 * static_cast<double>(cols_) * epsilon_;
  const SmallOf<W> G = gram();
  for (Index j = 0; j < cols_; ++j) {
    for (Index i = 0; i <= j; ++i) {
      if (!(std::abs(G(i, j) - (i == j ? 1.0 : 0.0)) <= tolerance)) return false;
    }
  }
  return true;
}

/// Selects the columns that hold more than rounding. Columns are scaled in the first round only. In
/// later rounds, a short column is one that was nearly dependent on the others, and scaling it
/// would give its rounding the weight of theirs.
template <WideScalar W>
void OrthoLadder<W>::keep_columns() {
  const SmallOf<W> G = gram();
  kept_.clear();
  scale_.clear();
  for (Index j = 0; j < cols_; ++j) {
    const double norm = std::sqrt(std::max(real_part(G(j, j)), 0.0));
    const double noise = noise_[static_cast<std::size_t>(j)];
    if (norm == 0 || noise > kNoiseLimit * norm) continue;
    const double scale = first_ ? 1 / norm : 1;
    // Multiplying by the coefficients sums over all columns, which adds a rounding of m·ε.
    noise_[kept_.size()] = std::hypot(noise * scale, static_cast<double>(cols_) * epsilon_);
    kept_.push_back(j);
    scale_.push_back(scale);
  }
}

template <WideScalar W>
OrthoMethod OrthoLadder<W>::decide(const std::function<Index()>& rows) {
  keep_columns();
  const Index k = std::ssize(kept_);
  const double m = static_cast<double>(k);
  const SmallOf<W> F = factor_.view(k, k);
  result_cols_ = k;
  // At a smaller diagonal ratio, the last pivots may consist of rounding of G alone.
  const double trusted = 10 * std::sqrt(m * kGramEpsilon);
  if (factor_cholesky(0) > trusted && !pivots_hold_noise()) {
    invert_upper(*host_, F);
    return squared_norm(F) <= kOrthonormalGrowth * m ? OrthoMethod::cholqr : OrthoMethod::cholqr2;
  }
  // The shift of Fukaya et al. with ‖X‖² ≤ trace(G) = m, and with √n in place of n, because sums
  // over rows are split into chunks and their errors are random. A shift helps only if it exceeds
  // the rounding in X.
  const double n = static_cast<double>(rows());
  const double shift = 11 * (m * std::sqrt(n) + m * (m + 1)) * 0.5 * kGramEpsilon * m;
  if (!shifted_ && m * epsilon_ < kNoiseLimit * std::sqrt(shift) && factor_cholesky(shift) > 0) {
    shifted_ = true;
    invert_upper(*host_, F);
    return OrthoMethod::shifted_cholqr3;
  }
  shifted_ = true;
  factor_eigenvectors();
  return OrthoMethod::svqb;
}

/// factor_ ← the Gram matrix of the kept columns after scaling, plus shift·I.
template <WideScalar W>
void OrthoLadder<W>::scale_gram(double shift) {
  const SmallOf<W> G = gram();
  const SmallOf<W> F = factor_.view(std::ssize(kept_), std::ssize(kept_));
  for (Index q = 0; q < F.cols; ++q) {
    for (Index p = 0; p < F.rows; ++p) {
      F(p, q) = G(kept_[static_cast<std::size_t>(p)], kept_[static_cast<std::size_t>(q)]) *
                scale_[static_cast<std::size_t>(p)] * scale_[static_cast<std::size_t>(q)];
    }
    F(q, q) += shift;
  }
}

/// factor_ ← the Cholesky factor R of G + shift·I. Returns its diagonal ratio, 0 if there is no R.
template <WideScalar W>
double OrthoLadder<W>::factor_cholesky(double shift) {
  scale_gram(shift);
  return cholesky(*host_, factor_.view(std::ssize(kept_), std::ssize(kept_))).diagonal_ratio;
}

/// Whether, for some kept column, the part outside the span of the columns before it may be
/// rounding alone, judged by the diagonal of R in factor_.
template <WideScalar W>
bool OrthoLadder<W>::pivots_hold_noise() {
  const SmallOf<W> R = factor_.view(std::ssize(kept_), std::ssize(kept_));
  for (Index p = 0; p < R.cols; ++p) {
    if (noise_[static_cast<std::size_t>(p)] > kNoiseLimit * real_part(R(p, p))) return true;
  }
  return false;
}

/// factor_ ← Z max(Θ, floor)^(-1/2) of G = ZΘZᵀ, largest θ first, without the columns that consist
/// of rounding.
template <WideScalar W>
void OrthoLadder<W>::factor_eigenvectors() {
  scale_gram(0);
  const Index k = std::ssize(kept_);
  const SmallOf<W> F = factor_.view(k, k);
  const SmallOf<double> theta = theta_.view(k, 1);
  eigensolver_.compute(*host_, F, theta, F);
  if (first_) smallest_eigenvalue_ = theta(0, 0);
  for (Index j = 0; j < k / 2; ++j) {
    std::swap(theta(j, 0), theta(k - 1 - j, 0));
    std::swap_ranges(&F(0, j), &F(0, j) + k, &F(0, k - 1 - j));
  }
  const double floor = 10 * static_cast<double>(k) * kGramEpsilon * theta(0, 0);
  result_cols_ = 0;
  for (Index j = 0; j < k; ++j) {
    const double size = std::sqrt(std::max(theta(j, 0), floor));
    if (first_ && coefficient_noise(j) > kNoiseLimit * size) continue;
    for (Index i = 0; i < k; ++i) F(i, result_cols_) = F(i, j) / size;
    ++result_cols_;
  }
}

/// The rounding that the kept columns contribute to their product with column j of factor_.
template <WideScalar W>
double OrthoLadder<W>::coefficient_noise(Index j) {
  const SmallOf<W> F = factor_.view(std::ssize(kept_), j + 1);
  double sum = 0;
  for (Index p = 0; p < F.rows; ++p) {
    sum += squared(noise_[static_cast<std::size_t>(p)] * F(p, j));
  }
  return std::sqrt(sum);
}

template <WideScalar W>
ConstSmallView<W, HostSpace> OrthoLadder<W>::advance() {
  const SmallOf<W> F = factor_.view(std::ssize(kept_), result_cols_);
  const SmallOf<W> M = coefficients_.view(cols_, result_cols_);
  std::fill_n(M.data, M.rows * M.cols, W{0});
  for (Index q = 0; q < M.cols; ++q) {
    for (Index p = 0; p < F.rows; ++p) {
      M(kept_[static_cast<std::size_t>(p)], q) = scale_[static_cast<std::size_t>(p)] * F(p, q);
    }
    next_noise_[static_cast<std::size_t>(q)] = coefficient_noise(q);
  }
  std::swap(noise_, next_noise_);
  cols_ = result_cols_;
  first_ = false;
  return M;
}

template class OrthoLadder<double>;
template class OrthoLadder<std::complex<double>>;

}  // namespace heddle
