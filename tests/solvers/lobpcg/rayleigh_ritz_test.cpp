#include <gtest/gtest.h>

#include <cmath>
#include <heddle/solvers/lobpcg/rayleigh_ritz.hpp>
#include <limits>
#include <memory>

#include "support/dense.hpp"
#include "support/tolerance.hpp"

namespace heddle {
namespace detail {}
using namespace detail;
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr Index kRows = 60;
constexpr Index kBlock = 5;

/// A pencil with eigenvalues from about −60 to 60 and the basis S = [X P W] of a LOBPCG
/// iteration on it, made by dense algebra in double.
template <class T>
class RayleighRitzTest : public testing::Test {
 protected:
  RayleighRitzTest()
      : ritz_(context_, 3 * kBlock, kBlock), packet_(context_, 18 * kBlock * kBlock) {
    A_ = random(kRows, kRows);
    A_ = 4 * (A_ + A_.transpose()).eval();
    B_ = random(kRows, kRows);
    B_ = MatrixXd::Identity(kRows, kRows) + 0.1 * (B_ * B_.transpose()).eval();
    XP_ = MatrixXd(kRows, 0);
  }

  MatrixXd random(Index rows, Index cols) {
    MultiVector<double, HostSpace> block(context_, rows, cols);
    fill_random<double>(context_, 11, ++streams_, block.view());
    return test::to_dense<double>(block.view());
  }

  /// S ← [X P W] with w new columns, B-orthonormal except for random errors of size `error`.
  void append_random(Index w, double error = 0) {
    MatrixXd W = random(kRows, w);
    for (int sweep = 0; sweep < 2; ++sweep) {
      W -= XP_ * (XP_.transpose() * B_ * W);
      const MatrixXd R = test::cholesky_factor(W.transpose() * B_ * W).transpose();
      W = R.triangularView<Eigen::Upper>().solve<Eigen::OnTheRight>(W);
    }
    W += XP_ * error * random(XP_.cols(), w) + W * error * random(w, w);
    S_.resize(kRows, XP_.cols() + w);
    S_ << XP_, W;
  }

  bool solve(Index x_cols, Index wanted, Index skip = 0, Which which = Which::smallest,
             std::span<const double> errors = {}) {
    const auto S = test::to_block<T>(context_, S_);
    const auto BS = test::to_block<T>(context_, B_ * S_);
    const auto AS = test::to_block<T>(context_, A_ * S_);
    packet_.clear();
    ritz_.project(context_, S.view(), BS.view(), AS.view(), packet_);
    packet_.fetch(context_);
    deviation_ = ritz_.deviation();
    if (!ritz_.solve(context_, x_cols, wanted, skip, which, errors)) return false;
    ritz_.carry_over();
    return true;
  }

  /// [Z₁ C_P] as a dense matrix.
  MatrixXd coefficients() const {
    const ConstSmallView<double, HostSpace> C = ritz_.coefficients();
    MatrixXd dense(C.rows, C.cols);
    for (Index i = 0; i < C.rows; ++i) {
      for (Index j = 0; j < C.cols; ++j) dense(i, j) = C(i, j);
    }
    return dense;
  }

  VectorXd theta() const {
    return Eigen::Map<const VectorXd>(ritz_.theta().data(), std::ssize(ritz_.theta()));
  }

  /// [X P] ← S [Z₁ C_P].
  void update() { XP_ = S_ * coefficients(); }

  /// The Ritz values over the span of S, ascending, whatever its basis.
  VectorXd dense_ritz_values() const {
    return test::eigenvalues(S_.transpose() * A_ * S_, S_.transpose() * B_ * S_);
  }

  /// All that a solve promises of its Ritz pairs and directions.
  void expect_ritz_pairs(const VectorXd& expected) const {
    ASSERT_EQ(theta().size(), expected.size());
    EXPECT_LE((theta() - expected).cwiseAbs().maxCoeff(), rounding());
    const MatrixXd C = coefficients();
    ASSERT_EQ(C.cols(), ritz_.block() + ritz_.directions());
    const MatrixXd XP = S_ * C;
    EXPECT_LE(
        (XP.transpose() * B_ * XP - MatrixXd::Identity(C.cols(), C.cols())).cwiseAbs().maxCoeff(),
        test::tolerance<T>(1, kRows));
    const MatrixXd H = C.transpose() * S_.transpose() * A_ * S_ * C;
    MatrixXd diagonal = H;  // XᵀAX = Θ, XᵀAP = 0, PᵀAP anything
    diagonal.topRows(expected.size()).setZero();
    diagonal.leftCols(expected.size()).setZero();
    diagonal.topLeftCorner(expected.size(), expected.size()) = expected.asDiagonal();
    EXPECT_LE((H - diagonal).cwiseAbs().maxCoeff(), rounding());
  }

  double rounding() const { return test::tolerance<T>(A_.norm(), kRows); }

  HostContext context_{2};
  RayleighRitz<T, HostContext> ritz_;
  Packet<HostContext> packet_;
  MatrixXd A_, B_, XP_, S_;
  double deviation_ = 0;  // of the last step
  std::uint64_t streams_ = 0;
};

using Scalars = testing::Types<float, double>;
TYPED_TEST_SUITE(RayleighRitzTest, Scalars);

TYPED_TEST(RayleighRitzTest, EveryStepSolvesTheDenseProblem) {
  for (const Which which : {Which::smallest, Which::largest}) {
    this->ritz_.reset();
    this->XP_ = MatrixXd(kRows, 0);
    this->append_random(kBlock);
    for (int step = 0; step < 5; ++step) {
      SCOPED_TRACE(step);
      VectorXd expected = this->dense_ritz_values();
      if (which == Which::largest) expected.reverseInPlace();
      ASSERT_TRUE(this->solve(kBlock, kBlock, 0, which));
      EXPECT_EQ(this->ritz_.block(), kBlock);
      EXPECT_EQ(this->ritz_.directions(), step == 0 ? 0 : kBlock);  // none without a P or W
      this->expect_ritz_pairs(expected.head(kBlock));
      this->update();
      this->append_random(kBlock);
    }
  }
}

TYPED_TEST(RayleighRitzTest, DirectionsCompleteTheRitzVectorsToTheOldX) {
  this->append_random(kBlock);
  ASSERT_TRUE(this->solve(kBlock, kBlock));
  this->update();
  this->append_random(kBlock);
  for (const Index skip : {0, 2}) {
    this->ritz_.forget();
    ASSERT_TRUE(this->solve(kBlock, kBlock, skip));
    EXPECT_EQ(this->ritz_.directions(), kBlock - skip);
    const MatrixXd C = this->coefficients();
    MatrixXd PW = C.leftCols(kBlock);  // the P and W parts of the Ritz vectors
    PW.topRows(kBlock).setZero();
    for (Index j = 0; j < kBlock; ++j) {
      const double outside = (PW.col(j) - C * (C.transpose() * PW.col(j))).norm();
      EXPECT_EQ(outside <= test::tolerance<TypeParam>(1, 10), j >= skip) << j << ": " << outside;
    }
  }
}

TYPED_TEST(RayleighRitzTest, WNeedOnlyBeNearlyOrthonormal) {
  this->append_random(kBlock);
  for (int step = 0; step < 4; ++step) {
    SCOPED_TRACE(step);
    const VectorXd expected = this->dense_ritz_values();
    ASSERT_TRUE(this->solve(kBlock, kBlock));
    const MatrixXd G = this->S_.transpose() * this->B_ * this->S_;
    const MatrixXd error = G - MatrixXd::Identity(G.rows(), G.cols());
    EXPECT_NEAR(this->deviation_, error.rightCols(kBlock).norm(), this->rounding());
    this->expect_ritz_pairs(expected.head(kBlock));
    this->update();
    this->append_random(kBlock, 0.01);
  }
  EXPECT_GT(this->deviation_, 0.01);
  EXPECT_LE(this->deviation_, this->ritz_.kNearlyOrthonormal);
}

TYPED_TEST(RayleighRitzTest, ADependentWIsToldAndRefused) {
  for (int draw = 0; draw < 20; ++draw) {  // rounding makes a pivot of either sign
    this->ritz_.reset();
    this->XP_ = MatrixXd(kRows, 0);
    this->append_random(kBlock);
    ASSERT_TRUE(this->solve(kBlock, kBlock));
    this->update();
    this->append_random(kBlock);
    const Index copied = draw % 2 == 0 ? 0 : kBlock;  // a column of X, or of W
    this->S_.col(kBlock + 1) = this->S_.col(copied);
    EXPECT_FALSE(this->solve(kBlock, kBlock)) << draw;
    EXPECT_GT(this->deviation_, this->ritz_.kNearlyOrthonormal);
  }
}

TYPED_TEST(RayleighRitzTest, KnowsHowFarValuesMoved) {
  this->append_random(kBlock);
  ASSERT_TRUE(this->solve(kBlock, kBlock));
  for (const double change : this->ritz_.theta_change()) EXPECT_TRUE(std::isinf(change));
  this->update();
  const VectorXd before = this->theta();
  this->append_random(kBlock);
  ASSERT_TRUE(this->solve(kBlock, kBlock));
  const VectorXd moved = (this->theta() - before).cwiseAbs();
  EXPECT_GT(moved.minCoeff(), 1e-3);
  for (int step = 0; step < 2; ++step) {  // the second is one without W
    for (Index j = 0; j < kBlock; ++j) {
      EXPECT_EQ(this->ritz_.theta_change()[static_cast<std::size_t>(j)], moved(j));
    }
    this->update();
    this->append_random(0);
    ASSERT_TRUE(this->solve(kBlock, kBlock));
  }
}

/// An eigenspace of dimension 4 kBlock, of which W always holds further vectors: [X P] stays.
TYPED_TEST(RayleighRitzTest, OfAnEigenspaceTheVectorsOfXAreKept) {
  for (const Which which : {Which::smallest, Which::largest}) {
    this->ritz_.reset();
    this->XP_ = MatrixXd(kRows, 0);
    VectorXd spectrum = VectorXd::LinSpaced(kRows, 5, 60);
    spectrum.head(4 * kBlock).setConstant(3);
    if (which == Which::largest) spectrum *= -1;
    const MatrixXd Q = test::orthogonal_factors(this->random(kRows, kRows)).Q;
    this->B_.setIdentity();
    this->A_ = Q * spectrum.asDiagonal() * Q.transpose();
    const std::vector<double> errors(static_cast<std::size_t>(kBlock), 1.0);
    this->S_ = Q.leftCols(kBlock);
    ASSERT_TRUE(this->solve(kBlock, kBlock, 0, which, errors));
    this->update();
    for (int step = 1; step < 4; ++step) {
      SCOPED_TRACE(step);
      const MatrixXd X = this->XP_.leftCols(kBlock);
      this->XP_ = X;
      this->ritz_.forget();
      this->S_.resize(kRows, 2 * kBlock);
      this->S_ << X, Q.middleCols(step * kBlock % (4 * kBlock), kBlock);
      ASSERT_TRUE(this->solve(kBlock, kBlock, kBlock, which, errors));
      this->update();
      EXPECT_LE((this->XP_.leftCols(kBlock) - X).cwiseAbs().maxCoeff(),
                test::tolerance<TypeParam>(1, kRows));
    }
  }
}

/// Ritz values that differ by more than the errors tell keep their own vectors, and in any case
/// XᵀAX and θ belong to each other.
TYPED_TEST(RayleighRitzTest, KeepsOnlyVectorsOfEqualValues) {
  const double eps = std::numeric_limits<TypeParam>::epsilon();
  VectorXd spectrum = VectorXd::LinSpaced(kRows, 5, 60);
  const double apart = 2000 * eps;  // S holds values up to 9, so that 5000 eps is rounding
  spectrum.head(kBlock + 2) = VectorXd::LinSpaced(kBlock + 2, 3, 3 + (kBlock + 1) * apart);
  this->B_.setIdentity();
  const MatrixXd Q = test::orthogonal_factors(this->random(kRows, kRows)).Q;
  this->A_ = Q * spectrum.asDiagonal() * Q.transpose();
  this->S_ = Q.leftCols(2 * kBlock);
  this->S_.leftCols(kBlock + 2) *= test::orthogonal_factors(this->random(kBlock + 2, kBlock + 2)).Q;
  for (const double error : {1e3 * apart, 0.1 * apart}) {
    SCOPED_TRACE(error);
    this->ritz_.reset();
    const std::vector<double> errors(static_cast<std::size_t>(kBlock), error);
    ASSERT_TRUE(this->solve(kBlock, kBlock, 0, Which::smallest, errors));
    const MatrixXd X = this->S_ * this->coefficients().leftCols(kBlock);
    const MatrixXd XAX = X.transpose() * this->A_ * X;
    EXPECT_LE((XAX.diagonal() - this->theta()).cwiseAbs().maxCoeff(), this->rounding());
    const MatrixXd kept = this->S_.leftCols(kBlock).transpose() * X;
    const double above =
        kept.template triangularView<Eigen::StrictlyUpper>().toDenseMatrix().norm();
    EXPECT_EQ(above<0.1, error> apart) << above;
    EXPECT_EQ(XAX.isDiagonal(0.1 * apart / 3), error < apart);
  }
}

TYPED_TEST(RayleighRitzTest, GoesOnWithoutTheLeadingPairs) {
  this->append_random(kBlock);
  ASSERT_TRUE(this->solve(kBlock, kBlock));
  this->update();
  this->append_random(kBlock);
  ASSERT_TRUE(this->solve(kBlock, kBlock));
  this->update();
  const VectorXd all = this->theta();
  this->ritz_.drop_leading(2);
  this->XP_ = this->XP_.rightCols(this->XP_.cols() - 2).eval();
  EXPECT_EQ(this->theta(), all.tail(kBlock - 2));
  this->append_random(3);
  ASSERT_TRUE(this->solve(kBlock - 2, kBlock - 2));
  this->expect_ritz_pairs(this->dense_ritz_values().head(kBlock - 2));
}

TYPED_TEST(RayleighRitzTest, WhatWasChangedFromOutsideIsForgotten) {
  this->append_random(kBlock);
  ASSERT_TRUE(this->solve(kBlock, kBlock));
  this->append_random(kBlock);  // X stays empty: the Ritz vectors are not used
  this->ritz_.forget();
  ASSERT_TRUE(this->solve(kBlock, kBlock));
  this->expect_ritz_pairs(this->dense_ritz_values().head(kBlock));
}

TYPED_TEST(RayleighRitzTest, OfASmallBasisAllPairsAreGiven) {
  this->append_random(3);
  ASSERT_TRUE(this->solve(3, kBlock));
  EXPECT_EQ(this->ritz_.block(), 3);
  this->expect_ritz_pairs(this->dense_ritz_values());
}

TYPED_TEST(RayleighRitzTest, NaNIsToldAndTheNextStepBeginsAnew) {
  this->append_random(kBlock);
  const MatrixXd good = this->A_;
  this->A_(0, 0) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(this->solve(kBlock, kBlock));
  this->A_ = good;
  ASSERT_TRUE(this->solve(kBlock, kBlock));
  this->expect_ritz_pairs(this->dense_ritz_values());
}

TYPED_TEST(RayleighRitzTest, GoesOnFromAnArchive) {
  this->append_random(kBlock);
  ASSERT_TRUE(this->solve(kBlock, kBlock));
  this->update();
  this->append_random(kBlock);
  ASSERT_TRUE(this->solve(kBlock, kBlock));
  this->update();
  this->append_random(kBlock);
  std::vector<std::byte> memory;
  Archive save(memory, Archive::Mode::save);
  this->ritz_.archive(save);
  ASSERT_TRUE(this->solve(kBlock, kBlock));
  const VectorXd theta = this->theta();
  const MatrixXd C = this->coefficients();
  // Not by assignment: that would delete the host context before the buffers that it allocated.
  std::destroy_at(&this->ritz_);
  std::construct_at(&this->ritz_, this->context_, 3 * kBlock, kBlock);
  Archive load(memory, Archive::Mode::load);
  this->ritz_.archive(load);
  ASSERT_TRUE(this->solve(kBlock, kBlock));
  EXPECT_EQ(this->theta(), theta);
  EXPECT_EQ(this->coefficients(), C);
}

}  // namespace
}  // namespace heddle
