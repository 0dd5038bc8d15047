#include "spmm/narrow/narrow_battery.hpp"

namespace heddle {
namespace {

template <class V>
class Narrow : public testing::Test {};

using Types = testing::Types<Half, Bfloat16, Tf32>;
TYPED_TEST_SUITE(Narrow, Types);

TYPED_TEST(Narrow, ProductsAreRoundedSumsOfRoundedFactors) {
  HostContext host(2);
  test::expect_narrow_products<TypeParam>(host, host);
}

TYPED_TEST(Narrow, RefusesWhatDoesNotFit) {
  HostContext host(1);
  test::expect_narrow_refusals<TypeParam>(host, host);
}

}  // namespace
}  // namespace heddle
