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

/// The entries of stiffness matrices reach far beyond the range of half precision.
TEST(LobpcgReferenceNarrow, PreconditionersInShortNumberTypesFindTheSameValues) {
  const auto rows = test::references(Which::smallest);
  if (!rows) GTEST_SKIP() << "no matrix folder with a reference table beside it";
  int compared = 0;
  for (const test::Reference& reference : *rows) {
    const std::string& name = reference.problem;
    HostContext context;
    if (name == "bcsstk19" || name == "bcsstk08:bcsstm08") {
      test::solve_and_compare(context, reference, ProductPrecision::half);
      ++compared;
    } else if (name == "1138_bus" || name == "bcsstk06:bcsstm06") {
      test::solve_and_compare(context, reference, ProductPrecision::half);
      test::solve_and_compare(context, reference, ProductPrecision::bf16);
      test::solve_and_compare(context, reference, ProductPrecision::tf32);
      ++compared;
    }
  }
  EXPECT_EQ(compared, 4);
}

INSTANTIATE_TEST_SUITE_P(BothEnds, LobpcgReference,
                         testing::Values(Which::smallest, Which::largest),
                         [](const testing::TestParamInfo<Which>& info) {
                           return info.param == Which::smallest ? "Smallest" : "Largest";
                         });

}  // namespace
}  // namespace heddle
