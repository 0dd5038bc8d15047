#include <algorithm>
#include <cmath>
#include <heddle/drivers/inspect/row_grading.hpp>
#include <limits>

namespace heddle::detail {
namespace {

/// From this factor on, a diagonal entry that exceeds all around it is taken for a penalty.
constexpr double kHeld = 1e6;

/// A determinant of order 2 below this share of its terms is rounding.
constexpr double kRoundedDeterminant = 8 * std::numeric_limits<double>::epsilon();

using Stored = CsrView<double, HostSpace>;

/// Calls entry(j, a_ij) for the entries of row i.
template <class Entry>
void for_each_in_row(const Stored& A, Index i, const Entry& entry) {
  for (auto k = A.row_offsets[i]; k < A.row_offsets[i + 1]; ++k) {
    entry(static_cast<Index>(A.columns[k]), A.values[k]);
  }
}

/// The diagonal of A.
std::vector<double> diagonal_of(const Stored& A) {
  std::vector<double> diagonal(static_cast<std::size_t>(A.rows));
  for (Index i = 0; i < A.rows; ++i) {
    for_each_in_row(A, i, [&](Index j, double value) {
      if (j == i) diagonal[static_cast<std::size_t>(i)] += value;
    });
  }
  return diagonal;
}

/// How far below zero the smallest eigenvalue of (A, diag(B)) lies at least, by its principal
/// submatrices of order 2. 0 if these show no negative eigenvalue.
double least_depth(const Stored& A, const std::vector<double>& diagonal,
                   const std::vector<double>& mass) {
  const auto of = [](const std::vector<double>& values, Index i) {
    return values.empty() ? 1 : values[static_cast<std::size_t>(i)];
  };
  double depth = 0;
  for (Index i = 0; i < A.rows; ++i) {
    const double p = of(diagonal, i) / of(mass, i);
    for_each_in_row(A, i, [&](Index j, double value) {
      if (j > i) return;
      const double q = of(diagonal, j) / of(mass, j);
      const double masses = mass.empty() ? 1 : std::sqrt(of(mass, i) * of(mass, j));
      const double coupling = j == i ? 0 : value / masses;
      const double square = coupling * coupling;
      const double rounding = kRoundedDeterminant * square;  // of a singular submatrix
      if (!(std::min(p, q) < 0 || p * q - square < -rounding)) return;
      const double lowest = (p + q) / 2 - std::hypot((p - q) / 2, coupling);
      if (std::isfinite(lowest)) depth = std::max(depth, -lowest);
    });
  }
  return depth;
}

/// a_i without the shift.
double row_size(const Stored& A, Index i, const std::vector<double>& diagonal) {
  double size = std::abs(diagonal[static_cast<std::size_t>(i)]);
  for_each_in_row(A, i, [&](Index j, double value) {
    const double entry = std::abs(value);
    const double other = std::abs(diagonal[static_cast<std::size_t>(j)]);
    if (j != i) size = std::max(size, entry * (other > entry ? entry / other : 1));
  });
  return size;
}

/// Whether a penalty holds the unknown of row i.
bool is_held(const Stored& A, Index i, const std::vector<double>& diagonal) {
  double rest = 0;
  for_each_in_row(A, i, [&](Index j, double value) {
    const double other = std::abs(diagonal[static_cast<std::size_t>(j)]);
    if (j != i) rest = std::max(rest + std::abs(value), other);
  });
  return rest > 0 && std::abs(diagonal[static_cast<std::size_t>(i)]) >= kHeld * rest;
}

}  // namespace

RowGrading grading_of(const Stored& A, const Stored& B, bool inside) {
  RowGrading grading;
  grading.exponents.resize(static_cast<std::size_t>(A.rows));
  const std::vector<double> diagonal = diagonal_of(A);
  const std::vector<double> mass = B.rows == 0 ? std::vector<double>() : diagonal_of(B);
  const double depth = inside ? 0 : least_depth(A, diagonal, mass);
  double least = 0;
  double most = 0;
  for (Index i = 0; i < A.rows; ++i) {
    const auto row = static_cast<std::size_t>(i);
    const double own_mass = mass.empty() ? 1 : mass[row];
    const double size = row_size(A, i, diagonal) + depth * own_mass;
    if (!(size > 0) || !std::isfinite(size)) continue;
    grading.exponents[row] = -static_cast<int>(std::lround(std::log2(size) / 2));
    grading.held += is_held(A, i, diagonal) ? 1 : 0;
    const double ratio = size / own_mass;
    if (!std::isfinite(ratio)) continue;  // an unknown without mass
    least = least > 0 ? std::min(least, ratio) : ratio;
    most = std::max(most, ratio);
  }
  grading.least = least;
  if (least > 0) grading.span = most / least;
  return grading;
}

}  // namespace heddle::detail
