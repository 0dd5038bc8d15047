#include <heddle/linalg/small/dense_eigen_state.hpp>

#include "linalg/blocks/complex_ops_battery.hpp"
#include "support/on_device.hpp"

namespace heddle {
namespace {

INSTANTIATE_TYPED_TEST_SUITE_P(Gpu, ComplexBlocks, test::OnGpu<Complex>);

using CudaComplexSmall = test::CudaTest;

TEST_F(CudaComplexSmall, EigenpairsOnBothSidesOfTheLeastOrder) {
  constexpr Index kLeast = detail::DeviceEigensolver<Complex>::kLeastOrder;
  DenseSolverOf<Complex> solver(context(), 300);
  for (const Index m : {kLeast - 1, kLeast, Index{300}}) {
    const Dense M = Dense::Random(m, m);
    Dense H = M + M.adjoint(), Z(m, m), again(m, m);
    Eigen::VectorXd theta(m);
    const ConstSmallView<Complex, HostSpace> view = small(H);
    ASSERT_EQ(solver.solve(view, {theta.data(), m, 1, m}, small(Z)), DenseFailure::none);
    EXPECT_LT((H * Z - Z * theta.cast<Complex>().asDiagonal()).norm(), 1e-11);
    EXPECT_LT((Z.adjoint() * Z - Dense::Identity(m, m)).norm(), 1e-11);
    ASSERT_EQ(solver.solve(view, {theta.data(), m, 1, m}, small(again)), DenseFailure::none);
    EXPECT_EQ(Z, again);
  }
}

}  // namespace
}  // namespace heddle
