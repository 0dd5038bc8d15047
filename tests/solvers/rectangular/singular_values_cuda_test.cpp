#include <cmath>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/solvers/operators/sparse_operator.hpp>
#include <heddle/solvers/rectangular/singular_values.hpp>
#include <vector>

#include "solvers/linear_test_support.hpp"
#include "solvers/rectangular/adjoint_support.hpp"
#include "support/cuda_test.hpp"
#include "support/matrices.hpp"
#include "support/tolerance.hpp"

namespace heddle {
namespace {

/// rows×cols with 2, 2.01, … on its diagonal, `zeros` columns at its end empty.
template <class T>
test::TestMatrix<T> diagonal_matrix(Index rows, Index cols, Index zeros) {
  auto matrix = test::matrix_with_pattern<T>(rows, cols, [&](Index i) {
    return i < cols - zeros ? std::vector<Index>{i} : std::vector<Index>{};
  });
  for (std::size_t i = 0; i < matrix.values.size(); ++i) {
    matrix.values[i] = static_cast<T>(2 + 0.01 * static_cast<double>(i));
  }
  return matrix;
}

template <class T>
class SingularTripletsCuda : public test::CudaTest {
 protected:
  using Result = SingularResult<T, DeviceSpace>;

  Result solve(const test::TestMatrix<T>& A, const SingularOptions& options) {
    SparseOperator<T, CudaContext> there(context(), place(context(), convert<T>(host_, A.view())));
    SparseOperator<T, CudaContext> transposed(context(),
                                              place(context(), transpose(host_, A.view())));
    return singular_triplets<T, CudaContext>(context(), {&there, &transposed}, options);
  }

  /// Converged, with the host's values, within what both may be off the exact ones.
  void expect_as_on_the_host(const test::TestMatrix<T>& A, const SingularOptions& options) {
    SCOPED_TRACE(::testing::Message() << A.rows << "x" << A.cols);
    const Result result = solve(A, options);
    ASSERT_EQ(result.status, SolveStatus::converged) << result.reason;
    test::SparsePair<T> here(host_, A.view());
    const auto expected = singular_triplets<T, HostContext>(host_, here.pair(), options);
    ASSERT_EQ(result.singular_values.size(), expected.singular_values.size());
    const double n = static_cast<double>(A.rows + A.cols);
    const double allowed =
        2 * kDefaultTolerance<T> * expected.norm + test::tolerance<T>(expected.norm, n);
    for (std::size_t j = 0; j < expected.singular_values.size(); ++j) {
      EXPECT_NEAR(result.singular_values[j], expected.singular_values[j], allowed) << j;
      EXPECT_LE(result.residuals[j], kDefaultTolerance<T>);
    }
    EXPECT_LE(result.orthogonality, test::tolerance<T>(1, n, 64));
  }

  std::vector<T> entries(const MultiVector<T, DeviceSpace>& X) {
    MultiVector<T, HostSpace> fetched(host_, X.rows(), X.cols());
    fetch<T>(context(), X.view(), fetched.view());
    return test::all_entries<T>(fetched.view());
  }

  HostContext host_{2};
};

using Scalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(SingularTripletsCuda, Scalars);

SingularOptions options_for(Which which, SingularSolver solver) {
  SingularOptions options;
  options.nev = 4;
  options.which = which;
  options.solver = solver;
  return options;
}

TYPED_TEST(SingularTripletsCuda, BothEndsByEachEigensolver) {
  for (const SingularSolver solver : {SingularSolver::block_lanczos, SingularSolver::lobpcg}) {
    for (const Which which : {Which::largest, Which::smallest}) {
      for (const auto& [rows, cols] : {std::pair<Index, Index>{700, 520}, {520, 700}}) {
        this->expect_as_on_the_host(diagonal_matrix<TypeParam>(rows, cols, 0),
                                    options_for(which, solver));
      }
    }
  }
}

TYPED_TEST(SingularTripletsCuda, VectorsOfZerosOnTheLongerSide) {
  for (const SingularSolver solver : {SingularSolver::block_lanczos, SingularSolver::lobpcg}) {
    for (const auto& [rows, cols] : {std::pair<Index, Index>{700, 520}, {520, 520}}) {
      this->expect_as_on_the_host(diagonal_matrix<TypeParam>(rows, cols, 3),
                                  options_for(Which::smallest, solver));
    }
  }
}

TYPED_TEST(SingularTripletsCuda, OfAGradedMatrixThatNoEigensolverReaches) {
  auto A = diagonal_matrix<TypeParam>(640, 540, 3);
  for (std::size_t i = 0; i < A.values.size(); ++i) {
    A.values[i] = static_cast<TypeParam>(std::pow(10.0, -0.01 * static_cast<double>(i)));
  }
  for (const SingularSolver solver : {SingularSolver::block_lanczos, SingularSolver::lobpcg}) {
    SingularOptions options = options_for(Which::smallest, solver);
    options.nev = 13;
    this->expect_as_on_the_host(A, options);
  }
}

TYPED_TEST(SingularTripletsCuda, OfASmallMatrix) {
  this->expect_as_on_the_host(test::random_matrix<TypeParam>(40, 23, 6),
                              options_for(Which::smallest, SingularSolver::automatic));
}

TYPED_TEST(SingularTripletsCuda, SameBitsTwice) {
  const auto A = diagonal_matrix<TypeParam>(700, 520, 2);
  const SingularOptions options = options_for(Which::smallest, SingularSolver::automatic);
  const auto first = this->solve(A, options);
  const auto second = this->solve(A, options);
  EXPECT_EQ(first.singular_values, second.singular_values);
  EXPECT_EQ(first.residuals, second.residuals);
  EXPECT_EQ(this->entries(first.left_vectors), this->entries(second.left_vectors));
  EXPECT_EQ(this->entries(first.right_vectors), this->entries(second.right_vectors));
}

}  // namespace
}  // namespace heddle
