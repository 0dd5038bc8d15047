#pragma once

#include <gtest/gtest.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <heddle/linalg/orthogonal/orthogonalize.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <initializer_list>
#include <limits>
#include <support/decompositions.hpp>
#include <vector>

#include "support/random_block.hpp"
#include "support/tolerance.hpp"

/// Blocks with their images under a simple B, and whether they are orthonormal and span what they
/// should, in long double.
namespace heddle::test {

template <class T>
double eps() {
  return static_cast<double>(std::numeric_limits<T>::epsilon());
}

/// A symmetric tridiagonal B: diagonal d(i), `coupling` beside it.
struct Tridiagonal {
  std::function<double(Index)> diagonal;
  double coupling = 0;

  /// Entry (i, j) of B X.
  template <class T>
  T row(ConstBlockView<T, HostSpace> X, Index i, Index j) const {
    long double sum = static_cast<long double>(diagonal(i)) * X(i, j);
    if (i > 0) sum += static_cast<long double>(coupling) * X(i - 1, j);
    if (i + 1 < X.rows()) sum += static_cast<long double>(coupling) * X(i + 1, j);
    return static_cast<T>(sum);
  }
};

/// Linear elements on a line, up to the width of the mesh.
inline const Tridiagonal kMass{[](Index) { return 4.0 / 6; }, 1.0 / 6};

/// X and its image BX; B = I if `identity`.
template <class T>
struct ImagedBlock {
  RandomBlock<T> X;
  RandomBlock<T> image;
  bool identity;

  BlockView<T, HostSpace> BX() { return identity ? X.view() : image.view(); }
};

template <class T>
void refresh_image(ImagedBlock<T>& block, const Tridiagonal& B) {
  const auto X = block.X.view();
  for (Index i = 0; i < X.rows(); ++i) {
    for (Index j = 0; j < X.cols(); ++j) block.image.view()(i, j) = B.row<T>(X, i, j);
  }
}

/// X with its image; B = I if `B` is null.
template <class T>
ImagedBlock<T> with_image(RandomBlock<T> X, const Tridiagonal* B) {
  ImagedBlock<T> block{X, X, B == nullptr};
  if (B != nullptr) refresh_image(block, *B);
  return block;
}

/// Column a of X times column b of Y.
template <class T>
long double dot(const ConstBlockView<T, HostSpace>& X, Index a,
                const ConstBlockView<T, HostSpace>& Y, Index b) {
  long double sum = 0;
  for (Index i = 0; i < X.rows(); ++i) sum += static_cast<long double>(X(i, a)) * Y(i, b);
  return sum;
}

/// XᵀBX = I to rounding.
template <class T>
void expect_orthonormal_columns(const ConstBlockView<T, HostSpace>& X,
                                const ConstBlockView<T, HostSpace>& BX) {
  const double width = static_cast<double>(std::max<Index>(X.cols(), 1));
  for (Index a = 0; a < X.cols(); ++a) {
    for (Index b = 0; b < X.cols(); ++b) {
      ASSERT_NEAR(static_cast<double>(dot(X, a, BX, b)), a == b, 10 * width * eps<T>())
          << "columns " << a << " and " << b;
    }
  }
}

/// The first `rank` columns are orthonormal, and everything beyond them is zero.
template <class T>
void expect_orthonormal(ImagedBlock<T>& block, Index rank) {
  const auto X = block.X.view();
  const auto BX = block.BX();
  expect_orthonormal_columns<T>(X.columns(0, rank), BX.columns(0, rank));
  for (Index i = 0; i < X.rows(); ++i) {
    for (Index j = rank; j < X.cols(); ++j) {
      ASSERT_EQ(X(i, j), 0);
      ASSERT_EQ(BX(i, j), 0);
    }
  }
}

/// Column j of X, scaled to norm 1, lies in the span of `bases`, which are orthonormal together.
template <class T>
void expect_in_span(const ConstBlockView<T, HostSpace>& X, Index j,
                    std::initializer_list<Basis<T, HostSpace>> bases, double slack = 1) {
  const long double norm = std::sqrt(dot(X, j, X, j));
  if (norm == 0) return;
  std::vector<long double> x(static_cast<std::size_t>(X.rows()));
  Index width = 0;
  for (Index i = 0; i < X.rows(); ++i) x[static_cast<std::size_t>(i)] = X(i, j) / norm;
  for (const auto& basis : bases) {
    width += basis.Q.cols();
    for (Index q = 0; q < basis.Q.cols(); ++q) {
      long double share = 0;
      for (Index i = 0; i < X.rows(); ++i) share += basis.BQ(i, q) * x[static_cast<std::size_t>(i)];
      for (Index i = 0; i < X.rows(); ++i) x[static_cast<std::size_t>(i)] -= basis.Q(i, q) * share;
    }
  }
  long double squares = 0;
  for (const long double rest : x) squares += rest * rest;
  ASSERT_LE(static_cast<double>(std::sqrt(squares)),
            slack * tolerance<T>(static_cast<double>(std::max(width, X.cols())),
                                 static_cast<double>(X.rows())))
      << "column " << j;
}

/// Every column of `before` lies in the span of the first `rank` columns.
template <class T>
void expect_span(RandomBlock<T>& before, ImagedBlock<T>& block, Index rank, double slack = 1) {
  for (Index j = 0; j < before.view().cols(); ++j) {
    expect_in_span<T>(before.view(), j,
                      {{block.X.view().columns(0, rank), block.BX().columns(0, rank)}}, slack);
  }
}

/// n×m with singular values from 1 down to 1/condition, evenly in the logarithm.
template <class T>
RandomBlock<T> conditioned(Index n, Index m, double condition) {
  using Matrix = Eigen::MatrixXd;
  std::srand(7);
  const Matrix U = orthogonal_factors(Matrix::Random(n, m)).Q;
  const Matrix V = orthogonal_factors(Matrix::Random(m, m)).Q;
  Eigen::VectorXd sigma(m);
  for (Index j = 0; j < m; ++j) {
    sigma(j) = std::pow(condition, -static_cast<double>(j) / static_cast<double>(m - 1));
  }
  const Matrix A = U * sigma.asDiagonal() * V.transpose();
  RandomBlock<T> X(n, m, m + 2, 1);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < m; ++j) X.view()(i, j) = static_cast<T>(A(i, j));
  }
  return X;
}

}  // namespace heddle::test
