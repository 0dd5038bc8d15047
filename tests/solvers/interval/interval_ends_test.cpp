#include <gtest/gtest.h>

#include <cmath>
#include <heddle/solvers/interval/interval_eigenpairs.hpp>
#include <string>
#include <vector>

#include "solvers/eigen_test_support.hpp"
#include "solvers/interval/interval_test_support.hpp"
#include "support/sanitized.hpp"

namespace heddle {
namespace {

using test::counting;
using test::DiagonalOperator;
using test::expect_values;
using test::interval;

/// A large eigenvalue elsewhere blurs the ends of an interval by no more than the error bounds.
TEST(IntervalEnds, OutsidersBesideALargeEigenvalueAreLeftOut) {
  HostContext context;
  const auto pairs = [&](const std::vector<double>& diagonal, double a, double b) {
    DiagonalOperator<double> A(diagonal);
    return interval_eigenpairs<double, HostContext>(context, {.A = &A},
                                                    interval(a, b, std::ssize(diagonal)));
  };
  expect_values<double>(pairs({1, 2, 3e13}, 0, 1.5), {1}, 0);
  expect_values<double>(pairs({1, 2, 3, 4, 5, 6, 7, 8, 9, 1e13}, 0.5, 4.9), {1, 2, 3, 4}, 0);
  expect_values<double>(pairs({1, 2, 3e13}, 2.5, 1e13), {}, 0);
}

/// Filters leave larger residuals than a dense solve.
TEST(IntervalEnds, OutsidersBesideALargeEigenvalueAreLeftOutByFilters) {
  HEDDLE_SKIP_WITH_SANITIZER();
  HostContext context;
  std::vector<double> diagonal = counting(600);
  diagonal.back() = 1e6;
  DiagonalOperator<double> A(diagonal);
  IntervalOptions options = interval(0.5, 20 - 1e-8, 40);
  options.dense_bytes = 1e3;
  const auto result = interval_eigenpairs<double, HostContext>(context, {.A = &A}, options);
  std::vector<double> expected = counting(19);
  expect_values<double>(result, expected, 1e-3);
  EXPECT_EQ(result.straddles, std::vector<bool>(19, false));
}

TEST(IntervalEnds, ValuesAtAnEndAreMarked) {
  HostContext context;
  for (const Index n : {60, 500}) {
    DiagonalOperator<double> A(counting(n));
    const auto at = [&](double a, double b) {
      return interval_eigenpairs<double, HostContext>(context, {.A = &A}, interval(a, b, 10))
          .straddles;
    };
    EXPECT_EQ(at(40, 43), (std::vector<bool>{true, false, false, true}));
    EXPECT_EQ(at(39.5, 42.5), (std::vector<bool>{false, false, false}));
    EXPECT_EQ(at(41, 41), (std::vector<bool>{true}));
    const auto result =
        interval_eigenpairs<double, HostContext>(context, {.A = &A}, interval(40.5, 42, 1));
    EXPECT_EQ(result.status, SolveStatus::max_iterations);
    EXPECT_NE(result.reason.find("the interval holds 1 eigenvalues and 1 that may lie beyond its "
                                 "ends, by their error bounds, more than nev = 1"),
              std::string::npos)
        << result.reason;
    // 41 lies outside by less than the rounding of products with it.
    EXPECT_EQ(at(std::nextafter(41.0, 42.0), 42.5), (std::vector<bool>{true, false}));
  }
}

}  // namespace
}  // namespace heddle
