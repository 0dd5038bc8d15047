#pragma once

#include <algorithm>
#include <chrono>
#include <vector>

namespace heddle::apps {

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
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

}  // namespace heddle::apps
