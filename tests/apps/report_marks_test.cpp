#include <gtest/gtest.h>

#include <heddle/apps/report/report.hpp>

namespace heddle::apps {
namespace {

TEST(ResultTable, MarksValuesOfFewDigits) {
  Solution result;
  result.eigenvalues = {1e-17, 24336.44, 2.5e9};
  result.residuals.assign(3, 1e-15);
  result.error_bounds = {2e-15, 1.7e3, 4e2};
  result.limited_by_rounding = {true, false, false};
  EXPECT_EQ(result_table(result, SolverType::lobpcg),
            "                   eigenvalue          ±   residual\n"
            "    1                       0    2.0e-15    1.0e-15 ~\n"
            "    2                 2.4e+04    1.7e+03    1.0e-15 *\n"
            "    3            2.500000e+09    4.0e+02    1.0e-15\n"
            " *  the error may exceed 1e-6 of the value\n"
            " ~  the error may exceed 1e-6 of the value: rounding allows no more digits\n");
}

}  // namespace
}  // namespace heddle::apps
