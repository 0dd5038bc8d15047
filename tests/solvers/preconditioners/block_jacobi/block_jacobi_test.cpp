#include <gtest/gtest.h>

#include <Eigen/Core>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/solvers/preconditioners/block_jacobi/block_jacobi.hpp>
#include <heddle/solvers/preconditioners/jacobi/jacobi.hpp>

#include "solvers/linear_test_support.hpp"
#include "support/dense.hpp"
#include "support/matrices.hpp"

namespace heddle {
namespace {

using test::random_vectors;
using test::tolerance;

template <class T>
class BlockJacobi : public ::testing::Test {
 protected:
  /// M⁻¹ as a dense matrix.
  Eigen::MatrixXd dense(Preconditioner<T, HostContext>& M) {
    MultiVector<T, HostSpace> I(context_, M.rows(), M.rows());
    MultiVector<T, HostSpace> Y(context_, M.rows(), M.rows());
    set_identity<T>(context_, I.view());
    M.apply(context_, I.view(), Y.view());
    Eigen::MatrixXd inverse(M.rows(), M.rows());
    for (Index i = 0; i < M.rows(); ++i) {
      for (Index j = 0; j < M.rows(); ++j) inverse(i, j) = static_cast<double>(Y.view()(i, j));
    }
    return inverse;
  }

  HostContext context_{2};
};

using Scalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(BlockJacobi, Scalars);

/// The inverse of A's block diagonal, block by block.
Eigen::MatrixXd inverse_of_blocks(const Eigen::MatrixXd& A, Index size) {
  Eigen::MatrixXd inverse = Eigen::MatrixXd::Zero(A.rows(), A.cols());
  for (Index i = 0; i < A.rows(); i += size) {
    const Index m = std::min(size, A.rows() - i);
    inverse.block(i, i, m, m) = test::inverse(A.block(i, i, m, m));
  }
  return inverse;
}

TYPED_TEST(BlockJacobi, InvertsBlocksOfAGivenSize) {
  using T = TypeParam;
  auto A = test::make_operator<T>(this->context_, {"elasticity3d", {3, 2, 2}});
  const Eigen::MatrixXd dense = test::to_dense(A.matrix());
  for (const Index size : {1, 3, 7, 24}) {
    BlockJacobiPreconditioner<T, HostContext> M(this->context_, A.matrix(), size);
    EXPECT_EQ(M.largest_block(), std::min(size, A.rows()));
    EXPECT_EQ(M.blocks(), (A.rows() + size - 1) / size);
    const Eigen::MatrixXd expected = inverse_of_blocks(dense, size);
    const double norm = expected.cwiseAbs().maxCoeff();
    EXPECT_LE((this->dense(M) - expected).cwiseAbs().maxCoeff(),
              tolerance<T>(norm, static_cast<double>(size), 100));
  }
}

TYPED_TEST(BlockJacobi, FindsTheUnknownsOfANode) {
  using T = TypeParam;
  auto A = test::make_operator<T>(this->context_, {"elasticity3d", {3, 3, 3}});
  BlockJacobiPreconditioner<T, HostContext> M(this->context_, A.matrix());
  EXPECT_EQ(M.largest_block(), 3);
  EXPECT_EQ(M.blocks(), A.rows() / 3);
}

TYPED_TEST(BlockJacobi, RowsThatDifferAreBlocksOfTheirOwn) {
  using T = TypeParam;
  auto A = test::make_operator<T>(this->context_, {"laplace2d", {6, 7}});
  BlockJacobiPreconditioner<T, HostContext> M(this->context_, A.matrix());
  JacobiPreconditioner<T, HostContext> jacobi(this->context_, A.matrix());
  EXPECT_EQ(M.largest_block(), 1);
  EXPECT_LE((this->dense(M) - this->dense(jacobi)).cwiseAbs().maxCoeff(), tolerance<T>(1, 1));
}

TYPED_TEST(BlockJacobi, LongRunsOfEqualRowsAreCut) {
  using T = TypeParam;
  std::vector<Triplet<T>> entries;
  for (Index i = 0; i < 70; ++i) {
    for (Index j = 0; j < 70; ++j) entries.push_back({i, j, i == j ? T{2} : T{1}});
  }
  const auto A = csr_from_triplets<T>(this->context_, 70, 70, entries);
  BlockJacobiPreconditioner<T, HostContext> M(this->context_, A.view());
  EXPECT_EQ(M.blocks(), 3);
  EXPECT_EQ(M.largest_block(), 32);
}

TYPED_TEST(BlockJacobi, ABlockThatIsNotPositiveDefiniteCountsAsItsDiagonal) {
  using T = TypeParam;
  const std::vector<Triplet<T>> entries = {{0, 0, 2}, {0, 1, 3}, {1, 0, 3}, {1, 1, 4}, {2, 2, 5},
                                           {2, 3, 1}, {3, 2, 1}, {3, 3, 5}, {4, 4, -8}};
  const auto A = csr_from_triplets<T>(this->context_, 6, 6, entries);
  BlockJacobiPreconditioner<T, HostContext> M(this->context_, A.view(), 2);
  Eigen::MatrixXd expected = Eigen::MatrixXd::Zero(6, 6);
  expected(0, 0) = 0.5;
  expected(1, 1) = 0.25;
  expected(2, 2) = expected(3, 3) = 5.0 / 24;
  expected(2, 3) = expected(3, 2) = -1.0 / 24;
  expected(4, 4) = 0.125;
  expected(5, 5) = 5 / (2.0 + 4 + 5 + 5 + 8);  // nothing stored: the mean of the others
  EXPECT_LE((this->dense(M) - expected).cwiseAbs().maxCoeff(), tolerance<T>(1, 1));
  EXPECT_GT(test::eigenvalues(this->dense(M))(0), 0);
}

TYPED_TEST(BlockJacobi, ReportsWhatItsSetupTook) {
  using T = TypeParam;
  auto A = test::make_operator<T>(this->context_, {"elasticity3d", {4, 4, 4}});
  const auto before = this->context_.allocation_count().live_bytes;
  BlockJacobiPreconditioner<T, HostContext> M(this->context_, A.matrix());
  EXPECT_EQ(M.setup_cost().bytes(), this->context_.allocation_count().live_bytes - before);
  EXPECT_GE(M.setup_cost().bytes(), static_cast<std::size_t>(3 * A.rows()) * sizeof(T));
  EXPECT_GT(M.setup_cost().seconds(), 0);
}

TEST(BlockJacobiMisuse, IsNamed) {
  HostContext context;
  auto A = test::make_operator<double>(context, {"laplace2d", {3, 4}});
  const auto wide = csr_from_triplets<double>(context, 2, 3, std::vector<Triplet<double>>{});
  const auto complaint = [&](CsrView<double, HostSpace> matrix, Index size) -> std::string {
    try {
      BlockJacobiPreconditioner<double, HostContext>(context, matrix, size);
    } catch (const InvalidArgument& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(complaint(wide.view(), 0),
            "BlockJacobiPreconditioner: the matrix must be square, it is 2x3");
  EXPECT_EQ(complaint(A.matrix(), -1),
            "BlockJacobiPreconditioner: the block size must lie in 0 ... 256, it is -1");
  EXPECT_EQ(complaint(A.matrix(), 257),
            "BlockJacobiPreconditioner: the block size must lie in 0 ... 256, it is 257");
}

TEST(BlockJacobiTest, AnEmptyMatrixHasNoBlocks) {
  HostContext context;
  const auto A = csr_from_triplets<double>(context, 0, 0, std::vector<Triplet<double>>{});
  BlockJacobiPreconditioner<double, HostContext> M(context, A.view());
  EXPECT_EQ(M.blocks(), 0);
}

}  // namespace
}  // namespace heddle
