#include <heddle/solvers/preconditioners/jacobi/jacobi.hpp>
#include <heddle/solvers/preconditioners/kind.hpp>

namespace heddle::detail {

PreconditionerKind jacobi_kind() {
  return {
      .name = "jacobi",
      .doc = "divides each row by its diagonal entry",
      .needs = MatrixAccess::diagonal,
      .any_row_order = true,
      .estimate_bytes =
          [](const PreconditionerSizes& sizes, const PreconditionerOptions&) {
            return PreconditionerBytes{.kept = sizes.vector_bytes(1),
                                       .setup = sizes.vector_bytes(2)};
          },
      .maker =
          []<Scalar T, class Ctx>(Ctx& context, DistributedCsrView<T, typename Ctx::Space> A,
                                  const PreconditionerOptions&, const SpmmOptions&) {
            return std::make_unique<JacobiPreconditioner<T, Ctx>>(context, A);
          },
  };
}

}  // namespace heddle::detail
