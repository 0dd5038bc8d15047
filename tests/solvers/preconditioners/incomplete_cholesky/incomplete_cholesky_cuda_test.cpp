#include <heddle/solvers/preconditioners/incomplete_cholesky/incomplete_cholesky.hpp>

#include "solvers/operators/triangular_solves_battery.hpp"
#include "support/cuda_test.hpp"

namespace heddle {
namespace {

template <class T>
class IncompleteCholeskyCuda : public test::CudaTest {
 protected:
  /// M⁻¹X for the X of `random_vectors`.
  template <class Ctx>
  MultiVector<T, HostSpace> applied(Ctx& context, IncompleteCholeskyPreconditioner<T, Ctx>& M,
                                    Index b) {
    auto X = place(context, test::random_vectors<T>(host_, M.rows(), b));
    MultiVector<T, typename Ctx::Space> Y(context, M.rows(), b);
    M.apply(context, X.view(), Y.view());
    return fetch(context, host_, std::move(Y));
  }

  using test::CudaTest::context;
  HostContext host_{2};
};

using Scalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(IncompleteCholeskyCuda, Scalars);

TYPED_TEST(IncompleteCholeskyCuda, DoesWhatItDoesOnTheHost) {
  using T = TypeParam;
  const auto A = generate<T>(this->host_, {"elasticity3d", {5, 6, 7}});
  const auto there = place(this->context(), generate<T>(this->host_, {"elasticity3d", {5, 6, 7}}));
  for (const auto solve : {TriangularSolve::level_scheduled, TriangularSolve::iterated}) {
    IncompleteCholeskyPreconditioner<T, HostContext> on_host(this->host_, A.view(), solve);
    IncompleteCholeskyPreconditioner<T, CudaContext> on_gpu(this->context(), there.view(), solve);
    EXPECT_EQ(on_gpu.shift(), on_host.shift());
    EXPECT_EQ(on_gpu.levels(), on_host.levels());
    EXPECT_EQ(on_gpu.levels() > 0, solve == TriangularSolve::level_scheduled);
    for (const Index b : {1, 5, 16}) {
      const auto expected = this->applied(this->host_, on_host, b);
      const auto found = this->applied(this->context(), on_gpu, b);
      double size = 0, difference = 0;
      for (Index i = 0; i < A.rows(); ++i) {
        for (Index j = 0; j < b; ++j) {
          const auto value = static_cast<double>(expected.view()(i, j));
          size += value * value;
          difference += std::pow(value - static_cast<double>(found.view()(i, j)), 2);
        }
      }
      EXPECT_LE(std::sqrt(difference),
                test::tolerance<T>(std::sqrt(size), static_cast<double>(A.rows())));
    }
  }
}

TYPED_TEST(IncompleteCholeskyCuda, SolvesExactlyUnlessAskedOtherwise) {
  using T = TypeParam;
  const auto A = place(this->context(), generate<T>(this->host_, {"laplace3d", {12, 13, 14}}));
  IncompleteCholeskyPreconditioner<T, CudaContext> automatic(this->context(), A.view());
  IncompleteCholeskyPreconditioner<T, CudaContext> exact(this->context(), A.view(),
                                                         TriangularSolve::level_scheduled);
  EXPECT_EQ(automatic.levels(), 12 + 13 + 14 - 2);
  const auto first = this->applied(this->context(), automatic, 8);
  const auto second = this->applied(this->context(), exact, 8);
  EXPECT_EQ(test::all_entries<T>(first.view()), test::all_entries<T>(second.view()));
}

TYPED_TEST(IncompleteCholeskyCuda, ReportsWhatItsSetupTook) {
  using T = TypeParam;
  const auto A = place(this->context(), generate<T>(this->host_, {"laplace2d", {30, 31}}));
  for (const auto solve : {TriangularSolve::level_scheduled, TriangularSolve::iterated}) {
    const auto before = this->context().allocation_count().live_bytes;
    IncompleteCholeskyPreconditioner<T, CudaContext> M(this->context(), A.view(), solve);
    EXPECT_EQ(M.setup_cost().bytes(), this->context().allocation_count().live_bytes - before);
    EXPECT_GE(M.setup_cost().bytes(), static_cast<std::size_t>(A.nnz()) * sizeof(T));
  }
}

class TriangularSolvesCuda : public test::CudaTest {};

TEST_F(TriangularSolvesCuda, Bcsstk17) { expect_solves_with_bcsstk17(context()); }

}  // namespace
}  // namespace heddle
