#pragma once

#include <gtest/gtest.h>

#include <Eigen/Core>
#include <cmath>
#include <cstdlib>
#include <heddle/linalg/small/small_dense.hpp>
#include <limits>
#include <support/decompositions.hpp>

#include "support/random_block.hpp"
#include "support/tolerance.hpp"

/// What `cholesky_qr_coefficients` owes on every backend; `Ctx` is a context or stands for one.
namespace heddle::test {

/// An orthonormal Q, and an X with parts inside and outside of its span.
struct DenseBlocks {
  Eigen::MatrixXd Q;
  Eigen::MatrixXd X;
};

inline DenseBlocks dense_blocks(Index basis, Index order) {
  using Matrix = Eigen::MatrixXd;
  const Index n = 2 * (basis + order);
  std::srand(5);
  Matrix Q(n, basis);
  if (basis > 0) {
    Q = orthogonal_factors(Matrix::Random(n, basis)).Q;
  }
  const Matrix X = Matrix::Random(n, order) + 4 * Q * Matrix::Random(basis, order);
  return {Q, X};
}

/// T = [QᵀX; XᵀX].
inline RandomSmall products(const DenseBlocks& blocks) {
  const Index basis = blocks.Q.cols();
  const Index order = blocks.X.cols();
  RandomSmall T(basis + order, order, 6);
  Eigen::Map<Eigen::MatrixXd> map(T.data().data(), basis + order, order);
  map.topRows(basis) = blocks.Q.transpose() * blocks.X;
  map.bottomRows(order) = blocks.X.transpose() * blocks.X;
  return T;
}

/// The status that the blocks themselves give, without products that cancel.
inline Eigen::Vector4d dense_status(const DenseBlocks& blocks) {
  using Matrix = Eigen::MatrixXd;
  const Matrix rest = blocks.X - blocks.Q * (blocks.Q.transpose() * blocks.X);
  const Matrix R = orthogonal_factors(rest.colwise().normalized()).R;
  const Matrix inverse = test::inverse(R);
  const Eigen::ArrayXd diagonal = R.diagonal().array().abs();
  const Eigen::ArrayXd squares = rest.colwise().squaredNorm().transpose().array();
  const Eigen::ArrayXd whole = blocks.X.colwise().squaredNorm().transpose().array();
  Eigen::Vector4d status;
  status(CholeskyQrStatus::diagonal_ratio) = diagonal.minCoeff() / diagonal.maxCoeff();
  status(CholeskyQrStatus::growth) = inverse.squaredNorm() / static_cast<double>(R.cols());
  status(CholeskyQrStatus::least_square) = squares.minCoeff();
  status(CholeskyQrStatus::remaining) = (squares / whole).minCoeff();
  return status;
}

/// The largest error to expect in what the coefficients of `blocks` give.
inline double coefficient_error(const DenseBlocks& blocks, const Eigen::Vector4d& status) {
  const double condition = status(CholeskyQrStatus::growth) * static_cast<double>(blocks.X.cols()) /
                           status(CholeskyQrStatus::remaining);
  return tolerance<double>(condition, static_cast<double>(blocks.X.rows()));
}

/// The columns of [Q X] N are orthonormal and orthogonal to Q, and the status is that of the
/// blocks.
template <class Ctx>
void expect_orthonormal_coefficients(Ctx&& context, Index basis, Index order) {
  SCOPED_TRACE(::testing::Message() << "order " << order << ", basis " << basis);
  const DenseBlocks blocks = dense_blocks(basis, order);
  RandomSmall T = products(blocks);
  RandomSmall N(basis + order, order, 7);
  RandomSmall status(CholeskyQrStatus::rows, 1, 8);
  cholesky_qr_coefficients(context, T.view(), N.view(), status.view());
  const Eigen::Vector4d expected = dense_status(blocks);
  const double error = coefficient_error(blocks, expected);
  for (Index k = 0; k < CholeskyQrStatus::rows; ++k) {
    EXPECT_NEAR(status.view()(k, 0) / expected(k), 1, error) << "row " << k << " of the status";
  }
  const Eigen::Map<Eigen::MatrixXd> map(N.data().data(), basis + order, order);
  for (Index j = 0; j < order; ++j) {
    for (Index i = j + 1; i < order; ++i) ASSERT_EQ(map(basis + i, j), 0);
  }
  const Eigen::MatrixXd Y = blocks.Q * map.topRows(basis) + blocks.X * map.bottomRows(order);
  EXPECT_LE((Y.transpose() * Y - Eigen::MatrixXd::Identity(order, order)).cwiseAbs().maxCoeff(),
            error);
  if (basis > 0) {
    EXPECT_LE((blocks.Q.transpose() * Y).cwiseAbs().maxCoeff(), error);
  }
}

/// Columns of X times factors from 1e−96 to 1e96 give the same, except for rows of M divided by
/// them. The factors are powers of 2, which round nothing.
template <class Ctx>
void expect_lengths_cancel(Ctx&& context, Index basis, Index order) {
  SCOPED_TRACE(::testing::Message() << "order " << order << ", basis " << basis);
  const auto exponent = [](Index j) { return static_cast<int>(j % 5) * 160 - 320; };
  RandomSmall T = products(dense_blocks(basis, order));
  RandomSmall N(basis + order, order, 7);
  RandomSmall N_scaled(basis + order, order, 8);
  RandomSmall status(CholeskyQrStatus::rows, 1, 9);
  RandomSmall status_scaled(CholeskyQrStatus::rows, 1, 10);
  cholesky_qr_coefficients(context, T.view(), N.view(), status.view());
  for (Index j = 0; j < order; ++j) {
    for (Index i = 0; i < basis + order; ++i) {
      const int row_exponent = i < basis ? 0 : exponent(i - basis);
      T.view()(i, j) = std::ldexp(T.view()(i, j), exponent(j) + row_exponent);
    }
  }
  cholesky_qr_coefficients(context, T.view(), N_scaled.view(), status_scaled.view());
  for (Index j = 0; j < order; ++j) {
    for (Index i = 0; i < basis + order; ++i) {
      const int row_exponent = i < basis ? 0 : exponent(i - basis);
      ASSERT_EQ(std::ldexp(N_scaled.view()(i, j), row_exponent), N.view()(i, j));
    }
  }
  for (const Index row :
       {CholeskyQrStatus::diagonal_ratio, CholeskyQrStatus::growth, CholeskyQrStatus::remaining}) {
    EXPECT_EQ(status_scaled.view()(row, 0), status.view()(row, 0));
  }
}

/// N = 0 and a ratio of 0 where G − CᵀC has a pivot that is not positive.
template <class Ctx>
void expect_no_coefficients(Ctx&& context, Index basis, Index order, double bad) {
  RandomSmall T = products(dense_blocks(basis, order));
  T.view()(basis + order / 2, order / 2) = bad;
  RandomSmall N(basis + order, order, 7);
  RandomSmall status(CholeskyQrStatus::rows, 1, 8);
  cholesky_qr_coefficients(context, T.view(), N.view(), status.view());
  EXPECT_EQ(status.view()(CholeskyQrStatus::diagonal_ratio, 0), 0) << bad;
  EXPECT_EQ(status.view()(CholeskyQrStatus::growth, 0), std::numeric_limits<double>::infinity());
  for (const double entry : N.data()) ASSERT_EQ(entry, 0) << bad;
}

}  // namespace heddle::test
