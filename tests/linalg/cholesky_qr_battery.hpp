#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <heddle/linalg/small_dense.hpp>
#include <limits>

#include "support/random_block.hpp"
#include "support/tolerance.hpp"

/// What `cholesky_qr_coefficients` owes on every backend; `Ctx` is a context or stands for one.
namespace heddle::test {

/// MᵀM + I/4 for a random M.
inline RandomSmall random_gram(Index order) {
  HostContext host(1);
  RandomSmall M(order, order, 5);
  RandomSmall G(order, order, 6);
  small_multiply(host, 1, M.view(), true, M.view(), false, 0, G.view());
  for (Index i = 0; i < order; ++i) G.view()(i, i) += 0.25;
  return G;
}

/// MᵀGM = I for columns of any length, and a status that says what R was.
template <class Ctx>
void expect_orthonormal_coefficients(Ctx&& context, Index order) {
  HostContext host(1);
  const RandomSmall plain = random_gram(order);
  RandomSmall G = plain;
  const auto length = [](Index j) { return std::pow(10.0, j % 5 * 50 - 100); };
  for (Index j = 0; j < order; ++j) {
    for (Index i = 0; i < order; ++i) G.view()(i, j) *= length(i) * length(j);
  }
  double least = std::numeric_limits<double>::infinity();
  for (Index j = 0; j < order; ++j) least = std::min(least, G.view()(j, j));
  RandomSmall M(order, order, 7);
  RandomSmall status(CholeskyQrStatus::rows, 1, 8);
  cholesky_qr_coefficients(context, G.view(), M.view(), status.view());
  EXPECT_EQ(status.view()(CholeskyQrStatus::least_square, 0), least);
  EXPECT_GT(status.view()(CholeskyQrStatus::diagonal_ratio, 0), 0);
  EXPECT_LE(status.view()(CholeskyQrStatus::diagonal_ratio, 0), 1);
  EXPECT_GE(status.view()(CholeskyQrStatus::growth, 0), 1 - tolerance<double>(1, 1));
  for (Index j = 0; j < order; ++j) {  // so that the check below meets no large numbers
    for (Index i = 0; i < order; ++i) {
      if (i > j) {
        ASSERT_EQ(M.view()(i, j), 0);
      }
      M.view()(i, j) *= length(i);
    }
  }
  RandomSmall GM(order, order, 9);
  RandomSmall product(order, order, 10);
  RandomSmall original = plain;
  small_multiply(host, 1, original.view(), false, M.view(), false, 0, GM.view());
  small_multiply(host, 1, M.view(), true, GM.view(), false, 0, product.view());
  const double condition = status.view()(CholeskyQrStatus::growth, 0) * static_cast<double>(order);
  for (Index j = 0; j < order; ++j) {
    for (Index i = 0; i < order; ++i) {
      ASSERT_NEAR(product.view()(i, j), i == j,
                  tolerance<double>(condition, static_cast<double>(order)))
          << i << ", " << j << " of " << order;
    }
  }
}

/// M = 0 and a ratio of 0 where G has a pivot that is not positive.
template <class Ctx>
void expect_no_coefficients(Ctx&& context, Index order, double bad) {
  RandomSmall G = random_gram(order);
  G.view()(order / 2, order / 2) = bad;
  RandomSmall M(order, order, 7);
  RandomSmall status(CholeskyQrStatus::rows, 1, 8);
  cholesky_qr_coefficients(context, G.view(), M.view(), status.view());
  EXPECT_EQ(status.view()(CholeskyQrStatus::diagonal_ratio, 0), 0) << bad;
  EXPECT_EQ(status.view()(CholeskyQrStatus::growth, 0), std::numeric_limits<double>::infinity());
  for (const double entry : M.data()) ASSERT_EQ(entry, 0) << bad;
}

}  // namespace heddle::test
