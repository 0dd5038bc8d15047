#include <gtest/gtest.h>

#include <Eigen/IterativeLinearSolvers>
#include <Eigen/SparseCore>
#include <algorithm>
#include <cmath>
#include <heddle/linalg/gallery/gallery.hpp>
#include <numbers>
#include <vector>

#include "support/dense.hpp"
#include "support/tolerance.hpp"

namespace heddle {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

TEST(Trefethen, SmallOneByHand) {
  HostContext context(2);
  MatrixXd expected(6, 6);
  expected << 2, 1, 1, 0, 1, 0,  //
      1, 3, 1, 1, 0, 1,          //
      1, 1, 5, 1, 1, 0,          //
      0, 1, 1, 7, 1, 1,          //
      1, 0, 1, 1, 11, 1,         //
      0, 1, 0, 1, 1, 13;
  EXPECT_EQ(test::to_dense(generate<double>(context, {"trefethen", {6}}).view()), expected);
}

// Trefethen_20b of the SuiteSparse collection is the one of order 20 without its first row; its
// published eigenvalues.
TEST(Trefethen, SpectrumOfOrder20WithoutTheFirstRow) {
  HostContext context(2);
  const MatrixXd A = test::to_dense(generate<double>(context, {"trefethen", {20}}).view());
  const VectorXd values = test::eigenvalues(A.bottomRightCorner(19, 19));
  const double error = test::tolerance<double>(values(18), 19);
  EXPECT_NEAR(values(0), 2.356147015503605, error);
  EXPECT_NEAR(values(1), 4.556316600727140, error);
  EXPECT_NEAR(values(18), 71.51239964368568, error);
}

// Problem 7 of Trefethen's hundred-dollar, hundred-digit challenge (SIAM News 35, 2002): the first
// entry of the inverse of the matrix of order 20000.
TEST(Trefethen, AnswersTheChallenge) {
  HostContext context(2);
  const auto matrix = generate<double>(context, {"trefethen", {20000}});
  const CsrView<double, HostSpace> A = matrix.view();
  const std::vector<int> offsets(A.row_offsets, A.row_offsets + A.rows + 1);
  const Eigen::Map<const Eigen::SparseMatrix<double, Eigen::RowMajor>> sparse(
      A.rows, A.cols, A.nnz, offsets.data(), A.columns, A.values);
  Eigen::ConjugateGradient<Eigen::SparseMatrix<double, Eigen::RowMajor>, Eigen::Lower> solver;
  solver.setTolerance(1e-15);
  solver.compute(sparse);
  const VectorXd x = solver.solve(VectorXd::Unit(A.rows, 0));
  EXPECT_NEAR(x(0), 0.72507834626840116747, test::tolerance<double>(1, 1));
}

TEST(Mikota, PencilHasTheSquaresAsEigenvalues) {
  HostContext context(2);
  for (const Index n : {1, 2, 7, 30}) {
    const MatrixXd K = test::to_dense(generate<double>(context, {"mikota_stiffness", {n}}).view());
    const MatrixXd M = test::to_dense(generate<double>(context, {"mikota_mass", {n}}).view());
    const VectorXd values = test::eigenvalues(K, M);
    const auto order = static_cast<double>(n);
    for (Eigen::Index k = 0; k < n; ++k) {
      EXPECT_NEAR(values(k), static_cast<double>((k + 1) * (k + 1)),
                  test::tolerance<double>(order * order, order));
    }
  }
}

/// The load factors of the continuous column are (πk)². Those of n elements approach them from
/// above, with errors of (πk/n)⁴/720 of them and higher powers of 1/n.
TEST(Column, LoadFactorsApproachEulersFromAboveWithTheFourthOrder) {
  HostContext context(2);
  for (const Index n : {8, 16, 32}) {
    const MatrixXd K = test::to_dense(generate<double>(context, {"column", {n}}).view());
    const MatrixXd G = -test::to_dense(generate<double>(context, {"column_geometric", {n}}).view());
    ASSERT_EQ(K.rows(), 2 * n);
    const VectorXd factors = test::eigenvalues(K, G);
    for (Eigen::Index k = 1; k <= 3; ++k) {
      const double step = std::numbers::pi * static_cast<double>(k) / static_cast<double>(n);
      const double excess =
          factors(k - 1) / std::pow(std::numbers::pi * static_cast<double>(k), 2) - 1;
      const double expected = std::pow(step, 4) / 720;
      EXPECT_NEAR(excess, expected, 0.06 * step * step * expected + 1e-9) << n << ", " << k;
    }
  }
}

TEST(Lattice, HasThirtyNineEntriesARowAndTheSpectrumOfATorus) {
  HostContext context(2);
  const std::vector<Index> size{5, 6, 5, 3};
  const auto matrix = generate<double>(context, {"lattice4d", size});
  const CsrView<double, HostSpace> A = matrix.view();
  for (Index i = 0; i < A.rows; ++i) ASSERT_EQ(A.row_offsets[i + 1] - A.row_offsets[i], 39);

  // With θ_d = 2πk_d/n_d: 39 − 2Σ cos θ_d − 4Σ_{d<e} cos θ_d cos θ_e − 2Σ_{d<3} cos 2θ_d.
  std::vector<double> analytic;
  for (Index mode = 0; mode < A.rows; ++mode) {
    double value = 39;
    double cosines = 0;
    Index rest = mode;
    for (std::size_t d = 0; d < 4; ++d) {
      const double theta =
          2 * std::numbers::pi * static_cast<double>(rest % size[d]) / static_cast<double>(size[d]);
      rest /= size[d];
      value -= 2 * std::cos(theta) + 4 * std::cos(theta) * cosines;
      if (d < 3) value -= 2 * std::cos(2 * theta);
      cosines += std::cos(theta);
    }
    analytic.push_back(value);
  }
  std::sort(analytic.begin(), analytic.end());
  const VectorXd values = test::eigenvalues(test::to_dense(A));
  const VectorXd expected = Eigen::Map<const VectorXd>(analytic.data(), A.rows);
  EXPECT_LE((values - expected).cwiseAbs().maxCoeff(),
            test::tolerance<double>(values.maxCoeff(), static_cast<double>(A.rows)));
}

TEST(Band, IsAToeplitzMatrixOfTheHalfWidth) {
  HostContext context(2);
  constexpr Index n = 20;
  constexpr Index half_width = 4;
  const auto matrix = generate<double>(context, {"band", {n, half_width}});
  const MatrixXd A = test::to_dense(matrix.view());
  EXPECT_EQ(matrix.nnz(), n * (2 * half_width + 1) - half_width * (half_width + 1));
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) {
      const Index distance = std::abs(i - j);
      const bool inside = distance <= half_width;
      if (distance == 0) continue;
      EXPECT_EQ(A(i, j), inside ? -1 / static_cast<double>(distance) : 0);
    }
  }
  EXPECT_NEAR(A.row(n / 2).sum(), 1, test::tolerance<double>(1, 2 * half_width + 1));
}

TEST(Band, WiderThanTheMatrixIsFull) {
  HostContext context(2);
  EXPECT_EQ(generate<double>(context, {"band", {6, 100}}).nnz(), 36);
}

}  // namespace
}  // namespace heddle
