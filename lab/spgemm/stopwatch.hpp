#pragma once

#include <heddle/linalg/base/clock.hpp>
#include <heddle/linalg/base/median.hpp>
#include <utility>
#include <vector>

namespace heddle::lab {

/// The median time of `work`, which returns when it is done, in ms. Runs it once more before that.
template <class Work>
double median_ms(const Work& work) {
  constexpr double kBudgetMs = 400;
  constexpr std::size_t kMostRuns = 9;
  const auto timed = [&work] {
    const auto begin = Clock::now();
    work();
    return milliseconds_since(begin);
  };
  timed();
  std::vector<double> times;
  double spent = 0;
  while (times.empty() || (times.size() < kMostRuns && spent < kBudgetMs)) {
    times.push_back(timed());
    spent += times.back();
  }
  return median(std::move(times));
}

}  // namespace heddle::lab
