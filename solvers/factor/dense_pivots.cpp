#include <algorithm>
#include <cmath>
#include <heddle/solvers/factor/dense_pivots.hpp>
#include <utility>

namespace heddle::detail {
namespace {

/// (1 + √17)/8, which bounds the growth of entries.
constexpr double kBunchKaufman = 0.6403882032022076;

/// A pivot below this is 0 to rounding, in a matrix with entries near 1.
constexpr double kZeroPivot = 1e-14;

/// The lower triangle of a symmetric block by columns.
struct Lower {
  double* data;
  Index ld;

  double& operator()(Index i, Index j) const noexcept {
    return i >= j ? data[j * ld + i] : data[i * ld + j];
  }
};

/// Exchanges rows and columns i and j > i of the part that is not factored, and rows of L.
void exchange(const Lower& W, Index size, Index i, Index j, DensePivots& pivots) {
  if (i == j) return;
  for (Index k = 0; k < size; ++k) {
    if (k == i || k == j) continue;
    if (k < i) {
      std::swap(W.data[k * W.ld + i], W.data[k * W.ld + j]);
    } else {
      std::swap(W(i, k), W(j, k));
    }
  }
  std::swap(W(i, i), W(j, j));
  std::swap(pivots.from[i], pivots.from[j]);
}

/// The row of the largest |entry| of column k among rows `first` … size − 1, except row k.
std::pair<Index, double> largest(const Lower& W, Index size, Index first, Index k) {
  std::pair<Index, double> found{k, 0};
  for (Index i = first; i < size; ++i) {
    if (i != k && std::abs(W(i, k)) > found.second) found = {i, std::abs(W(i, k))};
  }
  return found;
}

/// Moves the next pivot to row k, and returns its number of rows.
int choose(const Lower& W, Index size, Index k, DensePivots& pivots) {
  const double own = std::abs(W(k, k));
  const auto [r, column] = largest(W, size, k, k);
  if (column == 0 || own >= kBunchKaufman * column) return 1;
  const double row = largest(W, size, k, r).second;
  if (own * row >= kBunchKaufman * column * column) return 1;
  if (std::abs(W(r, r)) >= kBunchKaufman * row) {
    exchange(W, size, k, r, pivots);
    return 1;
  }
  exchange(W, size, k + 1, r, pivots);
  return 2;
}

void eliminate_one(const Lower& W, Index size, Index k, DensePivots& pivots) {
  double& pivot = W(k, k);
  if (!(std::abs(pivot) > kZeroPivot)) {
    pivot = std::copysign(kZeroPivot, pivot);
    pivots.replaced = true;
  }
  pivots.diagonal[k] = pivot;
  pivots.below[k] = 0;
  if (pivot < 0) ++pivots.negative;
  double* L = W.data + k * W.ld;
  for (Index j = k + 1; j < size; ++j) {
    const double factor = L[j] / pivot;
    double* column = W.data + j * W.ld;
    for (Index i = j; i < size; ++i) column[i] -= factor * L[i];
  }
  for (Index i = k + 1; i < size; ++i) L[i] /= pivot;
}

void eliminate_two(const Lower& W, Index size, Index k, DensePivots& pivots) {
  const double a = W(k, k), b = W(k + 1, k), d = W(k + 1, k + 1);
  const double determinant = a * d - b * b;  // negative by the choice of the pivot
  pivots.diagonal[k] = a;
  pivots.diagonal[k + 1] = d;
  pivots.below[k] = b;
  pivots.below[k + 1] = 0;
  ++pivots.negative;
  double* first = W.data + k * W.ld;
  double* second = W.data + (k + 1) * W.ld;
  for (Index j = k + 2; j < size; ++j) {
    const double x = (d * first[j] - b * second[j]) / determinant;
    const double y = (a * second[j] - b * first[j]) / determinant;
    double* column = W.data + j * W.ld;
    for (Index i = j; i < size; ++i) column[i] -= x * first[i] + y * second[i];
    // Row j of these columns is not needed any more.
    first[j] = x;
    second[j] = y;
  }
  first[k + 1] = 0;
}

}  // namespace

void factor_dense(double* W, Index size, Index ld, DensePivots& pivots) noexcept {
  pivots.size = size;
  pivots.negative = 0;
  pivots.replaced = false;
  for (Index k = 0; k < size; ++k) pivots.from[k] = static_cast<int>(k);
  const Lower lower{W, ld};
  for (Index k = 0; k < size;) {
    const int rows = choose(lower, size, k, pivots);
    if (rows == 1) {
      eliminate_one(lower, size, k, pivots);
    } else {
      eliminate_two(lower, size, k, pivots);
    }
    k += rows;
  }
}

void DensePivots::divide(double* Y, Index columns) const noexcept {
  for (Index k = 0; k < size; ++k) {
    double* y = Y + k * columns;
    if (below[k] == 0) {
      for (Index c = 0; c < columns; ++c) y[c] /= diagonal[k];
      continue;
    }
    const double a = diagonal[k], b = below[k], d = diagonal[k + 1];
    const double determinant = a * d - b * b;
    for (Index c = 0; c < columns; ++c) {
      const double first = y[c], second = y[columns + c];
      y[c] = (d * first - b * second) / determinant;
      y[columns + c] = (a * second - b * first) / determinant;
    }
    ++k;
  }
}

}  // namespace heddle::detail
