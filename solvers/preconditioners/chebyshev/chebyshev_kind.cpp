#include <fmt/format.h>

#include <heddle/solvers/preconditioners/chebyshev/chebyshev.hpp>
#include <heddle/solvers/preconditioners/chebyshev/narrow_chebyshev.hpp>
#include <heddle/solvers/preconditioners/kind.hpp>

namespace heddle::detail {
namespace {

constexpr Index kMaxDegree = 1000;

/// The degree, 0 for an automatic one.
int degree(const PreconditionerOptions& options) {
  return static_cast<int>(options.integer("degree", 0));
}

/// The preconditioner keeps the scaled matrix with its full diagonal, three blocks of vectors and
/// one diagonal.
PreconditionerBytes estimate_bytes(const PreconditionerSizes& sizes, const PreconditionerOptions&) {
  const double matrix = sizes.matrix_bytes(sizes.nnz + sizes.rows);
  return {.matrix = matrix, .kept = matrix + sizes.vector_bytes(3 * sizes.block + 1)};
}

}  // namespace

PreconditionerKind chebyshev_kind() {
  return {
      .name = "chebyshev",
      .doc = "a polynomial in the matrix that approximates its inverse",
      .keys = {{.name = "degree",
                .doc =
                    "of chebyshev, which multiplies one time less; auto: 12, which lobpcg raises "
                    "as the wanted eigenvalues need it, to at most 40",
                .words = {"auto"},
                .integers = IntegerRange{1, kMaxDegree},
                .fallback = "auto",
                .aliases = {"order", "poly_deg", "polynomial_degree"}}},
      .near_inverse = true,
      .any_row_order = true,
      .narrow_products = true,
      .describe_options =
          [](const PreconditionerOptions& options) {
            const int fixed = degree(options);
            return fixed > 0 ? fmt::format(", degree {}", fixed) : std::string(", degree auto");
          },
      .estimate_bytes = estimate_bytes,
      .maker = {
          []<Scalar T, class Ctx>(Ctx& context, DistributedCsrView<T, typename Ctx::Space> A,
                                  const PreconditionerOptions& options, const SpmmOptions& spmm) {
            return std::make_unique<ChebyshevPreconditioner<T, Ctx>>(context, A, degree(options),
                                                                     spmm);
          },
          []<class Ctx>(Ctx& context, DistributedCsrView<double, typename Ctx::Space> A,
                        const PreconditionerOptions& options,
                        const SpmmOptions& spmm) -> std::unique_ptr<Preconditioner<float, Ctx>> {
            if (options.products() == ProductPrecision::single_precision) {
              return std::make_unique<ChebyshevPreconditioner<float, Ctx>>(context, A,
                                                                           degree(options), spmm);
            }
            return with_narrow_float(
                options.products(), [&]<class V>(V) -> std::unique_ptr<Preconditioner<float, Ctx>> {
                  return std::make_unique<NarrowChebyshev<V, Ctx>>(context, A.whole(),
                                                                   degree(options));
                });
          }},
  };
}

}  // namespace heddle::detail
