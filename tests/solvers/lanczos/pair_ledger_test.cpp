#include <gtest/gtest.h>

#include <cmath>
#include <heddle/solvers/lanczos/completeness.hpp>
#include <heddle/solvers/lanczos/pair_ledger.hpp>
#include <limits>

#include "solvers/krylov/ritz_of.hpp"

namespace heddle::detail {
namespace {

using Numbers = std::vector<double>;
using Places = std::vector<Index>;

/// A ledger of C itself for the smallest end, told of eigenvalues and residuals by hand. Residuals
/// pass where they are at most 1e-8.
struct Ledger {
  explicit Ledger(Index wanted, Index max_basis = 40, Index width = 2)
      : nev(wanted),
        block(width),
        ritz(max_basis, width),
        pairs(map, ritz, {.n = 1000, .nev = wanted, .block = width, .max_basis = max_basis}) {
    EigenOptions options;
    options.nev = wanted;
    options.tolerance = 1e-8;
    options.criterion = Criterion::absolute;
    pairs.reset(options, std::numeric_limits<double>::epsilon());
    pairs.set_norms(100, 1);
  }

  /// A Rayleigh–Ritz step that gives the eigenvalues `values`, ascending.
  void step(const Numbers& values, const Numbers& residuals) {
    Numbers theta;
    for (const double value : values) theta.push_back(map.theta_of(value));
    test::set_ritz(ritz, theta, residuals, block);
    pairs.take_bounds();
  }

  /// The same where all residuals are equal.
  void step(const Numbers& values, double residual) {
    step(values, Numbers(values.size(), residual));
  }

  Completeness completeness() const {
    return {pairs, map, ritz, block, nev, 1e-8, 1e-8, guessed, 0};
  }

  Index nev;
  Index block;
  bool guessed = false;
  SpectralMap map{Which::smallest};
  LanczosRitz ritz;
  PairLedger pairs;
};

TEST(PairLedger, LeadingPairsAreCountedUpToTheFirstThatHasNotConverged) {
  Ledger ledger(4);
  ledger.step({1, 2, 3, 4, 5}, {1e-9, 1e-9, 1e-3, 1e-9, 1e-9});
  EXPECT_EQ(ledger.pairs.leading(), 2);
  EXPECT_EQ(ledger.pairs.converged(), 2);
  EXPECT_EQ(ledger.pairs.wanted().values, (Numbers{1, 2, 3, 4}));
  EXPECT_EQ(ledger.pairs.first_value(), 1);
  EXPECT_EQ(ledger.pairs.last_value(), 4);
  EXPECT_DOUBLE_EQ(ledger.pairs.worst_residual(), 1e-3 / (100 + 3));  // over ‖A‖ + |λ| ‖B‖
  EXPECT_FALSE(ledger.completeness().all_converged());
  ledger.step({1, 2, 3, 4, 5}, 1e-9);
  EXPECT_TRUE(ledger.completeness().all_converged());
  ledger.pairs.tighten();
  ledger.step({1, 2, 3, 4, 5}, {1e-10, 2e-9, 1e-10, 1e-10, 1e-10});
  EXPECT_EQ(ledger.pairs.leading(), 1) << "after a refuted claim less passes";
}

TEST(PairLedger, LocksWhatIsExactAndLeavesTheRestActive) {
  Ledger ledger(3);
  ledger.step({1, 2, 3}, {1e-16, 1e-9, 1e-16});
  EXPECT_EQ(ledger.pairs.lock_exact(3, 1e-15), 1) << "no gaps";
  EXPECT_EQ(ledger.pairs.locked(), 1);
  ledger.step({2, 3, 4}, {1e-16, 1e-9, 1});
  EXPECT_EQ(ledger.pairs.wanted().values, (Numbers{1, 2, 3}));
  EXPECT_EQ(ledger.pairs.leading(), 2);
  EXPECT_EQ(ledger.pairs.converged(), 3);
  EXPECT_EQ(ledger.pairs.lock_exact(0, 1), 0) << "no more than there is room for";
}

TEST(PairLedger, ACheckFindsPairsAmongTheLockedOnesAndKeepsTheBest) {
  Ledger ledger(3);
  ledger.step({1, 2, 3}, 1e-9);
  ledger.pairs.begin_check();
  EXPECT_EQ(ledger.pairs.locked(), 3);
  ledger.step({1.5, 2, 2.5, 3.5}, {1e-9, 1e-9, 1e-2, 1});
  EXPECT_EQ(ledger.pairs.missed(), 3);
  EXPECT_EQ(ledger.pairs.leading(), 2);
  EXPECT_EQ(ledger.pairs.converged(), 2);
  EXPECT_FALSE(ledger.completeness().all_converged());
  ledger.step({1.5, 2, 2.5, 3.5}, 1e-9);
  EXPECT_TRUE(ledger.completeness().all_converged());
  const PairLedger::Best best = ledger.pairs.best();  // 1, 1.5, 2; one of the copies of 2
  EXPECT_EQ(best.locked, 2);
  EXPECT_EQ(best.active, 1);
  EXPECT_EQ(ledger.pairs.begin_check(), (Places{0, 3, 1}));
  EXPECT_EQ(ledger.pairs.locked_pairs().values, (Numbers{1, 1.5, 2}));
  ledger.step({2.0 - 1e-13, 2.5}, 1e-9);  // 10 ε ‖A‖ is 2e-13
  EXPECT_EQ(ledger.pairs.missed(), 0) << "another copy of the last value is not better";
}

TEST(PairLedger, ACheckFindsAValueBetterThanAnyOfThem) {
  Ledger ledger(3);
  ledger.step({1, 2, 3}, {1e-9, 1e-9, 5});  // so inexact that 0.5 may be a copy of 3
  ledger.pairs.begin_check();
  ledger.step({0.5, 4}, 1e-9);
  EXPECT_EQ(ledger.pairs.missed(), 1);
}

TEST(PairLedger, WithAnInverseSmallValuesOfAStiffMatrixAreNoCopies) {
  Ledger ledger(1);
  ledger.pairs.set_norms(1e12, 1);  // 10 ε ‖A‖ is 2e-3
  ledger.map.set_inverse(-1, 1e12);
  ledger.step({2, 3}, 1e-12);
  ledger.pairs.begin_check();
  ledger.step({2 - 1e-3, 3}, 1e-12);
  EXPECT_EQ(ledger.pairs.missed(), 1);
  ledger.step({2 - 1e-15, 3}, 1e-12);
  EXPECT_EQ(ledger.pairs.missed(), 0);
  ledger.pairs.begin_check(Numbers{1e-2});
  ledger.step({2 - 1e-3, 3}, 1e-12);
  EXPECT_EQ(ledger.pairs.missed(), 0) << "rounding of the value itself";
}

TEST(PairLedger, AnInexactValueDisplacesThoseThatItReaches) {
  Ledger ledger(3);
  ledger.step({1, 2, 4}, {1e-9, 1e-9, 2.5});
  ledger.pairs.begin_check();
  ledger.step({50}, 1e-9);
  const Neighbours others = ledger.pairs.neighbours(Numbers{1, 2, 4});
  EXPECT_LT(others.own_roundings[0], 1e-9);
  EXPECT_GE(others.own_roundings[1], 2.4) << "the third one may be below 2";
}

TEST(PairLedger, ACoarseToleranceDoesNotMakeCopiesOfDifferentValues) {
  Ledger ledger(2);
  EigenOptions coarse;
  coarse.nev = 2;
  coarse.tolerance = 1e-3;
  coarse.criterion = Criterion::norm;
  ledger.pairs.reset(coarse, std::numeric_limits<double>::epsilon());
  ledger.pairs.set_norms(1e6, 1);
  ledger.step({1, 2, 100}, 1e-4);
  ledger.pairs.begin_check();
  ledger.step({1.5, 3}, 1e-4);
  EXPECT_EQ(ledger.pairs.missed(), 1) << "1.5 is not 2, although residuals of 1000 would pass";
}

TEST(PairLedger, AFrontAmongTheWantedValuesLeavesNoGap) {
  Ledger ledger(2);
  ledger.step({1, 2, 100}, 1e-2);
  EXPECT_LT(ledger.pairs.wanted().errors[1], 1e-4);
  Numbers theta;
  for (const double value : {1, 2, 100}) theta.push_back(ledger.map.theta_of(value));
  test::set_ritz(ledger.ritz, theta, Numbers(3, 1e-2), ledger.block, ledger.map.theta_of(1.5));
  ledger.pairs.take_bounds();
  EXPECT_EQ(ledger.pairs.wanted().errors[1], 1e-2);
}

TEST(PairLedger, AValueThatACheckFindsInTheGapOfABoundEndsTheGap) {
  const auto rounding = [](double beside) {
    Ledger ledger(2);
    ledger.step({1, 2, 100}, 1e-2);
    EXPECT_LT(ledger.pairs.wanted().errors[1], 1e-4) << "the next value seems to be 100";
    ledger.pairs.begin_check();
    ledger.step({beside, 100}, 1e-9);
    EXPECT_EQ(ledger.pairs.missed(), 0);
    return ledger.pairs.neighbours(Numbers{1, 2}).own_roundings[1];
  };
  EXPECT_LT(rounding(99), 1e-4);
  EXPECT_GE(rounding(2.1) + 1e-6, ErrorBounds::change(1e-2, 0.1));
  EXPECT_GE(rounding(2.001), 9e-3);
  EXPECT_LT(rounding(2 + 1e-7), 1e-4) << "another copy of the value does not change it";
}

TEST(PairLedger, PairsThatACheckFindsInheritTheErrorsOfTheEarlierOnes) {
  Ledger ledger(2);
  ledger.step({1, 2, 100}, {1e-9, 1e-2, 1e-9});
  ledger.pairs.begin_check();
  ledger.step({1.9, 3}, 1e-9);
  ASSERT_EQ(ledger.pairs.missed(), 1);
  ledger.pairs.begin_check();
  EXPECT_EQ(ledger.pairs.locked_pairs().values, (Numbers{1, 1.9}));
  EXPECT_NEAR(ledger.pairs.locked_pairs().excesses[1], ErrorBounds::change(1e-2, 0.1), 1e-9)
      << "the residual of the pair at 2 may couple it to the one at 1.9";
  EXPECT_LE(ledger.pairs.locked_pairs().excesses[0], 1e-17);
}

TEST(PairLedger, ACheckTakesNoMorePairsThanHalfOfTheBasisHolds) {
  Ledger ledger(3, 11);
  ledger.step({5, 6, 7}, 1e-9);
  ledger.pairs.begin_check();
  ledger.step({1, 1.1, 1.2, 1.3, 1.4, 1.5}, 1);
  EXPECT_EQ(ledger.pairs.missed(), 4);  // (11 − 3)/2
}

TEST(PairLedger, ReopeningKeepsWhatWasConfirmed) {
  Ledger ledger(4);
  ledger.step({1, 2, 3, 4}, 1e-9);
  ledger.pairs.begin_check();
  const PairList measured{{1, 2, 3, 4}, {1e-9, 1e-3, 1e-9, 1e-3}, Numbers(4, 1e-9)};
  EXPECT_EQ(ledger.pairs.reopen(measured, {true, false, true, false}), (Places{1, 3}));
  EXPECT_EQ(ledger.pairs.locked_pairs().values, (Numbers{1, 3}));
  EXPECT_FALSE(ledger.pairs.checking());
  EXPECT_TRUE(ledger.pairs.reopen(measured, {true, true, true, true}).empty());
  EXPECT_TRUE(ledger.pairs.checking()) << "nothing else is left to iterate on";
  ledger.pairs.unlock();
  EXPECT_EQ(ledger.pairs.locked(), 0);
  EXPECT_FALSE(ledger.pairs.checking());
}

TEST(PairLedger, MeasuredResidualsReplaceBoundsAndValuesUnlessFIsAnInverse) {
  Ledger ledger(2);
  ledger.step({1, 2}, 1e-3);
  EXPECT_FALSE(ledger.pairs.worth_measuring(true));
  ledger.map.set_filter({{10, 100}, 60});
  EXPECT_TRUE(ledger.pairs.worth_measuring(false));
  ledger.pairs.take_measured(Numbers{1.25, 2.25}, Numbers{1e-9, 1e-9});
  EXPECT_EQ(ledger.pairs.wanted().values, (Numbers{1.25, 2.25}));
  EXPECT_EQ(ledger.pairs.leading(), 2);
  ledger.map.set_inverse(0, 100);
  ledger.step({1, 2}, 1e-6);
  const Numbers before = ledger.pairs.wanted().values;
  EXPECT_EQ(ledger.pairs.leading(), 0);
  EXPECT_FALSE(ledger.pairs.worth_measuring(false)) << "further steps may do";
  EXPECT_TRUE(ledger.pairs.worth_measuring(true));
  ledger.pairs.take_measured(Numbers{1.25, 2.25}, Numbers{1e-9, 1e-3});
  EXPECT_EQ(ledger.pairs.wanted().values, before);
  EXPECT_EQ(ledger.pairs.leading(), 1);
}

TEST(PairLedger, AValueOfAnInverseThatStillMovesHasNotConverged) {
  Ledger ledger(1);
  ledger.map.set_inverse(0, 1e-6);  // so small a reach that every residual bound passes
  ledger.step({1, 2}, {0.01, 0.01});
  EXPECT_LE(ledger.pairs.residual_of(0), 1e-7);
  EXPECT_EQ(ledger.pairs.leading(), 0);
  ledger.step({1, 2}, {1e-6, 0.01});  // the value is exact to 1e-12/gap
  EXPECT_EQ(ledger.pairs.leading(), 1);
}

TEST(PairLedger, EqualValuesDifferByTheToleranceAtMost) {
  Ledger ledger(1);
  EXPECT_TRUE(ledger.pairs.same_value(1, 1 + 9e-9));
  EXPECT_FALSE(ledger.pairs.same_value(1, 1 + 1e-6));
  ledger.map.set_inverse(1 - 1e-9, 100);  // 1/(λ − σ) tells apart what C does not
  EXPECT_FALSE(ledger.pairs.same_value(1, 1 + 1e-11 * 200));
}

TEST(PairLedger, TheCheckShowsAllUnlessAsManyCopiesAsTheBlockIsWideWereFound) {
  Ledger ledger(3, 40, 2);
  ledger.step({1, 1, 3}, 1e-9);
  ledger.pairs.begin_check();
  ledger.step({4, 5}, 1);
  EXPECT_EQ(ledger.pairs.missed(), 0);
  EXPECT_FALSE(ledger.completeness().others_would_show(true)) << "a third copy may be missing";
  ledger.step({4, 5}, 1e-3);
  EXPECT_TRUE(ledger.completeness().next_is_at_rest(true));
  EXPECT_TRUE(ledger.completeness().others_would_show(true));
  Ledger simple(3, 40, 2);
  simple.step({1, 2, 3}, 1e-9);
  simple.pairs.begin_check();
  simple.step({4, 5}, 1);
  EXPECT_TRUE(simple.completeness().others_would_show(true)) << "no eigenvalue has two copies";
}

TEST(PairLedger, ARandomBlockShowsAllOfFewerCopiesThanItHasColumns) {
  const auto shows_all = [](const Numbers& values, const auto& prepare) {
    Ledger ledger(3, 40, 2);
    prepare(ledger);
    ledger.step(values, 1e-9);
    return ledger.completeness().first_block_shows_all();
  };
  const auto nothing = [](Ledger&) {};
  EXPECT_TRUE(shows_all({1, 2, 3, 4}, nothing));
  EXPECT_FALSE(shows_all({1, 2, 2, 4}, nothing)) << "a third copy may be missing";
  EXPECT_FALSE(shows_all({1, 2, 2.005, 4}, nothing)) << "as near as √(1e-8) ‖A‖: combinations";
  EXPECT_FALSE(shows_all({1, 2, 3, 3.005}, nothing)) << "the cluster is not all wanted";
  EXPECT_TRUE(shows_all({1, 2, 3, 3.02, 3.021}, nothing)) << "a cluster that is not wanted";
  EXPECT_FALSE(shows_all({1, 2}, nothing)) << "too few pairs";
  EXPECT_FALSE(shows_all({1, 2, 3, 4}, [](Ledger& ledger) { ledger.map.set_inverse(0, 100); }));
  Ledger ledger(3, 40, 2);
  ledger.step({1, 2, 3, 4}, 1e-9);
  Completeness guessed = ledger.completeness();
  guessed.note_chosen_block();
  EXPECT_FALSE(guessed.first_block_shows_all()) << "the first block was not random";
}

TEST(PairLedger, AClusterAsLargeAsTheBlockMayHaveFurtherValues) {
  const auto least = [](const Numbers& values) {
    Ledger ledger(1, 40, 2);
    ledger.step(values, {1e-8, 1e-8, 1e-3});
    ledger.pairs.begin_check();
    ledger.step({4, 5}, 1);
    EXPECT_EQ(ledger.pairs.missed(), 0);
    return ledger.pairs.neighbours(Numbers{values[0]}).least_bounds[0];
  };
  EXPECT_NEAR(least({1, 1 + 4e-9, 3}), 4e-9 * std::sqrt(1000 / 2), 1e-11);
  EXPECT_EQ(least({1, 1, 3}), 0) << "no value of a random part of the cluster differs";
  EXPECT_EQ(least({1, 2, 3}), 0);
}

TEST(PairLedger, GoesOnFromAnArchive) {
  Ledger ledger(3);
  ledger.step({1, 2, 3}, 1e-9);
  ledger.pairs.begin_check();
  ledger.pairs.tighten();
  std::vector<std::byte> memory;
  Archive save(memory, Archive::Mode::save);
  ledger.pairs.archive(save);
  Ledger other(3);
  Archive load(memory, Archive::Mode::load);
  other.pairs.archive(load);
  for (Ledger* each : {&ledger, &other}) each->step({1.5, 2.5, 4}, {5e-10, 2e-9, 1});
  EXPECT_EQ(other.pairs.wanted().values, ledger.pairs.wanted().values);
  EXPECT_EQ(other.pairs.wanted().values, (Numbers{1, 2, 3, 1.5, 2.5}));
  EXPECT_EQ(other.pairs.leading(), 1);
  EXPECT_EQ(ledger.pairs.leading(), 1);
  EXPECT_EQ(other.pairs.worst_residual(), ledger.pairs.worst_residual());
}

}  // namespace
}  // namespace heddle::detail
