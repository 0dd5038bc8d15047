#include <gtest/gtest.h>

#include <cmath>
#include <heddle/linalg/base/error.hpp>
#include <heddle/spmm/model/model.hpp>
#include <random>
#include <vector>

namespace heddle {
namespace {

/// The sum that `fit_linear_time` makes least.
double misfit(const LinearTime& line, const std::vector<MeasuredTime>& measured) {
  double sum = 0;
  for (const MeasuredTime& time : measured) {
    const double error = line.seconds(time.elements) / time.seconds - 1;
    sum += error * error;
  }
  return sum;
}

TEST(LinearTime, FindsTheLineOfExactTimes) {
  const LinearTime line{3e-9, 5e-6};
  std::vector<MeasuredTime> measured;
  for (const double n : {1e2, 1e4, 1e5, 3e6}) measured.push_back({n, line.seconds(n)});
  const LinearTime fit = fit_linear_time(measured);
  EXPECT_NEAR(fit.per_element / line.per_element, 1, 1e-10);
  EXPECT_NEAR(fit.initial / line.initial, 1, 1e-10);
}

TEST(LinearTime, NoLineNearbyFitsNoisyTimesBetter) {
  std::mt19937 engine(5);
  std::uniform_real_distribution<double> noise(0.7, 1.4);
  const LinearTime lines[] = {{2e-9, 4e-6}, {2e-9, 0}, {0, 4e-6}, {1e-12, 1e-4}};
  for (const LinearTime& line : lines) {
    std::vector<MeasuredTime> measured;
    for (int k = 1; k < 30; ++k) {
      const double n = 500.0 * k * k;
      measured.push_back({n, line.seconds(n) * noise(engine)});
    }
    const LinearTime fit = fit_linear_time(measured);
    EXPECT_GE(fit.per_element, 0);
    EXPECT_GE(fit.initial, 0);
    const double least = misfit(fit, measured);
    const double steps[] = {-1e-3, 0, 1e-3};
    for (const double slope : steps) {
      for (const double constant : steps) {
        const LinearTime other{std::max(0.0, fit.per_element + slope * 2e-9),
                               std::max(0.0, fit.initial + constant * 4e-6)};
        EXPECT_GE(misfit(other, measured), least * (1 - 1e-9));
      }
    }
  }
}

TEST(LinearTime, RefusesWhatNoLineFits) {
  EXPECT_THROW(fit_linear_time({}), InvalidArgument);
  const std::vector<MeasuredTime> one_size = {{5, 1}, {5, 2}};
  EXPECT_THROW(fit_linear_time(one_size), InvalidArgument);
  const std::vector<MeasuredTime> no_time = {{5, 1}, {6, 0}};
  EXPECT_THROW(fit_linear_time(no_time), InvalidArgument);
  const std::vector<MeasuredTime> nan = {{5, 1}, {6, std::nan("")}};
  EXPECT_THROW(fit_linear_time(nan), InvalidArgument);
}

TEST(LinearTime, IsMeasuredOncePerKey) {
  int measurements = 0;
  const auto measure = [&] {
    ++measurements;
    return std::vector<MeasuredTime>{{1, 1.0 + measurements}, {2, 2.0 + measurements}};
  };
  EXPECT_THROW(fitted_linear_time("LinearTime.a", [] { return std::vector<MeasuredTime>{}; }),
               InvalidArgument);
  const LinearTime first = fitted_linear_time("LinearTime.a", measure);
  const LinearTime again = fitted_linear_time("LinearTime.a", measure);
  EXPECT_EQ(measurements, 1);
  EXPECT_EQ(first.initial, again.initial);
  EXPECT_NEAR(first.initial, 1, 1e-12);
  EXPECT_NEAR(fitted_linear_time("LinearTime.b", measure).initial, 2, 1e-12);
  EXPECT_EQ(measurements, 2);
}

TEST(NominalBlockSeconds, AreBoundByMemoryThenByL2AndTensorCores) {
  const DeviceSpeed device;
  const auto seconds = [&](Index N, bool gathered) {
    return nominal_block_seconds(16, 16, N, 2, gathered, device);
  };
  EXPECT_DOUBLE_EQ(seconds(1, false), 516 / device.memory_bytes);
  EXPECT_GT(seconds(64, false), seconds(8, false));
  EXPECT_GT(seconds(128, true), seconds(128, false));
  // A row of B of 8 halves fills half a sector.
  const double per_cycle = 32 * device.clock * device.multiprocessors;
  EXPECT_DOUBLE_EQ(seconds(8, true), (516 + 16 * (32 + 4)) / per_cycle);
}

}  // namespace
}  // namespace heddle
