#include <cstdio>
#include <heddle/drivers/solve.hpp>
#include <heddle/linalg/gallery/gallery.hpp>
#include <heddle/solvers/lobpcg/lobpcg.hpp>
#include <heddle/solvers/operators/sparse_operator.hpp>
#include <heddle/solvers/preconditioners/chebyshev/chebyshev.hpp>

int main() {
  using heddle::HostContext;
  HostContext context;
  heddle::SparseOperator<double, HostContext> A(
      context, heddle::generate<double>(context, {.name = "laplace3d", .size = {50, 50, 50}}));
  heddle::ChebyshevPreconditioner<double, HostContext> M(context, A.matrix());
  heddle::LobpcgOptions options;
  options.nev = 10;
  const auto result =
      heddle::lobpcg<double, HostContext>(context, {.A = &A, .preconditioner = &M}, options);
  for (double lambda : result.eigenvalues) std::printf("%.12f\n", lambda);

  heddle::Problem problem{.A = heddle::Matrix::generate({.name = "laplace2d", .size = {30, 30}})};
  heddle::Request request{.nev = 10};
  heddle::Solution solution = heddle::solve(problem, request);
  for (double lambda : solution.eigenvalues) std::printf("%.12f\n", lambda);
  const bool converged = result.status == heddle::SolveStatus::converged &&
                         solution.status == heddle::SolveStatus::converged;
  return converged ? 0 : 1;
}
