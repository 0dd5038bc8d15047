#include <gtest/gtest.h>

#include <heddle/linalg/gallery/gallery.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/solvers/preconditioners/block_jacobi/diagonal_blocks.hpp>
#include <limits>
#include <vector>

#include "support/dense.hpp"
#include "support/matrices.hpp"
#include "support/tolerance.hpp"

namespace heddle {
namespace detail {}
using namespace detail;
namespace {

using Eigen::MatrixXd;
using test::to_dense;

/// The first rows of the runs of a matrix whose row i has the columns `columns[i]`.
std::vector<Index> runs(const std::vector<std::vector<Index>>& columns, Index max_rows) {
  const Index n = std::ssize(columns);
  const auto A = test::matrix_with_pattern<double>(
      n, n, [&](Index i) { return columns[static_cast<std::size_t>(i)]; });
  return runs_of_equal_rows<double>(A.view(), max_rows);
}

TEST(RunsOfEqualRows, EndWhereThePatternChanges) {
  EXPECT_EQ(runs({{0, 1}, {0, 1}, {2}, {2, 3}, {2, 3}}, 9), (std::vector<Index>{0, 2, 3, 5}));
  EXPECT_EQ(runs({{0}, {1}, {2}}, 9), (std::vector<Index>{0, 1, 2, 3}));
  EXPECT_EQ(runs({{}, {}, {0, 1, 2}}, 9), (std::vector<Index>{0, 2, 3}));  // rows without entries
  EXPECT_EQ(runs({{0, 1}, {0, 2}, {0, 1}}, 9), (std::vector<Index>{0, 1, 2, 3}));
}

TEST(RunsOfEqualRows, AreCutAtTheLongestAllowed) {
  const std::vector<std::vector<Index>> equal(7, {0, 3});
  EXPECT_EQ(runs(equal, 7), (std::vector<Index>{0, 7}));
  EXPECT_EQ(runs(equal, 3), (std::vector<Index>{0, 3, 6, 7}));
  EXPECT_EQ(runs(equal, 1), (std::vector<Index>{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(RunsOfEqualRows, AnEmptyMatrixHasNone) { EXPECT_EQ(runs({}, 3), std::vector<Index>{0}); }

template <class T>
class InverseDiagonalBlocks : public testing::Test {
 protected:
  MatrixXd inverse(const HostCsrMatrix<T>& A, const std::vector<Index>& begins) {
    const auto inverses = inverse_diagonal_blocks<T>(context_, A.view(), begins);
    return to_dense(std::as_const(inverses).view());
  }

  HostCsrMatrix<T> matrix(const MatrixXd& dense) {
    std::vector<Triplet<T>> entries;
    for (Index i = 0; i < dense.rows(); ++i) {
      for (Index j = 0; j < dense.cols(); ++j) {
        if (dense(i, j) != 0) entries.push_back({i, j, static_cast<T>(dense(i, j))});
      }
    }
    return csr_from_triplets<T>(context_, dense.rows(), dense.cols(), entries);
  }

  HostContext context_{2};
};

using Scalars = testing::Types<float, double>;
TYPED_TEST_SUITE(InverseDiagonalBlocks, Scalars);

TYPED_TEST(InverseDiagonalBlocks, AreTheDenseInversesOfBlocksOfAnySize) {
  using T = TypeParam;
  const auto A = generate<T>(this->context_, {"elasticity3d", {3, 2, 2}});
  const MatrixXd dense = to_dense(A.view());
  const Index n = A.rows();
  const std::vector<Index> begins{0, 1, 4, 11, 12, 20, n};
  const MatrixXd inverse = this->inverse(A, begins);
  MatrixXd expected = MatrixXd::Zero(n, n);
  for (std::size_t k = 0; k + 1 < begins.size(); ++k) {
    const Index first = begins[k], size = begins[k + 1] - first;
    expected.block(first, first, size, size) = test::inverse(dense.block(first, first, size, size));
  }
  EXPECT_LE((inverse - expected).cwiseAbs().maxCoeff(),
            test::tolerance<T>(expected.cwiseAbs().maxCoeff(), static_cast<double>(n), 64));
  EXPECT_EQ(inverse, MatrixXd(inverse.transpose())) << "not symmetric to the bit";
}

TYPED_TEST(InverseDiagonalBlocks, BadScalingDoesNotMatter) {
  using T = TypeParam;
  const double s = 0x1p20;
  MatrixXd dense(3, 3);
  dense << 4, 1, 2, 1, 3, 1, 2, 1, 5;
  MatrixXd scaled = dense;
  scaled.row(1) *= s;
  scaled.col(1) *= s;
  MatrixXd inverse = this->inverse(this->matrix(scaled), {0, 3});
  inverse.row(1) *= s;
  inverse.col(1) *= s;
  EXPECT_LE((inverse - test::inverse(dense)).cwiseAbs().maxCoeff(), test::tolerance<T>(1, 3));
}

TYPED_TEST(InverseDiagonalBlocks, WithoutACholeskyFactorTheDiagonalCounts) {
  using T = TypeParam;
  const double epsilon = static_cast<double>(std::numeric_limits<T>::epsilon());
  MatrixXd dense = MatrixXd::Zero(10, 10);
  dense.topLeftCorner(2, 2) << 2, 3, 3, 4;                    // indefinite
  dense.block(2, 2, 2, 2) << 1, 1, 1, 1;                      // singular
  dense.block(4, 4, 2, 2) << 1, 1 - epsilon, 1 - epsilon, 1;  // singular to rounding
  dense.block(6, 6, 2, 2) << -1, 0.5, 0.5, 8;                 // with a negative entry
  dense.block(8, 8, 2, 2) << 2, 1, 1, 2;                      // the only definite one
  MatrixXd expected = dense.diagonal().cwiseAbs().cwiseInverse().asDiagonal();
  expected.block(8, 8, 2, 2) << 2.0 / 3, -1.0 / 3, -1.0 / 3, 2.0 / 3;
  const MatrixXd inverse = this->inverse(this->matrix(dense), {0, 2, 4, 6, 8, 10});
  EXPECT_LE((inverse - expected).cwiseAbs().maxCoeff(), test::tolerance<T>(1, 2));
}

TYPED_TEST(InverseDiagonalBlocks, NaNStaysInItsBlock) {
  using T = TypeParam;
  MatrixXd dense = 2 * MatrixXd::Identity(4, 4);
  dense(0, 1) = dense(1, 0) = std::numeric_limits<double>::quiet_NaN();
  const MatrixXd inverse = this->inverse(this->matrix(dense), {0, 2, 4});
  EXPECT_LE((inverse - 0.5 * MatrixXd::Identity(4, 4)).norm(), test::tolerance<T>(1, 1));
}

}  // namespace
}  // namespace heddle
