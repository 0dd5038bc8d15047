#pragma once

#include <chrono>
#include <utility>
#include <vector>

#include "median.hpp"

namespace heddle::lab {

inline double elapsed_ms(std::chrono::steady_clock::time_point since) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - since)
      .count();
}

/// The median time of `work`, which returns when it is done, in ms. Runs it once more before that.
template <class Work>
double median_ms(const Work& work) {
  constexpr double kBudgetMs = 400;
  constexpr std::size_t kMostRuns = 9;
  const auto timed = [&work] {
    const auto begin = std::chrono::steady_clock::now();
    work();
    return elapsed_ms(begin);
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
