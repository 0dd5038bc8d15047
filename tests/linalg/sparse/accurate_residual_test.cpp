#include <gtest/gtest.h>

#include <heddle/linalg/data/multivector.hpp>
#include <heddle/linalg/sparse/accurate_residual.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <random>
#include <utility>
#include <vector>

namespace heddle {
namespace {

constexpr Index kRows = 200;
constexpr Index kCols = 11;

/// β(t + e_i) on the diagonal, and b_i to the right of it.
HostCsrMatrix<double> matrix(HostContext& context, long t, long beta, const std::vector<long>& e,
                             const std::vector<long>& b) {
  std::vector<Triplet<double>> entries;
  for (Index i = 0; i < kRows; ++i) {
    const auto at = static_cast<std::size_t>(i);
    entries.push_back({i, i, static_cast<double>(beta * (t + e[at]))});
    if (i + 1 < kRows) entries.push_back({i, i + 1, static_cast<double>(b[at])});
  }
  return csr_from_triplets<double>(context, kRows, kRows, entries);
}

/// Whole numbers: β(t + e_i) x_i − (t + j) β x_i is β(e_i − j) x_i, while the terms have 90 bits.
TEST(AccurateResidual, HasAllDigitsWhereTermsCancel) {
  HostContext context(3);
  std::mt19937_64 random(3);
  const auto whole = [&random](long most) {
    return static_cast<long>(random() % static_cast<unsigned long>(2 * most + 1)) - most;
  };
  const long t = (1L << 50) + 12345;
  std::vector<long> e, b;
  for (Index i = 0; i < kRows; ++i) {
    e.push_back(whole(1000));
    b.push_back(whole(1000));
  }
  MultiVector<double, HostSpace> X(context, kRows, kCols), R(context, kRows, kCols);
  for (Index i = 0; i < kRows; ++i) {
    for (Index j = 0; j < kCols; ++j) X.view()(i, j) = static_cast<double>(whole(1L << 40));
  }
  std::vector<double> theta;
  for (Index j = 0; j < kCols; ++j) theta.push_back(static_cast<double>(t + j));
  for (const long beta : {1L, 3L}) {
    const auto A = matrix(context, t, beta, e, b);
    const auto B = matrix(context, 1, beta, std::vector<long>(kRows), std::vector<long>(kRows));
    const CsrView<double, HostSpace> mass = B.view();
    detail::accurate_residual<double>(context, A.view(), beta == 1 ? nullptr : &mass,
                                      std::as_const(X).view(), theta.data(), R.view());
    for (Index i = 0; i < kRows; ++i) {
      const auto at = static_cast<std::size_t>(i);
      for (Index j = 0; j < kCols; ++j) {
        const auto x = [&](Index k) { return static_cast<long>(X.view()(k, j)); };
        const long right = i + 1 < kRows ? b[at] * x(i + 1) : 0;
        EXPECT_EQ(R.view()(i, j), static_cast<double>(beta * (e[at] - j) * x(i) + right))
            << i << ' ' << j;
      }
    }
  }
}

}  // namespace
}  // namespace heddle
