#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <heddle/linalg/gallery/gallery.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/solvers/lanczos/nearest/nearest_eigenpairs.hpp>
#include <heddle/solvers/operators/sparse_operator.hpp>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Pencils with eigenvalues in closed form that are hard to find near a number.
namespace heddle {
namespace {

using Matrix = HostCsrMatrix<double>;

class NearestTroubles : public testing::Test {
 protected:
  /// A diagonal matrix. Zeros are not stored.
  Matrix diagonal(const std::vector<double>& values) {
    std::vector<Triplet<double>> entries;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto row = static_cast<Index>(i);
      if (values[i] != 0) entries.push_back({row, row, values[i]});
    }
    const auto n = static_cast<Index>(values.size());
    return csr_from_triplets<double>(context_, n, n, entries);
  }

  /// The blocks with the entries of `block` times each of the `sizes`, their rows one after the
  /// other in turn.
  Matrix blocks(const std::vector<double>& sizes, const std::vector<Triplet<double>>& block,
                Index rows) {
    const auto count = static_cast<Index>(sizes.size());
    std::vector<Triplet<double>> entries;
    for (Index b = 0; b < count; ++b) {
      for (const auto& [i, j, value] : block) {
        entries.push_back(
            {i * count + b, j * count + b, sizes[static_cast<std::size_t>(b)] * value});
      }
    }
    return csr_from_triplets<double>(context_, rows * count, rows * count, entries);
  }

  /// H D H for D with these values and H = I − 2/n 11ᵀ: dense, with the values of D to rounding.
  Matrix dense(const std::vector<double>& values) {
    const auto n = static_cast<Index>(values.size());
    const double each = 2 / static_cast<double>(n);
    const double sum = std::accumulate(values.begin(), values.end(), 0.0);
    std::vector<Triplet<double>> entries;
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < n; ++j) {
        const double a = values[static_cast<std::size_t>(i)];
        const double b = values[static_cast<std::size_t>(j)];
        entries.push_back({i, j, (i == j ? a : 0) - each * (a + b) + each * each * sum});
      }
    }
    return csr_from_triplets<double>(context_, n, n, entries);
  }

  EigenResult<double, HostSpace> solve(const Matrix& A, const Matrix& B, double sigma, Index nev,
                                       Side side = Side::both, const Monitor& monitor = {}) {
    SparseOperator<double, HostContext> stiffness(context_, A.view());
    std::optional<SparseOperator<double, HostContext>> mass;
    if (B.rows() > 0) mass.emplace(context_, B.view());
    IndefiniteInverse<double, HostContext> inverse(A.view(), B.view());
    EigenProblem<double, HostContext> problem;
    problem.A = &stiffness;
    problem.B = mass ? &*mass : nullptr;
    NearestOptions options;
    options.sigma = sigma;
    options.nev = nev;
    options.limit_to(side);
    return nearest_eigenpairs<double, HostContext>(context_, problem, inverse, options, monitor);
  }

  /// Expects `values`, ascending, within `error`, all converged and proven.
  static void expect(const EigenResult<double, HostSpace>& result,
                     const std::vector<double>& values, double error) {
    ASSERT_EQ(result.status, SolveStatus::converged) << result.reason;
    EXPECT_TRUE(result.completeness.proven) << result.reason;
    ASSERT_EQ(result.eigenvalues.size(), values.size()) << result.reason;
    EXPECT_TRUE(std::is_sorted(result.eigenvalues.begin(), result.eigenvalues.end()));
    for (std::size_t j = 0; j < values.size(); ++j) {
      EXPECT_NEAR(result.eigenvalues[j], values[j], error) << j << ", " << result.reason;
    }
  }

  HostContext context_;
};

std::vector<double> numbers(Index count) {
  std::vector<double> values;
  for (Index i = 1; i <= count; ++i) values.push_back(static_cast<double>(i));
  return values;
}

TEST_F(NearestTroubles, AMatrixWithoutEntries) {
  for (const Index n : {7, 300}) {
    const Matrix A = diagonal(std::vector<double>(static_cast<std::size_t>(n)));
    expect(solve(A, {}, 0, 5), std::vector<double>(5), 0);
    expect(solve(A, {}, 0, 5, Side::above), std::vector<double>(5), 0);
    expect(solve(A, {}, 2.5, 3, Side::below), std::vector<double>(3), 1e-14);
  }
}

/// 40 zeros of rows without entries, among the values 1, 2, ….
TEST_F(NearestTroubles, EmptyRowsAndNothingElse) {
  for (const Index n : {90, 400}) {
    std::vector<double> values = numbers(n);
    std::fill_n(values.begin() + 10, 40, 0.0);
    const Matrix A = diagonal(values);
    expect(solve(A, {}, 0, 6), std::vector<double>(6), 1e-12);
    expect(solve(A, {}, 1e-7, 4, Side::below), std::vector<double>(4), 1e-12);
    std::vector<double> all(40);
    all.insert(all.end(), {1, 2});
    expect(solve(A, {}, 0, 42), all, 1e-11);
  }
}

/// The zeros of empty rows lie below σ by less than their Ritz values are rounded. A solve that
/// does not get past them has not converged.
TEST_F(NearestTroubles, EmptyRowsJustBelowSigma) {
  for (const Index zeros : {1, 2, 5}) {
    std::vector<double> values = numbers(zeros + 4);
    std::fill_n(values.begin(), zeros, 0.0);
    const auto result = solve(diagonal(values), {}, 1e-19, 2, Side::above);
    if (result.status != SolveStatus::converged) continue;
    const auto first = static_cast<double>(zeros + 1);
    ASSERT_EQ(result.eigenvalues.size(), 2) << result.reason;
    EXPECT_NEAR(result.eigenvalues[0], first, 1e-12) << result.reason;
    EXPECT_NEAR(result.eigenvalues[1], first + 1, 1e-12) << result.reason;
  }
}

TEST_F(NearestTroubles, SigmaFarBeyondTheSpectrumMovesToItsEnd) {
  for (const Index n : {30, 300}) {
    const Matrix A = diagonal(numbers(n));
    const auto last = static_cast<double>(n);
    for (const double sigma : {1e6, 1e12, 1e290}) {
      expect(solve(A, {}, sigma, 3), {last - 2, last - 1, last}, 1e-10);
      expect(solve(A, {}, -sigma, 3), {1, 2, 3}, 1e-10);
      expect(solve(A, {}, -sigma, 2, Side::above), {1, 2}, 1e-10);
      expect(solve(A, {}, sigma, 2, Side::above), {}, 0);
    }
  }
}

/// Values far apart on both sides: σ lies far from both, and beyond neither.
TEST_F(NearestTroubles, SigmaInAWideGapStays) {
  std::vector<double> values = numbers(300), masses(300, 1);
  masses.back() = 300 / 1e12;
  const auto result = solve(diagonal(values), diagonal(masses), 1e9, 2);
  expect(result, {298, 299}, 1e-6);
}

TEST_F(NearestTroubles, ValuesJustBeyondSigmaAreOnTheOtherSide) {
  for (const Index n : {40, 300}) {
    std::vector<double> values = numbers(n);
    values[9] = 10 - 1e-8;  // next to σ = 10
    values[10] = 10 + 1e-8;
    const Matrix A = diagonal(values);
    expect(solve(A, {}, 10, 2, Side::above), {10 + 1e-8, 12}, 1e-11);
    expect(solve(A, {}, 10, 2, Side::below), {9, 10 - 1e-8}, 1e-11);
    // A value at σ lies on both sides.
    expect(solve(A, {}, 9, 1, Side::above), {9}, 1e-11);
    expect(solve(A, {}, 9, 1, Side::below), {9}, 1e-11);
  }
}

/// The values nearest to σ are not wanted, and hide those next to the last wanted one.
TEST_F(NearestTroubles, ManyValuesJustBeyondSigma) {
  for (const Index n : {60, 300}) {
    std::vector<double> values = numbers(n);
    for (std::size_t i = 30; i < 55; ++i) values[i] = 30.5 + 0.01 * static_cast<double>(i);
    std::vector<double> wanted = numbers(30);
    wanted.erase(wanted.begin(), wanted.begin() + 20);
    expect(solve(diagonal(values), {}, 30.75, 10, Side::below), wanted, 1e-11);
  }
}

/// Rounding of the largest θ leaves other Ritz values few digits, and of two copies of the last
/// value one is wanted.
TEST_F(NearestTroubles, CopiesOfTheLastValueNextToASigmaNearOthers) {
  std::vector<double> values, wanted;
  const auto add = [&](double value, Index copies, Index of_wanted) {
    values.insert(values.end(), static_cast<std::size_t>(copies), value);
    wanted.insert(wanted.end(), static_cast<std::size_t>(of_wanted), value);
  };
  add(-4, 16, 0);
  add(1, 2, 1);
  add(2, 4, 4);
  add(3, 5, 5);
  add(4, 7, 7);
  const Matrix A = dense(values);
  for (double distance = 1e-7; distance > 1e-10; distance /= 2) {
    expect(solve(A, {}, 3 - distance, 17), wanted, 1e-8);
  }
}

/// Chains that differ in stiffness by up to 2⁶⁰, all of whose soft values are wanted: from a far σ,
/// and from one next to a soft value, whose θ hides those of the stiff ones.
TEST_F(NearestTroubles, SoftValuesAmongStiffOnes) {
  const Index m = 8;
  std::vector<Triplet<double>> chain;
  for (Index i = 0; i < m; ++i) {
    chain.push_back({i, i, 2});
    if (i > 0) chain.insert(chain.end(), {{i, i - 1, -1}, {i - 1, i, -1}});
  }
  for (const int exponent : {30, 40, 50, 60}) {
    const double stiff = std::exp2(exponent);
    std::vector<double> values;
    for (const double size : {1.0, stiff}) {
      for (Index k = 1; k <= m; ++k) {
        const double angle = M_PI * static_cast<double>(k) / static_cast<double>(m + 1);
        values.push_back(size * 4 * std::pow(std::sin(angle / 2), 2));
      }
    }
    const Matrix A = blocks({1, stiff}, chain, m);
    const auto expect_from = [&](std::size_t first, std::size_t count, double sigma, Side side) {
      const auto result = solve(A, {}, sigma, static_cast<Index>(count), side);
      ASSERT_EQ(result.status, SolveStatus::converged) << exponent << ' ' << result.reason;
      EXPECT_TRUE(result.completeness.proven) << result.reason;
      ASSERT_EQ(result.eigenvalues.size(), count) << result.reason;
      for (std::size_t j = 0; j < count; ++j) {
        EXPECT_NEAR(result.eigenvalues[j], values[first + j], 1e-6 * values[first + j]);
        EXPECT_NEAR(result.eigenvalues[j], values[first + j],
                    result.error_bounds[j] + 1e-14 * values[first + j]);
      }
    };
    expect_from(0, 11, -stiff, Side::both);
    // With some of the soft ones, as long as distances from σ tell which.
    if (exponent <= 40) expect_from(5, 11, 5 * stiff, Side::both);
    for (const double distance : {1e-6, 1e-9, 1e-12}) {
      expect_from(0, 16, values[1] * (1 - distance), Side::both);
      expect_from(0, 16, values[0] * (1 - distance), Side::above);
      // Rounding of the stiff values is no reason to take one from the other side of σ.
      if (exponent <= 40) expect_from(1, 15, values[1] * (1 - distance), Side::above);
    }
  }
}

/// [0 c; c 1] has the small value −c²(1 − c² + …), of which entries of the size of 1 leave no digit
/// next to σ = 0.3.
TEST_F(NearestTroubles, SmallValuesOfWeakCouplings) {
  for (const double c : {1e-5, 1e-7, 1e-9}) {
    std::vector<Triplet<double>> entries;
    std::vector<double> small;
    for (Index k = 0; k < 6; ++k) {
      const double coupling = c * static_cast<double>(6 - k);
      entries.insert(
          entries.end(),
          {{2 * k, 2 * k + 1, coupling}, {2 * k + 1, 2 * k, coupling}, {2 * k + 1, 2 * k + 1, 1}});
      small.push_back(-2 * coupling * coupling / (1 + std::sqrt(1 + 4 * coupling * coupling)));
    }
    const auto result = solve(csr_from_triplets<double>(context_, 12, 12, entries), {}, 0.3, 6);
    ASSERT_EQ(result.status, SolveStatus::converged) << c << ' ' << result.reason;
    EXPECT_TRUE(result.completeness.proven) << result.reason;
    ASSERT_EQ(result.eigenvalues.size(), small.size());
    for (std::size_t j = 0; j < small.size(); ++j) {
      EXPECT_NEAR(result.eigenvalues[j], small[j], 1e-8 * std::abs(small[j]));
    }
  }
}

/// A side with fewer values than wanted, the next one beyond σ hardly apart from it.
TEST_F(NearestTroubles, ASideWithFewerValuesThanWanted) {
  std::vector<double> values = numbers(300);
  values[296] = 298 - 1e-9;
  const Matrix A = diagonal(values);
  expect(solve(A, {}, 298, 7, Side::above), {298, 299, 300}, 1e-10);
  expect(solve(A, {}, 298 - 5e-10, 7, Side::above), {298, 299, 300}, 1e-10);
}

/// Three rows with mass: as many finite eigenvalues.
TEST_F(NearestTroubles, AMassOfLowRank) {
  for (const Index n : {12, 300}) {
    std::vector<double> masses(static_cast<std::size_t>(n));
    masses[3] = 1;
    masses[5] = 2;
    masses[8] = 0.5;
    expect(solve(diagonal(numbers(n)), diagonal(masses), 3.5, 2), {3, 4}, 1e-12);
    expect(solve(diagonal(numbers(n)), diagonal(masses), 3.5, 9), {3, 4, 18}, 1e-11);
  }
}

TEST_F(NearestTroubles, AnIndefiniteMassIsRefused) {
  std::vector<double> masses(40, 1.0);
  masses[17] = -1e-3;
  EXPECT_EQ(solve(diagonal(numbers(40)), diagonal(masses), 3.5, 2).status, SolveStatus::indefinite);
}

/// A request to stop that comes at any moment: what ends then is not converged without its proof,
/// and not a breakdown, even if no factorisation has succeeded.
TEST_F(NearestTroubles, AStopIsNoBreakdown) {
  std::vector<double> values = numbers(300), masses(300, 1);
  const auto stopped_at = [&](Index last, Index& events) {
    events = 0;
    Monitor monitor;
    monitor.stage = [&](std::string_view) { ++events; };
    monitor.stop = [&] { return ++events >= last; };
    return solve(diagonal(values), diagonal(masses), 3.6, 2, Side::both, monitor);
  };
  for (const bool singular : {false, true}) {
    if (singular) values[10] = masses[10] = 0;
    Index all = 0;
    const auto whole = stopped_at(std::numeric_limits<Index>::max(), all);
    EXPECT_EQ(whole.status, singular ? SolveStatus::breakdown : SolveStatus::converged);
    EXPECT_GE(all, 2);
    for (Index last = 1, events = 0; last <= all; ++last) {
      const auto result = stopped_at(last, events);
      const bool proven = result.status == SolveStatus::converged && result.completeness.proven;
      EXPECT_TRUE(result.status == SolveStatus::interrupted || proven)
          << last << " of " << all << ": " << result.reason;
    }
  }
}

/// Penalties leave the digits of values near σ.
TEST_F(NearestTroubles, PenaltiesOfAnySize) {
  for (const double penalty : {1e8, 1e12, 1e16}) {
    std::vector<double> values = numbers(100);
    values[4] = penalty;
    const auto result = solve(diagonal(values), diagonal(std::vector<double>(100, 2)), 10.1, 3);
    expect(result, {9.5, 10, 10.5}, 1e-9);
  }
}

/// 0.5 (1 ± 1e-7) in 60 copies each: no basis separates them, and a count shows all of them.
TEST_F(NearestTroubles, ClustersNarrowerThanABasisResolves) {
  std::vector<double> values = numbers(300);
  for (std::size_t i = 0; i < 60; ++i) {
    values[2 * i] = 0.5 * (1 + 1e-7);
    values[2 * i + 1] = 0.5 * (1 - 1e-7);
  }
  std::vector<double> wanted(60, 0.5 * (1 - 1e-7));
  wanted.insert(wanted.end(), 5, 0.5 * (1 + 1e-7));
  expect(solve(diagonal(values), {}, 0.4, 65), wanted, 1e-11);
}

}  // namespace
}  // namespace heddle
