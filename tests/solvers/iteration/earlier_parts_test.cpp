#include <gtest/gtest.h>

#include <heddle/solvers/iteration/earlier_parts.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace heddle {
namespace detail {}
using namespace detail;
namespace {

constexpr EarlierParts kEarlier{
    .iterations = 10, .seconds = 2.5, .applications = 300, .applications_each = 2};
constexpr IterationRecord kRecord{.iteration = 3,
                                  .converged = 4,
                                  .worst_residual = 1e-3,
                                  .seconds = 0.5,
                                  .active_columns = 6,
                                  .operator_applications = 7};

void expect_counted_on(const IterationRecord& record) {
  EXPECT_EQ(record.iteration, 13);
  EXPECT_EQ(record.seconds, 3.0);
  EXPECT_EQ(record.operator_applications, 300 + 2 * 7);
  EXPECT_EQ(record.converged, 4);
  EXPECT_EQ(record.worst_residual, 1e-3);
  EXPECT_EQ(record.active_columns, 6);
}

TEST(EarlierParts, CountsAreAddedAndTheRestStays) { expect_counted_on(kEarlier.after(kRecord)); }

TEST(EarlierParts, WithNoneARecordIsTheSame) {
  const IterationRecord record = EarlierParts{}.after(kRecord);
  EXPECT_EQ(record.iteration, 3);
  EXPECT_EQ(record.seconds, 0.5);
  EXPECT_EQ(record.operator_applications, 7);
}

TEST(EarlierParts, AHistoryIsAppended) {
  std::vector<IterationRecord> whole(2, kRecord);
  kEarlier.append({kRecord, kRecord, kRecord}, whole);
  ASSERT_EQ(whole.size(), 5u);
  EXPECT_EQ(whole[1].iteration, 3);
  for (std::size_t k = 2; k < 5; ++k) expect_counted_on(whole[k]);
}

TEST(EarlierParts, AMonitorSeesTheWholeAndItsAnswerComesBack) {
  const std::vector<double> eigenvalues{1, 2}, residuals{0.1, 0.2};
  for (const bool answer : {true, false}) {
    int calls = 0;
    const Monitor monitor = [&](const MonitorState& state) {
      ++calls;
      expect_counted_on(state.record);
      EXPECT_EQ(state.nev, 2);
      EXPECT_EQ(state.eigenvalues.data(), eigenvalues.data());
      EXPECT_EQ(state.residuals.data(), residuals.data());
      return answer;
    };
    const Monitor watch = kEarlier.watch(monitor);
    EXPECT_EQ(watch.iteration({kRecord, 2, eigenvalues, residuals}), answer);
    EXPECT_EQ(calls, 1);
  }
}

TEST(EarlierParts, NoMonitorStaysNone) { EXPECT_FALSE(kEarlier.watch({}).iteration); }

TEST(EarlierParts, RequestsToStopAndStagesPassOn) {
  bool stop = false;
  std::string stages;
  Monitor monitor = [](const MonitorState&) { return true; };
  monitor.stop = [&] { return stop; };
  monitor.stage = [&](std::string_view name) { stages += name; };
  const Monitor watch = kEarlier.watch(monitor);
  EXPECT_FALSE(watch.stops());
  stop = true;
  EXPECT_TRUE(watch.stops());
  watch.begin_stage("factoring");
  EXPECT_EQ(stages, "factoring");
}

}  // namespace
}  // namespace heddle
