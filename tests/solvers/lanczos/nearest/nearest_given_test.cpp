#include <gtest/gtest.h>

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/gallery/gallery.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/solvers/lanczos/nearest/solve.hpp>
#include <heddle/solvers/operators/sparse_operator.hpp>
#include <numbers>
#include <string>
#include <vector>

#include "support/dense.hpp"

/// Pairs next to eigenvectors that are known already, of a chain whose pairs have closed forms.
namespace heddle {
namespace {

using Matrix = HostCsrMatrix<double>;

/// Eigenvalue k of the chain tridiag(−1, 2, −1) of n rows, from 1.
double value_of_chain(Index n, Index k) {
  const double angle = std::numbers::pi * static_cast<double>(k) / static_cast<double>(n + 1);
  return 2 - 2 * std::cos(angle);
}

class NearestGiven : public testing::Test {
 protected:
  /// `given`: numbers of the known pairs, from 1, in the order of the constraints. B = `mass` I.
  EigenResult<double, HostSpace> solve(Index n, double mass, const std::vector<Index>& given,
                                       const NearestOptions& options) {
    const Matrix A = generate<double>(context_, {"laplace1d", {n}});
    std::vector<Triplet<double>> entries;
    for (Index i = 0; i < n; ++i) entries.push_back({i, i, mass});
    const Matrix B = csr_from_triplets<double>(context_, n, n, entries);
    SparseOperator<double, HostContext> of_A(context_, A.view()), of_B(context_, B.view());
    IndefiniteInverse<double, HostContext> inverse(A.view(), B.view());
    X_ = MultiVector<double, HostSpace>(context_, n, std::ssize(given));
    for (std::size_t l = 0; l < given.size(); ++l) {
      const Index k = given[l];
      const double size = options.definite == Definite::A ? value_of_chain(n, k) : mass;
      const double factor = std::sqrt(2 / (static_cast<double>(n + 1) * size));
      for (Index i = 0; i < n; ++i) {
        const double angle = std::numbers::pi * static_cast<double>(k * (i + 1));
        X_.view()(i, static_cast<Index>(l)) = factor * std::sin(angle / static_cast<double>(n + 1));
      }
    }
    EigenProblem<double, HostContext> problem;
    problem.A = &of_A;
    problem.B = &of_B;
    const ConstBlockView<double, HostSpace> known = std::as_const(X_).view();
    NearestOptions complete = options;
    complete.tolerance = kDefaultTolerance<double>;
    const Monitor monitor;
    return detail::NearestSolve<double, HostContext>(context_, problem, known, inverse, complete,
                                                     monitor)
        .run();
  }

  /// Expects the pairs with these numbers, and vectors that are orthogonal to the given ones.
  void expect(const EigenResult<double, HostSpace>& result, Index n, double mass,
              const std::vector<Index>& numbers) const {
    ASSERT_EQ(result.status, SolveStatus::converged) << result.reason;
    EXPECT_TRUE(result.completeness.proven) << result.reason;
    ASSERT_EQ(result.eigenvalues.size(), numbers.size()) << result.reason;
    for (std::size_t j = 0; j < numbers.size(); ++j) {
      EXPECT_NEAR(result.eigenvalues[j], value_of_chain(n, numbers[j]) / mass, 1e-11) << j;
    }
    const auto count = std::ssize(numbers);
    const Eigen::MatrixXd found =
        test::to_dense<double>(std::as_const(result.eigenvectors).view().columns(0, count));
    const Eigen::MatrixXd known = test::to_dense<double>(X_.view());
    EXPECT_LE((known.transpose() * found).cwiseAbs().maxCoeff(),
              1e-7 * known.norm() * found.norm());
  }

  HostContext context_;
  MultiVector<double, HostSpace> X_;
};

/// A dense solve, and an iteration. The order of the known vectors is arbitrary.
TEST_F(NearestGiven, TheyAreNotFoundAgain) {
  for (const Index n : {60, 400}) {
    for (const Definite definite : {Definite::B, Definite::A}) {
      NearestOptions options;
      options.nev = 5;
      options.definite = definite;
      options.sigma = 0.4 * value_of_chain(n, 30) / 2 + 0.6 * value_of_chain(n, 31) / 2;
      const auto result = solve(n, 2, {33, 29, 31}, options);
      expect(result, n, 2, {27, 28, 30, 32, 34});
    }
  }
}

/// Unknowns without mass leave no norm but that of the inverse to bound errors in.
TEST_F(NearestGiven, BesideUnknownsWithoutMass) {
  constexpr Index kChain = 400, kRows = kChain + 50;
  std::vector<Triplet<double>> stiffness, mass;
  for (Index i = 0; i < kRows; ++i) {
    stiffness.push_back({i, i, i < kChain ? 2.0 : 3.0});
    if (i < kChain) mass.push_back({i, i, 1});
    if (i == 0 || i >= kChain) continue;
    stiffness.push_back({i, i - 1, -1});
    stiffness.push_back({i - 1, i, -1});
  }
  const Matrix A = csr_from_triplets<double>(context_, kRows, kRows, stiffness);
  const Matrix B = csr_from_triplets<double>(context_, kRows, kRows, mass);
  SparseOperator<double, HostContext> of_A(context_, A.view()), of_B(context_, B.view());
  IndefiniteInverse<double, HostContext> inverse(A.view(), B.view());
  MultiVector<double, HostSpace> known(context_, kRows, 1);
  set_zero<double>(context_, known.view());
  for (Index i = 0; i < kChain; ++i) {
    known.view()(i, 0) =
        std::sqrt(2.0 / (kChain + 1)) *
        std::sin(std::numbers::pi * 31 * static_cast<double>(i + 1) / (kChain + 1));
  }
  EigenProblem<double, HostContext> problem{.A = &of_A, .B = &of_B};
  NearestOptions options;
  options.nev = 4;
  options.tolerance = kDefaultTolerance<double>;
  options.sigma = 0.4 * value_of_chain(kChain, 30) + 0.6 * value_of_chain(kChain, 31);
  const Monitor monitor;
  const auto result = detail::NearestSolve<double, HostContext>(
                          context_, problem, std::as_const(known).view(), inverse, options, monitor)
                          .run();
  ASSERT_EQ(result.status, SolveStatus::converged) << result.reason;
  for (std::size_t j = 0; j < 4; ++j) {
    const Index number = std::array<Index, 4>{29, 30, 32, 33}[j];
    EXPECT_NEAR(result.eigenvalues[j], value_of_chain(kChain, number), 1e-12) << j;
    EXPECT_LE(result.error_bounds[j], 1e-8 * result.eigenvalues[j]) << j;
  }
}

/// All pairs between limits, of which some are known.
TEST_F(NearestGiven, TheyAreCounted) {
  for (const Index n : {60, 400}) {
    const auto between = [n](Index k) {
      return 0.5 * (value_of_chain(n, k) + value_of_chain(n, k + 1));
    };
    NearestOptions options;
    options.nev = 12;
    options.lower = between(20);
    options.upper = between(32);
    options.sigma = between(25);
    options.counts = LimitCounts{20, 32};
    const auto result = solve(n, 1, {32, 21, 26, 33, 20}, options);
    expect(result, n, 1, {22, 23, 24, 25, 27, 28, 29, 30, 31});
  }
}

}  // namespace
}  // namespace heddle
