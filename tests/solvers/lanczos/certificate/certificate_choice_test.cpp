#include <gtest/gtest.h>

#include <random>
#include <utility>
#include <vector>

#include "solvers/lanczos/certificate/known_pairs.hpp"

// Whether a count is made. What it shows is tested in certificate_test.cpp.
namespace heddle {
namespace {

using test::diagonal;
using test::host;
using test::Result;
using test::Sparse;

/// A result that claims the pair of `first` and the first unit vector.
class OnePair {
 public:
  explicit OnePair(Sparse matrix, double first, double max_bytes = 1e9)
      : matrix_(std::move(matrix)),
        A_(context_, matrix_.view()),
        first_(first),
        inverse_(matrix_.view(), {}, max_bytes) {}
  explicit OnePair(const std::vector<double>& values, double max_bytes = 1e9)
      : OnePair(diagonal(values), values[0], max_bytes) {}

  Result certify(Index operator_applications, Certify choice = Certify::automatic) {
    Result found;
    found.status = SolveStatus::converged;
    found.operator_applications = operator_applications;
    found.eigenvalues = {first_};
    found.error_bounds = {1e-14};
    found.converged = {true};
    found.residuals = {0};
    found.limited_by_rounding = {false};
    found.eigenvectors = MultiVector<double, HostSpace>(context_, matrix_.rows(), 1);
    for (Index i = 0; i < matrix_.rows(); ++i) found.eigenvectors.view()(i, 0) = i == 0 ? 1 : 0;
    CertifyOptions options;
    options.nev = 1;
    options.certify = choice;
    EigenProblem<double, HostContext> problem;
    problem.A = &A_;
    return certified<double, HostContext>(context_, problem, inverse_, options, std::move(found));
  }

 private:
  HostContext context_;
  Sparse matrix_;
  SparseOperator<double, HostContext> A_;
  double first_;
  IndefiniteInverse<double, HostContext> inverse_;
};

std::vector<double> ascending(Index n) {
  std::vector<double> values(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = 1 + static_cast<double>(i % 50);
  values[0] = 0.5;
  return values;
}

TEST(CertificateChoice, AutomaticCountsWhereThatCostsLittle) {
  OnePair large(ascending(6000));
  EXPECT_FALSE(large.certify(10).completeness.proven);
  EXPECT_TRUE(large.certify(10'000'000).completeness.proven);
  EXPECT_TRUE(large.certify(10, Certify::inertia).completeness.proven);
  OnePair small(ascending(kAlwaysCounted));
  EXPECT_TRUE(small.certify(10).completeness.proven);
}

/// A matrix of order n whose rows have about forty random neighbours. Its factor is nearly dense.
Sparse random_neighbours(Index n) {
  std::mt19937 random(1);
  std::uniform_int_distribution<Index> any(0, n - 1);
  std::vector<Triplet<double>> entries;
  for (Index i = 0; i < n; ++i) {
    entries.push_back({i, i, 30});
    for (int k = 0; k < 20; ++k) {
      const Index j = any(random);
      if (j == i) continue;
      entries.push_back({i, j, -0.5});
      entries.push_back({j, i, -0.5});
    }
  }
  return csr_from_triplets<double>(host(), n, n, entries);
}

TEST(CertificateChoice, AutomaticMakesNoNearlyDenseFactor) {
  OnePair dense(random_neighbours(kAlwaysCounted), 10);
  EXPECT_FALSE(dense.certify(10).completeness.proven);
}

TEST(CertificateChoice, AutomaticCountsBesideStiffRows) {
  std::vector<double> values = ascending(6000);
  values.back() = 1e5;
  OnePair stiff(values);
  EXPECT_TRUE(stiff.certify(10).completeness.proven);
}

TEST(CertificateChoice, AFactorThatDoesNotFitIsNotMade) {
  OnePair large(ascending(6000), 1000);
  EXPECT_FALSE(large.certify(10'000'000).completeness.proven);
}

}  // namespace
}  // namespace heddle
