// Compressed sparse rows of your own: the lowest vibrations of a chain of n equal masses that is
// held at both ends. Its eigenvalues are 4 sin²(kπ/2(n+1)).
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <heddle/drivers/solve.hpp>
#include <numbers>
#include <vector>

int main() {
  const std::int64_t n = 1000;
  std::vector<std::int64_t> row_offsets = {0};
  std::vector<std::int32_t> columns;
  std::vector<double> values;
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = std::max<std::int64_t>(i - 1, 0); j <= std::min(i + 1, n - 1); ++j) {
      columns.push_back(static_cast<std::int32_t>(j));
      values.push_back(i == j ? 2.0 : -1.0);
    }
    row_offsets.push_back(static_cast<std::int64_t>(columns.size()));
  }

  // Pointers (row_offsets.data(), ...) serve as well, as do 32-bit offsets and 64-bit columns. The
  // arrays of these types are not copied: they must outlive the solve.
  const heddle::Problem problem{.A = heddle::Matrix(n, n, row_offsets, columns, values)};
  const heddle::Solution solution = heddle::solve(problem, {.nev = 5});

  std::printf("%s\n", solution.reason.c_str());
  bool right = solution.status == heddle::SolveStatus::converged;
  for (std::size_t k = 0; k < solution.eigenvalues.size(); ++k) {
    const double sine = std::sin(std::numbers::pi * double(k + 1) / double(2 * (n + 1)));
    const double error = std::abs(solution.eigenvalues[k] - 4 * sine * sine);
    std::printf("%.14f ± %.1e, error %.1e\n", solution.eigenvalues[k], solution.error_bounds[k],
                error);
    right = right && error <= solution.error_bounds[k];
  }
  return right ? 0 : 1;
}
