#include <heddle/linalg/data/transfer.hpp>
#include <heddle/solvers/lanczos/block_lanczos.hpp>
#include <heddle/solvers/lobpcg/lobpcg.hpp>
#include <heddle/solvers/null_space/null_pairs.hpp>
#include <heddle/solvers/operators/sparse_operator.hpp>
#include <utility>

#include "solvers/null_space/graphs.hpp"
#include "support/cuda_test.hpp"
#include "support/dense.hpp"

namespace heddle {
namespace {

template <class T>
class CudaNullPairs : public test::CudaTest {};
using Scalars = testing::Types<float, double>;
TYPED_TEST_SUITE(CudaNullPairs, Scalars);

TYPED_TEST(CudaNullPairs, AreTheSolutionOrAPartOfIt) {
  using T = TypeParam;
  constexpr Index kOrder = 500;
  HostContext host(2);
  CudaContext& context = this->context();
  auto L = convert<T>(
      host, test::laplacian_of(host, kOrder, test::random_parts({1, 150, 9, 200, 140}, 29)).view());
  const Eigen::MatrixXd dense = test::to_dense(L.view());
  const GraphNullSpace found = graph_null_space<T>(host, L.view(), 10);
  ASSERT_EQ(found.dimension, 5);
  SparseOperator<T, CudaContext> A(context, place(context, std::move(L)));
  const auto Z = null_vectors<T, CudaContext>(context, host, found, 5);
  EigenProblem<T, CudaContext> problem{&A};
  problem.null_vectors = Z.view();
  const Eigen::VectorXd exact = test::eigenvalues(dense);
  const double rounding =
      20 * static_cast<double>(std::numeric_limits<T>::epsilon()) * dense.norm();
  const auto check = [&](const EigenResult<T, DeviceSpace>& result, Index nev) {
    ASSERT_EQ(result.status, SolveStatus::converged) << result.reason;
    ASSERT_EQ(std::ssize(result.eigenvalues), nev);
    MultiVector<T, HostSpace> X(host, kOrder, nev);
    fetch<T>(context, result.eigenvectors.columns(0, nev), X.view());
    const Eigen::MatrixXd vectors = test::to_dense<T>(std::as_const(X).view());
    for (Index j = 0; j < nev; ++j) {
      const auto place = static_cast<std::size_t>(j);
      EXPECT_NEAR(result.eigenvalues[place], exact[j], result.error_bounds[place] + rounding) << j;
      const double residual =
          (dense * vectors.col(j) - result.eigenvalues[place] * vectors.col(j)).norm();
      EXPECT_LE(residual, 1e-3 * dense.norm()) << j;
      EXPECT_NEAR(vectors.col(j).norm(), 1, 1e-4);
    }
  };
  check(null_pairs<T, CudaContext>(context, problem, {.nev = 5}), 5);
  check(lobpcg<T, CudaContext>(context, problem, {{.nev = 9}}), 9);
  check(block_lanczos<T, CudaContext>(context, problem, {{.nev = 9}}), 9);
}

}  // namespace
}  // namespace heddle
