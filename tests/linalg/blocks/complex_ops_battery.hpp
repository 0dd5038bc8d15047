#pragma once

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/blocks/row_maxima.hpp>
#include <heddle/linalg/data/multivector.hpp>
#include <heddle/linalg/small/small_dense.hpp>
#include <utility>
#include <vector>

/// The tests that the operations on complex blocks and small matrices pass on every backend;
/// `Backend` as in the battery of real blocks. Operands lie in host memory.
namespace heddle {
namespace {

using Complex = std::complex<double>;
using Dense = Eigen::Matrix<Complex, Eigen::Dynamic, Eigen::Dynamic>;
using Rows = Eigen::Matrix<Complex, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Small = SmallView<Complex, HostSpace>;

Dense dense(ConstBlockView<Complex, HostSpace> X) {
  return Eigen::Map<const Rows, 0, Eigen::OuterStride<>>(X.data(), X.rows(), X.cols(),
                                                         Eigen::OuterStride<>(X.ld()));
}
Small small(Dense& M) { return {M.data(), M.rows(), M.cols(), M.rows()}; }

MultiVector<Complex, HostSpace> random_block(HostContext& context, Index n, Index b,
                                             std::uint64_t stream) {
  MultiVector<Complex, HostSpace> X(context, n, b);
  fill_random<Complex>(context, 7, stream, X.view());
  return X;
}

constexpr Index kLength = 1300;
const std::vector<std::pair<Index, Index>> kWidths = {{1, 1}, {5, 3}, {8, 16}, {1, 7}, {40, 70}};

struct Operands {
  Operands(Index a, Index b)
      : X(random_block(host, kLength, a, 1)),
        Y(random_block(host, kLength, b, 2)),
        Z(random_block(host, kLength, b, 3)) {}

  HostContext host{1};
  MultiVector<Complex, HostSpace> X, Y, Z;
};

template <class Backend>
class ComplexBlocks : public Backend::Fixture {};

TYPED_TEST_SUITE_P(ComplexBlocks);

TYPED_TEST_P(ComplexBlocks, GramIsTheAdjointTimesTheBlock) {
  for (const auto& [a, b] : kWidths) {
    Operands operands(a, b);
    auto& [host, X, Y, Z] = operands;
    Dense G(a, b), H(a, b), S(a, a);
    gram<Complex>(this->on(), X.view(), Y.view(), small(G), Z.view(), small(H));
    EXPECT_LT((G - dense(X.view()).adjoint() * dense(Y.view())).norm(), 1e-11);
    EXPECT_LT((H - dense(X.view()).adjoint() * dense(Z.view())).norm(), 1e-11);
    gram<Complex>(this->on(), X.view(), X.view(), small(S));
    EXPECT_EQ(S, Dense(S.adjoint()));
  }
}

TYPED_TEST_P(ComplexBlocks, MultiplyAddsAndReturnsNorms) {
  for (const auto& [a, b] : kWidths) {
    Operands operands(a, b);
    auto& [host, X, Y, Z] = operands;
    Dense C = Dense::Random(a, b);
    const Dense expected = 0.5 * dense(X.view()) * C - 2.0 * dense(Y.view());
    Eigen::VectorXd norms(b);
    multiply<Complex>(this->on(), 0.5, X.view(), small(C), -2, Y.view(), {norms.data(), b, 1, b});
    EXPECT_LT((dense(Y.view()) - expected).norm(), 1e-12 * expected.norm());
    EXPECT_LT((norms - expected.colwise().norm().transpose()).norm(), 1e-12 * norms.norm());
  }
}

TYPED_TEST_P(ComplexBlocks, ResidualsDotsAndScaling) {
  for (const auto& [a, b] : kWidths) {
    Operands operands(a, b);
    auto& [host, X, Y, Z] = operands;
    Eigen::VectorXd theta = Eigen::VectorXd::Random(b), norms(b), dots(b);
    const Dense R = dense(Y.view()) - dense(Z.view()) * theta.cast<Complex>().asDiagonal();
    column_dots<Complex>(this->on(), Y.view(), Z.view(), {dots.data(), b, 1, b});
    for (Index j = 0; j < b; ++j) {
      EXPECT_NEAR(dots(j), dense(Y.view()).col(j).dot(dense(Z.view()).col(j)).real(), 1e-11);
    }
    const Eigen::VectorXd factors = theta;
    residual<Complex>(this->on(), Y.view(), Z.view(), {theta.data(), b, 1, b}, Y.view(),
                      {norms.data(), b, 1, b});
    EXPECT_LT((dense(Y.view()) - R).norm(), 1e-13 * R.norm());
    EXPECT_LT((norms - R.colwise().norm().transpose()).norm(), 1e-12 * norms.norm());
    scale_columns<Complex>(this->on(), {factors.data(), b, 1, b}, Y.view());
    EXPECT_LT((dense(Y.view()) - R * factors.cast<Complex>().asDiagonal()).norm(),
              1e-13 * R.norm());
  }
}

TYPED_TEST_P(ComplexBlocks, RowsAndWeights) {
  for (const auto& [a, b] : kWidths) {
    Operands operands(a, b);
    auto& [host, X, Y, Z] = operands;
    MultiVector<Complex, HostSpace> d = random_block(host, kLength, 1, 9);
    Eigen::VectorXd sums(b);
    weighted_squares<Complex>(this->on(), d.view(), Y.view(), {sums.data(), b, 1, b});
    const Dense before = dense(Y.view()), D = dense(d.view());
    for (Index j = 0; j < b; ++j) {
      EXPECT_NEAR(sums(j), before.col(j).cwiseAbs2().dot(D.col(0).real()), 1e-11);
    }
    scale_rows<Complex>(this->on(), d.view(), Y.view(), Z.view());
    EXPECT_LT((dense(Z.view()) - D.col(0).asDiagonal() * before).norm(), 1e-12);
    row_maxima<Complex>(this->on(), Y.view(), -0.5, d.view());
    const Eigen::VectorXd largest = before.cwiseAbs().rowwise().maxCoeff();
    EXPECT_LT((dense(d.view()) - largest.cwiseSqrt().cwiseInverse()).norm(), 1e-10);
    axpby<Complex>(this->on(), 2, Y.view(), -1, Z.view());
    EXPECT_LT((dense(Z.view()) - 2 * before + D.col(0).asDiagonal() * before).norm(), 1e-12);
  }
}

TYPED_TEST_P(ComplexBlocks, IdentitiesReciprocalsAndCopies) {
  HostContext host(1);
  MultiVector<Complex, HostSpace> X = random_block(host, 40, 5, 1),
                                  Y = random_block(host, 40, 5, 2);
  reciprocals<Complex>(this->on(), X.view(), Y.view());
  EXPECT_LT((dense(X.view()).cwiseProduct(dense(Y.view())) - Dense::Ones(40, 5)).norm(), 1e-13);
  copy<Complex>(this->on(), X.view(), Y.view());
  EXPECT_EQ(dense(X.view()), dense(Y.view()));
  set_identity<Complex>(this->on(), Y.view(), 2);
  Dense identity = Dense::Zero(40, 5);
  for (Index i = 0; i < 3; ++i) identity(i, i + 2) = 1;
  EXPECT_EQ(dense(Y.view()), identity);
  fill_random<Complex>(this->on(), 7, 1, Y.view());
  EXPECT_EQ(dense(X.view()), dense(Y.view()));
  set_zero<Complex>(this->on(), Y.view());
  EXPECT_EQ(dense(Y.view()), Dense::Zero(40, 5));
}

TYPED_TEST_P(ComplexBlocks, SmallProductsTakeAdjoints) {
  Dense A = Dense::Random(4, 6), B = Dense::Random(5, 4), C = Dense::Random(6, 5);
  const Dense expected = 2.0 * A.adjoint() * B.adjoint() + 0.5 * C;
  small_multiply(this->on(), 2, small(A), true, small(B), true, 0.5, small(C));
  EXPECT_LT((C - expected).norm(), 1e-14 * expected.norm());
  EXPECT_ANY_THROW(small_multiply(this->on(), 1, small(A), false, small(B), false, 0, small(C)));
}

/// [Q X] N is orthonormal and orthogonal to Q, also where the small matrix is large for a GPU.
TYPED_TEST_P(ComplexBlocks, CoefficientsOfCholeskyQr) {
  for (const auto& [c, b] : std::vector<std::pair<Index, Index>>{{0, 1}, {0, 5}, {7, 5}, {3, 90}}) {
    const Dense all = Dense::Random(400, c + b);
    const Dense Q = Dense(all.leftCols(c)).householderQr().householderQ() * Dense::Identity(400, c);
    const Dense X = all.rightCols(b);
    Dense T(c + b, b), N(c + b, b), basis(400, c + b);
    T << Q.adjoint() * X, X.adjoint() * X;
    basis << Q, X;
    Eigen::VectorXd status(CholeskyQrStatus::rows);
    const Index rows = CholeskyQrStatus::rows;
    cholesky_qr_coefficients(this->on(), small(T), small(N),
                             SmallView<double, HostSpace>{status.data(), rows, 1, rows});
    EXPECT_GT(status(CholeskyQrStatus::diagonal_ratio), 0);
    const Dense P = basis * N;
    EXPECT_LT((P.adjoint() * P - Dense::Identity(b, b)).norm(), 1e-12);
    EXPECT_LT((Q.adjoint() * P).norm(), 1e-12);
    const double square = (X - Q * (Q.adjoint() * X)).colwise().squaredNorm().minCoeff();
    EXPECT_NEAR(status(CholeskyQrStatus::least_square), square, 1e-11 * square);
  }
}

REGISTER_TYPED_TEST_SUITE_P(ComplexBlocks, GramIsTheAdjointTimesTheBlock,
                            MultiplyAddsAndReturnsNorms, ResidualsDotsAndScaling, RowsAndWeights,
                            IdentitiesReciprocalsAndCopies, SmallProductsTakeAdjoints,
                            CoefficientsOfCholeskyQr);

}  // namespace
}  // namespace heddle
