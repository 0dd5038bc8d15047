#include <cstdio>
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
  return result.status == heddle::SolveStatus::converged ? 0 : 1;
}
