#include <cmath>
#include <cstdio>
#include <heddle/linalg/gallery.hpp>
#include <heddle/solvers/lobpcg.hpp>
#include <heddle/solvers/preconditioners/jacobi.hpp>
#include <heddle/solvers/sparse_operator.hpp>

int main() {
  using heddle::HostContext;
  HostContext context;
  heddle::SparseOperator<double, HostContext> A(
      context, heddle::generate<double>(context, {.name = "laplace3d", .size = {12, 12, 12}}));
  heddle::JacobiPreconditioner<double, HostContext> M(context, A.matrix());
  heddle::LobpcgOptions options;
  options.nev = 4;
  options.tolerance = 1e-8;

  const auto result =
      heddle::lobpcg<double, HostContext>(context, {.A = &A, .preconditioner = &M}, options);
  const auto exact = heddle::laplace_smallest_eigenvalues({12, 12, 12}, options.nev);
  double error = 0;
  for (std::size_t i = 0; i < result.eigenvalues.size(); ++i) {
    std::printf("%.12f  residual %.1e\n", result.eigenvalues[i], result.residuals[i]);
    error = std::fmax(error, std::fabs(result.eigenvalues[i] - exact[i]));
  }
  const bool good = result.status == heddle::SolveStatus::converged &&
                    error <= 2 * options.tolerance * *A.one_norm();
  return good ? 0 : 1;
}
