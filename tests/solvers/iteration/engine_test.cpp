#include <gtest/gtest.h>

#include <filesystem>
#include <heddle/linalg/data/multivector.hpp>
#include <heddle/solvers/iteration/engine.hpp>
#include <heddle/solvers/problem/options.hpp>
#include <limits>
#include <string>
#include <vector>

#include "support/temporary_folder.hpp"

namespace heddle::detail {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr Index kMostRefuted = 2;

/// One process of several: counts what it is asked, and hears of what the others say.
class SharedContext : public HostContext {
 public:
  using HostContext::HostContext;

  bool agree(bool here) {
    ++questions;
    return here || questions == yes_elsewhere;
  }

  Index questions = 0;
  Index yes_elsewhere = 0;  ///< the question that another process answers with yes
};
static_assert(Context<SharedContext>);

/// A solve that does as it is told, and writes down which hooks were called.
class ScriptedSolve {
 public:
  explicit ScriptedSolve(HostContext& context) : X(context, 3, 2) {}

  IterationRecord record() {
    calls += "record ";
    return {iteration, 1, residual, -1.0, 2, 10 * iteration};
  }
  MonitorState shown(const IterationRecord& record) {
    calls += "shown ";
    return {record, 1, values, values};
  }
  std::optional<StopControl::Stop> trouble() {
    calls += "trouble ";
    if (in_trouble) return StopControl::Stop{SolveStatus::breakdown, "trouble"};
    return std::nullopt;
  }
  Claim claim() {
    calls += "claim ";
    return next_claim;
  }
  std::string refutation() { return "they differ"; }
  bool at_rounding() {
    calls += "at_rounding ";
    return rounding;
  }
  bool stagnated() {
    calls += "stagnated ";
    return no_progress;
  }
  void archive(Archive& archive) { archive.values(number); }
  template <class Visit>
  void for_each_block(const Visit& visit) {
    calls += "blocks ";
    visit(X.view());
  }

  std::string calls;
  std::vector<double> values{4.0};
  Index iteration = 0;
  double residual = 0.5;
  bool in_trouble = false;
  bool rounding = false;
  bool no_progress = false;
  Claim next_claim = Claim::none;
  double number = 0;
  MultiVector<double, HostSpace> X;
};
static_assert(ResumableSolve<ScriptedSolve>);

class EngineTest : public ::testing::Test {
 protected:
  Engine<SharedContext>& engine() {
    if (!engine_) {
      engine_.emplace(context_, options_, std::vector<std::string>{"solver: scripted"}, monitor_,
                      history_, kMostRefuted);
    }
    return *engine_;
  }

  void iterate() {
    engine().capture(solve_);
    engine().finish_iteration(solve_, "converged as scripted");
  }

  void keep_checkpoint(double every_s) {
    options_.checkpoint.file = folder_.path() / "checkpoint";
    options_.checkpoint.every_s = every_s;
  }

  void fill(double value) {
    for (Index i = 0; i < solve_.X.rows(); ++i) {
      for (Index j = 0; j < solve_.X.cols(); ++j) solve_.X.view()(i, j) = value;
    }
  }

  bool checkpoint_exists() const { return std::filesystem::exists(options_.checkpoint.file); }

  test::TemporaryFolder folder_;
  SharedContext context_{1};
  EigenOptions options_;
  Monitor monitor_;
  std::vector<IterationRecord> history_;
  ScriptedSolve solve_{context_};
  std::optional<Engine<SharedContext>> engine_;
};

TEST_F(EngineTest, CallsTheHooksInOrder) {
  Index seen = -1;
  monitor_ = [&](const MonitorState& state) {
    solve_.calls += "monitor ";
    seen = state.record.operator_applications;
    return true;
  };
  keep_checkpoint(0);
  solve_.iteration = 7;
  iterate();
  EXPECT_EQ(solve_.calls, "record shown monitor trouble blocks claim stagnated ");
  EXPECT_EQ(seen, 70);
  EXPECT_FALSE(engine().ended());
  ASSERT_EQ(history_.size(), 1u);
  EXPECT_EQ(history_[0].iteration, 7);
  EXPECT_EQ(history_[0].worst_residual, 0.5);
  EXPECT_GE(history_[0].seconds, 0.0);
}

TEST_F(EngineTest, ShowsNothingWhereNobodyLooks) {
  iterate();
  EXPECT_EQ(solve_.calls, "record trouble claim stagnated ");
}

TEST_F(EngineTest, TroubleEndsBeforeACheckpointIsWritten) {
  keep_checkpoint(0);
  options_.max_iterations = 0;
  solve_.in_trouble = true;
  iterate();
  EXPECT_EQ(engine().status(), SolveStatus::breakdown);
  EXPECT_EQ(engine().reason(), "trouble");
  EXPECT_EQ(solve_.calls, "record trouble ");
  EXPECT_FALSE(checkpoint_exists());
}

TEST_F(EngineTest, AConfirmedClaimCountsMoreThanAStop) {
  options_.max_iterations = 0;
  solve_.next_claim = Claim::confirmed;
  iterate();
  EXPECT_EQ(engine().status(), SolveStatus::converged);
  EXPECT_EQ(engine().reason(), "converged as scripted");
  EXPECT_EQ(solve_.calls, "record trouble claim ");
}

TEST_F(EngineTest, TheFirstReasonCounts) {
  engine().end(SolveStatus::indefinite, "from within a hook");
  solve_.next_claim = Claim::confirmed;
  iterate();
  EXPECT_EQ(engine().status(), SolveStatus::indefinite);
  EXPECT_EQ(engine().reason(), "from within a hook");
}

TEST_F(EngineTest, RefutedClaimsEndTheSolveWhenTheyAreTooMany) {
  solve_.next_claim = Claim::refuted;
  iterate();
  EXPECT_FALSE(engine().ended());
  solve_.next_claim = Claim::none;
  iterate();
  EXPECT_FALSE(engine().ended());
  solve_.next_claim = Claim::refuted;
  iterate();
  EXPECT_EQ(engine().status(), SolveStatus::verification_failed);
  EXPECT_NE(engine().reason().find("do not confirm it (they differ)"), std::string_view::npos);
}

TEST_F(EngineTest, ClaimsThatRoundingRefutesAreStagnation) {
  solve_.next_claim = Claim::refuted;
  solve_.rounding = true;
  iterate();
  iterate();
  EXPECT_EQ(engine().status(), SolveStatus::stagnated);
}

TEST_F(EngineTest, TheMonitorStopsBehindACheckpoint) {
  keep_checkpoint(kInfinity);
  monitor_ = [](const MonitorState&) { return false; };
  iterate();
  EXPECT_EQ(engine().status(), SolveStatus::interrupted);
  EXPECT_EQ(solve_.calls, "record shown trouble blocks claim ");
  EXPECT_TRUE(checkpoint_exists());
}

TEST_F(EngineTest, ARequestToStopActsBetweenProductsAndAtTheEndOfAnIteration) {
  bool stop = false;
  keep_checkpoint(kInfinity);
  monitor_.stop = [&] { return stop; };
  iterate();
  EXPECT_FALSE(engine().stop_requested());
  stop = true;
  EXPECT_TRUE(engine().stop_requested());
  EXPECT_TRUE(engine().stop_requested(1e9));
  EXPECT_FALSE(checkpoint_exists());
  iterate();
  EXPECT_EQ(engine().status(), SolveStatus::interrupted);
  EXPECT_TRUE(checkpoint_exists());
}

TEST_F(EngineTest, ASolveThatStopsWithinAnIterationKeepsItsCheckpoint) {
  bool stop = true;
  keep_checkpoint(kInfinity);
  monitor_.stop = [&] { return stop; };
  fill(3);
  solve_.number = 5;
  engine().keep_unfinished(solve_);
  engine().end_as_requested();
  EXPECT_EQ(engine().status(), SolveStatus::interrupted);
  EXPECT_EQ(engine().reason(), "stopped on request");
  engine_.reset();
  options_.checkpoint.resume = true;
  fill(0);
  solve_.number = 0;
  stop = false;
  ASSERT_TRUE(engine().resume(solve_));
  EXPECT_EQ(solve_.number, 5);
  EXPECT_EQ(solve_.X.view()(0, 0), 3);
  engine().end_as_requested();  // nobody asks but the clock
  EXPECT_EQ(engine().status(), SolveStatus::time_limit);
}

TEST_F(EngineTest, LimitsOfIterationsAndTime) {
  options_.max_iterations = 1;
  iterate();
  EXPECT_FALSE(engine().ended());
  solve_.iteration = 1;
  iterate();
  EXPECT_EQ(engine().status(), SolveStatus::max_iterations);
  engine_.reset();
  options_.max_iterations = 2;
  options_.time_limit_s = 0;
  iterate();
  EXPECT_EQ(engine().status(), SolveStatus::time_limit);
}

TEST_F(EngineTest, Stagnation) {
  solve_.no_progress = true;
  iterate();
  EXPECT_EQ(engine().status(), SolveStatus::stagnated);
}

TEST_F(EngineTest, MonitorClockAndCheckpointAreAgreedOn) {
  keep_checkpoint(kInfinity);
  iterate();
  EXPECT_EQ(context_.questions, 3);
  EXPECT_FALSE(checkpoint_exists());
  const auto asked_elsewhere = [&](Index question) {
    engine_.reset();
    std::filesystem::remove(options_.checkpoint.file);
    context_.questions = 0;
    context_.yes_elsewhere = question;
    iterate();
  };
  asked_elsewhere(1);
  EXPECT_EQ(engine().status(), SolveStatus::interrupted);
  asked_elsewhere(2);
  EXPECT_EQ(engine().status(), SolveStatus::time_limit);
  asked_elsewhere(3);
  EXPECT_FALSE(engine().ended());
  EXPECT_TRUE(checkpoint_exists());
}

TEST_F(EngineTest, ResumesWhatTheIterationBeganWith) {
  keep_checkpoint(kInfinity);
  options_.max_iterations = 1;
  fill(1.5);
  iterate();
  solve_.iteration = 1;
  solve_.number = 17;
  engine().capture(solve_);
  solve_.number = 18;  // in the midst of the iteration
  engine().finish_iteration(solve_, "");
  ASSERT_TRUE(checkpoint_exists());
  solve_.number = 19;
  fill(2.5);
  history_.clear();
  engine_.reset();
  options_.checkpoint.resume = true;
  ASSERT_TRUE(engine().resume(solve_));
  EXPECT_EQ(solve_.number, 17);
  EXPECT_EQ(solve_.X.view()(2, 1), 1.5);
  EXPECT_EQ(std::ssize(history_), 1);
}

TEST_F(EngineTest, AConvergedSolveLeavesNoCheckpoint) {
  keep_checkpoint(0);
  solve_.next_claim = Claim::confirmed;
  iterate();
  EXPECT_TRUE(checkpoint_exists());
  std::string sentence;
  EXPECT_EQ(engine().conclude({1, 2, "pairs", 3, "steps", 0.5}, sentence), SolveStatus::converged);
  EXPECT_EQ(sentence,
            "converged as scripted: 1 of 2 pairs converged in 3 steps, worst residual 5.00e-01");
  EXPECT_FALSE(checkpoint_exists());
}

TEST_F(EngineTest, RefutedClaimsAreCountedOverAResumption) {
  keep_checkpoint(kInfinity);
  options_.max_iterations = 1;
  solve_.next_claim = Claim::refuted;
  iterate();
  solve_.iteration = 1;
  solve_.next_claim = Claim::none;
  iterate();
  EXPECT_EQ(engine().status(), SolveStatus::max_iterations);
  engine_.reset();
  options_.max_iterations = 10;
  options_.checkpoint.resume = true;
  ASSERT_TRUE(engine().resume(solve_));
  solve_.next_claim = Claim::refuted;
  iterate();
  EXPECT_EQ(engine().status(), SolveStatus::verification_failed);
}

}  // namespace
}  // namespace heddle::detail
