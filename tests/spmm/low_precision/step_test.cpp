#include "spmm/low_precision/step_battery.hpp"

namespace heddle {
namespace {

template <class V>
class LowPrecisionStep : public testing::Test {};

using Types = testing::Types<Half, Bfloat16, Tf32>;
TYPED_TEST_SUITE(LowPrecisionStep, Types);

TYPED_TEST(LowPrecisionStep, ProductsAreRoundedSumsOfRoundedFactors) {
  HostContext host(2);
  test::expect_steps<TypeParam>(host, host, "auto");
}

TYPED_TEST(LowPrecisionStep, RefusesWhatDoesNotFit) {
  HostContext host(1);
  test::expect_step_refusals<TypeParam>(host, host);
}

}  // namespace
}  // namespace heddle
