#include <heddle/linalg/data/multivector.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/spmm/triangular/level_order.hpp>
#include <heddle/spmm/triangular/row_levels.hpp>

#include "spmm/triangular/triangular_battery.hpp"
#include "support/csr_invariants.hpp"
#include "support/on_device.hpp"

namespace heddle {
namespace {

/// A in device memory.
template <class T>
CsrMatrix<T, DeviceSpace> placed(CudaContext& context, const TestMatrix<T>& A) {
  HostContext host;
  return place(context, convert<T>(host, A.view()));
}

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

/// The plan is made of a matrix in device memory.
template <class T>
struct PlacedBackend : CudaBackend<T, TriangularSchedule::automatic> {
  using Plan = TriangularPlan<T, CudaContext>;

  static Plan plan(test::OnDevice on, const TestMatrix<T>& A, Triangle triangle) {
    return {on.context, placed(on.context, A).view(), triangle};
  }
};

using Backends = ::testing::Types<
    CudaBackend<float, TriangularSchedule::flags>, CudaBackend<double, TriangularSchedule::flags>,
    CudaBackend<float, TriangularSchedule::launches>,
    CudaBackend<double, TriangularSchedule::launches>,
    CudaBackend<double, TriangularSchedule::automatic>, PlacedBackend<float>, PlacedBackend<double>,
    CudaBackend<std::complex<double>, TriangularSchedule::flags>,
    PlacedBackend<std::complex<double>>>;
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

/// Rows of 1, 4 and 8 threads, chains of which some are too long for the device, and no rows.
TYPED_TEST(CudaTriangular, TheOrderOnTheDeviceIsThatOfTheHost) {
  using T = TypeParam;
  HostContext host;
  const auto chain = [](Index i) {
    return i > 0 ? std::vector<Index>{i - 1} : std::vector<Index>{};
  };
  std::vector<TestMatrix<T>> triangles;
  for (const Index mean : {0, 2, 12, 60}) triangles.push_back(random_lower<T>(5000, mean));
  for (const Index n : {0, 900, 5000}) triangles.push_back(lower_triangle<T>(n, chain));
  for (const TestMatrix<T>& L : triangles) {
    for (const bool upper : {false, true}) {
      SCOPED_TRACE("rows " + std::to_string(L.rows) + ", entries " +
                   std::to_string(L.columns.size()) + (upper ? ", upper" : ", lower"));
      const TestMatrix<T> A = upper ? reversed(L) : L;
      const Triangle triangle = upper ? Triangle::upper : Triangle::lower;
      const auto there = placed(this->context(), A);
      auto found = detail::order_by_levels(this->context(), there.view(), triangle);
      const auto expected = detail::order_by_levels(host, A.view(), triangle);
      EXPECT_EQ(detail::cuda::row_levels(this->context(), there.view(), triangle).has_value(),
                expected.levels() <= detail::cuda::most_levels(there.nnz()));
      EXPECT_TRUE(test::same_bits(fetch(this->context(), host, found.entries.view()).view(),
                                  expected.entries.view()));
      EXPECT_EQ(found.level_begins, expected.level_begins);
      const auto rows = fetch(this->context(), host, std::move(found.rows));
      const auto inverse = fetch(this->context(), host, std::move(found.inverse_diagonal));
      EXPECT_TRUE(std::equal(rows.data(), rows.data() + rows.size(), expected.rows.data()));
      EXPECT_TRUE(std::equal(inverse.data(), inverse.data() + inverse.size(),
                             expected.inverse_diagonal.data()));
    }
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
