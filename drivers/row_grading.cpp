#include <algorithm>
#include <cmath>
#include <heddle/drivers/row_grading.hpp>

namespace heddle::detail {
namespace {

/// From this factor on, a diagonal entry that exceeds all around it is taken for a penalty.
constexpr double kHeld = 1e6;

using Stored = CsrView<double, HostSpace>;

/// Calls entry(j, a_ij) for the entries of row i.
template <class Entry>
void for_each_in_row(const Stored& A, Index i, const Entry& entry) {
  for (auto k = A.row_offsets[i]; k < A.row_offsets[i + 1]; ++k) {
    entry(static_cast<Index>(A.columns[k]), A.values[k]);
  }
}

/// |a_ii| of each row.
std::vector<double> diagonal_sizes(const Stored& A) {
  std::vector<double> diagonal(static_cast<std::size_t>(A.rows));
  for (Index i = 0; i < A.rows; ++i) {
    for_each_in_row(A, i, [&](Index j, double value) {
      if (j == i) diagonal[static_cast<std::size_t>(i)] += std::abs(value);
    });
  }
  return diagonal;
}

/// a_i.
double row_size(const Stored& A, Index i, const std::vector<double>& diagonal) {
  double size = diagonal[static_cast<std::size_t>(i)];
  for_each_in_row(A, i, [&](Index j, double value) {
    const double entry = std::abs(value);
    const double other = diagonal[static_cast<std::size_t>(j)];
    if (j != i) size = std::max(size, entry * (other > entry ? entry / other : 1));
  });
  return size;
}

/// Whether a penalty holds the unknown of row i.
bool is_held(const Stored& A, Index i, const std::vector<double>& diagonal) {
  double rest = 0;
  for_each_in_row(A, i, [&](Index j, double value) {
    if (j != i) rest = std::max(rest + std::abs(value), diagonal[static_cast<std::size_t>(j)]);
  });
  return rest > 0 && diagonal[static_cast<std::size_t>(i)] >= kHeld * rest;
}

}  // namespace

RowGrading grading_of(const Stored& A, const Stored& B) {
  RowGrading grading;
  grading.exponents.resize(static_cast<std::size_t>(A.rows));
  const std::vector<double> diagonal = diagonal_sizes(A);
  const std::vector<double> mass = B.rows == 0 ? std::vector<double>() : diagonal_sizes(B);
  double least = 0;
  double most = 0;
  for (Index i = 0; i < A.rows; ++i) {
    const auto row = static_cast<std::size_t>(i);
    const double size = row_size(A, i, diagonal);
    if (!(size > 0) || !std::isfinite(size)) continue;
    grading.exponents[row] = -static_cast<int>(std::lround(std::log2(size) / 2));
    grading.held += is_held(A, i, diagonal) ? 1 : 0;
    const double ratio = mass.empty() ? size : size / mass[row];
    if (!std::isfinite(ratio)) continue;  // an unknown without mass
    least = least > 0 ? std::min(least, ratio) : ratio;
    most = std::max(most, ratio);
  }
  if (least > 0) grading.span = most / least;
  return grading;
}

}  // namespace heddle::detail
