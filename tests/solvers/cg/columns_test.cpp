#include <gtest/gtest.h>

#include <cmath>
#include <heddle/solvers/cg/columns.hpp>
#include <heddle/solvers/preconditioners/schedule/schedule.hpp>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "solvers/linear_test_support.hpp"

namespace heddle {
namespace detail {}
using namespace detail;
namespace {

using test::tolerance;

constexpr Index kRows = 30;
constexpr Index kNever = 1000;

/// A diagonal system with b random right-hand sides and the columns that a method would work on.
/// The test takes the place of the method.
template <class T>
class LinearColumnsTest : public testing::Test {
 protected:
  void make_system(Index b) {
    rhs_ = test::random_vectors<T>(context_, kRows, b);
    guess_ = MultiVector<T, HostSpace>(context_, kRows, 0);
    system_ = {.A = &A_};
    options_ = {.tolerance = 1e-4};
    norms_ = SmallMatrix<double, HostSpace>(context_, b, 1);
  }

  /// A guess with that share of the solution in it, for every column.
  void make_guess(double share) {
    guess_ = MultiVector<T, HostSpace>(context_, kRows, rhs_.cols());
    for (Index j = 0; j < rhs_.cols(); ++j) {
      for (Index i = 0; i < kRows; ++i) {
        guess_.view()(i, j) = static_cast<T>(share * exact(i, j));
      }
    }
  }

  void scale_rhs(Index j, double factor) {
    for (Index i = 0; i < kRows; ++i) {
      rhs_.view()(i, j) = static_cast<T>(factor * static_cast<double>(rhs_.view()(i, j)));
    }
  }

  Index start() {
    const Index b = rhs_.cols();
    system_.B = std::as_const(rhs_).view();
    if (guess_.cols() > 0) system_.initial_guess = std::as_const(guess_).view();
    storage_.emplace(context_, kRows, b);
    storage_->reset();
    columns_.emplace(context_, system_, options_, kNever, monitor_, std::vector<std::string>{},
                     *storage_);
    return columns_->start();
  }

  /// x_ij of the solution.
  double exact(Index i, Index j) const {
    return static_cast<double>(rhs_.view()(i, j)) / static_cast<double>(i + 1);
  }

  /// Sets those active columns of X to `factor` times the solution.
  void set_solution(const std::set<Index>& places_in_B, double factor = 1) {
    for (Index j = 0; j < columns_->active(); ++j) {
      const LinearColumn& column = columns_->columns()[static_cast<std::size_t>(j)];
      if (!places_in_B.contains(column.index)) continue;
      for (Index i = 0; i < kRows; ++i) {
        columns_->X()(i, j) = static_cast<T>(factor * column.scale * exact(i, column.index));
      }
    }
  }

  /// Tells that ‖r‖ is zero for these columns, as it was for the others.
  bool claim(const std::set<Index>& places_in_B) {
    const auto norms = norms_.view(columns_->active(), 1);
    for (Index j = 0; j < norms.rows; ++j) {
      const LinearColumn& column = columns_->columns()[static_cast<std::size_t>(j)];
      norms(j, 0) = places_in_B.contains(column.index) ? 0 : column.norm;
    }
    return columns_->measure(norms);
  }

  std::vector<Index> active_places() {
    std::vector<Index> places;
    for (const LinearColumn& column : columns_->columns()) places.push_back(column.index);
    return places;
  }

  /// The active columns of R and X are the scaled columns of B and zero.
  void expect_untouched_columns() {
    for (Index j = 0; j < columns_->active(); ++j) {
      const LinearColumn& column = columns_->columns()[static_cast<std::size_t>(j)];
      for (Index i = 0; i < kRows; ++i) {
        const double b = static_cast<double>(rhs_.view()(i, column.index));
        ASSERT_EQ(static_cast<double>(columns_->R()(i, j)), b * column.scale);
        ASSERT_EQ(columns_->X()(i, j), T{0});
      }
    }
  }

  const LinearResult<T, HostSpace>& finish() {
    columns_->finish();
    return storage_->result;
  }

  HostContext context_{2};
  test::DiagonalOperator<T> A_{test::counting(kRows)};
  MultiVector<T, HostSpace> rhs_, guess_;
  LinearSystem<T, HostContext> system_;
  LinearOptions options_;
  Monitor monitor_;
  SmallMatrix<double, HostSpace> norms_;
  std::optional<LinearColumnsStorage<T, HostContext>> storage_;
  std::optional<LinearColumns<T, HostContext>> columns_;
};

using Scalars = testing::Types<float, double>;
TYPED_TEST_SUITE(LinearColumnsTest, Scalars);

TYPED_TEST(LinearColumnsTest, RightHandSidesAreScaledByPowersOfTwo) {
  this->make_system(4);
  this->scale_rhs(1, 1e-20);
  this->scale_rhs(2, 3e15);
  EXPECT_EQ(this->start(), 0);
  ASSERT_EQ(this->columns_->active(), 4);
  for (const LinearColumn& column : this->columns_->columns()) {
    EXPECT_GE(column.rhs_norm, 1);
    EXPECT_LT(column.rhs_norm, 2);
    int exponent = 0;
    EXPECT_EQ(std::frexp(column.scale, &exponent), 0.5) << "no power of two";
    EXPECT_EQ(column.limit, 1e-4 * column.rhs_norm);
    EXPECT_EQ(column.norm, column.rhs_norm);
  }
  this->expect_untouched_columns();
}

TYPED_TEST(LinearColumnsTest, AnAbsoluteLimitIsScaledLikeTheColumn) {
  this->make_system(2);
  this->scale_rhs(1, 1e-20);
  this->options_.criterion = LinearCriterion::absolute;
  this->start();
  ASSERT_EQ(this->columns_->active(), 1);  // of the second column, zero is a solution
  const LinearColumn& column = this->columns_->columns()[0];
  EXPECT_EQ(column.index, 0);
  EXPECT_EQ(column.limit, 1e-4 * column.scale);
}

TYPED_TEST(LinearColumnsTest, ZeroRightHandSidesHaveZeroSolutionsAndTheOrderIsRestored) {
  using T = TypeParam;
  this->make_system(6);
  for (const Index j : {0, 3}) this->scale_rhs(j, 0);
  this->scale_rhs(2, 1e-20);
  Index iteration = this->start();
  EXPECT_EQ(std::set<Index>({1, 2, 4, 5}), [&] {
    const auto places = this->active_places();
    return std::set<Index>(places.begin(), places.end());
  }());
  ASSERT_FALSE(this->columns_->finish_iteration(iteration));
  this->set_solution({1, 2, 4, 5});
  ASSERT_TRUE(this->claim({1, 2, 4, 5}));
  ASSERT_TRUE(this->columns_->finish_iteration(++iteration));
  const auto& result = this->finish();
  EXPECT_EQ(result.status, SolveStatus::converged);
  EXPECT_EQ(result.iterations, 1);
  for (Index j = 0; j < 6; ++j) {
    for (Index i = 0; i < kRows; ++i) {
      const double expected = this->exact(i, j);
      EXPECT_NEAR(static_cast<double>(result.solution.view()(i, j)), expected,
                  tolerance<T>(std::abs(expected), 1))
          << i << ", " << j;
    }
  }
  for (const std::size_t j : {0U, 3U}) {
    EXPECT_EQ(result.residuals[j], 0);
    EXPECT_EQ(result.backward_errors[j], 0);
  }
}

TYPED_TEST(LinearColumnsTest, ConvergedColumnsLeaveOnceAPowerOfTwoIsEnough) {
  this->make_system(8);
  Index iteration = this->start();
  ASSERT_FALSE(this->columns_->finish_iteration(iteration));
  this->set_solution({0, 3, 6});
  ASSERT_TRUE(this->claim({0, 3, 6}));
  ASSERT_FALSE(this->columns_->finish_iteration(++iteration));
  EXPECT_EQ(this->columns_->active(), 8) << "five of eight: products would not be cheaper";
  ASSERT_TRUE(this->claim({0, 3, 6, 1}));  // a false claim of column 1, unverified so far
  ASSERT_FALSE(this->columns_->finish_iteration(++iteration));
  const auto places = this->active_places();
  EXPECT_EQ(std::set<Index>(places.begin(), places.end()), std::set<Index>({2, 4, 5, 7}));
  this->expect_untouched_columns();
  EXPECT_EQ(this->storage_->result.history.back().converged, 4);
  EXPECT_EQ(this->storage_->result.history.back().active_columns, 8);
}

TYPED_TEST(LinearColumnsTest, ConvergedColumnsStayAsLongAsTheMethodWants) {
  this->make_system(8);
  Index iteration = this->start();
  this->columns_->stay_together_below(1e6);  // all others have 10⁴ times what is allowed
  this->set_solution({0, 1, 2, 3, 4, 5, 6});
  ASSERT_TRUE(this->claim({0, 1, 2, 3, 4, 5, 6}));
  ASSERT_FALSE(this->columns_->finish_iteration(++iteration));
  EXPECT_EQ(this->columns_->active(), 8);
  this->columns_->stay_together_below(1e3);
  ASSERT_FALSE(this->columns_->finish_iteration(++iteration));
  EXPECT_EQ(this->active_places(), std::vector<Index>{7});
}

TYPED_TEST(LinearColumnsTest, DirectionsMoveWithTheirColumnsWhereTheyBelongToThem) {
  using T = TypeParam;
  for (const bool follow : {true, false}) {
    this->make_system(4);
    Index iteration = this->start();
    auto& directions = this->storage_->directions;
    directions.follow_columns = follow;
    copy<T>(this->context_, this->columns_->R(), directions.P.view());
    this->set_solution({0, 2, 3});
    ASSERT_TRUE(this->claim({0, 2, 3}));
    ASSERT_FALSE(this->columns_->finish_iteration(++iteration));
    ASSERT_EQ(this->active_places(), std::vector<Index>{1});
    EXPECT_EQ(directions.P.view()(5, 0) == this->columns_->R()(5, 0), follow);
  }
}

TYPED_TEST(LinearColumnsTest, ClaimsAreVerified) {
  this->make_system(3);
  Index iteration = this->start();
  ASSERT_FALSE(this->columns_->finish_iteration(iteration));
  EXPECT_TRUE(this->columns_->take_restart());
  EXPECT_FALSE(this->columns_->take_restart()) << "the call before cleared the request";
  this->set_solution({1});
  this->claim({0, 1, 2});
  ASSERT_FALSE(this->columns_->finish_iteration(++iteration));
  const auto places = this->active_places();
  EXPECT_EQ(std::set<Index>(places.begin(), places.end()), std::set<Index>({0, 2}));
  EXPECT_TRUE(this->columns_->take_restart());
  this->expect_untouched_columns();
  for (int claims = 0; claims < 2; ++claims) {
    this->claim({0, 2});
    ASSERT_FALSE(this->columns_->finish_iteration(++iteration));
  }
  this->claim({0, 2});
  EXPECT_TRUE(this->columns_->finish_iteration(++iteration));
  EXPECT_EQ(this->finish().status, SolveStatus::verification_failed);
}

TYPED_TEST(LinearColumnsTest, AfterTroubleColumnsThatAreWorseBecomeWhatTheyWere) {
  using T = TypeParam;
  for (const bool with_guess : {true, false}) {
    this->make_system(3);
    if (with_guess) this->make_guess(0.5);
    this->start();
    this->set_solution({0}, 1.25);  // of residual 1/4: better
    this->set_solution({1}, 3);     // of residual 2: worse
    this->set_solution({2}, std::numeric_limits<double>::quiet_NaN());
    ASSERT_TRUE(this->claim({}));  // X has changed: fresh residuals are due
    this->columns_->end(StopControl::Stop{SolveStatus::breakdown, "for a test"});
    const auto& result = this->finish();
    const double first = with_guess ? 0.5 : 1;
    for (Index i = 0; i < kRows; ++i) {
      EXPECT_NEAR(static_cast<double>(result.solution.view()(i, 0)), 1.25 * this->exact(i, 0),
                  tolerance<T>(2, 1));
      for (const Index j : {1, 2}) {
        EXPECT_EQ(result.solution.view()(i, j), with_guess ? this->guess_.view()(i, j) : T{0});
      }
    }
    EXPECT_NEAR(result.residuals[0], 0.25, tolerance<T>(1, kRows));
    EXPECT_NEAR(result.residuals[1], first, tolerance<T>(1, kRows));
    EXPECT_NEAR(result.residuals[2], first, tolerance<T>(1, kRows));
    EXPECT_EQ(result.reason.find("for a test: 0 of 3 columns converged"), 0u) << result.reason;
  }
}

TYPED_TEST(LinearColumnsTest, AfterAStopResidualsMayHaveGrownByTheRootOfTheCondition) {
  using T = TypeParam;
  this->make_system(2);
  this->options_.max_iterations = 1;
  Index iteration = this->start();
  ASSERT_FALSE(this->columns_->finish_iteration(iteration));
  this->set_solution({0}, 100);
  this->set_solution({1}, 1e9);
  ASSERT_TRUE(this->columns_->finish_iteration(++iteration));
  const auto& result = this->finish();
  EXPECT_EQ(result.status, SolveStatus::max_iterations);
  EXPECT_NEAR(result.residuals[0], 99, tolerance<T>(100, kRows));
  EXPECT_EQ(result.residuals[1], 1);
  EXPECT_EQ(result.solution.view()(5, 1), T{0});
}

TYPED_TEST(LinearColumnsTest, BeginsWithTheResidualsOfTheGuess) {
  using T = TypeParam;
  this->make_system(2);
  this->make_guess(0.75);
  for (Index i = 0; i < kRows; ++i) {
    this->guess_.view()(i, 1) = static_cast<T>(this->exact(i, 1));
  }
  this->start();
  ASSERT_EQ(this->active_places(), std::vector<Index>{0}) << "column 1 was given its solution";
  const LinearColumn& column = this->columns_->columns()[0];
  for (Index i = 0; i < kRows; ++i) {
    const double b = column.scale * static_cast<double>(this->rhs_.view()(i, 0));
    EXPECT_NEAR(static_cast<double>(this->columns_->R()(i, 0)), 0.25 * b,
                tolerance<T>(b * b + 1, 1));
    EXPECT_NEAR(static_cast<double>(this->columns_->X()(i, 0)),
                0.75 * column.scale * this->exact(i, 0), tolerance<T>(1, 1));
  }
  EXPECT_NEAR(column.norm, 0.25 * column.rhs_norm, tolerance<T>(2, kRows));
}

TYPED_TEST(LinearColumnsTest, TheMonitorSeesResidualsInTheOrderOfB) {
  this->make_system(4);
  this->scale_rhs(0, 0);
  std::vector<double> seen;
  this->monitor_ = [&](const MonitorState& state) {
    seen.assign(state.residuals.begin(), state.residuals.end());
    return state.record.iteration < 1;
  };
  Index iteration = this->start();
  ASSERT_FALSE(this->columns_->finish_iteration(iteration));
  EXPECT_EQ(seen, std::vector<double>({0, 1, 1, 1}));
  this->claim({2});
  ASSERT_TRUE(this->columns_->finish_iteration(++iteration));
  EXPECT_EQ(seen, std::vector<double>({0, 1, 0, 1}));
  EXPECT_EQ(this->finish().status, SolveStatus::interrupted);
}

TYPED_TEST(LinearColumnsTest, MeasuresEnergiesOfThePreconditionedResiduals) {
  using T = TypeParam;
  this->make_system(2);
  test::DiagonalOperator<T> M(test::counting(kRows, 5));
  this->system_.preconditioner = &M;
  this->start();
  ASSERT_FALSE(this->columns_->ended());
  MultiVector<T, HostSpace> Z;
  this->storage_->packet.clear();
  const auto norms = this->norms_.view(2, 1);
  column_norms<T>(this->context_, this->columns_->R(), norms);
  const auto MR = this->columns_->products().precondition(norms, Z);
  this->storage_->packet.fetch(this->context_);
  ASSERT_TRUE(this->claim({}));
  for (Index j = 0; j < 2; ++j) {
    double energy = 0;
    for (Index i = 0; i < kRows; ++i) {
      const double r = static_cast<double>(this->columns_->R()(i, j));
      energy += r * r * static_cast<double>(5 + i);
      EXPECT_NEAR(static_cast<double>(MR(i, j)), r * static_cast<double>(5 + i),
                  tolerance<T>(35, 1));
    }
    EXPECT_NEAR(this->columns_->columns()[static_cast<std::size_t>(j)].energy, energy,
                tolerance<T>(energy, kRows));
  }
}

TYPED_TEST(LinearColumnsTest, AProductThatStaysInSinglePrecisionHasTheSameBits) {
  using T = TypeParam;
  if constexpr (std::same_as<T, double>) {
    this->make_system(2);
    using Schedule = PreconditionerSchedule<double, HostContext>;
    Schedule M(Schedule::Stage(
        std::make_unique<test::DiagonalOperator<float>>(test::counting(kRows, 5)),
        ProductPrecision::single_precision, [](HostContext&) {
          return std::make_unique<test::DiagonalOperator<double>>(test::counting(kRows, 5));
        }));
    this->system_.preconditioner = &M;
    this->start();
    ASSERT_FALSE(this->columns_->ended());
    const auto norms = this->norms_.view(2, 1);
    column_norms<T>(this->context_, this->columns_->R(), norms);
    MultiVector<T, HostSpace> Z, unused;
    this->storage_->packet.clear();
    const auto MR = this->columns_->products().precondition(norms, Z);
    this->storage_->packet.clear();
    bool kept = false;
    this->columns_->products().precondition(norms, unused, [&](const auto& same) {
      if constexpr (std::same_as<decltype(same), const ScaledView<float, HostSpace>&>) {
        kept = true;
        for (Index j = 0; j < 2; ++j) {
          for (Index i = 0; i < kRows; ++i) {
            EXPECT_EQ(same.factors(j, 0) * static_cast<double>(same.block(i, j)), MR(i, j));
          }
        }
      }
    });
    EXPECT_TRUE(kept);
    EXPECT_EQ(unused.cols(), 0) << "no block in double precision is made";
  }
}

TYPED_TEST(LinearColumnsTest, WhatCannotBeSolvedEndsAtTheStart) {
  using T = TypeParam;
  this->make_system(2);
  this->rhs_.view()(3, 1) = std::numeric_limits<T>::infinity();
  this->start();
  ASSERT_TRUE(this->columns_->ended());
  EXPECT_EQ(this->finish().status, SolveStatus::breakdown);
  this->make_system(2);
  test::DiagonalOperator<T> negative(test::counting(kRows, -kRows));
  this->system_.preconditioner = &negative;
  this->start();
  ASSERT_TRUE(this->columns_->ended());
  EXPECT_EQ(this->finish().status, SolveStatus::indefinite);
}

TYPED_TEST(LinearColumnsTest, NormsThatAreNotFiniteEndTheSolve) {
  this->make_system(2);
  this->start();
  const auto norms = this->norms_.view(2, 1);
  norms(0, 0) = 1;
  norms(1, 0) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(this->columns_->measure(norms));
  EXPECT_EQ(this->finish().status, SolveStatus::breakdown);
}

TYPED_TEST(LinearColumnsTest, ANegativeRayleighQuotientBeyondRoundingIsAnIndefiniteA) {
  const double epsilon = static_cast<double>(std::numeric_limits<TypeParam>::epsilon());
  const auto status_after = [&](double least) {
    this->make_system(2);
    this->start();
    this->columns_->norm_A().add_rayleigh_quotient(100);
    this->columns_->norm_A().add_rayleigh_quotient(std::numeric_limits<double>::infinity());
    EXPECT_EQ(this->columns_->norm_A().largest_rayleigh_quotient(), 100);
    this->columns_->end(this->columns_->norm_A().check_least_rayleigh_quotient(least, 2));
    if (!this->columns_->ended()) return SolveStatus::converged;
    return this->finish().status;
  };
  const double rounding = 10 * 2 * epsilon * 100;
  EXPECT_EQ(status_after(1), SolveStatus::converged);
  EXPECT_EQ(status_after(-0.9 * rounding), SolveStatus::converged);
  EXPECT_EQ(status_after(-1.1 * rounding), SolveStatus::indefinite);
  EXPECT_EQ(status_after(std::numeric_limits<double>::quiet_NaN()), SolveStatus::breakdown);
}

}  // namespace
}  // namespace heddle
