#include "spmm/kernels/row_per_thread.hpp"
#include "spmm/plan/epilogue_battery.hpp"
#include "support/in_device_memory.hpp"

namespace heddle {
namespace {

template <class T>
struct CudaBackend : test::InDeviceMemory<T> {
  class Fixture : public test::InDeviceMemory<T>::Fixture {
   protected:
    void SetUp() override {
      test::register_row_per_thread();  // a kernel without an epilogue
      test::CudaTest::SetUp();
    }
  };
};

using Backends =
    ::testing::Types<CudaBackend<float>, CudaBackend<double>, CudaBackend<std::complex<double>>>;
INSTANTIATE_TYPED_TEST_SUITE_P(Gpu, SpmmWithEpilogue, Backends);

template <class T>
class CudaSpmmWithEpilogue : public test::CudaTest {};

using Scalars = ::testing::Types<float, double, std::complex<double>>;
TYPED_TEST_SUITE(CudaSpmmWithEpilogue, Scalars);

// The trial products of "measure" must not add to Y.
TYPED_TEST(CudaSpmmWithEpilogue, MeasuringLeavesTheSumAlone) {
  using T = TypeParam;
  const TestMatrix<T> A = test::random_matrix<T>(300, 300, 9);
  EpilogueCase<T> product(A, 8, {0, 0, 0}, coefficients_of<T>(15, T{1}));
  EpilogueWork<CudaBackend<T>> work(this->context(), A, "measure");
  const auto result = work.multiply(product);
  product.expect(result.C, result.Y, "measure");
}

}  // namespace
}  // namespace heddle
