#include "solvers/lobpcg/lobpcg_reference.hpp"

namespace heddle {
namespace {

class LobpcgReference : public testing::TestWithParam<Which> {};

TEST_P(LobpcgReference, EveryValueOfTheTableIsFound) {
  const auto rows = test::references(GetParam());
  if (!rows) GTEST_SKIP() << "no matrix folder with a reference table beside it";
  for (const test::Reference& reference : *rows) {
    HostContext context;
    test::solve_and_compare(context, reference);
  }
}

INSTANTIATE_TEST_SUITE_P(BothEnds, LobpcgReference,
                         testing::Values(Which::smallest, Which::largest),
                         [](const testing::TestParamInfo<Which>& info) {
                           return info.param == Which::smallest ? "Smallest" : "Largest";
                         });

}  // namespace
}  // namespace heddle
