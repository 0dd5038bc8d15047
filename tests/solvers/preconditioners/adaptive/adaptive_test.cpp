#include <gtest/gtest.h>

#include <cmath>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/data/multivector.hpp>
#include <heddle/linalg/gallery/gallery.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/solvers/operators/sparse_operator.hpp>
#include <heddle/solvers/preconditioners/adaptive/condition_estimate.hpp>
#include <heddle/solvers/preconditioners/adaptive/multigrid_costs.hpp>
#include <limits>

namespace heddle::detail {
namespace {

/// Y = factor·X.
class Multiple final : public LinearOperator<double, HostContext> {
 public:
  Multiple(Index n, double factor) : LinearOperator(n, n), factor_(factor) {}

 private:
  void apply_block(HostContext& context, ConstBlockView<double, HostSpace> X,
                   BlockView<double, HostSpace> Y) override {
    axpby<double>(context, factor_, X, 0, Y);
  }

  double factor_;
};

HostCsrMatrix<double> diagonal(HostContext& context, const std::vector<double>& d) {
  std::vector<Triplet<double>> entries;
  for (std::size_t i = 0; i < d.size(); ++i) {
    entries.push_back({static_cast<Index>(i), static_cast<Index>(i), d[i]});
  }
  return csr_from_triplets<double>(context, std::ssize(d), std::ssize(d), entries);
}

TEST(ConditionEstimate, IsExactOnceAllEigenvaluesAreSeenAndBelowBefore) {
  HostContext context;
  std::vector<double> d(300);
  for (std::size_t i = 0; i < d.size(); ++i) d[i] = std::pow(1.7, static_cast<double>(i % 8));
  const auto A = diagonal(context, d);
  SparseOperator<double, HostContext> op(context, A.view());
  const double exact = std::pow(1.7, 7);
  const auto all = condition_estimate<double, HostContext>(context, op, nullptr, 8);
  EXPECT_NEAR(all.whole, exact, 1e-8 * exact);
  EXPECT_LT(all.half, exact);
  EXPECT_GT(all.half, 1);
  const auto more = condition_estimate<double, HostContext>(context, op, nullptr, 40);
  EXPECT_NEAR(more.whole, exact, 1e-6 * exact) << "steps end at convergence";
  Multiple third(300, 1.0 / 3);
  EXPECT_NEAR((condition_estimate<double, HostContext>(context, op, &third, 8).whole), exact,
              1e-8 * exact);
}

TEST(ConditionEstimate, LeavesOutNullVectors) {
  HostContext context;
  std::vector<double> d(300);
  for (std::size_t i = 0; i < d.size(); ++i) d[i] = std::pow(1.7, static_cast<double>(i % 8));
  d[4] = d[11] = 0;
  MultiVector<double, HostSpace> Z(context, 300, 2);
  set_zero<double>(context, Z.view());
  Z.view()(4, 0) = Z.view()(11, 1) = 1;
  const auto A = diagonal(context, d);
  SparseOperator<double, HostContext> op(context, A.view());
  const double exact = std::pow(1.7, 7);
  const ConstBlockView<double, HostSpace> known = Z.view();
  EXPECT_NEAR((condition_estimate<double, HostContext>(context, op, nullptr, 8, known).whole),
              exact, 1e-8 * exact);
  EXPECT_GT((condition_estimate<double, HostContext>(context, op, nullptr, 8).whole), 2 * exact);
}

TEST(ConditionEstimate, OfWhatIsNotPositiveDefiniteIsInfinite) {
  HostContext context;
  std::vector<double> d(50, 1.0);
  for (std::size_t i = 0; i < 25; ++i) d[i] = -1.01;
  for (const double bad : {-1.01, std::numeric_limits<double>::quiet_NaN()}) {
    d[7] = bad;
    const auto A = diagonal(context, d);
    SparseOperator<double, HostContext> op(context, A.view());
    EXPECT_EQ((condition_estimate<double, HostContext>(context, op, nullptr, 8).expected_root()),
              std::numeric_limits<double>::infinity());
  }
}

TEST(ConditionEstimate, OfALaplacianIsWithinAFactorOfTwo) {
  HostContext context;
  const Index n = 40;
  const auto A = generate<double>(context, {"laplace2d", {n, n}});
  SparseOperator<double, HostContext> op(context, A.view());
  const double root =
      condition_estimate<double, HostContext>(context, op, nullptr, 40).expected_root();
  const double exact = 1 / std::tan(std::acos(-1) / (2 * (n + 1)));
  EXPECT_LT(root, 1.5 * exact);
  EXPECT_GT(root, exact / 2);
}

TEST(ConditionEstimate, OfALargerLaplacianIsWithinAFactorOfTwoAfterFewSteps) {
  HostContext context;
  const Index n = 60;
  const auto A = generate<double>(context, {"laplace2d", {n, n}});
  SparseOperator<double, HostContext> op(context, A.view());
  const double root =
      std::sqrt(condition_estimate<double, HostContext>(context, op, nullptr, 24).whole);
  const double exact = 1 / std::tan(std::acos(-1) / (2 * (n + 1)));
  EXPECT_GT(root, exact / 2);
  EXPECT_LT(root, exact);
}

TEST(ConditionEstimate, SeesMoreThanTheEigenvalueOfTheOnes) {
  HostContext context;
  const Index n = 400;
  std::vector<Triplet<double>> ring;  // all rows sum to 6, eigenvalues 4 + 2 cos(2πk/n)
  for (Index i = 0; i < n; ++i) {
    ring.insert(ring.end(), {{i, i, 4}, {i, (i + 1) % n, 1}, {(i + 1) % n, i, 1}});
  }
  const auto A = csr_from_triplets<double>(context, n, n, ring);
  SparseOperator<double, HostContext> op(context, A.view());
  EXPECT_NEAR((condition_estimate<double, HostContext>(context, op, nullptr, 24).whole), 3, .05);
}

TEST(MultigridCosts, ExpectADegreeThatGrowsWithTheRootAndFallsWithTheBlock) {
  const MultigridCosts narrow(1000000, 7000000, 2, 4), wide(1000000, 7000000, 20, 4);
  EXPECT_NEAR(wide.expected_degree(60), 2 * wide.expected_degree(30), 1e-12);
  EXPECT_GT(narrow.expected_degree(60), 1.5 * wide.expected_degree(60));
  EXPECT_GT(wide.expected_degree(64), wide.least_degree()) << "laplace3d 100³";
  EXPECT_LT(wide.expected_degree(20), wide.least_degree());
  EXPECT_GT(wide.least_degree_within_solve(), wide.least_degree());
}

TEST(MultigridCosts, FallWithTheWidthAndDecideByTheCondition) {
  const MultigridCosts narrow(1000000, 7000000, 1, 8), wide(1000000, 7000000, 16, 8);
  EXPECT_GT(narrow.setup(), 2 * wide.setup());
  EXPECT_GT(narrow.least_degree(), wide.least_degree());
  EXPECT_FALSE(wide.pays_for(5));
  EXPECT_TRUE(wide.pays_for(60));
  EXPECT_FALSE(MultigridCosts(200, 1360, 16, 8).pays_for(60)) << "a small matrix is not worth it";
  EXPECT_TRUE(wide.diagonal_suffices(4));
  EXPECT_FALSE(wide.diagonal_suffices(6));
  EXPECT_FALSE(wide.diagonal_suffices(std::numeric_limits<double>::infinity()));
  const MultigridCosts on_gpu(1000000, 7000000, 16, 8, kSetupOnGpu);
  EXPECT_GT(on_gpu.setup(), wide.setup()) << "products are faster there than anything else";
  const MultigridCosts large(100000000, 700000000, 16, 8, kSetupOnGpu);
  EXPECT_LT(large.setup(), on_gpu.setup());
}

TEST(MultigridCosts, OfOneColumnDecideByTheStepsThatAreLeft) {
  const MultigridCosts large(1000000, 7000000, 1, 8), small(1000, 5000, 1, 8);
  EXPECT_FALSE(large.pays_after(50));
  EXPECT_TRUE(large.pays_after(1000));
  EXPECT_FALSE(large.incomplete_factor_pays_after(1000))
      << "triangular solves take longer than many products";
  EXPECT_FALSE(small.pays_after(500));
  EXPECT_TRUE(small.incomplete_factor_pays_after(1000));
  EXPECT_FALSE(small.incomplete_factor_pays_after(50));
  const double never = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(large.pays_after(never) || small.incomplete_factor_pays_after(never));
}

TEST(MultigridCosts, AreCountedInColumnsBesideAFactor) {
  const MultigridCosts one(1000000, 7000000, 1, 8), eight(1000000, 7000000, 8, 8);
  EXPECT_NEAR(one.columns_of_steps(200), 2 * one.columns_of_steps(100), 1e-9);
  EXPECT_GT(one.columns_of_steps(100), 100) << "one column alone costs more than in a block";
  EXPECT_GT(MultigridCosts(100, 500, 1, 8).columns_of_steps(1), 5) << "calls and waits";
  EXPECT_GT(eight.columns_of_chebyshev(60), one.columns_of_chebyshev(60));
  EXPECT_NEAR(eight.columns_of_chebyshev(60), 2 * eight.columns_of_chebyshev(30), 1e-9);
  EXPECT_LT(eight.columns_of_factor() / 8, one.columns_of_factor());
  for (const MultigridCosts& costs : {one, eight}) {
    const double root = 100;  // the two counts agree about multigrid
    EXPECT_EQ(costs.columns_of_multigrid() < costs.columns_of_chebyshev(root),
              costs.pays_for(root));
  }
}

TEST(CgCoefficients, AreThoseOfATridiagonalMatrix) {
  CgCoefficients two;
  EXPECT_EQ(two.estimate().whole, std::numeric_limits<double>::infinity());
  two.add_alpha(0.5);  // of [[2, 1], [1, 1.5]], whose eigenvalues are (7 ± √17)/4
  two.add_beta(0.25);
  two.add_alpha(1);
  const double root = std::sqrt(17.0);
  EXPECT_NEAR(two.estimate().whole, (7 + root) / (7 - root), 0.01);
  EXPECT_NEAR(two.estimate().half, 1, 0.01);
}

}  // namespace
}  // namespace heddle::detail
