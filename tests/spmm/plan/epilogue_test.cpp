#include "spmm/kernels/row_by_row.hpp"
#include "spmm/plan/epilogue_battery.hpp"
#include "support/on_host.hpp"

namespace heddle {
namespace {

template <class T>
struct HostBackend : test::OnHost<T> {
  class Fixture : public test::OnHost<T>::Fixture {
   protected:
    void SetUp() override { test::register_row_by_row(); }  // a kernel without an epilogue
  };
};

using Backends =
    ::testing::Types<HostBackend<float>, HostBackend<double>, HostBackend<std::complex<double>>>;
INSTANTIATE_TYPED_TEST_SUITE_P(Host, SpmmWithEpilogue, Backends);

template <class T>
class SpmmWithEpilogueOnHost : public ::testing::Test {};

using Scalars = ::testing::Types<float, double, std::complex<double>>;
TYPED_TEST_SUITE(SpmmWithEpilogueOnHost, Scalars);

TYPED_TEST(SpmmWithEpilogueOnHost, SameBitsForEveryNumberOfThreads) {
  using T = TypeParam;
  const TestMatrix<T> A = test::matrix_with_pattern<T>(9000, 9000, [](Index i) {
    std::vector<Index> columns;
    for (Index j = i % 700; j < 9000; j += i == 17 ? 1 : 700) columns.push_back(j);
    return columns;
  });
  for (const Index N : {1, 7, 32}) {
    EpilogueCase<T> product(A, N, {0, 0, 0}, coefficients_of<T>(15, test::number<T>(0.3, 0.1)));
    HostContext one(1);
    const auto expected = EpilogueWork<HostBackend<T>>(one, A, "auto").multiply(product);
    for (const int threads : {2, 3}) {
      HostContext several(threads);
      const auto result = EpilogueWork<HostBackend<T>>(several, A, "auto").multiply(product);
      EXPECT_TRUE(result.same_bits(expected)) << "N " << N << ", threads " << threads;
    }
  }
}

}  // namespace
}  // namespace heddle
