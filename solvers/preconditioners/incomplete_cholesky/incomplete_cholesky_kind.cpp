#include <heddle/solvers/preconditioners/incomplete_cholesky/incomplete_cholesky.hpp>
#include <heddle/solvers/preconditioners/kind.hpp>

namespace heddle::detail {
namespace {

TriangularSolve triangular_solve(const PreconditionerOptions& options) {
  if (options.is("triangular_solve", "levels")) return TriangularSolve::level_scheduled;
  if (options.is("triangular_solve", "iterated")) return TriangularSolve::iterated;
  return TriangularSolve::automatic;
}

std::string describe(const PreconditionerOptions& options) {
  switch (triangular_solve(options)) {
    case TriangularSolve::level_scheduled:
      return ", solved by levels";
    case TriangularSolve::iterated:
      return ", solved by sweeps";
    case TriangularSolve::automatic:
      break;
  }
  return "";
}

/// The preconditioner keeps two triangles. With level-scheduled solves it also keeps the order of
/// their rows, and with iterated solves two blocks and a diagonal. During the setup, the factor
/// exists in addition to its two triangles.
PreconditionerBytes estimate_bytes(const PreconditionerSizes& sizes,
                                   const PreconditionerOptions& options) {
  constexpr double kLevelOrderBytes = 16;  // per row: row numbers and flags of both triangles
  const double matrix = sizes.matrix_bytes(sizes.nnz + sizes.rows);
  const double beside = triangular_solve(options) == TriangularSolve::iterated
                            ? sizes.vector_bytes(2 * sizes.block + 1)
                            : static_cast<double>(sizes.rows) * kLevelOrderBytes;
  return {.matrix = matrix, .kept = matrix + beside, .setup = 2 * matrix};
}

}  // namespace

PreconditionerKind incomplete_cholesky_kind() {
  return {
      .name = "incomplete_cholesky",
      .doc = "triangular factors without fill",
      .keys = {{.name = "triangular_solve",
                .doc = "of incomplete_cholesky; levels: exact; iterated: some Jacobi sweeps; auto: "
                       "levels",
                .words = {"auto", "levels", "iterated"},
                .fallback = "auto"}},
      .near_inverse = true,
      .any_row_order = true,
      .describe_options = describe,
      .estimate_bytes = estimate_bytes,
      .maker = {[]<Scalar T, class Ctx>(Ctx& context, CsrView<T, typename Ctx::Space> A,
                                        const PreconditionerOptions& options, const SpmmOptions&) {
                  return std::make_unique<IncompleteCholeskyPreconditioner<T, Ctx>>(
                      context, A, triangular_solve(options));
                },
                []<class Ctx>(Ctx& context, CsrView<double, typename Ctx::Space> A,
                              const PreconditionerOptions& options, const SpmmOptions&) {
                  return std::make_unique<IncompleteCholeskyPreconditioner<float, Ctx>>(
                      context, A, triangular_solve(options));
                }},
  };
}

}  // namespace heddle::detail
