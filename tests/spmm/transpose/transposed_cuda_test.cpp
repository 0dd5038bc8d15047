#include "spmm/transpose/transposed_battery.hpp"
#include "support/in_device_memory.hpp"

namespace heddle {
namespace {

using Backends = ::testing::Types<test::InDeviceMemory<float>, test::InDeviceMemory<double>,
                                  test::InDeviceMemory<std::complex<double>>>;
INSTANTIATE_TYPED_TEST_SUITE_P(Gpu, SpmmTransposed, Backends);

template <class T>
class CudaSpmmTransposed : public test::CudaTest {};

using Scalars = ::testing::Types<float, double, std::complex<double>>;
TYPED_TEST_SUITE(CudaSpmmTransposed, Scalars);

TYPED_TEST(CudaSpmmTransposed, PreparedProductsAllocateNothing) {
  using T = TypeParam;
  const TestMatrix<T> A = test::power_law_matrix<T>(300, 200, 190);
  const TestMatrix<T> At = explicit_adjoint(A);
  ProductCase<T> product(At, 16, {0, 0}, T{1}, T{0});
  TransposedWork<test::InDeviceMemory<T>> work(this->context(), A);
  for (const auto* plan : {&work.indexed, &work.stored}) {
    plan->prepare_transposed(this->context(), 16);
    const auto prepared = this->context().allocation_count().allocations;
    work.multiply(product, *plan);
    EXPECT_EQ(this->context().allocation_count().allocations, prepared + 2);  // B and C
  }
}

}  // namespace
}  // namespace heddle
