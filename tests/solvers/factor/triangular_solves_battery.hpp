#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/matrix_market/matrix_market.hpp>
#include <heddle/solvers/factor/triangular_solves.hpp>
#include <heddle/solvers/preconditioners/incomplete_cholesky/incomplete_factor.hpp>

#include "solvers/linear_test_support.hpp"
#include "support/matrix_dir.hpp"

/// Y = L⁻ᵀL⁻¹X with the incomplete factor of a real matrix, on every backend.
namespace heddle {
namespace {

/// The worst of |X − L LᵀY| / (|L| |L|ᵀ |Y|), entry by entry: the backward error of a product of
/// triangles, a few roundings a row however ill conditioned they are. Source: Higham, Accuracy and
/// Stability of Numerical Algorithms, theorem 8.5.
inline double backward_error(const CsrView<double, HostSpace>& L,
                             const ConstBlockView<double, HostSpace>& X,
                             const ConstBlockView<double, HostSpace>& Y) {
  const auto n = static_cast<std::size_t>(L.rows);
  double worst = 0;
  for (Index j = 0; j < X.cols(); ++j) {
    std::vector<long double> v(n), size(n);  // LᵀY and |L|ᵀ|Y|
    for (Index i = 0; i < L.rows; ++i) {
      for (std::int64_t e = L.row_offsets[i]; e < L.row_offsets[i + 1]; ++e) {
        const long double term = static_cast<long double>(L.values[e]) * Y(i, j);
        v[static_cast<std::size_t>(L.columns[e])] += term;
        size[static_cast<std::size_t>(L.columns[e])] += std::abs(term);
      }
    }
    for (Index i = 0; i < L.rows; ++i) {
      long double difference = X(i, j), scale = 0;
      for (std::int64_t e = L.row_offsets[i]; e < L.row_offsets[i + 1]; ++e) {
        const auto column = static_cast<std::size_t>(L.columns[e]);
        difference -= L.values[e] * v[column];
        scale += std::abs(L.values[e]) * size[column];
      }
      worst = std::max(worst, static_cast<double>(std::abs(difference) / scale));
    }
  }
  return worst;
}

/// Solves with IC(0) of bcsstk17, whose rows have up to 75 entries and whose levels are narrow.
template <class Ctx>
void expect_solves_with_bcsstk17(Ctx& context) {
  const auto folder = test::matrix_dir();
  if (!folder) GTEST_SKIP() << "no matrix folder";
  HostContext host;
  const auto A = read_matrix_market<double>(host, *folder / "bcsstk17.mtx.gz");
  const auto L = detail::incomplete_cholesky<double>(host, A.view()).L;
  const detail::TriangularSolves<double, Ctx> solves(context, L.view());
  EXPECT_GT(solves.levels(), 100);
  EXPECT_LT(solves.levels(), L.rows());
  Index longest = 0;
  for (Index i = 0; i < L.rows(); ++i) {
    longest = std::max(longest, L.view().row_offsets[i + 1] - L.view().row_offsets[i]);
  }
  for (const Index b : {1, 8, 33}) {
    const auto X = test::random_vectors<double>(host, L.rows(), b);
    auto Y = place(context, test::random_vectors<double>(host, L.rows(), b));
    solves.solve(context, Y.view(), Y.view());
    const auto y = fetch(context, host, std::move(Y));
    EXPECT_LE(backward_error(L.view(), X.view(), y.view()),
              test::tolerance<double>(1, static_cast<double>(longest)))
        << b;
  }
}

}  // namespace
}  // namespace heddle
