#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/solvers/cg/block_cg.hpp>
#include <heddle/solvers/operators/sparse_operator.hpp>
#include <heddle/solvers/preconditioners/chebyshev/chebyshev.hpp>
#include <heddle/solvers/preconditioners/jacobi/jacobi.hpp>
#include <random>
#include <vector>

namespace heddle {
namespace {

using Complex = std::complex<double>;
using Dense = Eigen::MatrixXcd;

/// A Hermitian band matrix with the diagonal `diagonal`.
Dense hermitian(Index n, double diagonal) {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> number(-1, 1);
  Dense M = Dense::Zero(n, n);
  for (Index i = 0; i < n; ++i) {
    M(i, i) = diagonal + number(random);
    for (const Index step : {1, 3, 20}) {
      if (i + step >= n) continue;
      M(i, i + step) = {number(random), number(random)};
      M(i + step, i) = std::conj(M(i, i + step));
    }
  }
  return M;
}

HostCsrMatrix<Complex> sparse(HostContext& context, const Dense& M) {
  std::vector<Triplet<Complex>> entries;
  for (Index i = 0; i < M.rows(); ++i) {
    for (Index j = 0; j < M.cols(); ++j) {
      if (M(i, j) != Complex(0)) entries.push_back({i, j, M(i, j)});
    }
  }
  return csr_from_triplets<Complex>(context, M.rows(), M.cols(), entries);
}

using Case = std::tuple<CgAlgorithm, Index, std::string>;

class HermitianSystems : public ::testing::TestWithParam<Case> {};

TEST_P(HermitianSystems, AreSolvedAsByADenseFactor) {
  const auto [algorithm, columns, preconditioner] = GetParam();
  HostContext context(2);
  const Index n = 500;
  const Dense A_dense = hermitian(n, 9);
  SparseOperator<Complex, HostContext> A(context, sparse(context, A_dense));
  std::unique_ptr<Preconditioner<Complex, HostContext>> M;
  if (preconditioner == "jacobi") {
    M = std::make_unique<JacobiPreconditioner<Complex, HostContext>>(context, A.matrix());
  } else if (preconditioner == "chebyshev") {
    M = std::make_unique<ChebyshevPreconditioner<Complex, HostContext>>(context, A.matrix());
  }
  MultiVector<Complex, HostSpace> B(context, n, columns);
  fill_random<Complex>(context, 3, 0, B.view());
  BlockCgOptions options;
  options.algorithm = algorithm;
  options.tolerance = 1e-11;
  const auto result = block_cg<Complex, HostContext>(
      context, {.A = &A, .preconditioner = M.get(), .B = std::as_const(B).view()}, options);
  ASSERT_EQ(result.status, SolveStatus::converged) << result.reason;
  Dense right(n, columns), found(n, columns);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < columns; ++j) {
      right(i, j) = B.view()(i, j);
      found(i, j) = result.solution.view()(i, j);
    }
  }
  const Dense exact = A_dense.ldlt().solve(right);
  EXPECT_LT((found - exact).norm(), 1e-9 * exact.norm());
}

INSTANTIATE_TEST_SUITE_P(Ways, HermitianSystems,
                         ::testing::Combine(::testing::Values(CgAlgorithm::breakdown_free,
                                                              CgAlgorithm::pseudo_block),
                                            ::testing::Values<Index>(1, 5),
                                            ::testing::Values("none", "jacobi", "chebyshev")));

TEST(HermitianSystems, OfIndefiniteMatricesAreRefused) {
  HostContext context(1);
  SparseOperator<Complex, HostContext> A(context, sparse(context, hermitian(300, 0)));
  MultiVector<Complex, HostSpace> B(context, 300, 2);
  fill_random<Complex>(context, 3, 0, B.view());
  const auto result =
      block_cg<Complex, HostContext>(context, {.A = &A, .B = std::as_const(B).view()}, {});
  EXPECT_EQ(result.status, SolveStatus::indefinite) << result.reason;
}

}  // namespace
}  // namespace heddle
