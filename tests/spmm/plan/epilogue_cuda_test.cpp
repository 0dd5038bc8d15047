#include "spmm/kernels/row_per_thread.hpp"
#include "spmm/plan/epilogue_battery.hpp"
#include "support/cuda_test.hpp"

namespace heddle {
namespace {

template <class T>
struct CudaBackend {
  using Scalar = T;
  using Context = CudaContext;
  class Fixture : public test::CudaTest {
   protected:
    void SetUp() override {
      test::register_row_per_thread();  // a kernel without an epilogue
      test::CudaTest::SetUp();
    }
    CudaContext& on() { return context(); }
  };

  static void write(CudaContext& context, void* target, const void* source, std::size_t bytes) {
    if (bytes > 0) context.copy_to_device(target, source, bytes);
  }
  static void read(CudaContext& context, void* target, const void* source, std::size_t bytes) {
    if (bytes > 0) context.copy_to_host(target, source, bytes);
  }
};

using Backends = ::testing::Types<CudaBackend<float>, CudaBackend<double>>;
INSTANTIATE_TYPED_TEST_SUITE_P(Gpu, SpmmWithEpilogue, Backends);

template <class T>
class CudaSpmmWithEpilogue : public test::CudaTest {};

using Scalars = ::testing::Types<float, double>;
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
