#include <fmt/format.h>

#include <algorithm>
#include <heddle/solvers/preconditioners/kind.hpp>
#include <heddle/solvers/preconditioners/multigrid/multigrid.hpp>
#include <heddle/solvers/preconditioners/multigrid/smoothing_polynomial.hpp>

namespace heddle::detail {
namespace {

constexpr Index kMostGivenUnknowns = 64;

MultigridOptions multigrid_options(const PreconditionerOptions& options) {
  const NearNullSpace& known = options.near_null();
  return {.degree = static_cast<int>(options.integer("degree")),
          .unknowns = options.integer("unknowns", known.unknowns),
          .near_null = known.vectors,
          .smoothing = options.products()};
}

/// The memory of the levels relative to A, by the mean row length: all matrices with prolongators
/// and their transposes, and all rows. Aggregates of a line have 3 rows, those of a plane some 6,
/// those of a body 8 and more.
struct Growth {
  double matrices;
  double rows;
};

Growth growth(double row_mean) {
  if (row_mean <= 3.5) return {3.3, 1.5};
  return row_mean <= 6 ? Growth{2.6, 1.2} : Growth{2.2, 1.1};
}

/// The levels, three blocks per level, four from degree 4 on, and the dense inverse of the coarsest
/// level. Setup has A and the levels in double precision, and while the second one is made, the
/// smoother I − ω D⁻¹ Ā and the strong connections of the first one.
PreconditionerBytes estimate_bytes(const PreconditionerSizes& sizes,
                                   const PreconditionerOptions& options) {
  constexpr double kCoarsestRows = 300;
  const auto rows = static_cast<double>(sizes.rows);
  const bool single = rows <= kCoarsestRows;
  const double order = single ? rows : kCoarsestRows / 2;
  const double inverse = order * order * static_cast<double>(sizes.scalar_size + 4);
  const double matrix = sizes.matrix_bytes(sizes.nnz + sizes.rows);
  const Growth of = growth(static_cast<double>(sizes.nnz) / std::max(rows, 1.0));
  const double blocks = (options.integer("degree") >= 4 ? 4 : 3) * (single ? 1 : of.rows) *
                        sizes.vector_bytes(sizes.block);
  const double of_levels = single ? 1 : of.matrices;  // bytes per byte of A
  const double levels = of_levels * matrix;
  PreconditionerSizes full = sizes;
  full.scalar_size = sizeof(double);
  const double in_double = of_levels * full.matrix_bytes(sizes.nnz + sizes.rows);
  const double copy = sizes.scalar_size < sizeof(double) ? full.matrix_bytes(sizes.nnz) : 0;
  return {.matrix = matrix,
          .kept = levels + inverse + blocks + sizes.vector_bytes(1),
          .setup = 1.7 * in_double + copy + inverse + 2 * order * order * sizeof(double)};
}

}  // namespace

PreconditionerKind multigrid_kind() {
  return {
      .name = "multigrid",
      .doc = "a V-cycle of smoothed aggregation",
      .keys = {{.name = "degree",
                .doc = "of multigrid: products with A per smoothing, that of its residual included",
                .integers = IntegerRange{1, kMostSmoothingDegree},
                .fallback = Index{3}},
               {.name = "unknowns",
                .doc = "per node for multigrid, numbered node by node; auto: found in the pattern",
                .words = {"auto"},
                .integers = IntegerRange{1, kMostGivenUnknowns},
                .fallback = "auto",
                .aliases = {"block_size", "num_functions", "dofs_per_node"}}},
      .near_inverse = true,
      .any_row_order = true,
      .takes_near_null = true,
      .narrow_products = true,
      .lowered_in_cg = true,
      .describe_options =
          [](const PreconditionerOptions& options) {
            return fmt::format(", degree {}", options.integer("degree"));
          },
      .estimate_bytes = estimate_bytes,
      .maker = {[]<RealScalar T, class Ctx>(
                    Ctx& context, DistributedCsrView<T, typename Ctx::Space> A,
                    const PreconditionerOptions& options, const SpmmOptions& spmm) {
                  return std::make_unique<MultigridPreconditioner<T, Ctx>>(
                      context, A, multigrid_options(options), spmm);
                },
                []<class Ctx>(Ctx& context, DistributedCsrView<double, typename Ctx::Space> A,
                              const PreconditionerOptions& options, const SpmmOptions& spmm) {
                  return std::make_unique<MultigridPreconditioner<float, Ctx>>(
                      context, A, multigrid_options(options), spmm);
                }},
  };
}

}  // namespace heddle::detail
