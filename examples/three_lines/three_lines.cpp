#include <cstdio>
#include <heddle/drivers/solve.hpp>

int main() {
  const heddle::Problem problem{
      .A = heddle::Matrix::generate({.name = "laplace3d", .size = {50, 50, 50}})};
  const heddle::Solution solution = heddle::solve(problem, {.nev = 10, .tolerance = 1e-8});
  for (double lambda : solution.eigenvalues) std::printf("%.12f\n", lambda);
  return solution.status == heddle::SolveStatus::converged ? 0 : 1;
}
