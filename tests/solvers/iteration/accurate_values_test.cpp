#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/solvers/lanczos/block_lanczos.hpp>
#include <limits>
#include <vector>

#include "solvers/eigen_test_support.hpp"

namespace heddle {
namespace {

constexpr long double kPi = 3.14159265358979323846L;

/// Adds D^power in n rows from `first` on, D = tridiag(−1, 2, −1), with 1 in its corners if `free`.
/// All entries are whole numbers, so that the matrix as it is stored has the eigenvalues
/// (4 sin²(kπ/2(n + 1)))^power, k = 1 … n, if free (4 sin²(kπ/2n))^power, k = 0 … n − 1.
void add_power(std::vector<Triplet<double>>& entries, Index first, Index n, int power, bool free) {
  const auto order = static_cast<std::size_t>(n);
  for (std::size_t i = 0; i < order; ++i) {
    std::vector<long> row(order);
    row[i] = 1;
    for (int p = 0; p < power; ++p) {
      const std::vector<long> old = row;
      for (std::size_t j = 0; j < order; ++j) {
        const long left = j > 0 ? old[j - 1] : free ? old[j] : 0;
        const long right = j + 1 < order ? old[j + 1] : free ? old[j] : 0;
        row[j] = 2 * old[j] - left - right;
      }
    }
    for (std::size_t j = 0; j < order; ++j) {
      if (row[j] == 0) continue;
      entries.push_back({first + static_cast<Index>(i), first + static_cast<Index>(j),
                         static_cast<double>(row[j])});
    }
  }
}

HostCsrMatrix<double> power_of_laplacian(HostContext& context, Index n, int power) {
  std::vector<Triplet<double>> entries;
  add_power(entries, 0, n, power, false);
  return csr_from_triplets<double>(context, n, n, entries);
}

class AccurateValues : public testing::Test {
 protected:
  static constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
  static constexpr Index kPairs = 4;

  /// Solves D^power x = λ D^mass x, and compares with λ_k = μ_k^(power − mass). `least`: how many
  /// times larger 10 ε|x|ᵀ|A||x| must be than the bounds, where these are not rounding of λ.
  void expect_sharp(Index n, int power, int mass, double least) {
    SparseOperator<double, HostContext> A(context_, power_of_laplacian(context_, n, power));
    SparseOperator<double, HostContext> B(context_, power_of_laplacian(context_, n, mass));
    ShiftedInverse<double, HostContext> shifted(
        A.matrix(), mass > 0 ? B.matrix() : CsrView<double, HostSpace>{});
    ShiftedInverse<double, HostContext> inverse(B.matrix());
    EigenProblem<double, HostContext> problem{.A = &A, .shifted_inverse = &shifted};
    if (mass > 0) {
      ASSERT_TRUE(inverse.factor(context_, 0));
      problem.B = &B;
      problem.B_inverse = &inverse;
    }
    BlockLanczosOptions options;
    options.nev = kPairs;
    const auto result = block_lanczos<double, HostContext>(context_, problem, options);
    ASSERT_EQ(result.status, SolveStatus::converged) << result.reason;
    for (std::size_t k = 0; k < static_cast<std::size_t>(kPairs); ++k) {
      const long double s =
          std::sin(kPi * static_cast<long double>(k + 1) / static_cast<long double>(2 * n + 2));
      const long double mu = 4 * s * s;
      const long double exact = std::pow(mu, static_cast<long double>(power - mass));
      const double error = static_cast<double>(std::abs(result.eigenvalues[k] - exact));
      EXPECT_LE(error, result.error_bounds[k]) << k;
      // |x|ᵀ|A||x| ≥ 4^power ‖x‖²/2 for smooth x, and ‖x‖² = 1/μ^mass.
      const double size = static_cast<double>(std::pow(4.0L, power) / 2 / std::pow(mu, mass));
      const double sharp =
          std::max(10 * kEpsilon * size / least, 20 * kEpsilon * result.eigenvalues[k]);
      EXPECT_LE(result.error_bounds[k], sharp) << k;
      EXPECT_FALSE(result.limited_by_rounding[k]) << k;
    }
  }

  HostContext context_{2};
};

TEST_F(AccurateValues, OfABiharmonicMatrixHaveSharpBounds) { expect_sharp(400, 2, 0, 1000); }

TEST_F(AccurateValues, OfAPencilHaveSharpBounds) { expect_sharp(60, 3, 1, 100); }

/// Two free chains have two values that are zero to rounding, in any order. Their elastic ones keep
/// sharp bounds.
TEST_F(AccurateValues, BesideRigidMotionsHaveSharpBounds) {
  const Index n = 150;
  std::vector<Triplet<double>> entries;
  add_power(entries, 0, n, 2, true);
  add_power(entries, n, n + 2, 2, true);
  SparseOperator<double, HostContext> A(
      context_, csr_from_triplets<double>(context_, 2 * n + 2, 2 * n + 2, entries));
  ShiftedInverse<double, HostContext> shifted(A.matrix(), CsrView<double, HostSpace>{});
  EigenProblem<double, HostContext> problem{.A = &A, .shifted_inverse = &shifted};
  BlockLanczosOptions options;
  options.nev = 4;
  const auto result = block_lanczos<double, HostContext>(context_, problem, options);
  ASSERT_EQ(result.status, SolveStatus::converged) << result.reason;
  for (std::size_t k = 0; k < 4; ++k) {
    const auto order = static_cast<long double>(k == 2 ? n + 2 : n);
    const long double s = k < 2 ? 0 : std::sin(kPi / (2 * order));
    const long double exact = 16 * s * s * s * s;
    EXPECT_LE(std::abs(result.eigenvalues[k] - exact), result.error_bounds[k]) << k;
    if (k >= 2) {
      EXPECT_LE(result.error_bounds[k], 1e-2 * 160 * kEpsilon) << k;
    }
  }
}

}  // namespace
}  // namespace heddle
