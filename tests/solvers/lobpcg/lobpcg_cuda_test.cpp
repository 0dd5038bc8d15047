#include <array>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/solvers/lobpcg/lobpcg.hpp>
#include <heddle/solvers/preconditioners/chebyshev/chebyshev.hpp>
#include <heddle/solvers/preconditioners/jacobi/jacobi.hpp>
#include <heddle/solvers/preconditioners/multigrid/multigrid.hpp>
#include <limits>
#include <utility>
#include <vector>

#include "solvers/eigen_test_support.hpp"
#include "support/cuda_test.hpp"
#include "support/tolerance.hpp"

namespace heddle {
namespace {

using test::CudaTest;

template <class T>
class CudaLobpcg : public CudaTest {
 protected:
  /// A generated matrix in device memory.
  SparseOperator<T, CudaContext> device_operator(const GallerySpec& spec) {
    return {context(), place(context(), generate<T>(host_, spec))};
  }

  HostContext& host() { return host_; }

 private:
  HostContext host_{2};
};

using Scalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(CudaLobpcg, Scalars);

/// How far eigenvalues may lie apart that were iterated to the default tolerance.
template <class T>
double allowed_error(double norm) {
  return kDefaultTolerance<T> * 2 * norm + test::tolerance<T>(norm, 1);
}

TYPED_TEST(CudaLobpcg, LaplaciansHaveTheirAnalyticSpectraAtBothEnds) {
  using T = TypeParam;
  for (const std::vector<Index>& size :
       {std::vector<Index>{400}, std::vector<Index>{20, 21}, std::vector<Index>{8, 9, 10}}) {
    auto A = this->device_operator({"laplace" + std::to_string(size.size()) + "d", size});
    for (const Which which : {Which::smallest, Which::largest}) {
      LobpcgOptions options;
      options.nev = 8;
      options.which = which;
      options.max_iterations = 5000;
      const auto result = lobpcg<T, CudaContext>(this->context(), {&A}, options);
      ASSERT_EQ(result.status, SolveStatus::converged) << result.reason;
      const auto expected = which == Which::smallest ? laplace_smallest_eigenvalues(size, 8)
                                                     : laplace_largest_eigenvalues(size, 8);
      for (std::size_t i = 0; i < expected.size(); ++i) {
        EXPECT_NEAR(result.eigenvalues[i], expected[i], allowed_error<T>(*A.one_norm())) << i;
      }
    }
  }
}

TYPED_TEST(CudaLobpcg, BeginsOnTheLevelsOfMultigrid) {
  using T = TypeParam;
  auto A = this->device_operator({"elasticity3d", {12, 12, 12}});
  auto B = this->device_operator({"elasticity3d_mass", {12, 12, 12}});
  MultigridPreconditioner<T, CudaContext> M(this->context(), A.matrix());
  for (auto* const mass : {static_cast<decltype(&B)>(nullptr), &B}) {
    LobpcgOptions options;
    options.nev = 6;
    options.criterion = Criterion::norm;
    const auto solved = [&](StartVectors start) {
      options.start = start;
      return lobpcg<T, CudaContext>(this->context(), {&A, mass, &M}, options);
    };
    const auto nested = solved(StartVectors::nested), random = solved(StartVectors::random);
    ASSERT_EQ(nested.status, SolveStatus::converged) << nested.reason;
    ASSERT_EQ(random.status, SolveStatus::converged) << random.reason;
    EXPECT_LE(nested.iterations, random.iterations);
    for (std::size_t j = 0; j < 6; ++j) {
      EXPECT_NEAR(nested.eigenvalues[j], random.eigenvalues[j],
                  nested.error_bounds[j] + random.error_bounds[j]);
    }
    EXPECT_EQ(solved(StartVectors::nested).eigenvalues, nested.eigenvalues);
  }
}

TYPED_TEST(CudaLobpcg, AgreesWithTheHostOnAPreconditionedPencil) {
  using T = TypeParam;
  const GallerySpec stiffness{"elasticity3d", {5, 4, 4}};
  const GallerySpec mass{"elasticity3d_mass", {5, 4, 4}};
  SparseOperator<T, HostContext> host_A(this->host(), generate<T>(this->host(), stiffness));
  SparseOperator<T, HostContext> host_B(this->host(), generate<T>(this->host(), mass));
  JacobiPreconditioner<T, HostContext> host_M(this->host(), host_A.matrix());
  auto A = this->device_operator(stiffness);
  auto B = this->device_operator(mass);
  JacobiPreconditioner<T, CudaContext> M(this->context(), A.matrix());
  EXPECT_EQ(A.one_norm(), host_A.one_norm());
  LobpcgOptions options;
  options.nev = 5;
  const auto expected = lobpcg<T, HostContext>(this->host(), {&host_A, &host_B, &host_M}, options);
  const auto result = lobpcg<T, CudaContext>(this->context(), {&A, &B, &M}, options);
  ASSERT_EQ(expected.status, SolveStatus::converged) << expected.reason;
  ASSERT_EQ(result.status, SolveStatus::converged) << result.reason;
  for (std::size_t i = 0; i < expected.eigenvalues.size(); ++i) {
    const double scale = *A.one_norm() + std::abs(expected.eigenvalues[i]) * *B.one_norm();
    EXPECT_NEAR(result.eigenvalues[i], expected.eigenvalues[i],
                kDefaultTolerance<T> * 2 * scale / *B.one_norm() * 100)
        << i;
  }
}

TYPED_TEST(CudaLobpcg, ASecondSolveGivesTheSameBitsAndAllocatesNothing) {
  using T = TypeParam;
  auto A = this->device_operator({"laplace3d", {12, 12, 12}});
  JacobiPreconditioner<T, CudaContext> M(this->context(), A.matrix());
  LobpcgOptions options;
  options.nev = 6;
  LobpcgWorkspace<T, CudaContext> workspace;
  const EigenProblem<T, CudaContext> problem{&A, nullptr, &M};
  const auto& result = lobpcg<T, CudaContext>(this->context(), problem, options, workspace);
  ASSERT_EQ(result.status, SolveStatus::converged) << result.reason;
  const std::vector<double> values = result.eigenvalues;
  const std::vector<double> residuals = result.residuals;
  const std::size_t allocations = this->context().allocation_count().allocations;
  lobpcg<T, CudaContext>(this->context(), problem, options, workspace);
  EXPECT_EQ(result.eigenvalues, values);
  EXPECT_EQ(result.residuals, residuals);
  EXPECT_EQ(this->context().allocation_count().allocations, allocations);
}

TYPED_TEST(CudaLobpcg, AStepBringsOnePacketToTheHostAndAllocatesNothing) {
  using T = TypeParam;
  auto A = this->device_operator({"laplace3d", {20, 20, 20}});
  auto stiffness = this->device_operator({"elasticity3d", {8, 7, 7}});
  auto mass = this->device_operator({"elasticity3d_mass", {8, 7, 7}});
  ChebyshevPreconditioner<T, CudaContext> M(this->context(), A.matrix());
  LobpcgOptions options;
  options.nev = 6;
  options.tolerance = 1e-14;  // nothing is decided before the limit
  LobpcgWorkspace<T, CudaContext> workspace;
  std::array<EigenProblem<T, CudaContext>, 3> problems;
  problems[0].A = problems[1].A = &A;
  problems[1].preconditioner = &M;
  problems[2].A = &stiffness;
  problems[2].B = &mass;
  for (const auto& problem : problems) {
    const auto counts = [&](Index iterations) {
      options.max_iterations = iterations;
      const std::size_t copies = this->context().copy_count().to_host;
      const std::size_t allocations = this->context().allocation_count().allocations;
      const auto& result = lobpcg<T, CudaContext>(this->context(), problem, options, workspace);
      EXPECT_EQ(result.iterations, iterations) << result.reason;
      return std::pair(this->context().copy_count().to_host - copies,
                       this->context().allocation_count().allocations - allocations);
    };
    counts(4);
    const auto few = counts(4);
    const auto more = counts(9);
    EXPECT_EQ(more.first - few.first, 5u);
    EXPECT_EQ(few.second, 0u);
    EXPECT_EQ(more.second, 0u);
  }
}

}  // namespace
}  // namespace heddle
