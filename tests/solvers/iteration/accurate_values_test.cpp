#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/solvers/lanczos/block_lanczos.hpp>
#include <limits>
#include <type_traits>
#include <vector>

#include "solvers/eigen_test_support.hpp"

namespace heddle {
namespace {

constexpr long double kPi = 3.14159265358979323846L;

/// D^power, D = tridiag(−1, 2, −1) of order n. All entries are whole numbers, so that the matrix as
/// it is stored has the eigenvalues (4 sin²(kπ/2(n + 1)))^power.
template <class T>
HostCsrMatrix<T> power_of_laplacian(HostContext& context, Index n, int power) {
  std::vector<std::vector<long>> M(static_cast<std::size_t>(n),
                                   std::vector<long>(static_cast<std::size_t>(n)));
  const auto at = [&M](Index i, Index j) -> long& {
    return M[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
  };
  for (Index i = 0; i < n; ++i) at(i, i) = 1;
  for (int p = 0; p < power; ++p) {
    for (auto& row : M) {
      const std::vector<long> old = row;
      for (std::size_t j = 0; j < row.size(); ++j) {
        row[j] = 2 * old[j] - (j > 0 ? old[j - 1] : 0) - (j + 1 < row.size() ? old[j + 1] : 0);
      }
    }
  }
  std::vector<Triplet<T>> entries;
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) {
      if (at(i, j) != 0) entries.push_back({i, j, static_cast<T>(at(i, j))});
    }
  }
  return csr_from_triplets<T>(context, n, n, entries);
}

template <class T>
class AccurateValues : public testing::Test {
 protected:
  static constexpr double kEpsilon = static_cast<double>(std::numeric_limits<T>::epsilon());
  static constexpr Index kPairs = 4;

  /// Solves D^power x = λ D^mass x, and compares with λ_k = μ_k^(power − mass). `least`: how many
  /// times larger 10 ε|x|ᵀ|A||x| must be than the bounds, where these are not rounding of λ.
  void expect_sharp(Index n, int power, int mass, double least) {
    SparseOperator<T, HostContext> A(context_, power_of_laplacian<T>(context_, n, power));
    SparseOperator<T, HostContext> B(context_, power_of_laplacian<T>(context_, n, mass));
    ShiftedInverse<T, HostContext> shifted(A.matrix(),
                                           mass > 0 ? B.matrix() : CsrView<T, HostSpace>{});
    ShiftedInverse<T, HostContext> inverse(B.matrix());
    EigenProblem<T, HostContext> problem{.A = &A, .shifted_inverse = &shifted};
    if (mass > 0) {
      ASSERT_TRUE(inverse.factor(context_, 0));
      problem.B = &B;
      problem.B_inverse = &inverse;
    }
    BlockLanczosOptions options;
    options.nev = kPairs;
    const auto result = block_lanczos<T, HostContext>(context_, problem, options);
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

using Scalars = testing::Types<float, double>;
TYPED_TEST_SUITE(AccurateValues, Scalars);

TYPED_TEST(AccurateValues, OfABiharmonicMatrixHaveSharpBounds) {
  this->expect_sharp(std::is_same_v<TypeParam, float> ? 24 : 400, 2, 0, 1000);
}

TYPED_TEST(AccurateValues, OfAPencilHaveSharpBounds) {
  this->expect_sharp(std::is_same_v<TypeParam, float> ? 10 : 60, 3, 1, 100);
}

}  // namespace
}  // namespace heddle
