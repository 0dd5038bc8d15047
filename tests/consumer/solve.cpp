#include <cstdio>
#include <heddle/drivers/solve.hpp>

int main() {
  heddle::Problem problem{
      .A = heddle::Matrix::generate({.name = "laplace3d", .size = {50, 50, 50}})};
  heddle::Request request{.nev = 10};
  heddle::Solution solution = heddle::solve(problem, request);
  for (double lambda : solution.eigenvalues) std::printf("%.12f\n", lambda);
  return solution.status == heddle::SolveStatus::converged ? 0 : 1;
}
