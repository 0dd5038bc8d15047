#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/solvers/operators/sparse_operator.hpp>
#include <heddle/solvers/rectangular/least_squares.hpp>
#include <vector>

#include "solvers/linear_test_support.hpp"
#include "solvers/rectangular/adjoint_support.hpp"
#include "support/cuda_test.hpp"
#include "support/matrices.hpp"
#include "support/tolerance.hpp"

namespace heddle {
namespace {

/// A random matrix over 6 on its diagonal: well conditioned.
template <class T>
test::TestMatrix<T> dominant_matrix(Index rows, Index cols) {
  auto A = test::band_matrix<T>(rows, cols, 3);
  for (Index i = 0; i < std::min(rows, cols); ++i) {
    for (auto k = A.offsets[static_cast<std::size_t>(i)];
         k < A.offsets[static_cast<std::size_t>(i + 1)]; ++k) {
      if (A.columns[static_cast<std::size_t>(k)] == i) A.values[static_cast<std::size_t>(k)] += 6;
    }
  }
  return A;
}

template <class T>
class LeastSquaresCuda : public test::CudaTest {
 protected:
  LeastSquaresResult<T, DeviceSpace> solve(const test::TestMatrix<T>& A,
                                           const MultiVector<T, HostSpace>& B,
                                           CgAlgorithm algorithm) {
    SparseOperator<T, CudaContext> there(context(), place(context(), convert<T>(host_, A.view())));
    SparseOperator<T, CudaContext> transposed(context(),
                                              place(context(), transpose(host_, A.view())));
    MultiVector<T, DeviceSpace> right(context(), B.rows(), B.cols());
    send<T>(context(), B.view(), right.view());
    LeastSquaresProblem<T, CudaContext> problem;
    problem.A = {&there, &transposed};
    problem.B = right.view();
    BlockCgOptions options;
    options.algorithm = algorithm;
    return least_squares<T, CudaContext>(context(), problem, options);
  }

  std::vector<T> entries(const MultiVector<T, DeviceSpace>& X) {
    MultiVector<T, HostSpace> fetched(host_, X.rows(), X.cols());
    fetch<T>(context(), X.view(), fetched.view());
    return test::all_entries<T>(fetched.view());
  }

  HostContext host_{2};
};

using Scalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(LeastSquaresCuda, Scalars);

constexpr CgAlgorithm kBoth[] = {CgAlgorithm::breakdown_free, CgAlgorithm::pseudo_block};

TYPED_TEST(LeastSquaresCuda, SolutionsAreThoseOfTheHost) {
  using T = TypeParam;
  for (const CgAlgorithm algorithm : kBoth) {
    const auto A = dominant_matrix<T>(400, 250);
    const auto B = test::random_vectors<T>(this->host_, A.rows, 5);
    const auto result = this->solve(A, B, algorithm);
    ASSERT_EQ(result.status, SolveStatus::converged) << result.reason;
    test::SparsePair<T> here(this->host_, A.view());
    LeastSquaresProblem<T, HostContext> problem;
    problem.A = here.pair();
    problem.B = B.view();
    BlockCgOptions options;
    options.algorithm = algorithm;
    const auto expected = least_squares<T, HostContext>(this->host_, problem, options);
    const auto X = this->entries(result.solution);
    const auto Y = test::all_entries<T>(expected.solution.view());
    ASSERT_EQ(X.size(), Y.size());
    // Both have residuals of AᵀA x = Aᵀb up to the tolerance times ‖Aᵀb‖; the least singular value
    // is above 1, and ‖b‖ below √400, ‖A‖ below 12.
    const double bound = 12 * 20 * (2 * kDefaultTolerance<T> + test::tolerance<T>(1, 650));
    for (std::size_t i = 0; i < X.size(); ++i) EXPECT_NEAR(X[i], Y[i], bound);
    for (std::size_t j = 0; j < 5; ++j) {
      EXPECT_LE(result.residuals[j], kDefaultTolerance<T>);
      EXPECT_NEAR(result.residual_norms[j], expected.residual_norms[j],
                  bound + test::tolerance<T>(20, 650));
    }
  }
}

TYPED_TEST(LeastSquaresCuda, SameBitsTwice) {
  const auto A = dominant_matrix<TypeParam>(400, 250);
  const auto B = test::random_vectors<TypeParam>(this->host_, A.rows, 5);
  for (const CgAlgorithm algorithm : kBoth) {
    const auto first = this->solve(A, B, algorithm);
    const auto second = this->solve(A, B, algorithm);
    EXPECT_EQ(this->entries(first.solution), this->entries(second.solution));
    EXPECT_EQ(first.residuals, second.residuals);
  }
}

}  // namespace
}  // namespace heddle
