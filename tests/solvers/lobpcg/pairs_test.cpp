#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <heddle/solvers/lobpcg/pairs.hpp>
#include <limits>
#include <optional>
#include <vector>

namespace heddle::detail {
namespace {

constexpr double kTolerance = 1e-6;
constexpr double kAtRest[] = {0, 0, 0, 0, 0, 0};

/// Pairs of a solve for the four smallest with a block of six, criterion ‖r‖ ≤ 1e-6.
class LobpcgPairsTest : public testing::Test {
 protected:
  LobpcgPairsTest() {
    options_.nev = 4;
    options_.tolerance = kTolerance;
    options_.criterion = Criterion::absolute;
    pairs_.reset(options_);
    pairs_.set_convergence(EigenConvergence(Criterion::absolute, kTolerance, 10, 1,
                                            std::numeric_limits<double>::epsilon()));
  }

  RitzValues values() const { return {theta_, {kAtRest, theta_.size()}}; }

  /// `rounding`: the rounding error of all values.
  void step(const std::vector<double>& residuals, Index iteration = 0, double rounding = 0) {
    const LobpcgPairs::Numbers numbers = pairs_.next_numbers();
    std::ranges::copy(residuals, numbers.residuals.begin());
    std::ranges::copy(residuals, numbers.dual_residuals.begin());
    rounding_matters_ = pairs_.bound_errors(values(), false);
    std::ranges::fill(numbers.roundings, rounding);
    pairs_.count(values(), false, iteration);
  }

  std::optional<double> unseen() {
    return pairs_.locked_pairs().unseen(theta_, pairs_.errors(), pairs_.convergence());
  }

  double worst_awaited(bool guessed) const {
    return pairs_.worst_residual(values(), pairs_.awaited_guards(values(), guessed));
  }

  EigenOptions options_;
  LobpcgPairs pairs_{4, 6};
  bool rounding_matters_ = false;
  std::vector<double> theta_{1, 2, 3, 4, 5, 6};
};

TEST_F(LobpcgPairsTest, LeadingPairsEndAtTheFirstThatFails) {
  step({1e-7, 1e-7, 1e-3, 1e-7, 1, 1});
  EXPECT_EQ(pairs_.leading(), 2);
  EXPECT_EQ(pairs_.wanted_in_X(), 4);
  EXPECT_EQ(pairs_.converged(), 2);
  EXPECT_FALSE(pairs_.all_converged(values(), false));
  EXPECT_DOUBLE_EQ(pairs_.worst_residual(values()), 1e-3 / (10 + 3));
  step({1e-7, 1e-7, 1e-7, 1e-7, 1, 1});
  EXPECT_TRUE(pairs_.all_converged(values(), false));
}

/// New copies of an eigenvalue may be a little better than the locked ones.
TEST_F(LobpcgPairsTest, CopiesOfAnEigenvalueAreLockedOnlyAsFarAsThereIsRoom) {
  for (const double improvement : {1e-16, 1e-9}) {
    pairs_.reset(options_);
    pairs_.set_convergence(EigenConvergence(Criterion::absolute, kTolerance, 10, 1,
                                            std::numeric_limits<double>::epsilon()));
    for (int block = 0; block < 10; ++block) {
      theta_.assign(6, 1 - block * improvement);
      for (int k = 0; k < 2; ++k) step({1e-12, 1e-12, 1e-12, 1e-12, 1e-12, 1e-12});
      pairs_.lock(values(), pairs_.lockable(values(), false, false, 0), 0);
    }
    EXPECT_GE(pairs_.locked(), 4);
    EXPECT_LE(pairs_.locked(), improvement < 1e-15 ? 4 : 4 + 6);
    EXPECT_TRUE(pairs_.all_converged(values(), false));
  }
}

TEST_F(LobpcgPairsTest, ValuesNeedDigitsBesideSmallResiduals) {
  options_.criterion = Criterion::eigenvalue;
  options_.tolerance = 1e-8;
  pairs_.reset(options_);
  pairs_.set_convergence(EigenConvergence(Criterion::eigenvalue, 1e-8, 1e6, 1,
                                          std::numeric_limits<double>::epsilon()));
  step({1e-3, 1e-3, 1e-3, 1e-3, 1e-3, 1e-3});  // allowed are 1e-2. The errors are about 5e-6
  EXPECT_EQ(pairs_.leading(), 0);
  EXPECT_TRUE(rounding_matters_);
  step({1e-5, 1e-5, 1e-5, 1e-5, 1e-3, 1});  // 1e-10/gap, and the last guard shows nothing
  EXPECT_EQ(pairs_.leading(), 4);
  EXPECT_TRUE(pairs_.all_converged(values(), false));
  step({1e-5, 1e-5, 1e-5, 1e-5, 1, 1});
  EXPECT_EQ(pairs_.leading(), 3) << "the interval of the guard covers the last wanted value";
  std::vector<double> others, residuals;
  pairs_.list_others(values(), 0, 4, others, residuals);
  EXPECT_EQ(others, (std::vector<double>{5, 6}));
  EXPECT_EQ(residuals, (std::vector<double>{1, 1}));
}

/// The rounding error of a value belongs to its vector. Vectors of nearly the same value may be
/// mixed again, so that those which pass by it alone must be able to improve.
TEST_F(LobpcgPairsTest, PairsThatPassByRoundingAloneKeepImproving) {
  options_.criterion = Criterion::eigenvalue;
  options_.tolerance = 1e-8;
  pairs_.reset(options_);
  pairs_.set_convergence(EigenConvergence(Criterion::eigenvalue, 1e-8, 1e6, 1,
                                          std::numeric_limits<double>::epsilon()));
  const std::vector<double> above(6, 1e-3);  // 1e-2 is allowed, the errors are about 1e-6
  step(above, 101, 1e-5);
  EXPECT_EQ(pairs_.leading(), 5);
  EXPECT_TRUE(pairs_.all_converged(values(), false));
  EXPECT_EQ(pairs_.at_rest(values(), false), 0);
  EXPECT_EQ(pairs_.lockable(values(), false, false, 101), 0);
  for (int claims = 0; claims < 4; ++claims) pairs_.tighten();
  step(above, 102, 1e-5);
  EXPECT_EQ(pairs_.leading(), 0) << "a refuted claim halves this excuse, too";
  step(std::vector<double>(6, 1e-8), 103, 1e-5);
  EXPECT_EQ(pairs_.at_rest(values(), false), 5) << "no gap is known behind the last one";
  EXPECT_EQ(pairs_.lockable(values(), false, false, 103), 4);
}

TEST_F(LobpcgPairsTest, AGuessNeedsAllGuardsAtRest) {
  step({1e-7, 1e-7, 1e-7, 1e-7, 1e-7, 1});
  EXPECT_FALSE(pairs_.all_converged(values(), true));
  step({1e-7, 1e-7, 1e-7, 1e-7, 1, 1e-3});
  EXPECT_FALSE(pairs_.all_converged(values(), true));
  step({1e-7, 1e-7, 1e-7, 1e-7, 1e-3, 1e-3});  // √tolerance, scaled
  EXPECT_TRUE(pairs_.all_converged(values(), true));
}

TEST_F(LobpcgPairsTest, AGuessNeedsTheNextPairApart) {
  step({1e-7, 1e-7, 1e-7, 1e-7, 1e-3, 1e-3});
  EXPECT_TRUE(pairs_.all_converged(values(), true)) << "the next value is 5, apart from 4";
  theta_ = {1, 2, 3, 4, 4 + 1e-3, 6};
  EXPECT_FALSE(pairs_.all_converged(values(), true)) << "a pair beyond 4 may be a part of it";
  step({1e-7, 1e-7, 1e-7, 1e-7, 9e-6, 1e-3}, 1);
  EXPECT_TRUE(pairs_.all_converged(values(), true));
  theta_[4] = 4;
  EXPECT_FALSE(pairs_.all_converged(values(), true));
  step({1e-7, 1e-7, 1e-7, 1e-7, 1e-7, 1e-3}, 2);
  EXPECT_TRUE(pairs_.all_converged(values(), true)) << "another copy, and 6 is apart";
}

/// Also where X began with random columns, the next eigenvalue must be none of the wanted ones.
TEST_F(LobpcgPairsTest, ANextPairMayNotReachTheWantedOnes) {
  theta_ = {1, 2, 3, 4, 4.25, 6};
  step({1e-7, 1e-7, 1e-7, 1e-7, 0.5, 1});
  EXPECT_EQ(pairs_.leading(), 4);
  EXPECT_FALSE(pairs_.all_converged(values(), false)) << "an eigenvalue within 0.5 may be below 4";
  step({1e-7, 1e-7, 1e-7, 1e-7, 0.2, 1}, 1);
  EXPECT_TRUE(pairs_.all_converged(values(), false));
  step({1e-7, 1e-7, 1e-7, 1e-7, 1e-7, 3}, 2);
  EXPECT_FALSE(pairs_.all_converged(values(), false)) << "the fifth may be a wanted one, too";
}

TEST_F(LobpcgPairsTest, GuardsThatHaveAllConvergedShowNothing) {
  step({1e-7, 1e-7, 1e-7, 1e-7, 1e-7, 1e-3});
  EXPECT_FALSE(pairs_.evidence().show_nothing(pairs_.guards(values())))
      << "the last one still moves";
  step({1e-7, 1e-7, 1e-7, 1e-7, 1e-7, 1e-7}, 1);
  EXPECT_TRUE(pairs_.all_converged(values(), true));
  EXPECT_TRUE(pairs_.evidence().show_nothing(pairs_.guards(values())));
}

TEST_F(LobpcgPairsTest, AwaitedGuardsAreNotAtRest) {
  options_.tolerance = 1e-2;
  pairs_.reset(options_);
  pairs_.set_convergence(
      EigenConvergence(Criterion::absolute, 1e-2, 10, 1, std::numeric_limits<double>::epsilon()));
  theta_ = {-3, -2, -1, 0, 1e-4, 6};
  step({1e-7, 1e-7, 1e-7, 1e-7, 5e-5, 5e-3});
  EXPECT_EQ(pairs_.leading(), 6);
  EXPECT_EQ(pairs_.at_rest(values(), false), 6);
  EXPECT_EQ(pairs_.at_rest(values(), true), 4)
      << "the fifth passes, and shows nothing so near to 0";
}

TEST_F(LobpcgPairsTest, ErrorsThatAGuessHadDoNotReplaceAPairApart) {
  theta_ = {1, 2, 3, 4, 4 + 1e-3, 6};
  step({1e-2, 1e-2, 1e-2, 1e-2, 1e-3, 1e-3});
  step({1e-7, 1e-7, 1e-7, 1e-7, 1e-3, 1e-3}, 1);
  EXPECT_FALSE(pairs_.all_converged(values(), true));
  EXPECT_TRUE(pairs_.all_converged(values(), false));
  EXPECT_EQ(pairs_.lockable(values(), true, false, 1), 0) << "the gap beyond 4 may be none";
  EXPECT_EQ(pairs_.lockable(values(), false, false, 1), 4);
  step({1e-7, 1e-7, 1e-7, 1e-7, 9e-6, 1e-3}, 2);
  EXPECT_TRUE(pairs_.all_converged(values(), true));
}

TEST_F(LobpcgPairsTest, GuardsAreAwaitedUntilTheyImproveNoMore) {
  step({1e-7, 1e-7, 1e-7, 1e-7, 1, 1e-3});
  EXPECT_FALSE(pairs_.all_converged(values(), true));
  EXPECT_DOUBLE_EQ(pairs_.worst_residual(values()), 1e-7 / (10 + 1));
  EXPECT_DOUBLE_EQ(worst_awaited(true), 1 / (10 + 5.0));
  EXPECT_DOUBLE_EQ(worst_awaited(false), 1e-7 / (10 + 1));
  pairs_.evidence().note_stagnation(pairs_.guards(values()));
  EXPECT_FALSE(pairs_.all_converged(values(), true));
  theta_[5] = 5.5;
  pairs_.evidence().note_stagnation(pairs_.guards(values()));
  EXPECT_FALSE(pairs_.all_converged(values(), true)) << "a value still falls";
  pairs_.evidence().note_stagnation(pairs_.guards(values()));
  EXPECT_TRUE(pairs_.all_converged(values(), true));
  step({1e-7, 1e-7, 1e-7, 1e-2, 1, 1e-3}, 1);
  EXPECT_DOUBLE_EQ(worst_awaited(true), 1e-2 / (10 + 4));
}

TEST(LobpcgWidths, RestingColumnsLeaveUnits) {
  EXPECT_EQ(resting_columns(3, 6, 1), 3);
  EXPECT_EQ(resting_columns(3, 6, 2), 2);
  EXPECT_EQ(resting_columns(3, 6, 4), 0);
  EXPECT_EQ(resting_columns(3, 3, 4), 3) << "nothing is left that had a width";
}

TEST_F(LobpcgPairsTest, PairsATenthBelowTheToleranceAreLocked) {
  step({5e-8, 5e-8, 5e-7, 1, 1, 1});
  EXPECT_EQ(pairs_.leading(), 3);
  ASSERT_EQ(pairs_.lockable(values(), false, false, 0), 2);
  EXPECT_EQ(pairs_.lockable(values(), false, false, 101), 2);
  pairs_.lock(values(), 2, 0);
  theta_.erase(theta_.begin(), theta_.begin() + 2);
  EXPECT_EQ(pairs_.locked(), 2);
  EXPECT_EQ(pairs_.leading(), 1);
  EXPECT_EQ(pairs_.wanted_in_X(), 2);
  EXPECT_DOUBLE_EQ(pairs_.worst_residual(values()), 1 / (10 + 4.0));
  std::vector<double> listed, residuals;
  pairs_.list(values(), listed, residuals);
  EXPECT_EQ(listed, (std::vector<double>{1, 2, 3, 4}));
  EXPECT_DOUBLE_EQ(residuals[0], 5e-8 / 11);
  EXPECT_DOUBLE_EQ(residuals[2], 5e-7 / 13);
  // A pair that turns out better than the locked ones takes the place of one of them.
  theta_ = {0.5, 1.5, 1.6, 1.7};
  step({1, 1, 1, 1});
  EXPECT_EQ(pairs_.wanted_in_X(), 3);
  EXPECT_TRUE(pairs_.locked_pairs().is_best(0, 1));
  EXPECT_FALSE(pairs_.locked_pairs().is_best(1, 1));
}

TEST_F(LobpcgPairsTest, ASingleConvergedPairOfManyMustWait) {
  LobpcgPairs wide(4, 16);
  wide.reset(options_);
  wide.set_convergence(pairs_.convergence());
  std::ranges::copy(std::vector<double>{1e-9, 1, 1, 1, 1, 1},
                    wide.next_numbers().residuals.begin());
  wide.bound_errors(values(), false);
  wide.count(values(), false, 0);
  EXPECT_EQ(wide.leading(), 1);
  EXPECT_EQ(wide.lockable(values(), false, false, 0), 0);  // two at least: nev / 2
}

TEST_F(LobpcgPairsTest, DecisionsAreDueWhenResidualsMayArrive) {
  EXPECT_TRUE(pairs_.decision_due(values(), 0));  // nothing to compare
  step({1, 1, 1, 1, 1, 1});
  EXPECT_TRUE(pairs_.decision_due(values(), 1));
  step({0.5, 0.5, 0.5, 0.5, 1, 1});
  EXPECT_FALSE(pairs_.decision_due(values(), 2));
  EXPECT_TRUE(pairs_.decision_due(values(), options_.max_iterations));
  step({5e-4, 5e-4, 5e-4, 5e-4, 1, 1});  // a thousandth per step: below 1e-6 in the next
  EXPECT_TRUE(pairs_.decision_due(values(), 3));
  pairs_.forget_order();
  EXPECT_TRUE(pairs_.decision_due(values(), 4));
}

TEST_F(LobpcgPairsTest, TheLeastResidualIsScaledAndKeepsNaN) {
  step({1e-9, 4, 1, 2, 1, 1});
  EXPECT_DOUBLE_EQ(pairs_.least_residual(values(), 0), 1e-9 / (10 + 1));
  EXPECT_DOUBLE_EQ(pairs_.least_residual(values(), 1), 1.0 / (10 + 6));
  EXPECT_EQ(pairs_.least_residual(values(), 6), std::numeric_limits<double>::infinity());
  step({1, 1, std::numeric_limits<double>::quiet_NaN(), 1, 1, 1});
  EXPECT_TRUE(std::isnan(pairs_.least_residual(values(), 0)));
}

TEST_F(LobpcgPairsTest, ARefutedClaimHalvesWhatIsAllowed) {
  const std::vector<double> residuals{7e-7, 7e-7, 7e-7, 7e-7, 1, 1};
  step(residuals);
  EXPECT_EQ(pairs_.leading(), 4);
  pairs_.tighten();
  step(residuals);
  EXPECT_EQ(pairs_.leading(), 0);
}

/// A narrow block may find better pairs than those that it has locked, and more than it can hold.
TEST_F(LobpcgPairsTest, AllOfXIsLockedBeforeWorseLockedPairsCount) {
  LobpcgPairs narrow(4, 2);
  narrow.reset(options_);
  narrow.set_convergence(pairs_.convergence());
  const auto iterate = [&](double first, double second) {
    theta_ = {first, second};
    for (int k = 0; k < 2; ++k) {
      std::ranges::fill(narrow.next_numbers().residuals, 1e-9);
      std::ranges::fill(narrow.next_numbers().dual_residuals, 1e-9);
      narrow.bound_errors(values(), false);
      narrow.count(values(), false, 0);
    }
  };
  const auto lock = [&] {
    ASSERT_EQ(narrow.lockable(values(), false, false, 0), 2);
    while (narrow.more_to_come() && narrow.locked() > 4 - narrow.wanted_in_X()) {
      narrow.locked_pairs().remove(narrow.locked_pairs().worst());
    }
    narrow.lock(values(), 2, 0);
  };
  iterate(7, 8);
  EXPECT_TRUE(narrow.more_to_come()) << "two of four";
  lock();
  iterate(9, 10);
  EXPECT_FALSE(narrow.more_to_come());
  lock();
  iterate(1, 2);
  EXPECT_TRUE(narrow.more_to_come()) << "there may be others between 2 and 7";
  EXPECT_FALSE(narrow.all_converged(values(), false));
  EXPECT_EQ(narrow.converged(), 4);
  lock();
  EXPECT_EQ(narrow.locked(), 4) << "9 and 10 have left";
  iterate(3, 5);
  EXPECT_FALSE(narrow.more_to_come()) << "1, 2, 3, 5";
  EXPECT_TRUE(narrow.all_converged(values(), false));
  iterate(0.25, 0.5);
  lock();
  theta_ = {11, 12};
  std::vector<double> listed, residuals;
  narrow.list(values(), listed, residuals);
  std::ranges::sort(listed);
  EXPECT_EQ(listed, (std::vector<double>{0.25, 0.5, 1, 2}));
}

TEST_F(LobpcgPairsTest, LockedPairsAreKnownByTheirPlaces) {
  LockedPairs locked;
  locked.reset(Which::smallest, 1);
  locked.add(std::vector<double>{3, 1, 2}, std::vector<double>{0.1, 0.1, 0.1},
             std::vector<double>{0.1, 0.1, 0.1});
  EXPECT_EQ(locked.worst(), 1);
  locked.remove(1);
  EXPECT_EQ(std::vector<double>(locked.values().begin(), locked.values().end()),
            (std::vector<double>{0, 2, 1}));
  EXPECT_EQ(locked.ahead(1.001, 0.01), 2);
  EXPECT_EQ(locked.ahead(0.999, 0), 1);
  EXPECT_TRUE(locked.is_best(2, 2));
  EXPECT_FALSE(locked.is_best(1, 2));
}

/// Of the locked values 1, 2, 3 with residuals of 1e-3, a search changes what is known.
TEST_F(LobpcgPairsTest, ASearchRefutesLockedPairs) {
  const auto refuted = [&](Criterion criterion, const std::vector<double>& found) {
    options_.criterion = criterion;
    pairs_.reset(options_);
    pairs_.set_convergence(EigenConvergence(criterion, kTolerance, 10, 1, 1e-16));
    theta_ = {1, 2, 3};
    step({1e-3, 1e-3, 1e-3});
    pairs_.lock(values(), 3, 0);
    pairs_.locked_pairs().note_found(found, 4);
    return pairs_.locked_pairs().refuted(found, pairs_.convergence());
  };
  for (const Criterion criterion : {Criterion::norm, Criterion::eigenvalue}) {
    EXPECT_EQ(refuted(criterion, {5e3, 6e3}), std::nullopt);
    EXPECT_EQ(refuted(criterion, {2.0005, 6e3}), 1);  // within its residual
    EXPECT_EQ(refuted(criterion, {-8e3, -7e3, -6e3, -5e3, -4e3, 2.0005}), std::nullopt);
  }
  // (1e-3)²/0.1 is more than 1e-6 times the value.
  EXPECT_EQ(refuted(Criterion::eigenvalue, {2.1, 6e3}), 1);
  EXPECT_EQ(refuted(Criterion::norm, {2.1, 6e3}), std::nullopt);
}

/// What a search has found beyond a narrow X ends the gaps until X or the locked pairs have it.
TEST_F(LobpcgPairsTest, ValuesThatXHasNoPlaceForAreUnseen) {
  theta_ = {1, 4};
  step({1e-3, 1e-3});
  EXPECT_EQ(unseen(), std::nullopt);
  pairs_.locked_pairs().note_found(std::vector<double>{1, 2, 3, 4, 5, 6}, 4);
  EXPECT_EQ(unseen(), 2);
  theta_ = {1, 2};
  EXPECT_EQ(unseen(), std::nullopt);  // 3 lies beyond both
  theta_ = {1, 2, 3.0005, 4.1, 5.5, 6};
  step({1e-3, 1e-3, 1e-3, 1e-3, 1, 1});
  EXPECT_EQ(unseen(), 4);
  pairs_.lock(values(), 3, 0);
  theta_ = {4, 5.5, 6};
  step({1e-3, 1, 1});
  EXPECT_EQ(unseen(), std::nullopt);
  options_.which = Which::largest;
  pairs_.reset(options_);
  theta_ = {6, 4};
  step({1e-3, 1e-3});
  pairs_.locked_pairs().note_found(std::vector<double>{1, 2, 3, 4, 5, 6}, 4);
  EXPECT_EQ(unseen(), 5);
}

TEST_F(LobpcgPairsTest, AnUnseenValueEndsTheGap) {
  options_.criterion = Criterion::eigenvalue;
  pairs_.set_convergence(EigenConvergence(Criterion::eigenvalue, kTolerance, 1e4, 1, 1e-16));
  theta_ = {1, 20};
  for (const bool search : {false, true}) {
    if (search) pairs_.locked_pairs().note_found(std::vector<double>{1, 1.1, 20}, 4);
    step({1e-3, 1e-3});
    step({1e-3, 1e-3});
    EXPECT_EQ(pairs_.leading() > 0, !search);  // (1e-3)²/19 and (1e-3)²/0.1
  }
  // Beyond all pairs, it makes no gap.
  theta_ = {1};
  pairs_.locked_pairs().note_found(std::vector<double>{1, 20}, 4);
  for (int k = 0; k < 2; ++k) step({1e-3});
  EXPECT_EQ(pairs_.leading(), 0);
}

/// Columns of a narrow block that only just pass leave no room for guard vectors.
TEST_F(LobpcgPairsTest, ANarrowBlockEndsWithGuardVectors) {
  const EigenConvergence convergence = pairs_.convergence();
  pairs_ = LobpcgPairs(4, 2);
  pairs_.reset(options_);
  pairs_.set_convergence(convergence);
  theta_ = {1, 2};
  step({1e-8, 1e-8});
  pairs_.lock(values(), 2, 0);
  theta_ = {3, 4};
  step({5e-7, 5e-7});
  EXPECT_FALSE(pairs_.all_converged(values(), false));
  step({5e-8, 5e-8});
  EXPECT_EQ(pairs_.lockable(values(), false, false, 0), 2);
}

TEST_F(LobpcgPairsTest, RoomForWhatIsWantedAndGuards) {
  step({5e-8, 5e-8, 1, 1, 1, 1});
  EXPECT_EQ(block_wanted(pairs_, 4, 6), 6);
  pairs_.lock(values(), 2, 0);
  EXPECT_EQ(block_wanted(pairs_, 4, 6), 4);  // two wanted, two guards
}

TEST_F(LobpcgPairsTest, AnArchiveHoldsAllOfThem) {
  step({5e-8, 5e-8, 5e-7, 1, 1, 1});
  pairs_.lock(values(), 2, 0);
  theta_.erase(theta_.begin(), theta_.begin() + 2);
  std::vector<std::byte> memory;
  Archive saved(memory, Archive::Mode::save);
  pairs_.archive(saved);
  LobpcgPairs other(4, 6);
  other.reset(options_);
  Archive loaded(memory, Archive::Mode::load);
  other.archive(loaded);
  EXPECT_EQ(other.locked(), 2);
  EXPECT_EQ(other.leading(), 1);
  EXPECT_EQ(other.wanted_in_X(), 2);
  EXPECT_EQ(other.worst_residual(values()), pairs_.worst_residual(values()));
}

}  // namespace
}  // namespace heddle::detail
