#include "spmm/triangular/triangular_battery.hpp"
#include "support/on_host.hpp"

namespace heddle {
namespace {

template <class T>
struct HostBackend : test::OnHost<T> {
  using Plan = TriangularPlan<T, HostContext>;

  static Plan plan(HostContext& context, const TestMatrix<T>& A, Triangle triangle) {
    return {context, A.view(), triangle};
  }
  static void solve(HostContext& context, const Plan& plan, BlockView<T, HostSpace> X,
                    BlockView<T, HostSpace> Y) {
    plan.solve(context, X, Y);
  }
};

using Backends =
    ::testing::Types<HostBackend<float>, HostBackend<double>, HostBackend<std::complex<double>>>;
INSTANTIATE_TYPED_TEST_SUITE_P(Host, Triangular, Backends);

TEST(TriangularHost, SameBitsForEveryNumberOfThreads) {
  const TestMatrix<double> L = random_lower<double>(20000, 2);
  std::vector<double> bits;
  for (const int threads : {1, 2, 3}) {
    HostContext context(threads);
    const TriangularPlan<double, HostContext> plan(context, L.view(), Triangle::lower);
    RandomBlock<double> X(L.rows, 64, 64, 3);
    plan.solve(context, X.view(), X.view());
    if (bits.empty()) bits = X.data();
    EXPECT_EQ(X.data(), bits);
  }
}

TEST(TriangularHost, SolvesAllocateNothing) {
  HostContext context(2);
  const TestMatrix<double> L = random_lower<double>(500, 4);
  const TriangularPlan<double, HostContext> plan(context, L.view(), Triangle::lower);
  RandomBlock<double> X(L.rows, 6, 6, 3);
  const auto before = context.allocation_count().allocations;
  plan.solve(context, X.view(), X.view());
  EXPECT_EQ(context.allocation_count().allocations, before);
}

}  // namespace
}  // namespace heddle
