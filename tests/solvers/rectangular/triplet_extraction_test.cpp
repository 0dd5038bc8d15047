#include <gtest/gtest.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <heddle/solvers/rectangular/triplet_extraction.hpp>
#include <limits>
#include <optional>
#include <random>
#include <vector>

#include "solvers/rectangular/adjoint_support.hpp"
#include "support/dense.hpp"
#include "support/matrices.hpp"
#include "support/tolerance.hpp"

namespace heddle {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using test::SparsePair;
using test::to_dense;
using test::tolerance;

constexpr Index kRows = 60;
constexpr Index kCols = 40;  // more than two panels of `decompose_all`

/// A random matrix with orthonormal columns.
MatrixXd random_orthonormal(Index rows, Index cols) {
  std::mt19937 engine(static_cast<unsigned>(rows * 1000 + cols));
  std::normal_distribution<double> normal;
  const MatrixXd random = MatrixXd::NullaryExpr(rows, cols, [&] { return normal(engine); });
  return test::orthogonal_factors(random).Q;
}

/// A matrix whose entries are all stored.
template <class T>
test::TestMatrix<T> stored(const MatrixXd& A) {
  std::vector<Index> all(static_cast<std::size_t>(A.cols()));
  for (std::size_t j = 0; j < all.size(); ++j) all[j] = static_cast<Index>(j);
  auto matrix = test::matrix_with_pattern<T>(A.rows(), A.cols(), [&](Index) { return all; });
  for (Index i = 0; i < A.rows(); ++i) {
    for (Index j = 0; j < A.cols(); ++j) {
      matrix.values[static_cast<std::size_t>(i * A.cols() + j)] = static_cast<T>(A(i, j));
    }
  }
  return matrix;
}

/// kCols values from 1 down to `last` in equal ratios.
VectorXd graded(double last) {
  return VectorXd::NullaryExpr(kCols, [&](Index j) {
    return std::pow(last, static_cast<double>(j) / static_cast<double>(kCols - 1));
  });
}

/// `rank` values from 1 down to 1/2, then zeros.
VectorXd deficient(Index rank) {
  return VectorXd::NullaryExpr(kCols, [&](Index j) {
    return j < rank ? 1 - 0.5 * static_cast<double>(j) / static_cast<double>(kCols) : 0;
  });
}

template <class T>
class TripletExtractionOf : public ::testing::Test {
 protected:
  using Block = MultiVector<T, HostSpace>;

  /// A = (random orthonormal) diag(σ) (random orthogonal)ᵀ, rounded to T.
  void make(const VectorXd& sigma) {
    right_ = random_orthonormal(kCols, kCols);
    make_from(random_orthonormal(kRows, kCols) * sigma.asDiagonal() * right_.transpose());
  }

  void make_from(const MatrixXd& A) {
    pair_.emplace(context_, stored<T>(A).view());
    dense_ = to_dense(pair_->matrix());
    extraction_.emplace(context_, pair_->pair(), kCols, 42);
    if (dense_.allFinite()) truth_ = test::singular_values(dense_);
  }

  Block block(const MatrixXd& X) {
    Block result(context_, X.rows(), X.cols());
    for (Index i = 0; i < X.rows(); ++i) {
      for (Index j = 0; j < X.cols(); ++j) result.view()(i, j) = static_cast<T>(X(i, j));
    }
    return result;
  }

  double rounding() const {
    return tolerance<T>(truth_[0], static_cast<double>(kRows + kCols), 32);
  }

  /// The errors that `measure` reports are those by dense products.
  void expect_measured(const Block& U, const Block& V) {
    extraction_->measure(context_, U.view(), V.view());
    const MatrixXd u = to_dense<T>(U.view());
    const MatrixXd v = to_dense<T>(V.view());
    const std::vector<double>& values = extraction_->values();
    for (Index j = 0; j < u.cols(); ++j) {
      const double sigma = values[static_cast<std::size_t>(j)];
      const double residual = std::max((dense_ * v.col(j) - sigma * u.col(j)).norm(),
                                       (dense_.transpose() * u.col(j) - sigma * v.col(j)).norm());
      EXPECT_NEAR(extraction_->residuals()[static_cast<std::size_t>(j)], residual, rounding()) << j;
    }
    EXPECT_NEAR(extraction_->orthogonality(), std::max(distance(u), distance(v)),
                tolerance<T>(1, static_cast<double>(kRows)));
  }

  /// max |XᵀX − I|.
  static double distance(const MatrixXd& X) {
    return (X.transpose() * X - MatrixXd::Identity(X.cols(), X.cols())).cwiseAbs().maxCoeff();
  }

  /// The triplets are `expected`, fit A and have orthonormal vectors.
  void expect_triplets(const Block& U, const Block& V, const VectorXd& expected) {
    expect_values(U, V, expected);
    for (const double residual : extraction_->residuals()) EXPECT_LE(residual, rounding());
  }

  /// The values are `expected`, A V = U Σ, and the vectors are orthonormal.
  void expect_values(const Block& U, const Block& V, const VectorXd& expected) {
    const std::vector<double>& values = extraction_->values();
    ASSERT_EQ(std::ssize(values), expected.size());
    for (Index j = 0; j < expected.size(); ++j) {
      EXPECT_NEAR(values[static_cast<std::size_t>(j)], expected[j], rounding()) << j;
    }
    expect_measured(U, V);
    const MatrixXd errors =
        dense_ * to_dense<T>(V.view()) -
        to_dense<T>(U.view()) *
            Eigen::Map<const VectorXd>(values.data(), expected.size()).asDiagonal();
    EXPECT_LE(errors.colwise().norm().maxCoeff(), rounding());
    EXPECT_LE(extraction_->orthogonality(), tolerance<T>(1, static_cast<double>(kRows), 64));
  }

  /// The k values of A at one end, from that end.
  VectorXd wanted(Which which, Index k) const {
    if (which == Which::largest) return truth_.head(k);
    return truth_.tail(k).reverse();
  }

  HostContext context_{2};
  MatrixXd right_;  // right singular vectors before rounding
  MatrixXd dense_;  // A
  VectorXd truth_;  // its singular values, descending
  std::optional<SparsePair<T>> pair_;
  std::optional<detail::TripletExtraction<T, HostContext>> extraction_;
};

using Scalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(TripletExtractionOf, Scalars);

TYPED_TEST(TripletExtractionOf, FindsWhatASpaceOfSingularVectorsContains) {
  constexpr Index kSpace = 9;
  constexpr Index kWanted = 5;
  for (const VectorXd& sigma : {graded(1e-2), graded(1e-12), deficient(kCols - 3)}) {
    this->make(sigma);
    for (const Which which : {Which::largest, Which::smallest}) {
      const bool largest = which == Which::largest;
      const MatrixXd space =
          largest ? this->right_.leftCols(kSpace) : this->right_.rightCols(kSpace);
      const auto X = this->block(space * random_orthonormal(kSpace, kSpace));
      auto U = this->block(MatrixXd::Zero(kRows, kWanted));
      auto V = this->block(MatrixXd::Zero(kCols, kWanted));
      ASSERT_TRUE(this->extraction_->extract(this->context_, which, X.view(), U.view(), V.view()));
      const VectorXd expected = this->wanted(which, kWanted);
      this->expect_values(U, V, expected);
      // u = A v/σ has a rounding error of ε‖A‖/σ, and Aᵀ multiplies it by up to ‖A‖.
      for (Index j = 0; j < kWanted; ++j) {
        EXPECT_LE(this->extraction_->residuals()[static_cast<std::size_t>(j)],
                  this->rounding() * (1 + this->truth_[0] / expected[j]));
      }
      EXPECT_NEAR(this->extraction_->largest(), this->truth_[largest ? 0 : kCols - kSpace],
                  this->rounding());
    }
  }
}

TYPED_TEST(TripletExtractionOf, TakesTheSingularValuesOfTheProductsWithAnySpace) {
  using T = TypeParam;
  constexpr Index kSpace = 7;
  constexpr Index kWanted = 4;
  this->make(graded(1e-4));
  const auto X = this->block(random_orthonormal(kCols, kSpace));
  const VectorXd all = test::singular_values(this->dense_ * to_dense<T>(X.view()));
  for (const Which which : {Which::largest, Which::smallest}) {
    auto U = this->block(MatrixXd::Zero(kRows, kWanted));
    auto V = this->block(MatrixXd::Zero(kCols, kWanted));
    ASSERT_TRUE(this->extraction_->extract(this->context_, which, X.view(), U.view(), V.view()));
    for (Index j = 0; j < kWanted; ++j) {
      const double sigma = this->extraction_->values()[static_cast<std::size_t>(j)];
      EXPECT_NEAR(sigma, all[which == Which::largest ? j : kSpace - 1 - j], this->rounding());
      // A V = U Σ holds for every space, unlike Aᵀ U = V Σ.
      const MatrixXd u = to_dense<T>(U.view());
      const MatrixXd v = to_dense<T>(V.view());
      EXPECT_LE((this->dense_ * v.col(j) - sigma * u.col(j)).norm(), this->rounding());
    }
    this->expect_measured(U, V);
    EXPECT_GT(*std::max_element(this->extraction_->residuals().begin(),
                                this->extraction_->residuals().end()),
              10 * this->rounding());
  }
}

TYPED_TEST(TripletExtractionOf, VMayShareMemoryWithTheSpace) {
  this->make(graded(1e-3));
  const auto X = this->block(this->right_.leftCols(6));
  auto U = this->block(MatrixXd::Zero(kRows, 6));
  auto V = this->block(this->right_.leftCols(6));
  ASSERT_TRUE(
      this->extraction_->extract(this->context_, Which::largest, V.view(), U.view(), V.view()));
  this->expect_triplets(U, V, this->wanted(Which::largest, 6));
}

TYPED_TEST(TripletExtractionOf, LeftVectorsAreOrthonormalWhereProductsLackRank) {
  using T = TypeParam;
  for (const Index rank : {Index{0}, Index{1}, Index{5}}) {
    this->make(deficient(rank));
    if (rank == 0) this->truth_[0] = 1;  // the scale of the tolerances
    const auto X = this->block(this->right_);
    auto U = this->block(MatrixXd::Zero(kRows, kCols));
    auto V = this->block(MatrixXd::Zero(kCols, kCols));
    ASSERT_TRUE(
        this->extraction_->extract(this->context_, Which::largest, X.view(), U.view(), V.view()));
    EXPECT_LE(this->distance(to_dense<T>(U.view())), tolerance<T>(1, kRows, 64)) << rank;
    EXPECT_LE(this->distance(to_dense<T>(V.view())), tolerance<T>(1, kRows, 64)) << rank;
    for (Index j = rank; j < kCols; ++j) {
      EXPECT_LE(this->extraction_->values()[static_cast<std::size_t>(j)], this->rounding());
    }
    this->expect_measured(U, V);
  }
}

TYPED_TEST(TripletExtractionOf, DecomposesAllOfA) {
  constexpr Index kWanted = 7;
  for (const VectorXd& sigma : {graded(1e-2), graded(1e-14), deficient(kCols - 4), deficient(3)}) {
    this->make(sigma);
    for (const Which which : {Which::largest, Which::smallest}) {
      auto U = this->block(MatrixXd::Zero(kRows, kWanted));
      auto V = this->block(MatrixXd::Zero(kCols, kWanted));
      ASSERT_TRUE(this->extraction_->decompose_all(this->context_, which, U.view(), V.view()));
      this->expect_triplets(U, V, this->wanted(which, kWanted));
      EXPECT_NEAR(this->extraction_->largest(), this->truth_[0], this->rounding());
    }
  }
}

TYPED_TEST(TripletExtractionOf, RefinesTripletsWhoseVectorsAreMixed) {
  using T = TypeParam;
  constexpr Index kWanted = 8;
  this->make(graded(1e-3));
  for (const Which which : {Which::largest, Which::smallest}) {
    auto U = this->block(MatrixXd::Zero(kRows, kWanted));
    auto V = this->block(MatrixXd::Zero(kCols, kWanted));
    ASSERT_TRUE(this->extraction_->decompose_all(this->context_, which, U.view(), V.view()));
    const Index first = which == Which::largest ? kWanted - 3 : 0;
    const auto rotated = [&](const MultiVector<T, HostSpace>& X, Index rows) {
      return this->block(to_dense<T>(X.columns(first, 3)) *
                         test::orthogonal_factors(random_orthonormal(rows, 3).topRows(3)).Q);
    };
    auto mixed_U = rotated(U, 4);
    auto mixed_V = rotated(V, 5);
    ASSERT_TRUE(
        this->extraction_->refine(this->context_, which, first, mixed_U.view(), mixed_V.view()));
    for (Index j = 0; j < 3; ++j) {
      for (Index i = 0; i < kRows; ++i) U.view()(i, first + j) = mixed_U.view()(i, j);
      for (Index i = 0; i < kCols; ++i) V.view()(i, first + j) = mixed_V.view()(i, j);
    }
    this->expect_triplets(U, V, this->wanted(which, kWanted));
  }
}

TYPED_TEST(TripletExtractionOf, MeasuresVectorsThatDoNotFit) {
  this->make(graded(1e-2));
  auto U = this->block(MatrixXd::Zero(kRows, 4));
  auto V = this->block(MatrixXd::Zero(kCols, 4));
  ASSERT_TRUE(this->extraction_->decompose_all(this->context_, Which::largest, U.view(), V.view()));
  this->extraction_->measure(this->context_, U.view(), V.view());
  EXPECT_LE(this->extraction_->residuals()[2], this->rounding());
  for (Index i = 0; i < kCols; ++i) V.view()(i, 2) = V.view()(i, 1);
  this->expect_measured(U, V);
  EXPECT_GT(this->extraction_->residuals()[2], 0.1);
  EXPECT_GT(this->extraction_->orthogonality(), 0.9);
}

TYPED_TEST(TripletExtractionOf, NumbersThatAreNotFiniteAreRefused) {
  MatrixXd A = random_orthonormal(kRows, kCols);
  A(7, 11) = std::numeric_limits<double>::quiet_NaN();
  this->make_from(A);
  const auto X = this->block(random_orthonormal(kCols, 4));
  auto U = this->block(random_orthonormal(kRows, 4));
  auto V = this->block(MatrixXd::Zero(kCols, 4));
  EXPECT_FALSE(
      this->extraction_->extract(this->context_, Which::largest, X.view(), U.view(), V.view()));
  EXPECT_FALSE(
      this->extraction_->decompose_all(this->context_, Which::largest, U.view(), V.view()));
  auto left = this->block(random_orthonormal(kRows, 4));
  auto right = this->block(random_orthonormal(kCols, 4));
  EXPECT_FALSE(
      this->extraction_->refine(this->context_, Which::largest, 0, left.view(), right.view()));
}

}  // namespace
}  // namespace heddle
