#include <gtest/gtest.h>

#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/solvers/lanczos/nearest/verification.hpp>
#include <heddle/solvers/operators/sparse_operator.hpp>
#include <optional>
#include <vector>

/// What both ends of a solve, a claim and residuals that have stopped falling, ask of measured
/// pairs: of a diagonal matrix whose Ritz pairs, from a basis of all unit vectors, are exact.
namespace heddle {
namespace {

using Matrix = HostCsrMatrix<double>;
constexpr Index kOrder = 8;
constexpr double kBelow = 1e-10;  // of the value next to sigma
constexpr double kNoise = 1e-8;
const detail::EigenConvergence kConvergence{Criterion::norm, 1e-10, 8, 1, 0x1p-52};

class NearestMeasured : public testing::Test {
 protected:
  /// The values 1, 2, 3 − kBelow, 4, … and pairs above σ = 3, with values that lie below it by less
  /// than kNoise as well.
  NearestMeasured() : A_(diagonal()) {
    problem_.A = &of_A_;
    pairs_.target = {.sigma = 3, .lower = 3, .noise = kNoise, .rounding = kNoise};
    pairs_.shift = 2.75;
    EXPECT_TRUE(inverse_.factor(context_, pairs_.shift));
    F_.emplace(context_, inverse_, nullptr, 2);
    storage_.emplace(context_, RowRange::all(kOrder), detail::NearestShape{kOrder, 2, kOrder, 4},
                     false);
    storage_->verifier.norms().prepare(context_, problem_);
    MultiVector<double, HostSpace> V(context_, kOrder, kOrder);
    SmallMatrix<double, HostSpace> T(context_, kOrder, kOrder);
    for (Index i = 0; i < kOrder; ++i) {
      for (Index j = 0; j < kOrder; ++j) {
        V.view()(i, j) = i == j ? 1 : 0;
        T.view(kOrder, kOrder)(i, j) = i == j ? 1 / (value(i) - pairs_.shift) : 0;
      }
    }
    storage_->basis.reset(nullptr, 1);
    storage_->basis.set_whole(context_, std::as_const(V).view(), T.view(kOrder, kOrder));
    auto& projected = storage_->basis.projected();
    EXPECT_TRUE(storage_->ritz.solve(projected.T(), projected.column()));
    for (Index j = 0; j < kOrder; ++j) {
      pairs_.ritz_values.push_back(pairs_.lambda_at(storage_->ritz.value(j)));
    }
  }

  static double value(Index i) { return static_cast<double>(i + 1) - (i == 2 ? kBelow : 0); }

  /// Measures the `count` nearest Ritz pairs.
  void measure(std::size_t count) {
    pairs_.leading.clear();
    for (const std::size_t j : nearest_places(pairs_.target, pairs_.ritz_values)) {
      pairs_.leading.push_back(static_cast<Index>(j));
    }
    pairs_.leading.resize(count);
    EXPECT_TRUE(verification_.measure_best(kConvergence, true).residuals);
  }

  Matrix diagonal() {
    std::vector<Triplet<double>> entries;
    for (Index i = 0; i < kOrder; ++i) entries.push_back({i, i, value(i)});
    return csr_from_triplets<double>(context_, kOrder, kOrder, entries);
  }

  HostContext context_;
  Matrix A_;
  SparseOperator<double, HostContext> of_A_{context_, A_.view()};
  IndefiniteInverse<double, HostContext> inverse_{A_.view()};
  EigenProblem<double, HostContext> problem_;
  detail::NearestPairs pairs_;
  std::optional<detail::NearestStorage<double, HostContext>> storage_;
  std::optional<detail::PencilInverse<double, HostContext>> F_;
  detail::NearestVerification<double, HostContext> verification_{context_, problem_, pairs_,
                                                                 storage_, F_};
};

TEST_F(NearestMeasured, ValuesBeyondALimitByMoreThanTheirErrorsAreChosenAgain) {
  measure(2);
  EXPECT_NEAR(verification_.values()[0], 3 - kBelow, 1e-14);
  EXPECT_TRUE(verification_.choose_again(2));
  measure(2);
  EXPECT_NEAR(verification_.values()[0], 4, 1e-14);
  EXPECT_NEAR(verification_.values()[1], 5, 1e-14);
  EXPECT_FALSE(verification_.choose_again(2));
  EXPECT_FALSE(verification_.lacks_pairs(2));
}

TEST_F(NearestMeasured, MorePairsAreMeasuredWhereTooFewAreLeftAndThenNoMore) {
  pairs_.target.noise = 0;
  measure(2);
  EXPECT_TRUE(verification_.lacks_pairs(3));
  EXPECT_TRUE(verification_.choose_again(3));
  EXPECT_EQ(pairs_.further, 4);
  EXPECT_FALSE(verification_.choose_again(3));
  measure(3);
  EXPECT_FALSE(verification_.lacks_pairs(3));
}

}  // namespace
}  // namespace heddle
