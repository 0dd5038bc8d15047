#include <gtest/gtest.h>

#include <heddle/solvers/iteration/worst.hpp>
#include <initializer_list>
#include <limits>

namespace heddle::detail {
namespace {

double worst_of(std::initializer_list<double> values) {
  double worst = 0;
  for (const double value : values) keep_worst(worst, value);
  return worst;
}

TEST(KeepWorst, IsTheLargestOrNaNWhereverItComes) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(worst_of({1, 3, 2}), 3);
  EXPECT_TRUE(std::isnan(worst_of({kNaN, 3, 2})));
  EXPECT_TRUE(std::isnan(worst_of({1, kNaN, 2})));
  EXPECT_TRUE(std::isnan(worst_of({1, 3, kNaN})));
}

}  // namespace
}  // namespace heddle::detail
