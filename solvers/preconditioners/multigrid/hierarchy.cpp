#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/data/process_sums.hpp>
#include <heddle/linalg/data/remote_columns.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/linalg/sparse/csr_ops.hpp>
#include <heddle/solvers/preconditioners/inverse_diagonal.hpp>
#include <heddle/solvers/preconditioners/multigrid/coarse_inverse.hpp>
#include <heddle/solvers/preconditioners/multigrid/grid_ops.hpp>
#include <heddle/solvers/preconditioners/multigrid/levels.hpp>
#include <heddle/solvers/preconditioners/multigrid/prolongator.hpp>
#include <heddle/solvers/preconditioners/multigrid/smoothing_polynomial.hpp>
#include <heddle/solvers/preconditioners/multigrid/unknowns.hpp>
#include <heddle/solvers/spectrum/lanczos_bounds.hpp>
#include <heddle/spgemm/spgemm.hpp>
#include <limits>
#include <utility>
#include <vector>

namespace heddle::detail {
namespace {

constexpr Index kMostDenseRows =
    1200;  // the largest order of a dense inverse, where coarsening ends early
constexpr Index kMostLevels = 20;

/// The first row of a distributed or whole A with a negative diagonal entry, the same on all
/// processes.
template <class Ctx>
std::optional<NegativeEntry> first_negative_of_all(Ctx& context,
                                                   CsrView<double, typename Ctx::Space> A) {
  std::optional<NegativeEntry> first =
      first_negative(context, extract_diagonal<double>(context, A));
  if (A.remote == nullptr) return first;
  Processes& processes = *context.processes();
  NegativeEntry here{-1, 0};
  if (first) here = {row_range(A).first + first->row, first->value};
  std::vector<NegativeEntry> all(static_cast<std::size_t>(processes.size()));
  processes.gather_all(&here, all.data(), sizeof here);
  for (const NegativeEntry& entry : all) {
    if (entry.row >= 0) return entry;
  }
  return {};
}

[[noreturn]] void refuse_rows(Index rows, Index unknowns) {
  if (rows % unknowns != 0) {
    throw InvalidArgument(fmt::format(
        "MultigridPreconditioner: {} rows are not a multiple of {} unknowns", rows, unknowns));
  }
  throw InvalidArgument(fmt::format(
      "MultigridPreconditioner: the rows of a process end within a node of {} unknowns", unknowns));
}

template <class Space>
struct CoarserGrid {
  Grid<Space> grid;
  CsrMatrix<double, Space> P, Pt;
  Index aggregates = 0;  // of the finer grid
};

/// T, or P = (I − ω D⁻¹ Ā) T where a row with very many neighbours does not make it fill the next
/// level's matrix.
template <class Ctx, class Space = typename Ctx::Space>
CsrMatrix<double, Space> prolongator(Ctx& context, const Grid<Space>& grid,
                                     const NodeGraph<Space>& strong, CsrMatrix<double, Space> T,
                                     double bound) {
  CsrMatrix<double, Space> P = smoothed_prolongator(context, grid, strong, T.view(), bound);
  const auto most_products = kMostProducts * static_cast<double>(grid.A.nnz());
  return multiplications(context, grid.A.view(), P.view()) > most_products ? std::move(T)
                                                                           : std::move(P);
}

/// The next coarser grid, and P from it. P is empty if it would not be smaller.
template <class Ctx, class Space = typename Ctx::Space>
CoarserGrid<Space> coarser_grid(Ctx& context, const Grid<Space>& grid, double threshold,
                                double bound) {
  CoarserGrid<Space> made;
  {
    const NodeGraph<Space> strong = strong_connections(context, grid, threshold);
    const Aggregates<Space> aggregates = aggregate(context, strong);
    TentativeProlongator<Space> tentative = tentative_prolongator(context, grid, aggregates);
    const auto columns = static_cast<double>(tentative.T.cols());
    if (columns == 0 || columns > kLeastReduction * static_cast<double>(grid.A.rows())) return {};
    made.P = prolongator(context, grid, strong, std::move(tentative.T), bound);
    made.grid.nodes = std::move(tentative.nodes);
    made.grid.near_null = std::move(tentative.near_null);
    made.aggregates = aggregates.count;
  }
  made.Pt = transpose<double>(context, made.P.view());
  {
    const CsrMatrix<double, Space> AP = spgemm<double>(context, grid.A.view(), made.P.view());
    // It stores its diagonal, as A does and as each column of P has an entry.
    made.grid.A = spgemm<double>(context, made.Pt.view(), AP.view());
  }
  Buffer<double, Space> scaling = extract_diagonal<double>(context, made.grid.A.view());
  to_unit_scaling(context, scaling);
  scale_symmetrically(context, scaling, made.grid.A);
  scale_coarse_side(context, scaling, made.P, made.Pt, made.grid.near_null.view());
  return made;
}

}  // namespace

template <class Ctx>
double upper_bound(Ctx& context, CsrView<double, typename Ctx::Space> A,
                   std::optional<double> roundoff) {
  const SpectrumBounds bounds = lanczos_bounds<double>(context, A);
  const double norm = symmetric_norm(context, A);
  if (!std::isfinite(norm) || !std::isfinite(bounds.upper)) refuse_infinite();
  const double bound = std::min(norm, bounds.upper);
  if (!(bound > 0)) return 1;
  const double rounding =
      static_cast<double>(row_range(A).global) * std::numeric_limits<double>::epsilon();
  const double least = std::max({rounding, 1e-12, kRoundoffs * roundoff.value_or(0)});
  if (roundoff && bounds.smallest_ritz < -least * bound) {
    refuse_indefinite(bounds.smallest_ritz / bound);
  }
  return bound;
}

template <class Ctx, class Space>
std::pair<Grid<Space>, Buffer<double, Space>> finest_grid(Ctx& context, CsrView<double, Space> A,
                                                          const MultigridOptions& options) {
  const Index unknowns = options.unknowns > 0 ? options.unknowns : unknowns_per_node(context, A);
  const RowRange rows = row_range(A);
  if (context.agree(A.rows % unknowns != 0)) refuse_rows(rows.global, unknowns);
  if (const auto entry = first_negative_of_all(context, A)) {
    throw InvalidArgument(
        fmt::format("MultigridPreconditioner: A must be positive semidefinite, its diagonal entry "
                    "in row {} is {:.3g}",
                    entry->row + 1, entry->value));
  }
  const ConstBlockView<double, HostSpace> given = options.near_null;
  if (context.agree(given.cols() > 0 && given.rows() != A.rows)) {
    throw InvalidArgument(fmt::format("MultigridPreconditioner: near_null has {} rows, A has {}",
                                      total_rows(context, given.rows()), rows.global));
  }
  Buffer<double, Space> scaling = inverse_root_diagonal<double>(context, A);
  Grid<Space> grid;
  grid.near_null =
      near_null_vectors(context, given.cols() == 0 ? unknowns : given.cols(), given, scaling);
  grid.A = with_stored_diagonal<double>(context, A);
  scale_symmetrically(context, scaling, grid.A);
  grid.nodes = equal_nodes(context, A.rows, unknowns);
  return {std::move(grid), std::move(scaling)};
}

template <class Ctx, class Space>
void add_levels(Ctx& context, Grid<Space> grid, EntryCount count, Hierarchy<Space>& made) {
  Stopwatch stopwatch;
  const double threshold = strength_threshold(grid.near_null.cols());
  while (true) {
    const double bound = upper_bound(context, grid.A.view(), roundoff_of_next(made));
    made.levels.push_back({.upper_bound = bound});
    HierarchyLevel<Space>& level = made.levels.back();
    const bool last = grid.A.rows() <= kCoarsestRows || std::ssize(made.levels) == kMostLevels;
    auto next = last ? CoarserGrid<Space>() : coarser_grid(context, grid, threshold, bound);
    count.entries += static_cast<double>(next.grid.A.nnz());
    level.A = std::move(grid.A);
    context.synchronize();
    level.seconds = stopwatch.lap();
    if (next.P.cols() == 0 || count.entries > count.most) break;
    level.P = std::move(next.P);
    level.Pt = std::move(next.Pt);
    level.aggregates = next.aggregates;
    grid = std::move(next.grid);
  }
  const CsrView<double, Space> coarsest = made.levels.back().A.view();
  if (coarsest.rows <= kMostDenseRows) {
    const bool only = made.levels.size() == 1;
    made.coarse_inverse =
        coarse_inverse(context, coarsest, only ? std::optional(made.roundoff) : std::nullopt);
    made.levels.back().seconds += stopwatch.lap();
  }
}

template <class Ctx>
Hierarchy<typename Ctx::Space> make_hierarchy(Ctx& context, CsrView<double, typename Ctx::Space> A,
                                              const MultigridOptions& options, double roundoff) {
  using Space = typename Ctx::Space;
  if (options.degree < 1 || options.degree > kMostSmoothingDegree) {
    throw InvalidArgument(
        fmt::format("MultigridPreconditioner: the degree must be 1 to {}, it is {}",
                    kMostSmoothingDegree, options.degree));
  }
  if (A.remote != nullptr) return distributed_hierarchy(context, A, options, roundoff);
  Stopwatch stopwatch;
  Hierarchy<Space> made{.roundoff = roundoff};
  auto [grid, scaling] = finest_grid(context, A, options);
  made.scaling = std::move(scaling);
  const double seconds = stopwatch.lap();
  const auto entries = static_cast<double>(grid.A.nnz());
  add_levels(context, std::move(grid), {entries, kMostComplexity * entries}, made);
  made.levels.front().seconds += seconds;
  return made;
}

#define HEDDLE_INSTANTIATE(Ctx, Space)                                                             \
  template double upper_bound(Ctx&, CsrView<double, Space>, std::optional<double>);                \
  template std::pair<Grid<Space>, Buffer<double, Space>> finest_grid(Ctx&, CsrView<double, Space>, \
                                                                     const MultigridOptions&);     \
  template void add_levels(Ctx&, Grid<Space>, EntryCount, Hierarchy<Space>&);                      \
  template Hierarchy<Space> make_hierarchy(Ctx&, CsrView<double, Space>, const MultigridOptions&,  \
                                           double);
HEDDLE_INSTANTIATE(HostContext, HostSpace)
#ifdef HEDDLE_HAS_CUDA
HEDDLE_INSTANTIATE(CudaContext, DeviceSpace)
#endif
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
