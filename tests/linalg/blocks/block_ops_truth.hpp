#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <heddle/linalg/data/views.hpp>

#include "support/tolerance.hpp"

/// Products of blocks against sums in long double.
namespace heddle::test {

/// G against Σ_i x_i y_i in long double, entry by entry relative to Σ_i |x_i y_i|.
template <class T>
void expect_gram(ConstBlockView<T, HostSpace> X, ConstBlockView<T, HostSpace> Y,
                 ConstSmallView<double, HostSpace> G) {
  for (Index i = 0; i < X.cols(); ++i) {
    for (Index j = 0; j < Y.cols(); ++j) {
      long double sum = 0;
      long double size = 0;
      for (Index r = 0; r < X.rows(); ++r) {
        const long double product = static_cast<long double>(X(r, i)) * Y(r, j);
        sum += product;
        size += std::abs(product);
      }
      ASSERT_NEAR(G(i, j), static_cast<double>(sum),
                  tolerance<double>(static_cast<double>(size), static_cast<double>(X.rows())))
          << "entry " << i << ", " << j << " of " << X.cols() << "x" << Y.cols() << ", n "
          << X.rows();
    }
  }
}

/// Y against α X C + β Y₀ in long double, row by row.
template <class T>
void expect_product(double alpha, ConstBlockView<T, HostSpace> X,
                    ConstSmallView<double, HostSpace> C, double beta,
                    ConstBlockView<T, HostSpace> Y0, ConstBlockView<T, HostSpace> Y) {
  for (Index i = 0; i < Y.rows(); ++i) {
    for (Index j = 0; j < Y.cols(); ++j) {
      long double sum = beta == 0 ? 0.0L : static_cast<long double>(beta) * Y0(i, j);
      long double size = std::abs(sum);
      for (Index k = 0; k < X.cols(); ++k) {
        const long double term = static_cast<long double>(alpha) * X(i, k) * C(k, j);
        sum += term;
        size += std::abs(term);
      }
      ASSERT_NEAR(static_cast<double>(Y(i, j)), static_cast<double>(sum),
                  tolerance<T>(static_cast<double>(size), static_cast<double>(X.cols())))
          << "entry " << i << ", " << j << " of " << Y.rows() << "x" << Y.cols() << " from "
          << X.cols() << " columns";
    }
  }
}

}  // namespace heddle::test
