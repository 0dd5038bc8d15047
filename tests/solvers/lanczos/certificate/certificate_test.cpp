#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "solvers/lanczos/certificate/known_pairs.hpp"

namespace heddle {
namespace {

using test::diagonal;
using test::expect_found;
using test::expect_proven;
using test::first;
using test::grid;
using test::host;
using test::Known;
using test::mass;
using test::Result;
using test::Sparse;
using test::to_dense;

class Certificate : public testing::TestWithParam<Which> {};

TEST_P(Certificate, OfACompleteResultIsAProof) {
  Known known(grid({17, 18}));
  for (const Index count : {1, 2, 7, 20}) {
    const Result result = known.certify(GetParam(), first(count));
    expect_proven(result);
    EXPECT_EQ(result.reason, "all pairs converged") << count;
    EXPECT_EQ(std::ssize(result.eigenvalues), count);
  }
}

TEST_P(Certificate, FindsAMissingPair) {
  Known known(grid({17, 18}));
  for (const std::vector<Index>& numbers :
       {std::vector<Index>{1}, {0, 2}, {1, 2, 3}, {0, 1, 2, 4, 5}, {0, 3, 6, 7, 9}}) {
    const Result result = known.certify(GetParam(), numbers);
    expect_found(known, GetParam(), result, std::ssize(numbers));
    EXPECT_GT(result.inverse_applications, 0);
    EXPECT_FALSE(result.history.empty());
  }
}

TEST_P(Certificate, OfAPencil) {
  Known known(grid({17, 18}), mass(17 * 18));
  expect_proven(known.certify(GetParam(), first(5)));
  expect_found(known, GetParam(), known.certify(GetParam(), {0, 1, 3}), 3);
}

/// The copies of a value that `nev` cuts are any of them.
TEST_P(Certificate, OfCopiesThatAreCutIsAProof) {
  Known known(grid({18, 18}));
  for (const Index count : {2, 5}) {
    ASSERT_NEAR(known.value(GetParam(), count - 1), known.value(GetParam(), count), 1e-12);
    expect_proven(known.certify(GetParam(), first(count)));
  }
}

TEST_P(Certificate, FindsACopy) {
  Known known(grid({18, 18}));
  expect_found(known, GetParam(), known.certify(GetParam(), {0, 1, 3, 4}), 4);
}

/// Values 1 and 50, each with a neighbour at `distance` that the solve has not seen. The bounds
/// stem from residuals and a gap of 5.
struct UnseenNeighbours {
  UnseenNeighbours(Which which, double distance)
      : which(which), distance(distance), known(diagonal(values_with_neighbours(distance))) {}

  static std::vector<double> values_with_neighbours(double distance) {
    std::vector<double> values = {1, 1 + distance, 50 - distance, 50};
    for (int i = 2; i < 50; ++i) values.push_back(i);
    return values;
  }

  Result certify(double residual) {
    Result found = known.found(which, {0});
    found.residuals = {residual / (50 + known.value(which, 0))};
    found.error_bounds = {residual * residual / 5};
    found.eigenvalues[0] += (which == Which::smallest ? 1 : -1) * residual * residual / distance;
    CertifyOptions options;
    options.which = which;
    options.nev = 1;
    Result result = certified<double, HostContext>(known.context, known.problem(), known.inverse,
                                                   options, std::move(found));
    expect_proven(result);
    EXPECT_LE(std::abs(result.eigenvalues[0] - known.value(which, 0)), result.error_bounds[0]);
    return result;
  }

  Which which;
  double distance;
  Known known;
};

TEST_P(Certificate, RaisesBoundsWhoseGapHoldsEigenvalues) {
  UnseenNeighbours problem(GetParam(), GetParam() == Which::smallest ? 0.05 : 0.6);
  EXPECT_EQ(problem.certify(5e-6).reason, "all pairs converged");
}

TEST_P(Certificate, FindsNeighboursThatLeaveNoDigits) {
  UnseenNeighbours problem(GetParam(), GetParam() == Which::smallest ? 0.05 : 0.6);
  const Result result = problem.certify(2e-2);
  EXPECT_NE(result.reason.find("a count of the eigenvalues showed"), std::string::npos);
  EXPECT_LE(result.error_bounds[0], 1e-10);
}

/// The end of the spectrum is a cluster of width 3·10⁻⁸. The solve has found a mixture of its
/// vectors and claims an error of 10⁻⁹.
TEST_P(Certificate, RefutesABoundWithinACluster) {
  const bool smallest = GetParam() == Which::smallest;
  std::vector<double> values = {30};
  for (int i = 0; i < 4; ++i) values.push_back(smallest ? 1 + 1e-8 * i : 50 - 1e-8 * i);
  for (int i = 2; i < 50; ++i) values.push_back(i);
  Known known(diagonal(values));
  Result found = known.found(GetParam(), {0});
  found.eigenvalues[0] += smallest ? 1.5e-8 : -1.5e-8;
  found.residuals = {1e-9};
  found.error_bounds = {1e-9};
  CertifyOptions options;
  options.which = GetParam();
  options.nev = 1;
  options.tolerance = 1e-4;
  const Result result = certified<double, HostContext>(known.context, known.problem(),
                                                       known.inverse, options, std::move(found));
  expect_proven(result);
  EXPECT_LE(std::abs(result.eigenvalues[0] - known.value(GetParam(), 0)), result.error_bounds[0]);
}

/// Behind the bound of a value without a digit lie half of all pairs, of which two are wanted.
TEST_P(Certificate, FindsTheFirstOfManyPairsBeforeAWideBound) {
  Known known(grid({31, 30}));
  Result found = known.found(GetParam(), {40, 41});
  found.error_bounds = {4, 4};
  CertifyOptions options;
  options.which = GetParam();
  options.nev = 2;
  const Result result = certified<double, HostContext>(known.context, known.problem(),
                                                       known.inverse, options, std::move(found));
  expect_found(known, GetParam(), result, 2);
  EXPECT_LT(result.inverse_applications, 900);  // all 465 pairs take twice as many
}

INSTANTIATE_TEST_SUITE_P(Ends, Certificate, testing::Values(Which::smallest, Which::largest));

/// A motion of a stiff part far below the other values.
TEST(CertificateOfStiffParts, FindsASoftMotion) {
  std::vector<Triplet<double>> entries;
  const Index n = 400;
  for (Index i = 0; i < n; ++i) {
    entries.push_back({i, i, 2});
    if (i > 0) entries.push_back({i, i - 1, -1});
    if (i + 1 < n) entries.push_back({i, i + 1, -1});
  }
  constexpr double kStiff = 1e6;
  for (Index i : {n, n + 1}) {
    entries.push_back({i, i, kStiff + 1e-6});
    entries.push_back({i, 2 * n + 1 - i, -kStiff});
  }
  Known known(csr_from_triplets<double>(host(), n + 2, n + 2, entries));
  const Result result = known.certify(Which::smallest, {1});
  expect_proven(result);
  ASSERT_EQ(result.eigenvalues.size(), 1u);
  EXPECT_NEAR(result.eigenvalues[0], 1e-6, 1e-9);
}

/// A chain with the values 4 sin²(kπ/802), a part with the value `soft` and else 10⁸, whose
/// rounding errors make no count next to small values certain, and a row of its own with the value
/// `alone`.
class StiffPart {
 public:
  explicit StiffPart(double soft) : known_(matrix(soft)) {}

  static double chain(int k) { return 4 * std::pow(std::sin(k * std::numbers::pi / 802), 2); }

  /// The lowest eigenvalue of the stored matrix in numbers of 64 bits.
  double lowest() const {
    return static_cast<double>(
        test::long_eigenvalues(to_dense(known_.stored()).cast<long double>())[0]);
  }

  /// Certifies the pairs with these numbers as the chain's first two.
  Result certify(const std::vector<Index>& numbers) {
    Result found = known_.found(Which::smallest, numbers);
    found.eigenvalues = {chain(1), chain(2)};
    found.residuals = {1e-24, 1e-24};
    found.error_bounds = {1e-14, 1e-14};
    CertifyOptions options;
    options.nev = 2;
    return certified<double, HostContext>(known_.context, known_.problem(), known_.inverse, options,
                                          std::move(found));
  }

 private:
  static Sparse matrix(double soft) {
    constexpr Index n = 400, m = 22;
    std::vector<Triplet<double>> entries;
    for (Index i = 0; i < n; ++i) {
      entries.push_back({i, i, 2});
      if (i > 0) entries.push_back({i, i - 1, -1});
      if (i + 1 < n) entries.push_back({i, i + 1, -1});
    }
    // 5·10⁹ (I − xxᵀ) + soft xxᵀ for a unit vector x.
    Eigen::VectorXd x(m);
    for (Index i = 0; i < m; ++i) x[i] = 1 + 0.1 * static_cast<double>(i);
    x.normalize();
    for (Index i = 0; i < m; ++i) {
      for (Index j = 0; j < m; ++j) {
        entries.push_back({n + i, n + j, 5e9 * ((i == j) - x[i] * x[j]) + soft * x[i] * x[j]});
      }
    }
    return csr_from_triplets<double>(host(), n + m, n + m, entries);
  }

  Known known_;
};

TEST(CertificateByTheFirstCertainCount, FindsAMissingPair) {
  StiffPart problem(1e-6);
  const Result result = problem.certify({1, 2});
  expect_proven(result);
  EXPECT_NE(result.reason.find("had missed"), std::string::npos) << result.reason;
  constexpr double kLongRounding = 1e-9;  // 5·10⁹ in 64 bits
  EXPECT_NEAR(result.eigenvalues[0], problem.lowest(), result.error_bounds[0] + kLongRounding);
  EXPECT_NEAR(result.eigenvalues[1], StiffPart::chain(1), result.error_bounds[1]);
}

TEST(CertificateByTheFirstCertainCount, IsAProofOnceAsManyPairsAreComputed) {
  StiffPart problem(2e-3);
  const Result result = problem.certify({0, 1});
  expect_proven(result);
  EXPECT_EQ(result.reason, "all pairs converged");
  EXPECT_EQ(result.eigenvalues, (std::vector<double>{StiffPart::chain(1), StiffPart::chain(2)}));
}

TEST(CertificateOfSingularMasses, CountsFiniteEigenvalues) {
  const Index n = 300;
  std::vector<double> masses(static_cast<std::size_t>(n), 1);
  for (std::size_t i = 0; i < masses.size(); i += 3) masses[i] = 0;
  const Sparse A = grid({n});
  const Sparse B = diagonal(masses);
  // Without the massless unknowns: the Schur complement.
  const Eigen::MatrixXd K = to_dense(A.view());
  std::vector<Index> kept, left;
  for (Index i = 0; i < n; ++i) (i % 3 == 0 ? left : kept).push_back(i);
  const Eigen::MatrixXd coupling = K(left, kept);
  const Eigen::MatrixXd S =
      K(kept, kept) - coupling.transpose() * test::solve_definite(K(left, left), coupling);
  const Eigen::VectorXd truth = test::eigenvalues(S);

  HostContext context;
  SparseOperator<double, HostContext> A_(context, A.view()), B_(context, B.view());
  IndefiniteInverse<double, HostContext> inverse(A.view(), B.view());
  EigenProblem<double, HostContext> problem;
  problem.A = &A_;
  problem.B = &B_;
  for (const bool complete : {true, false}) {
    Result found;
    found.status = SolveStatus::converged;
    found.eigenvalues = {truth[0], truth[complete ? 1 : 2]};
    found.error_bounds = {1e-13, 1e-13};
    found.converged = {true, true};
    found.residuals = {0, 0};
    found.limited_by_rounding = {false, false};
    CertifyOptions options;
    options.nev = 2;
    const Result result =
        certified<double, HostContext>(context, problem, inverse, options, std::move(found));
    expect_proven(result);
    EXPECT_NEAR(result.eigenvalues[0], truth[0], 1e-12);
    EXPECT_NEAR(result.eigenvalues[1], truth[1], 1e-12);
  }
}

TEST(CertificateOfZeros, OfALaplacianIsAProof) {
  std::vector<Triplet<double>> entries;
  const auto connect = [&](Index i, Index j) {
    for (const Index row : {i, j}) {
      entries.push_back({row, row, 1});
      entries.push_back({row, i + j - row, -1});
    }
  };
  const Index a = 18, b = 17;
  for (Index i = 0; i < a; ++i) {
    for (Index j = 0; j < b; ++j) {
      if (i + 1 < a) connect(i * b + j, (i + 1) * b + j);
      if (j + 1 < b) connect(i * b + j, i * b + j + 1);
    }
  }
  Known known(csr_from_triplets<double>(host(), a * b, a * b, entries));
  ASSERT_NEAR(known.values[0], 0, 1e-13);
  expect_proven(known.certify(Which::smallest, first(1)));
  expect_proven(known.certify(Which::smallest, first(4)));
  expect_found(known, Which::smallest, known.certify(Which::smallest, {1, 2}), 2);
}

TEST(CertificateChoice, NoNeverCounts) {
  Known known(grid({17, 18}));
  CertifyOptions options;
  options.certify = Certify::no;
  const Result result = known.certify(Which::smallest, {1}, options);
  EXPECT_EQ(result.completeness.method, CompletenessMethod::random_search);
  EXPECT_EQ(result.inverse_applications, 0);
}

TEST(CertificateChoice, AMonitorThatStopsIsObeyed) {
  Known known(grid({17, 18}));
  Monitor monitor;
  monitor.stop = [] { return true; };
  const Result result = known.certify(Which::smallest, {1}, {}, monitor);
  EXPECT_FALSE(result.completeness.proven);
  EXPECT_EQ(result.eigenvalues[0], known.values[1]);
}

TEST(CertificateChoice, AForcedCountNamesItsCost) {
  Known known(grid({17, 18}));
  std::vector<std::string> stages;
  Monitor monitor;
  monitor.stage = [&](std::string_view name) { stages.emplace_back(name); };
  CertifyOptions options;
  options.certify = Certify::inertia;
  expect_proven(known.certify(Which::smallest, first(1), options, monitor));
  ASSERT_FALSE(stages.empty());
  EXPECT_EQ(stages[0].substr(0, 42), "counting eigenvalues by a factor of about ");
}

TEST(CertificateChoice, OtherStatusesStay) {
  Known known(grid({17, 18}));
  Result found = known.found(Which::smallest, {1});
  found.status = SolveStatus::max_iterations;
  CertifyOptions options;
  options.nev = 1;
  const Result result = certified<double, HostContext>(known.context, known.problem(),
                                                       known.inverse, options, std::move(found));
  EXPECT_EQ(result.status, SolveStatus::max_iterations);
  EXPECT_EQ(result.completeness.method, CompletenessMethod::random_search);
}

}  // namespace
}  // namespace heddle
