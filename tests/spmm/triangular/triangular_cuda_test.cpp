#include <heddle/linalg/data/multivector.hpp>

#include "spmm/triangular/triangular_battery.hpp"
#include "support/on_device.hpp"

namespace heddle {
namespace {

template <class T, TriangularSchedule kSchedule>
struct CudaBackend : test::OnGpu<T> {
  using Plan = TriangularPlan<T, CudaContext>;

  static Plan plan(test::OnDevice on, const TestMatrix<T>& A, Triangle triangle) {
    return {on.context, A.view(), triangle, kSchedule};
  }
  static void solve(test::OnDevice on, const Plan& plan, BlockView<T, HostSpace> X,
                    BlockView<T, HostSpace> Y) {
    test::mirrored(
        on, [&](CudaContext& context, auto x, auto y) { plan.solve(context, x, y); }, X, Y);
  }
};

using Backends = ::testing::Types<CudaBackend<float, TriangularSchedule::flags>,
                                  CudaBackend<double, TriangularSchedule::flags>,
                                  CudaBackend<float, TriangularSchedule::launches>,
                                  CudaBackend<double, TriangularSchedule::launches>,
                                  CudaBackend<double, TriangularSchedule::automatic>>;
INSTANTIATE_TYPED_TEST_SUITE_P(Gpu, Triangular, Backends);

template <class T>
class CudaTriangular : public test::CudaTest {
 protected:
  using Plan = TriangularPlan<T, CudaContext>;

  /// All entries of A⁻¹X for an X of b columns that are always the same.
  std::vector<T> solution(const Plan& plan, Index n, Index b) {
    RandomBlock<T> X(n, b, b, 3);
    RandomBlock<T> Y(n, b, b, 4);
    test::mirrored(
        test::OnDevice{this->context()},
        [&](CudaContext& context, auto x, auto y) { plan.solve(context, x, y); }, X.view(),
        Y.view());
    return Y.data();
  }
};

using Scalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(CudaTriangular, Scalars);

TYPED_TEST(CudaTriangular, EveryScheduleGivesTheSameBits) {
  using T = TypeParam;
  using Plan = TriangularPlan<T, CudaContext>;
  for (const Index mean : {3, 12, 60}) {
    const TestMatrix<T> L = random_lower<T>(4000, mean);
    const Plan flags(this->context(), L.view(), Triangle::lower, TriangularSchedule::flags);
    const Plan launches(this->context(), L.view(), Triangle::lower, TriangularSchedule::launches);
    for (const Index b : {1, 2, 8, 9, 20, 64, 130}) {
      EXPECT_EQ(this->solution(flags, L.rows, b), this->solution(launches, L.rows, b))
          << "mean " << mean << ", b " << b;
    }
  }
}

/// More rows than a GPU holds threads for, and every one waits for the one before.
TYPED_TEST(CudaTriangular, AChainLongerThanTheDeviceIsSolved) {
  using T = TypeParam;
  const Index n = 300000;
  const TestMatrix<T> L = lower_triangle<T>(
      n, [](Index i) { return i > 0 ? std::vector<Index>{i - 1} : std::vector<Index>{}; });
  const TriangularPlan<T, CudaContext> plan(this->context(), L.view(), Triangle::lower);
  EXPECT_EQ(plan.levels(), n);
  const std::vector<T> y = this->solution(plan, n, 1);
  RandomBlock<T> X(n, 1, 1, 3);
  for (std::size_t i = 1; i < y.size(); ++i) {
    const auto e = static_cast<std::size_t>(L.offsets[i]);
    const double sum = static_cast<double>(L.values[e]) * static_cast<double>(y[i - 1]) +
                       static_cast<double>(L.values[e + 1]) * static_cast<double>(y[i]);
    ASSERT_NEAR(sum, static_cast<double>(X.data()[i]), test::tolerance<T>(4, 1));
  }
}

TYPED_TEST(CudaTriangular, SolvesAllocateNothing) {
  using T = TypeParam;
  const TestMatrix<T> L = random_lower<T>(500, 4);
  const TriangularPlan<T, CudaContext> plan(this->context(), L.view(), Triangle::lower);
  MultiVector<T, DeviceSpace> X(this->context(), 500, 130);
  set_zero<T>(this->context(), X.view());
  const auto before = this->context().allocation_count().allocations;
  plan.solve(this->context(), X.view(), X.view());
  plan.solve(this->context(), X.columns(1, 5), X.columns(1, 5));
  EXPECT_EQ(this->context().allocation_count().allocations, before);
}

}  // namespace
}  // namespace heddle
