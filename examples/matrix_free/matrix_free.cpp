// A matrix that is not stored: the largest eigenvalues of the five-point Laplacian on an m × m
// grid, given by a function Y = A X. They are 4 sin²(iπ/2(m+1)) + 4 sin²(jπ/2(m+1)).
#include <cmath>
#include <cstdio>
#include <heddle/drivers/solve.hpp>
#include <numbers>
#include <vector>

int main() {
  const heddle::Index m = 60;
  // X and Y are row-major blocks: X(i, j) is entry i of vector j.
  const heddle::Matrix::Apply laplacian = [m](auto X, auto Y) {
    for (heddle::Index i = 0; i < m * m; ++i) {
      const heddle::Index row = i / m;
      const heddle::Index column = i % m;
      for (heddle::Index j = 0; j < X.cols(); ++j) {
        double sum = 4 * X(i, j);
        if (column > 0) sum -= X(i - 1, j);
        if (column < m - 1) sum -= X(i + 1, j);
        if (row > 0) sum -= X(i - m, j);
        if (row < m - 1) sum -= X(i + m, j);
        Y(i, j) = sum;
      }
    }
  };
  const heddle::Problem problem{.A = heddle::Matrix(m * m, m * m, laplacian)};
  const heddle::Solution solution =
      heddle::solve(problem, {.nev = 4, .which = heddle::Which::largest, .tolerance = 1e-8});

  std::printf("%s\n", solution.reason.c_str());
  const auto part = [m](heddle::Index i) {
    const double sine = std::sin(std::numbers::pi * double(i) / double(2 * (m + 1)));
    return 4 * sine * sine;
  };
  // Modes (i, j) and (j, i) have the same value.
  const std::vector<double> exact = {part(m) + part(m), part(m) + part(m - 1),
                                     part(m) + part(m - 1), part(m - 1) + part(m - 1)};
  bool right =
      solution.status == heddle::SolveStatus::converged && solution.eigenvalues.size() == 4;
  for (std::size_t k = 0; right && k < exact.size(); ++k) {
    const double error = std::abs(solution.eigenvalues[k] - exact[k]);
    std::printf("%.12f ± %.1e, error %.1e\n", solution.eigenvalues[k], solution.error_bounds[k],
                error);
    right = error <= solution.error_bounds[k];
  }
  return right ? 0 : 1;
}
