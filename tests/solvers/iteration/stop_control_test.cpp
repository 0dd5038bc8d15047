#include <gtest/gtest.h>

#include <heddle/solvers/iteration/stop_control.hpp>
#include <limits>
#include <vector>

namespace heddle::detail {
namespace {

constexpr double kForever = std::numeric_limits<double>::infinity();

TEST(StopControl, TheFirstReasonCountsUntilItIsReopened) {
  StopControl control(10, kForever);
  EXPECT_FALSE(control.ended());
  control.end(SolveStatus::breakdown, "first");
  control.end(SolveStatus::converged, "second");
  EXPECT_TRUE(control.ended());
  EXPECT_EQ(control.status(), SolveStatus::breakdown);
  EXPECT_EQ(control.reason(), "first");
  control.reopen();
  EXPECT_FALSE(control.ended());
  control.end(SolveStatus::converged, "second");
  EXPECT_EQ(control.reason(), "second");
}

TEST(StopControl, TheMonitorComesBeforeIterationsAndThoseBeforeTime) {
  HostContext context(1);
  const StopControl control(10, 0);
  const auto status = [&](Index iteration, bool monitor_stops) {
    return control.requested(context, iteration, monitor_stops)->status;
  };
  EXPECT_EQ(status(10, true), SolveStatus::interrupted);
  EXPECT_EQ(status(10, false), SolveStatus::max_iterations);
  EXPECT_EQ(status(9, false), SolveStatus::time_limit);
  EXPECT_FALSE(StopControl(10, kForever).requested(context, 9, false).has_value());
}

TEST(StopControl, TimeThatIsLeft) {
  HostContext context(1);
  const StopControl hour(10, 3600);
  EXPECT_FALSE(hour.out_of_time(context));
  EXPECT_TRUE(hour.less_time_left_than(context, 3601));
  EXPECT_FALSE(hour.less_time_left_than(context, 60));
  const StopControl none(10, 0);
  EXPECT_TRUE(none.out_of_time(context));
  EXPECT_FALSE(none.less_time_left_than(context, -3600));
  EXPECT_EQ(StopControl(10, kForever).seconds_left(), kForever);
}

TEST(StopControl, SecondsCountOnAfterAResumption) {
  std::vector<std::byte> memory;
  double hours = 7200;
  Archive given(memory, Archive::Mode::save);
  given.values(hours);
  StopControl resumed(10, 3600);
  Archive archive(memory, Archive::Mode::load);
  resumed.archive(archive);
  EXPECT_GE(resumed.seconds(), 7200);
  EXPECT_LT(resumed.seconds(), 10800);
  HostContext context(1);
  EXPECT_FALSE(resumed.out_of_time(context));  // the limit begins anew
}

TEST(StopControl, TheSentence) {
  StopControl control(10, kForever);
  control.end(SolveStatus::stagnated, "no progress");
  std::string sentence = "left from before";
  control.write_sentence({3, 5, "pairs", 7, "cycles", 1.25e-3}, sentence);
  EXPECT_EQ(sentence, "no progress: 3 of 5 pairs converged in 7 cycles, worst residual 1.25e-03");
  control.write_sentence({0, 5, "pairs", 0, "cycles", std::numeric_limits<double>::quiet_NaN()},
                         sentence);
  EXPECT_EQ(sentence, "no progress: 0 of 5 pairs converged in 0 cycles");
}

}  // namespace
}  // namespace heddle::detail
