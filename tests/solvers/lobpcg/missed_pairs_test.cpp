#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/solvers/lobpcg/lobpcg.hpp>
#include <heddle/solvers/preconditioners/block_jacobi/block_jacobi.hpp>
#include <heddle/solvers/preconditioners/jacobi/jacobi.hpp>
#include <heddle/solvers/preconditioners/multigrid/multigrid.hpp>
#include <utility>

#include "solvers/eigen_test_support.hpp"

namespace heddle {
namespace {

using test::counting;
using test::DiagonalOperator;
using test::make_operator;

/// A matrix that springs between its rows add up to.
class Springs {
 public:
  explicit Springs(Index n) : n_(n) {}

  Index rows() const { return n_; }

  /// A spring of stiffness k between rows i and j, or from row i to the ground where j = i.
  void add(Index i, Index j, double k) {
    put(i, i, k);
    if (i == j) return;
    put(j, j, k);
    put(i, j, -k);
    put(j, i, -k);
  }

  /// Adds rows without springs, and returns the first one.
  Index add_rows(Index count) { return std::exchange(n_, n_ + count); }

  /// Adds k·vvᵀ in the given rows.
  void add_form(const std::vector<Index>& rows, const std::vector<double>& v, double k) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      for (std::size_t j = 0; j < rows.size(); ++j) put(rows[i], rows[j], k * v[i] * v[j]);
    }
  }

  /// An a×b grid of springs beside the rows so far. With `held`, its border hangs on the ground.
  Index add_grid(Index a, Index b, double k, bool held) {
    const Index first = std::exchange(n_, n_ + a * b);
    const auto at = [&](Index i, Index j) { return first + i * b + j; };
    for (Index i = 0; i < a; ++i) {
      for (Index j = 0; j < b; ++j) {
        if (i + 1 < a) add(at(i, j), at(i + 1, j), k);
        if (j + 1 < b) add(at(i, j), at(i, j + 1), k);
        const int borders = int{i == 0} + int{i == a - 1} + int{j == 0} + int{j == b - 1};
        if (held && borders > 0) add(at(i, j), at(i, j), k * borders);
      }
    }
    return first;
  }

  SparseOperator<double, HostContext> matrix(HostContext& context) const {
    return SparseOperator<double, HostContext>(
        context, csr_from_triplets<double>(context, n_, n_, triplets_));
  }

 private:
  void put(Index i, Index j, double value) { triplets_.push_back({i, j, value}); }

  Index n_;
  std::vector<Triplet<double>> triplets_;
};

/// The nev smallest values of A by LOBPCG with the Jacobi preconditioner, which must converge.
std::vector<double> smallest(HostContext& context, SparseOperator<double, HostContext>& A,
                             Index nev, std::uint64_t seed) {
  JacobiPreconditioner<double, HostContext> M(context, A.matrix());
  LobpcgOptions options;
  options.nev = nev;
  options.seed = seed;
  const auto result =
      lobpcg<double, HostContext>(context, {.A = &A, .preconditioner = &M}, options);
  EXPECT_EQ(result.status, SolveStatus::converged) << result.reason;
  EXPECT_EQ(result.completeness.method, CompletenessMethod::factor);
  EXPECT_FALSE(result.completeness.proven);
  return result.eigenvalues;
}

TEST(MissedPairs, OfAVeryStiffPartAreFound) {
  Springs springs(0);
  springs.add_grid(20, 20, 1, true);
  springs.add_grid(6, 6, 1e8, false);
  HostContext context;
  auto A = springs.matrix(context);
  for (const std::uint64_t seed : {3U, 7U, 11U}) {
    const std::vector<double> values = smallest(context, A, 4, seed);
    ASSERT_EQ(values.size(), 4u);
    EXPECT_NEAR(values[0], 0, 1e-4) << seed;
    EXPECT_NEAR(values[1], laplace_smallest_eigenvalues({20, 20}, 1)[0], 1e-4) << seed;
  }
}

class StiffParts : public testing::TestWithParam<double> {};

TEST_P(StiffParts, ThatAreHeldWeaklyAreFound) {
  const double stiffness = GetParam();
  const std::vector<double> soft = laplace_smallest_eigenvalues({20, 20}, 4);
  for (const auto& [a, b] : {std::pair<Index, Index>{2, 2}, {6, 6}, {40, 1}}) {
    Springs springs(0);
    springs.add_grid(20, 20, 1, true);
    springs.add_grid(a, b, stiffness, false);
    HostContext context;
    auto A = springs.matrix(context);
    for (const std::uint64_t seed : {1U, 2U, 3U}) {
      const std::vector<double> values = smallest(context, A, 4, seed);
      ASSERT_EQ(values.size(), 4u);
      EXPECT_NEAR(values[0], 0, 1e-4) << a << 'x' << b << " seed " << seed;
      for (std::size_t i = 1; i < 4; ++i) EXPECT_NEAR(values[i], soft[i - 1], 1e-3 * soft[i - 1]);
    }
  }
}

TEST_P(StiffParts, OfSeveralStiffnessesAreFoundInOneSolve) {
  // Each part hangs on a soft spring of 0.001 at one of its four rows: the motion of the part as a
  // whole has the value 0.00025, to first order.
  Springs springs(0);
  springs.add_grid(20, 20, 1, true);
  for (const double power : {0.5, 1.0}) {
    const Index part = springs.add_grid(2, 2, std::pow(GetParam(), power), false);
    springs.add(part, part, 0.001);
  }
  HostContext context;
  auto A = springs.matrix(context);
  // The two motions have nearly the same value and very different rounding errors.
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const std::vector<double> values = smallest(context, A, 3, seed);
    ASSERT_EQ(values.size(), 3u);
    EXPECT_NEAR(values[0], 0.00025, 1e-5 + 1e-14 * GetParam()) << seed;
    EXPECT_NEAR(values[1], 0.00025, 1e-5 + 1e-14 * GetParam()) << seed;
    EXPECT_NEAR(values[2], laplace_smallest_eigenvalues({20, 20}, 1)[0], 1e-4) << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Stiffnesses, StiffParts, testing::Values(1e4, 1e6, 1e7));

/// The values of the smallest of A by LOBPCG with the multigrid preconditioner of `springs`, which
/// represents (1, 1) of a stiff pair exactly and (1, −1) not at all.
std::vector<double> by_multigrid(HostContext& context, const Springs& springs,
                                 LinearOperator<double, HostContext>& A, std::uint64_t seed) {
  auto stored = springs.matrix(context);
  MultigridPreconditioner<double, HostContext> M(context, stored.matrix());
  LobpcgOptions options;
  options.nev = 1;
  options.seed = seed;
  const auto result =
      lobpcg<double, HostContext>(context, {.A = &A, .preconditioner = &M}, options);
  EXPECT_EQ(result.status, SolveStatus::converged) << result.reason;
  return result.eigenvalues;
}

TEST(MissedPairs, AreNotHiddenByTheModesOfASoftBody) {
  // Beside a grid of 2500 rows, whose modes swamp a search in all rows: a pair of rows with the
  // values 1e4 and 0.001. A tie through four rows of the grid adds motions that are soft as well.
  Springs springs(0);
  springs.add_grid(50, 50, 1, true);
  const Index pair = springs.add_rows(2);
  springs.add_form({pair, pair + 1}, {1, 1}, 1e4 / 2);
  springs.add_form({pair, pair + 1}, {1, -1}, 0.001 / 2);
  springs.add_form({1220, 617, 31, 1999}, {0.9, -0.3, 0.2, 0.25}, 1e4);
  HostContext context;
  auto A = springs.matrix(context);
  test::FunctionOperator products(A.rows(), [&](auto X, auto Y) { A.apply(context, X, Y); });
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    EXPECT_NEAR(by_multigrid(context, springs, A, seed).at(0), 0.001, 1e-6) << seed;
    EXPECT_NEAR(by_multigrid(context, springs, products, seed).at(0), 0.001, 1e-6) << seed;
  }
}

/// A pair of rows whose soft motion (1, −1) multigrid does not represent is hidden although it is
/// hardly stiffer than the grid, whose modes appear in a few steps.
TEST(MissedPairs, OfOppositeEntriesAreFoundInRowsThatAreNotStiff) {
  Springs springs(0);
  springs.add_grid(200, 200, 1, true);
  const Index pair = springs.add_rows(2);
  springs.add_form({pair, pair + 1}, {1, 1}, 15);
  springs.add_form({pair, pair + 1}, {1, -1}, 1e-9 / 2);
  HostContext context;
  auto A = springs.matrix(context);
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    EXPECT_NEAR(by_multigrid(context, springs, A, seed).at(0), 1e-9, 1e-12) << seed;
  }
}

TEST(MissedPairs, AreFoundAmongMoreSoftMotionsThanASearchHasColumns) {
  // 30 motions of ten ties have values between 0.3 and 1, one of a pair of rows has 0.001. The
  // mean of several of them is far above the smallest value of the grid, 0.0447.
  Springs springs(0);
  springs.add_grid(20, 20, 1, true);
  for (int tie = 0; tie < 10; ++tie) {
    const Index first = springs.add_rows(4);
    const std::vector<Index> rows{first, first + 1, first + 2, first + 3};
    springs.add_form(rows, {1, 1, 1, 1}, 1e6 / 4);
    springs.add_form(rows, {1, 1, -1, -1}, (0.3 + 0.05 * tie) / 4);
    springs.add_form(rows, {1, -1, 1, -1}, 0.8 / 4);
    springs.add_form(rows, {1, -1, -1, 1}, 1.0 / 4);
  }
  const Index pair = springs.add_rows(2);
  springs.add_form({pair, pair + 1}, {1, 1}, 1e6 / 2);
  springs.add_form({pair, pair + 1}, {1, -1}, 0.001 / 2);
  HostContext context;
  auto A = springs.matrix(context);
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    EXPECT_NEAR(by_multigrid(context, springs, A, seed).at(0), 0.001, 1e-6) << seed;
  }
}

/// Adds pairs of rows with the values k and `first`, 1.3 `first`, 1.69 `first`, ….
void add_pairs(Springs& springs, int count, double k, double first) {
  for (int i = 0; i < count; ++i) {
    const Index pair = springs.add_rows(2);
    springs.add_form({pair, pair + 1}, {1, 1}, k / 2);
    springs.add_form({pair, pair + 1}, {1, -1}, first * std::pow(1.3, i) / 2);
  }
}

constexpr Index kChain = 250;

/// A chain of springs of 100 that is held at its ends.
Springs chain() {
  Springs springs(kChain);
  for (Index i = 0; i < kChain; ++i) springs.add(i, std::min(i + 1, kChain - 1), 100);
  springs.add(0, 0, 100);
  return springs;
}

/// The pairs that the search finds beyond the width of the block have no place beside the locked
/// ones, which are none of the wanted ones any more.
TEST(MissedPairs, MoreThanANarrowBlockHoldsAreFound) {
  HostContext context;
  LobpcgOptions options;
  options.block_size = 2;
  for (const auto& [nev, motions] : {std::pair<Index, int>{3, 12}, {4, 4}}) {
    Springs springs(0);
    springs.add_grid(20, 20, 1, true);
    add_pairs(springs, motions, 1e8, 1e-5);
    auto A = springs.matrix(context);
    JacobiPreconditioner<double, HostContext> M(context, A.matrix());
    options.nev = nev;
    int converged = 0;  // rounding decides which solves end without the digits, and say so
    for (options.seed = 1; options.seed <= 5; ++options.seed) {
      const auto result =
          lobpcg<double, HostContext>(context, {.A = &A, .preconditioner = &M}, options);
      if (result.status != SolveStatus::converged) continue;
      ++converged;
      for (std::size_t k = 0; k < static_cast<std::size_t>(nev); ++k) {
        const double value = 1e-5 * std::pow(1.3, static_cast<double>(k));
        EXPECT_NEAR(result.eigenvalues[k], value, result.error_bounds[k]) << nev << ' ' << k;
      }
    }
    EXPECT_GE(converged, 1) << nev;
  }
}

/// Where the search finds motions beside locked pairs that a narrow block has no place for, a gap
/// up to the modes of the grid is none. Seeds with which values claimed digits that they lacked.
TEST(MissedPairs, EndGapsWhereABlockHasNoPlaceForThem) {
  HostContext context;
  LobpcgOptions options;
  options.block_size = 2;
  options.nev = 4;
  for (const auto& [motions, seed] : {std::pair<int, std::uint64_t>{6, 1}, {8, 2}, {8, 5}}) {
    Springs springs(0);
    springs.add_grid(20, 20, 1, true);
    add_pairs(springs, motions, 1e6, 1e-5);
    auto A = springs.matrix(context);
    JacobiPreconditioner<double, HostContext> M(context, A.matrix());
    options.seed = seed;
    const auto result =
        lobpcg<double, HostContext>(context, {.A = &A, .preconditioner = &M}, options);
    if (result.status != SolveStatus::converged) continue;
    for (std::size_t k = 0; k < 4; ++k) {
      const double value = 1e-5 * std::pow(1.3, static_cast<double>(k));
      EXPECT_NEAR(result.eigenvalues[k], value, result.error_bounds[k]) << motions << ' ' << k;
    }
  }
}

/// A preconditioner that is exact for stiff parts finds their motions in a few steps, which is too
/// early for the modes of other rows.
TEST(MissedPairs, SlowerPairsAreAwaited) {
  HostContext context;
  const double slow = 100 * laplace_smallest_eigenvalues({kChain}, 1)[0];  // 0.0157
  Springs springs = chain();
  add_pairs(springs, 4, 1e9, 0.5 * slow);  // up to 0.85 and 1.1 of it
  auto A = springs.matrix(context);
  BlockJacobiPreconditioner<double, HostContext> M(context, A.matrix());
  LobpcgOptions options;
  options.nev = 4;
  options.criterion = Criterion::norm;
  for (options.seed = 1; options.seed <= 5; ++options.seed) {
    const auto result =
        lobpcg<double, HostContext>(context, {.A = &A, .preconditioner = &M}, options);
    ASSERT_EQ(result.status, SolveStatus::converged) << result.reason;
    EXPECT_NEAR(result.eigenvalues[3], slow, 1e-2 * slow) << options.seed;
  }
}

TEST(MissedPairs, AreFoundBesideAMassMatrixAndWithoutAMatrix) {
  // diag(1, 2, …, 300) beside [[s, c − s], [c − s, s]], whose values are c and 2s − c, as an
  // operator that shows nothing but products.
  const double s = 1e6, c = 0.5;
  test::FunctionOperator A(302, [&](auto X, auto Y) {
    for (Index j = 0; j < X.cols(); ++j) {
      for (Index i = 0; i < 300; ++i) Y(i, j) = static_cast<double>(i + 1) * X(i, j);
      Y(300, j) = s * X(300, j) + (c - s) * X(301, j);
      Y(301, j) = (c - s) * X(300, j) + s * X(301, j);
    }
  });
  std::vector<double> inverse = counting(302);
  for (double& d : inverse) d = 1 / d;
  inverse[300] = inverse[301] = 1 / s;
  DiagonalOperator<double> M(inverse);
  DiagonalOperator<double> B(std::vector<double>(302, 2.0));
  HostContext context;
  LobpcgOptions options;
  options.nev = 2;
  for (const std::uint64_t seed : {1U, 2U, 3U, 4U, 5U}) {
    options.seed = seed;
    const auto result = lobpcg<double, HostContext>(context, {&A, &B, &M}, options);
    ASSERT_EQ(result.status, SolveStatus::converged) << result.reason;
    EXPECT_NEAR(result.eigenvalues[0], 0.25, 1e-6);
    EXPECT_NEAR(result.eigenvalues[1], 0.5, 1e-6);
  }
}

TEST(MissedPairs, ANarrowBlockDoesNotBelieveAnExactGuess) {
  HostContext context;
  auto A = make_operator<double>(context, {"laplace2d", {20, 21}});
  LobpcgOptions options;
  options.nev = 4;
  options.max_iterations = 5000;
  const auto cold = lobpcg<double, HostContext>(context, {&A}, options);
  ASSERT_EQ(cold.status, SolveStatus::converged) << cold.reason;
  const auto expected = laplace_smallest_eigenvalues({20, 21}, 1);
  EigenProblem<double, HostContext> problem{&A};
  problem.initial_guess = cold.eigenvectors.view().columns(1, 3);
  options.nev = 1;
  for (const Index block : {1, 2, 3}) {
    options.block_size = block;
    const auto result = lobpcg<double, HostContext>(context, problem, options);
    ASSERT_EQ(result.status, SolveStatus::converged) << result.reason;
    EXPECT_NEAR(result.eigenvalues[0], expected[0], 1e-6) << block;
  }
}

/// A block that is narrower than `nev` has no guard vectors at first. An exact guess of a pair
/// beyond the wanted ones must not take a place among them.
TEST(MissedPairs, ABlockNarrowerThanTheWantedPairsDoesNotKeepAnExactGuess) {
  HostContext context;
  auto A = make_operator<double>(context, {"laplace2d", {20, 21}});
  LobpcgOptions options;
  options.max_iterations = 5000;
  const auto expected = laplace_smallest_eigenvalues({20, 21}, 20);
  for (const auto& [nev, block] : {std::pair<Index, Index>{4, 3}, {8, 4}, {8, 7}, {20, 8}}) {
    options.nev = nev + 2;
    options.block_size = 0;
    const auto cold = lobpcg<double, HostContext>(context, {&A}, options);
    ASSERT_EQ(cold.status, SolveStatus::converged) << cold.reason;
    EigenProblem<double, HostContext> problem{&A};
    problem.initial_guess = cold.eigenvectors.view().columns(nev, 1);
    options.nev = nev;
    options.block_size = block;
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      options.seed = seed;
      const auto result = lobpcg<double, HostContext>(context, problem, options);
      ASSERT_EQ(result.status, SolveStatus::converged) << result.reason;
      for (std::size_t k = 0; k < static_cast<std::size_t>(nev); ++k) {
        EXPECT_NEAR(result.eigenvalues[k], expected[k], 1e-6) << nev << ' ' << block << ' ' << k;
      }
    }
  }
}

/// The residuals of an exact guess are rounding from the start. They do not end the solve while the
/// guard vectors have not come to rest.
TEST(MissedPairs, AnExactGuessIsConfirmed) {
  HostContext context;
  auto A = make_operator<double>(context, {"laplace2d", {30, 31}});
  JacobiPreconditioner<double, HostContext> M(context, A.matrix());
  EigenProblem<double, HostContext> problem{.A = &A, .preconditioner = &M};
  LobpcgOptions options;
  options.nev = 4;
  options.tolerance = 1e-13;
  const auto cold = lobpcg<double, HostContext>(context, problem, options);
  ASSERT_EQ(cold.status, SolveStatus::converged) << cold.reason;
  problem.initial_guess = cold.eigenvectors.view();
  options.tolerance = 1e-8;
  for (const Criterion criterion : {Criterion::norm, Criterion::eigenvalue}) {
    options.criterion = criterion;
    const auto result = lobpcg<double, HostContext>(context, problem, options);
    EXPECT_EQ(result.status, SolveStatus::converged) << result.reason;
  }
}

TEST(MissedPairs, ConstraintsNeedNotBeEigenvectors) {
  // The values of diag(1, …, n) on the vectors orthogonal to y are the roots of Σ y_i²/(i − λ), one
  // between each i and i + 1.
  const Index n = 300;
  HostContext context;
  DiagonalOperator<double> A(counting(n));
  MultiVector<double, HostSpace> y(context, n, 1);
  for (Index i = 0; i < n; ++i) y.view()(i, 0) = 1 / static_cast<double>(i + 1);
  EigenProblem<double, HostContext> problem{&A};
  problem.constraints = y.view();
  LobpcgOptions options;
  options.nev = 4;
  const auto result = lobpcg<double, HostContext>(context, problem, options);
  ASSERT_EQ(result.status, SolveStatus::converged) << result.reason;
  for (std::size_t k = 0; k < 4; ++k) {
    double low = static_cast<double>(k + 1), high = low + 1;
    for (int step = 0; step < 60; ++step) {
      const double middle = (low + high) / 2;
      double sum = 0;
      for (Index i = 0; i < n; ++i) {
        const double weight = y.view()(i, 0);
        sum += weight * weight / (static_cast<double>(i + 1) - middle);
      }
      (sum < 0 ? low : high) = middle;  // the sum grows from −∞ to ∞
    }
    EXPECT_NEAR(result.eigenvalues[k], low, 1e-5);
    EXPECT_LE(result.residuals[k], 1e-8);
  }
  EXPECT_LE(test::largest_product<double>(y.view(), result.eigenvectors.view()), 1e-12);
}

}  // namespace
}  // namespace heddle
