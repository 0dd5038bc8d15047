#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/gallery/gallery.hpp>
#include <heddle/linalg/matrix_market/matrix_market.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/solvers/cg/block_cg.hpp>
#include <heddle/solvers/operators/sparse_operator.hpp>
#include <heddle/solvers/preconditioners/block_jacobi/block_jacobi.hpp>
#include <heddle/solvers/preconditioners/chebyshev/chebyshev.hpp>
#include <heddle/solvers/preconditioners/incomplete_cholesky/incomplete_cholesky.hpp>
#include <heddle/solvers/preconditioners/jacobi/jacobi.hpp>

#include "solvers/linear_test_support.hpp"
#include "support/cuda_test.hpp"
#include "support/matrix_dir.hpp"

namespace heddle {
namespace {

constexpr CgAlgorithm kBoth[] = {CgAlgorithm::breakdown_free, CgAlgorithm::pseudo_block};

template <class T>
class BlockCgCuda : public test::CudaTest {
 protected:
  using System = LinearSystem<T, CudaContext>;

  SparseOperator<T, CudaContext> on_device(const GallerySpec& spec) {
    return {context(), place(context(), generate<T>(host_, spec))};
  }

  MultiVector<T, DeviceSpace> random(Index n, Index b) {
    MultiVector<T, DeviceSpace> B(this->context(), n, b);
    fill_random<T>(this->context(), 7, 0, B.view());
    return B;
  }

  /// ‖b − A x‖/‖b‖ of each column, computed on the host.
  std::vector<double> residuals(const GallerySpec& spec, ConstBlockView<T, DeviceSpace> B,
                                ConstBlockView<T, DeviceSpace> X) {
    const auto A = generate<T>(host_, spec);
    MultiVector<T, HostSpace> b(host_, B.rows(), B.cols());
    MultiVector<T, HostSpace> x(host_, B.rows(), B.cols());
    fetch<T>(context(), B, b.view());
    fetch<T>(context(), X, x.view());
    return test::true_linear_residuals<T>(A.view(), b.view(), x.view());
  }

  using test::CudaTest::context;
  HostContext host_;
};

using Scalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(BlockCgCuda, Scalars);

TYPED_TEST(BlockCgCuda, SolvesWithEachPreconditioner) {
  using T = TypeParam;
  const GallerySpec spec{"elasticity3d", {6, 6, 6}};
  auto A = this->on_device(spec);
  CudaContext& context = this->context();
  const auto B = this->random(A.rows(), 6);
  JacobiPreconditioner<T, CudaContext> jacobi(context, A.matrix());
  ChebyshevPreconditioner<T, CudaContext> chebyshev(context, A.matrix());
  BlockJacobiPreconditioner<T, CudaContext> block_jacobi(context, A.matrix());
  IncompleteCholeskyPreconditioner<T, CudaContext> ic(context, A.matrix());
  const std::vector<Preconditioner<T, CudaContext>*> all = {nullptr, &jacobi, &chebyshev,
                                                            &block_jacobi, &ic};
  for (auto* M : all) {
    for (const CgAlgorithm algorithm : kBoth) {
      BlockCgOptions options;
      options.algorithm = algorithm;
      const auto result = block_cg<T, CudaContext>(context, {&A, M, B.view()}, options);
      EXPECT_EQ(result.status, SolveStatus::converged) << result.reason;
      for (const double residual : this->residuals(spec, B.view(), result.solution.view())) {
        EXPECT_LE(residual, 1.1 * kDefaultTolerance<T>);
      }
    }
  }
}

TYPED_TEST(BlockCgCuda, DependentRightHandSidesAreSolved) {
  using T = TypeParam;
  const GallerySpec spec{"laplace2d", {30, 31}};
  auto A = this->on_device(spec);
  auto B = this->random(A.rows(), 8);
  for (Index j = 1; j < 8; ++j) copy<T>(this->context(), B.columns(0, 1), B.columns(j, 1));
  const auto result = block_cg<T, CudaContext>(this->context(), {&A, nullptr, B.view()}, {});
  EXPECT_EQ(result.status, SolveStatus::converged) << result.reason;
  EXPECT_LE(result.operator_applications, 3 * result.iterations + 20);
}

TYPED_TEST(BlockCgCuda, ASecondSolveAllocatesNothingAndGivesTheSameBits) {
  using T = TypeParam;
  CudaContext& context = this->context();
  auto A = this->on_device({"laplace3d", {20, 21, 22}});
  JacobiPreconditioner<T, CudaContext> M(context, A.matrix());
  const auto B = this->random(A.rows(), 8);
  BlockCgWorkspace<T, CudaContext> workspace;
  const auto bits = [&] {
    const auto& result = block_cg<T, CudaContext>(context, {&A, &M, B.view()}, {}, workspace);
    EXPECT_EQ(result.status, SolveStatus::converged) << result.reason;
    MultiVector<T, HostSpace> x(this->host_, A.rows(), 8);
    fetch<T>(context, result.solution.view(), x.view());
    return test::all_entries<T>(x.view());
  };
  const auto first = bits();
  const std::size_t before = context.allocation_count().allocations;
  EXPECT_EQ(bits(), first);
  EXPECT_EQ(context.allocation_count().allocations, before);
}

TYPED_TEST(BlockCgCuda, ASteadyIterationCopiesOnePacketToTheHost) {
  using T = TypeParam;
  CudaContext& context = this->context();
  auto A = this->on_device({"laplace3d", {20, 21, 22}});
  const auto B = this->random(A.rows(), 8);
  BlockCgWorkspace<T, CudaContext> workspace;
  const auto copies = [&](Index iterations) {
    BlockCgOptions options;
    options.max_iterations = iterations;
    const std::size_t before = context.copy_count().to_host;
    block_cg<T, CudaContext>(context, {&A, nullptr, B.view()}, options, workspace);
    return context.copy_count().to_host - before;
  };
  copies(5);  // prepares the products
  EXPECT_EQ(copies(15) - copies(5), 10u);
}

/// A stiff structure: sweeps for the triangles do not converge there, substitution does.
TEST(BlockCgCudaMatrices, Bcsstk17IsSolvedWithIncompleteCholesky) {
  const std::string reason = cuda_unavailable_reason();
  if (!reason.empty()) GTEST_SKIP() << "skipped: " << reason;
  const auto folder = test::matrix_dir();
  if (!folder) GTEST_SKIP() << "no matrix folder";
  CudaContext context;
  HostContext host;
  const auto on_host = read_matrix_market<double>(host, *folder / "bcsstk17.mtx.gz");
  SparseOperator<double, CudaContext> A(
      context, place(context, read_matrix_market<double>(host, *folder / "bcsstk17.mtx.gz")));
  IncompleteCholeskyPreconditioner<double, CudaContext> M(context, A.matrix());
  MultiVector<double, DeviceSpace> B(context, A.rows(), 16);
  fill_random<double>(context, 7, 0, B.view());
  for (const CgAlgorithm algorithm : kBoth) {
    BlockCgOptions options;
    options.algorithm = algorithm;
    const auto result = block_cg<double, CudaContext>(context, {&A, &M, B.view()}, options);
    EXPECT_EQ(result.status, SolveStatus::converged) << result.reason;
    MultiVector<double, HostSpace> b(host, A.rows(), 16);
    MultiVector<double, HostSpace> x(host, A.rows(), 16);
    fetch<double>(context, B.view(), b.view());
    fetch<double>(context, result.solution.view(), x.view());
    for (const double residual :
         test::true_linear_residuals<double>(on_host.view(), b.view(), x.view())) {
      EXPECT_LE(residual, 1.1e-8);
    }
  }
}

TEST(BlockCgCudaStatus, AnIndefiniteMatrixIsFound) {
  const std::string reason = cuda_unavailable_reason();
  if (!reason.empty()) GTEST_SKIP() << "skipped: " << reason;
  CudaContext context;
  HostContext host;
  std::vector<Triplet<double>> entries;
  for (Index i = 0; i < 500; ++i) entries.push_back({i, i, static_cast<double>(i) - 3});
  SparseOperator<double, CudaContext> A(
      context, place(context, csr_from_triplets<double>(host, 500, 500, entries)));
  MultiVector<double, DeviceSpace> B(context, 500, 4);
  fill_random<double>(context, 7, 0, B.view());
  const auto result = block_cg<double, CudaContext>(context, {&A, nullptr, B.view()}, {});
  EXPECT_EQ(result.status, SolveStatus::indefinite) << result.reason;
}

}  // namespace
}  // namespace heddle
