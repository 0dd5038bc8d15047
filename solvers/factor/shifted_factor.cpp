#include <algorithm>
#include <cmath>
#include <heddle/linalg/base/philox.hpp>
#include <heddle/solvers/factor/shifted_factor.hpp>
#include <limits>
#include <utility>

namespace heddle::detail {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

/// Rounds of scaling. Each takes the largest entries of all rows nearer to 1.
constexpr int kScalings = 3;

/// Random vectors w, from which ‖E‖_F² is estimated as the mean of ‖E w‖².
constexpr Index kProbes = 3;

/// Steps of inverse iteration, each with one vector.
constexpr int kSteps = 5;

/// Steps of power iteration with E (S(A − σB)S + E)⁻¹, each with the random vectors.
constexpr int kContractions = 4;

/// ‖E‖ of a library that pivots, in units of ε‖A − σB‖, if residuals show no more.
constexpr double kPivotedError = 10;

/// From this ‖E‖ on, in the same units, solves are refined by this number of steps.
constexpr double kCoarse = 1e3;
constexpr int kRefinements = 2;

/// From this ratio of entries of S on, rows of A − σB differ by its square, and ‖A‖ no longer says
/// what rounding changes.
constexpr double kGraded = 1e3;

double norm(const std::vector<double>& x) {
  double squares = 0;
  for (const double each : x) squares += each * each;
  return std::sqrt(squares);
}

/// 1 or −1, at random.
double random_sign(Index i, Index probe) {
  const PhiloxBlock block =
      random_block(1, static_cast<std::uint64_t>(probe), static_cast<std::uint64_t>(i));
  return (block.words[0] & 1) != 0 ? 1 : -1;
}

}  // namespace

ShiftedFactor::ShiftedFactor(const CsrView<double, HostSpace>& A,
                             const CsrView<double, HostSpace>& B, double max_bytes,
                             const FactorLibraryRow& library)
    : ShiftedFactor(A, B, library, [&](const CsrView<double, HostSpace>& lower) {
        return library.make(lower, max_bytes);
      }) {}

ShiftedFactor::ShiftedFactor(const CsrView<double, HostSpace>& A,
                             const CsrView<double, HostSpace>& B, const FactorLibraryRow& library,
                             const std::function<std::unique_ptr<SymmetricFactor<double>>(
                                 const CsrView<double, HostSpace>& lower)>& make)
    : library_(library),
      host_(1),
      lower_(lower_triangles(*host_, A, B)),
      values_(static_cast<std::size_t>(lower_.A.nnz())),
      scaling_(static_cast<std::size_t>(A.rows)),
      factor_(make(lower_.A.view())) {}

void ShiftedFactor::shift_values(double sigma) {
  for (std::size_t k = 0; k < values_.size(); ++k) {
    values_[k] = lower_.A.values()[k] - sigma * lower_.B.data()[k];
  }
}

/// Divides rows and columns by the square roots of their largest entries, rounded to powers of 2.
void ShiftedFactor::scale_values() {
  const CsrView<double, HostSpace> pattern = lower_.A.view();
  std::fill(scaling_.begin(), scaling_.end(), 1.0);
  std::vector<double> largest(scaling_.size());
  for (int round = 0; round < kScalings; ++round) {
    std::fill(largest.begin(), largest.end(), 0.0);
    const auto visit = [&](const auto& act) {
      for (Index i = 0; i < pattern.rows; ++i) {
        for (std::int64_t k = pattern.row_offsets[i]; k < pattern.row_offsets[i + 1]; ++k) {
          act(static_cast<std::size_t>(i), static_cast<std::size_t>(pattern.columns[k]),
              values_[static_cast<std::size_t>(k)]);
        }
      }
    };
    visit([&](std::size_t i, std::size_t j, double& value) {
      largest[i] = std::max(largest[i], std::abs(value));
      largest[j] = std::max(largest[j], std::abs(value));
    });
    for (double& each : largest) {
      each = each > 0 && std::isfinite(each) ? std::exp2(std::round(-0.5 * std::log2(each))) : 1;
    }
    visit([&](std::size_t i, std::size_t j, double& value) { value *= largest[i] * largest[j]; });
    for (std::size_t i = 0; i < scaling_.size(); ++i) scaling_[i] *= largest[i];
  }
}

double ShiftedFactor::largest_row_sum() const {
  const CsrView<double, HostSpace> pattern = lower_.A.view();
  std::vector<double> sums(scaling_.size());
  for (Index i = 0; i < pattern.rows; ++i) {
    for (std::int64_t k = pattern.row_offsets[i]; k < pattern.row_offsets[i + 1]; ++k) {
      const double size = std::abs(values_[static_cast<std::size_t>(k)]);
      const auto j = static_cast<std::size_t>(pattern.columns[k]);
      sums[static_cast<std::size_t>(i)] += size;
      if (static_cast<Index>(j) != i) sums[j] += size;
    }
  }
  return *std::max_element(sums.begin(), sums.end());
}

/// y = S(A − σB)S x.
void ShiftedFactor::multiply(const double* x, double* y) const {
  const CsrView<double, HostSpace> pattern = lower_.A.view();
  std::fill_n(y, pattern.rows, 0.0);
  for (Index i = 0; i < pattern.rows; ++i) {
    double sum = 0;
    for (std::int64_t k = pattern.row_offsets[i]; k < pattern.row_offsets[i + 1]; ++k) {
      const Index j = pattern.columns[k];
      const double value = values_[static_cast<std::size_t>(k)];
      sum += value * x[j];
      if (j != i) y[j] += value * x[i];
    }
    y[i] += sum;
  }
}

/// An estimate of ‖E‖_F, rounding of the solves included. For x = S(A − σB)S w with random signs w,
/// a solve finds a y near w, and E y = x − S(A − σB)S y.
double ShiftedFactor::error_of_solves() {
  const auto n = static_cast<Index>(scaling_.size());
  std::vector<double> w(scaling_.size()), x(scaling_.size() * kProbes), product(scaling_.size());
  for (Index j = 0; j < kProbes; ++j) {
    for (Index i = 0; i < n; ++i) w[static_cast<std::size_t>(i)] = random_sign(i, 1 + j);
    multiply(w.data(), x.data() + j * n);
  }
  std::vector<double> y = x;
  factor_->solve(y.data(), kProbes);
  double squares = 0;
  for (Index j = 0; j < kProbes; ++j) {
    multiply(y.data() + j * n, product.data());
    double rest = 0, length = 0;
    for (Index i = 0; i < n; ++i) {
      const double difference =
          x[static_cast<std::size_t>(j * n + i)] - product[static_cast<std::size_t>(i)];
      rest += difference * difference;
      length += y[static_cast<std::size_t>(j * n + i)] * y[static_cast<std::size_t>(j * n + i)];
    }
    squares += static_cast<double>(n) * rest / length;
  }
  return std::isfinite(squares) ? std::sqrt(squares / kProbes)
                                : std::numeric_limits<double>::infinity();
}

/// An estimate of the smallest |eigenvalue| by inverse iteration, which may be too large. Residuals
/// of the solves may raise ‖E‖.
double ShiftedFactor::smallest_eigenvalue() {
  std::vector<double> x(scaling_.size()), y, product(scaling_.size());
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = random_sign(static_cast<Index>(i), 0);
  double smallest = std::numeric_limits<double>::infinity();
  for (int step = 0; step < kSteps; ++step) {
    const double before = norm(x);
    for (double& each : x) each /= before;
    y = x;
    factor_->solve(y.data(), 1);
    const double length = norm(y);
    if (!std::isfinite(length) || length == 0) return 0;
    multiply(y.data(), product.data());
    for (std::size_t i = 0; i < x.size(); ++i) product[i] -= x[i];
    error_ = std::max(error_, norm(product) / length);  // E y = x − S(A − σB)S y
    smallest = std::min(smallest, 1 / length);
    x.swap(y);
  }
  return smallest;
}

/// An estimate of ρ, the spectral radius of E (M + E)⁻¹ for M = S(A − σB)S: the largest growth of
/// random vectors r in steps of r ← r − M (M + E)⁻¹r, which are those of iterative refinement.
double ShiftedFactor::contraction() {
  const auto n = static_cast<Index>(scaling_.size());
  std::vector<double> r(scaling_.size() * kProbes), y, product(scaling_.size());
  for (Index j = 0; j < kProbes; ++j) {
    for (Index i = 0; i < n; ++i) r[static_cast<std::size_t>(j * n + i)] = random_sign(i, 10 + j);
  }
  double largest = 0;
  for (int step = 0; step < kContractions; ++step) {
    y = r;
    factor_->solve(y.data(), kProbes);
    for (Index j = 0; j < kProbes; ++j) {
      multiply(y.data() + j * n, product.data());
      double before = 0, after = 0;
      for (Index i = 0; i < n; ++i) {
        double& each = r[static_cast<std::size_t>(j * n + i)];
        before += each * each;
        each -= product[static_cast<std::size_t>(i)];
        after += each * each;
      }
      if (before == 0) continue;
      if (!std::isfinite(after)) return std::numeric_limits<double>::infinity();
      largest = std::max(largest, std::sqrt(after / before));
    }
  }
  return largest;
}

/// How many times larger than ‖E‖ the smallest |eigenvalue| of M = S(A − σB)S is. ‖E‖ of a library
/// without pivots may be too large a bound where many eigenvalues are small. Then 1/ρ, if that is
/// larger, and not above what rounding of A − σB itself leaves.
double ShiftedFactor::measured_margin(double pivoted, double wanted) {
  const double smallest = smallest_eigenvalue();
  const double margin = smallest / error_;
  if (margin >= wanted || error_ <= pivoted) return margin;
  return std::max(margin, std::min(1 / contraction(), smallest / pivoted));
}

bool ShiftedFactor::set_values(const CsrView<double, HostSpace>& A) {
  if (!detail::set_values(lower_, A)) return false;
  factored_ = false;
  return true;
}

double ShiftedFactor::error_along(const double* x, double epsilon) const noexcept {
  double squares = 0;
  for (std::size_t i = 0; i < scaling_.size(); ++i) {
    const double part = x[i] / scaling_[i];
    squares += part * part;
  }
  return std::max(error_, epsilon) * squares;
}

bool ShiftedFactor::graded() const noexcept {
  const auto [least, most] = std::minmax_element(scaling_.begin(), scaling_.end());
  return *most >= kGraded * *least;
}

bool ShiftedFactor::factor(double sigma, double margin) {
  if (factored_ && sigma == shift_) return margin_ >= margin;
  factored_ = false;
  unstable_ = false;
  shift_values(sigma);
  scale_values();
  const double size = largest_row_sum();
  if (!(size > 0) || !std::isfinite(size)) return false;
  const std::optional<PivotSigns> signs = factor_->factor(values_.data());
  if (!signs) return false;
  const double rounding = kEpsilon * size;
  const double pivoted = kPivotedError * rounding;
  error_ = library_.pivots ? pivoted : std::max(pivoted, error_of_solves());
  unstable_ = !(error_ <= kCoarse * rounding);
  if (!signs->proven) return false;
  margin_ = measured_margin(pivoted, margin);
  if (!(margin_ >= margin)) return false;
  negative_ = signs->negative;
  shift_ = sigma;
  factored_ = true;
  return true;
}

int ShiftedFactor::refinements() const noexcept { return unstable_ ? kRefinements : 0; }

/// X ← (S(A − σB)S)⁻¹X.
void ShiftedFactor::solve_scaled(double* X, Index columns, int steps) {
  const auto n = static_cast<Index>(scaling_.size());
  if (steps > 0) kept_.assign(X, X + n * columns);
  factor_->solve(X, columns);
  rest_.resize(kept_.size());
  for (int step = 0; step < steps; ++step) {
    for (Index j = 0; j < columns; ++j) multiply(X + j * n, rest_.data() + j * n);
    for (std::size_t i = 0; i < rest_.size(); ++i) rest_[i] = kept_[i] - rest_[i];
    factor_->solve(rest_.data(), columns);
    for (std::size_t i = 0; i < rest_.size(); ++i) X[i] += rest_[i];
  }
}

void ShiftedFactor::solve(double* X, Index columns, int refinements) {
  const auto n = static_cast<Index>(scaling_.size());
  const auto scale = [&] {
    for (Index j = 0; j < columns; ++j) {
      for (Index i = 0; i < n; ++i) X[j * n + i] *= scaling_[static_cast<std::size_t>(i)];
    }
  };
  scale();
  solve_scaled(X, columns, std::max(refinements, this->refinements()));
  scale();
}

}  // namespace heddle::detail
