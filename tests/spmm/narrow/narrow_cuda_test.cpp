#include "spmm/narrow/narrow_battery.hpp"
#include "support/cuda_test.hpp"

namespace heddle {
namespace {

template <class V>
class NarrowCuda : public test::CudaTest {};

using Types = testing::Types<Half, Bfloat16, Tf32>;
TYPED_TEST_SUITE(NarrowCuda, Types);

TYPED_TEST(NarrowCuda, ProductsAreRoundedSumsOfRoundedFactors) {
  HostContext host(2);
  test::expect_narrow_products<TypeParam>(this->context(), host);
}

TYPED_TEST(NarrowCuda, RefusesWhatDoesNotFit) {
  HostContext host(1);
  test::expect_narrow_refusals<TypeParam>(this->context(), host);
}

}  // namespace
}  // namespace heddle
