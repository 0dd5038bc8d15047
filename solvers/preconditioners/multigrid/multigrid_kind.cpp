#include <fmt/format.h>

#include <heddle/solvers/preconditioners/kind.hpp>
#include <heddle/solvers/preconditioners/multigrid/multigrid.hpp>
#include <heddle/solvers/preconditioners/multigrid/smoothing_polynomial.hpp>

namespace heddle::detail {
namespace {

constexpr Index kMostUnknowns = 64;

MultigridOptions multigrid_options(const PreconditionerOptions& options) {
  return {.degree = static_cast<int>(options.integer("degree")),
          .unknowns = options.integer("unknowns", 0)};
}

/// The levels take about 1.4 times the memory of A, their prolongators and the transposes of these
/// about as much as A, and the blocks of all levels that of 3.2 blocks. The levels are made in
/// double precision before they are rounded or copied.
PreconditionerBytes estimate_bytes(const PreconditionerSizes& sizes, const PreconditionerOptions&) {
  const double matrix = sizes.matrix_bytes(sizes.nnz + sizes.rows);
  return {.matrix = matrix,
          .kept = 2.4 * matrix + sizes.vector_bytes(3 * sizes.block + sizes.block / 4 + 1),
          .setup = 3.5 * matrix};
}

}  // namespace

PreconditionerKind multigrid_kind() {
  return {
      .name = "multigrid",
      .doc = "a V-cycle of smoothed aggregation",
      .keys = {{.name = "degree",
                .doc = "of multigrid's smoothing polynomials, one less than the products per "
                       "smoothing with its residual",
                .integers = IntegerRange{1, kMostSmoothingDegree},
                .fallback = Index{3}},
               {.name = "unknowns",
                .doc = "per node for multigrid, numbered node by node; auto: found in the pattern",
                .words = {"auto"},
                .integers = IntegerRange{1, kMostUnknowns},
                .fallback = "auto",
                .aliases = {"block_size", "num_functions", "dofs_per_node"}}},
      .near_inverse = true,
      .describe_options =
          [](const PreconditionerOptions& options) {
            return fmt::format(", degree {}", options.integer("degree"));
          },
      .estimate_bytes = estimate_bytes,
      .maker = {
          []<Scalar T, class Ctx>(Ctx& context, CsrView<T, typename Ctx::Space> A,
                                  const PreconditionerOptions& options, const SpmmOptions& spmm) {
            return std::make_unique<MultigridPreconditioner<T, Ctx>>(
                context, A, multigrid_options(options), spmm);
          },
          []<class Ctx>(Ctx& context, CsrView<double, typename Ctx::Space> A,
                        const PreconditionerOptions& options, const SpmmOptions& spmm) {
            return std::make_unique<MultigridPreconditioner<float, Ctx>>(
                context, A, multigrid_options(options), spmm);
          }},
  };
}

}  // namespace heddle::detail
