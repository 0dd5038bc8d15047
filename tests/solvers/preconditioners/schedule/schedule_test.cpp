#include <gtest/gtest.h>

#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/data/multivector.hpp>
#include <heddle/solvers/preconditioners/schedule/schedule.hpp>
#include <memory>
#include <string>
#include <vector>

namespace heddle {
namespace {

using Schedule = PreconditionerSchedule<double, HostContext>;
using Stage = Schedule::Stage;
using Choice = Schedule::Choice;

constexpr Index kRows = 3;

/// Y = factor·X. A degree other than 0 may be set, and that which suits is the energy.
class Multiple final : public Preconditioner<double, HostContext>,
                       public VariableDegree<double, HostContext> {
 public:
  explicit Multiple(double factor, int degree = 0)
      : Preconditioner<double, HostContext>(kRows, kRows),
        factor_(factor),
        first_(degree),
        degree_(degree) {}

  VariableDegree<double, HostContext>* variable_degree() noexcept override {
    return first_ > 0 ? this : nullptr;
  }
  int degree() const noexcept override { return degree_; }
  void set_degree(Index degree) override {
    degree_ = degree > 0 ? static_cast<int>(degree) : first_;
  }
  Index suitable_degree(HostContext&, ConstBlockView<double, HostSpace>,
                        std::span<const double> energies) override {
    asked.push_back(energies.front());
    return suitable;
  }

  Index suitable = 0;
  std::vector<double> asked;

 private:
  void apply_block(HostContext& context, ConstBlockView<double, HostSpace> X,
                   BlockView<double, HostSpace> Y) override {
    axpby<double>(context, factor_, X, 0, Y);
  }

  double factor_;
  int first_;
  int degree_;
};

class ScheduleTest : public ::testing::Test {
 protected:
  /// Begins as 2 X with degree 12, becomes 5 X from degree 20 on unless that is refused.
  Schedule make(bool refused = false) {
    first_ = std::make_shared<Multiple>(2, 12);
    Stage stage(first_);
    stage.describe("first", "");
    Schedule made(std::move(stage), "it is cheap");
    made.become_strong_from(20, [this, refused](HostContext&) -> Choice {
      ++made_;
      if (refused) return {{}, "it does not suit"};
      Stage strong(std::make_shared<Multiple>(5));
      strong.describe("strong", "");
      return {std::move(strong), "it suits"};
    });
    return made;
  }

  double product(Schedule& M) {
    MultiVector<double, HostSpace> X(context_, kRows, 1), Y(context_, kRows, 1);
    for (Index i = 0; i < kRows; ++i) X.view()(i, 0) = 1;
    M.apply(context_, X.view(), Y.view());
    return Y.view()(2, 0);
  }

  /// A step with this Ritz value, for which this degree suits.
  void suit(Schedule& M, double theta, Index suitable) {
    const MultiVector<double, HostSpace> X(context_, kRows, 1);
    first_->suitable = suitable;
    M.suit(context_, X.view(), {&theta, 1});
  }

  /// What a checkpoint of `saved` makes of a new schedule.
  void resume(Schedule& saved, Schedule& made) {
    std::vector<std::byte> memory;
    detail::Archive save(memory, detail::Archive::Mode::save);
    saved.archive(context_, save);
    detail::Archive load(memory, detail::Archive::Mode::load);
    made.archive(context_, load);
  }

  HostContext context_;
  std::shared_ptr<Multiple> first_;
  int made_ = 0;
};

TEST_F(ScheduleTest, BecomesStrongFromTheGivenDegreeOn) {
  Schedule M = make();
  M.begin();
  EXPECT_EQ(product(M), 2);
  suit(M, 8, 14);
  EXPECT_EQ(M.report().degree, 12) << "less than a fifth more than 12";
  suit(M, 4, 16);
  EXPECT_EQ(M.report().degree, 16);
  EXPECT_EQ(M.report().name, "first");
  EXPECT_EQ(M.report().reason, "it is cheap");
  EXPECT_EQ(made_, 0);
  suit(M, 1, 20);
  EXPECT_EQ(product(M), 5);
  EXPECT_EQ(M.report().name, "strong");
  EXPECT_EQ(M.report().reason, "it suits");
  EXPECT_EQ(M.report().degree, 0);
  suit(M, 1e-9, 5);
  EXPECT_EQ(product(M), 5) << "it stays strong within a solve";
  M.begin();
  EXPECT_EQ(product(M), 2);
  EXPECT_EQ(M.report().degree, 12);
  suit(M, 1, 20);
  EXPECT_EQ(product(M), 5);
  EXPECT_EQ(made_, 1);
}

TEST_F(ScheduleTest, AsksForADegreeWhereTheRitzValueHasFallen) {
  Schedule M(Stage(first_ = std::make_shared<Multiple>(2, 12)));
  M.begin();
  suit(M, 100, 12);
  suit(M, 70, 13);  // √(100/70) < 1.2
  suit(M, 69, 15);
  EXPECT_EQ(first_->asked, (std::vector<double>{100, 69}));
  EXPECT_EQ(M.report().degree, 15);
  suit(M, 48, 15);
  suit(M, 47, 15);  // 69/1.44 = 47.9
  EXPECT_EQ(first_->asked, (std::vector<double>{100, 69, 47}));
}

TEST_F(ScheduleTest, ACheckpointBringsTheStageBack) {
  Schedule saved = make();
  suit(saved, 1, 20);
  Schedule M = make();
  made_ = 0;
  resume(saved, M);
  EXPECT_EQ(made_, 1);
  EXPECT_EQ(product(M), 5);
  Schedule early = make();
  suit(early, 4, 16);
  Schedule again = make();
  resume(early, again);
  EXPECT_EQ(product(again), 2);
  EXPECT_EQ(again.report().degree, 16);
}

TEST_F(ScheduleTest, IsTheFirstStageWhereTheStrongOneIsRefused) {
  Schedule M = make(true);
  M.begin();
  suit(M, 2, 30);
  EXPECT_EQ(M.report().degree, 30);
  EXPECT_EQ(M.report().reason, "it does not suit");
  suit(M, 1, 40);
  EXPECT_EQ(M.report().degree, 40);
  EXPECT_EQ(made_, 1);
  EXPECT_EQ(product(M), 2);
}

TEST_F(ScheduleTest, IsAskedAtTwiceTheStepsUntilTheChoiceIsMade) {
  std::vector<double> told;
  const auto choose = [&](HostContext&, double steps) -> Choice {
    told.push_back(steps);
    if (steps < 100) return {{}, "few steps are left"};
    return {Stage(std::make_shared<Multiple>(5, 12)), "many steps are left"};
  };
  const auto made = [&] {
    Schedule M(Stage(std::make_shared<Multiple>(2)));
    M.choose_by_steps(choose);
    return M;
  };
  Schedule M = made();
  EXPECT_EQ(M.steps_to_choice(), Schedule::kFirstChoice);
  EXPECT_FALSE(M.choose(context_, 40));
  EXPECT_EQ(M.report().reason, "few steps are left");
  EXPECT_EQ(M.steps_to_choice(), 2 * Schedule::kFirstChoice);
  EXPECT_EQ(product(M), 2);
  EXPECT_TRUE(M.choose(context_, 200));
  EXPECT_EQ(product(M), 5);
  EXPECT_EQ(M.report().degree, 12);
  EXPECT_EQ(M.report().reason, "many steps are left");
  EXPECT_EQ(M.steps_to_choice(), 0);
  EXPECT_FALSE(M.choose(context_, 300)) << "there is one change at most";
  EXPECT_EQ(told, (std::vector<double>{40, 200}));
  Schedule never = made();
  while (never.steps_to_choice() > 0) EXPECT_FALSE(never.choose(context_, 1));
  EXPECT_EQ(told.size(), 2U + 5U) << "after 24, 48, 96, 192 and 384 steps";
  Schedule resumed = made();
  resume(M, resumed);
  EXPECT_EQ(product(resumed), 5);
}

TEST_F(ScheduleTest, ChargesTheSetupsOfAllStages) {
  Stage first(std::make_shared<Multiple>(2));
  SetupCost cost(context_);
  const MultiVector<double, HostSpace> kept(context_, 100, 1);
  cost.stop(context_);
  EXPECT_EQ(SetupCost(context_).bytes(), 0U) << "a cost that was not measured to its end";
  Schedule M(std::move(first), "", cost);
  M.choose_by_steps([&](HostContext&, double) -> Choice {
    return {Stage(std::make_shared<Multiple>(5)), "", cost};
  });
  EXPECT_EQ(M.report().bytes, cost.bytes());
  EXPECT_TRUE(M.choose(context_, 1));
  EXPECT_EQ(M.report().bytes, 2 * cost.bytes());
  EXPECT_EQ(M.report().seconds, 2 * cost.seconds());
}

}  // namespace
}  // namespace heddle
