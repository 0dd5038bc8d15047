#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <heddle/solvers/interval/interval_eigenpairs.hpp>
#include <vector>

#include "support/tolerance.hpp"

namespace heddle::test {

inline IntervalOptions interval(double lower, double upper, Index nev) {
  IntervalOptions options;
  options.lower = lower;
  options.upper = upper;
  options.nev = nev;
  return options;
}

inline std::vector<double> between(const std::vector<double>& values, double a, double b) {
  std::vector<double> inside;
  for (const double value : values) {
    if (a <= value && value <= b) inside.push_back(value);
  }
  std::sort(inside.begin(), inside.end());
  return inside;
}

/// The result is exactly the eigenvalues `expected`, each to what its residual allows.
template <Scalar T>
void expect_values(const EigenResult<T, HostSpace>& result, const std::vector<double>& expected,
                   double norm) {
  ASSERT_EQ(result.status, SolveStatus::converged) << result.reason;
  ASSERT_EQ(result.eigenvalues.size(), expected.size());
  ASSERT_EQ(result.residuals.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(result.eigenvalues[i], expected[i],
                2 * kDefaultTolerance<T> * norm + tolerance<T>(norm, 1))
        << i;
    EXPECT_LE(result.residuals[i], kDefaultTolerance<T>);
  }
  EXPECT_LE(result.orthogonality, tolerance<T>(1, 4096));
}

}  // namespace heddle::test
