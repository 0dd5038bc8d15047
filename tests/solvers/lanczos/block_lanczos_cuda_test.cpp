#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/solvers/lanczos/block_lanczos.hpp>
#include <heddle/solvers/preconditioners/jacobi/jacobi.hpp>
#include <vector>

#include "solvers/eigen_test_support.hpp"
#include "support/cuda_test.hpp"
#include "support/tolerance.hpp"

namespace heddle {
namespace {

template <class T>
class CudaBlockLanczos : public test::CudaTest {
 protected:
  /// A generated matrix in device memory.
  SparseOperator<T, CudaContext> device_operator(const GallerySpec& spec) {
    return {context(), place(context(), generate<T>(host_, spec))};
  }

 private:
  HostContext host_{2};
};

using Scalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(CudaBlockLanczos, Scalars);

TYPED_TEST(CudaBlockLanczos, LaplaciansHaveTheirAnalyticSpectraAtBothEnds) {
  using T = TypeParam;
  for (const std::vector<Index>& size :
       {std::vector<Index>{400}, std::vector<Index>{20, 21}, std::vector<Index>{8, 9, 10}}) {
    auto A = this->device_operator({"laplace" + std::to_string(size.size()) + "d", size});
    EigenProblem<T, CudaContext> problem;
    problem.A = &A;
    for (const Which which : {Which::smallest, Which::largest}) {
      BlockLanczosOptions options;
      options.nev = 8;
      options.which = which;
      options.max_iterations = 5000;
      const auto result = block_lanczos<T, CudaContext>(this->context(), problem, options);
      ASSERT_EQ(result.status, SolveStatus::converged) << result.reason;
      const auto expected = which == Which::smallest ? laplace_smallest_eigenvalues(size, 8)
                                                     : laplace_largest_eigenvalues(size, 8);
      const double norm = *A.one_norm();
      for (std::size_t i = 0; i < expected.size(); ++i) {
        EXPECT_NEAR(result.eigenvalues[i], expected[i],
                    2 * kDefaultTolerance<T> * norm + test::tolerance<T>(norm, 1))
            << i;
      }
    }
  }
}

TYPED_TEST(CudaBlockLanczos, ASecondSolveGivesTheSameBitsAndAllocatesNothing) {
  using T = TypeParam;
  auto A = this->device_operator({"laplace3d", {12, 12, 12}});
  EigenProblem<T, CudaContext> problem;
  problem.A = &A;
  for (const Which which : {Which::smallest, Which::largest}) {
    BlockLanczosOptions options;
    options.nev = 6;
    options.which = which;
    BlockLanczosWorkspace<T, CudaContext> workspace;
    const auto& result =
        block_lanczos<T, CudaContext>(this->context(), problem, options, workspace);
    ASSERT_EQ(result.status, SolveStatus::converged) << result.reason;
    const std::vector<double> values = result.eigenvalues;
    const std::vector<double> residuals = result.residuals;
    const std::size_t allocations = this->context().allocation_count().allocations;
    block_lanczos<T, CudaContext>(this->context(), problem, options, workspace);
    EXPECT_EQ(result.eigenvalues, values);
    EXPECT_EQ(result.residuals, residuals);
    EXPECT_EQ(this->context().allocation_count().allocations, allocations);
  }
}

TYPED_TEST(CudaBlockLanczos, AStepBringsOnePacketToTheHost) {
  using T = TypeParam;
  auto A = this->device_operator({"laplace3d", {24, 24, 24}});
  EigenProblem<T, CudaContext> problem;
  problem.A = &A;
  BlockLanczosOptions options;
  options.nev = 6;
  options.block_size = 4;
  options.max_basis = 64;
  options.which = Which::largest;
  options.filter = LanczosFilter::none;
  options.tolerance = 1e-14;
  BlockLanczosWorkspace<T, CudaContext> workspace;
  const auto counts = [&](Index cycles) {
    options.max_iterations = cycles;
    const std::size_t copies = this->context().copy_count().to_host;
    const auto& result =
        block_lanczos<T, CudaContext>(this->context(), problem, options, workspace);
    return std::pair(this->context().copy_count().to_host - copies,
                     static_cast<std::size_t>(result.operator_applications / options.block_size));
  };
  counts(2);
  const auto few = counts(2);
  const auto more = counts(4);
  ASSERT_GT(more.second, few.second);
  const std::size_t restarts = 2;  // each brings the kept Ritz pairs' coupling, too
  EXPECT_LE(more.first - few.first, more.second - few.second + restarts);
}

TYPED_TEST(CudaBlockLanczos, AnInverseFindsTheSmallestEndWithTheSameBitsEveryTime) {
  using T = TypeParam;
  const std::vector<Index> size = {35, 36};
  auto A = this->device_operator({"laplace2d", size});
  ShiftedInverse<T, CudaContext> inverse(A.matrix());
  const EigenProblem<T, CudaContext> problem{.A = &A, .shifted_inverse = &inverse};
  BlockLanczosOptions options;
  options.nev = 8;
  options.filter = LanczosFilter::inverse;
  const auto result = block_lanczos<T, CudaContext>(this->context(), problem, options);
  ASSERT_EQ(result.status, SolveStatus::converged) << result.reason;
  EXPECT_GT(result.inverse_applications, 0);
  EXPECT_LE(result.operator_applications, 300);
  const auto expected = laplace_smallest_eigenvalues(size, 8);
  const double norm = *A.one_norm();
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(result.eigenvalues[i], expected[i],
                2 * kDefaultTolerance<T> * norm + test::tolerance<T>(norm, 1))
        << i;
  }
  const auto again = block_lanczos<T, CudaContext>(this->context(), problem, options);
  EXPECT_EQ(again.eigenvalues, result.eigenvalues);
  EXPECT_EQ(again.residuals, result.residuals);
}

TYPED_TEST(CudaBlockLanczos, APencilNeedsNoInverseOfB) {
  using T = TypeParam;
  auto A = this->device_operator({"elasticity3d", {5, 5, 5}});
  auto B = this->device_operator({"elasticity3d_mass", {5, 5, 5}});
  ShiftedInverse<T, CudaContext> inverse(A.matrix(), B.matrix());
  BlockLanczosOptions options;
  options.nev = 7;
  const auto result = block_lanczos<T, CudaContext>(
      this->context(), {.A = &A, .B = &B, .shifted_inverse = &inverse}, options);
  ASSERT_EQ(result.status, SolveStatus::converged) << result.reason;
  EXPECT_GT(result.inverse_applications, 0);

  HostContext host(2);
  SparseOperator<double, HostContext> K(host, generate<double>(host, {"elasticity3d", {5, 5, 5}}));
  SparseOperator<double, HostContext> M(host,
                                        generate<double>(host, {"elasticity3d_mass", {5, 5, 5}}));
  ShiftedInverse<double, HostContext> there(K.matrix(), M.matrix());
  const auto reference = block_lanczos<double, HostContext>(
      host, {.A = &K, .B = &M, .shifted_inverse = &there}, options);
  ASSERT_EQ(reference.status, SolveStatus::converged) << reference.reason;
  const double scale = *K.one_norm() / *M.one_norm() + reference.eigenvalues.back();
  for (std::size_t i = 0; i < reference.eigenvalues.size(); ++i) {
    EXPECT_NEAR(result.eigenvalues[i], reference.eigenvalues[i], 10 * kDefaultTolerance<T> * scale);
  }
}

TYPED_TEST(CudaBlockLanczos, ShiftedInversesSolveAsOnTheHost) {
  using T = TypeParam;
  auto A = this->device_operator({"laplace3d", {7, 8, 9}});
  ShiftedInverse<T, CudaContext> inverse(A.matrix());
  ASSERT_TRUE(inverse.factor(this->context(), -0.5));
  EXPECT_FALSE(inverse.factor(this->context(), 6));
  ASSERT_TRUE(inverse.factor(this->context(), -0.5));
  for (const Index cols : {1, 5, 8}) {
    MultiVector<T, DeviceSpace> X(this->context(), A.rows(), cols),
        Y(this->context(), A.rows(), cols);
    MultiVector<T, DeviceSpace> R(this->context(), A.rows(), cols);
    fill_random<T>(this->context(), 1, 0, X.view());
    inverse.apply(this->context(), std::as_const(X).view(), Y.view());
    A.apply(this->context(), std::as_const(Y).view(), R.view());  // (A + I/2) Y = X
    axpby<T>(this->context(), 0.5, std::as_const(Y).view(), 1, R.view());
    axpby<T>(this->context(), -1, std::as_const(X).view(), 1, R.view());
    HostContext host;
    const auto residual = fetch(this->context(), host, std::move(R));
    for (Index i = 0; i < residual.rows(); ++i) {
      for (Index j = 0; j < cols; ++j) {
        EXPECT_NEAR(residual.view()(i, j), 0,
                    test::tolerance<T>(*A.one_norm(), static_cast<double>(A.rows())));
      }
    }
  }
}

}  // namespace
}  // namespace heddle
