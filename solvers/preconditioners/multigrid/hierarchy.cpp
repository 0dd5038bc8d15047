#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/linalg/sparse/csr_ops.hpp>
#include <heddle/solvers/preconditioners/inverse_diagonal.hpp>
#include <heddle/solvers/preconditioners/multigrid/coarse_inverse.hpp>
#include <heddle/solvers/preconditioners/multigrid/grid_ops.hpp>
#include <heddle/solvers/preconditioners/multigrid/hierarchy.hpp>
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

constexpr Index kCoarsestRows = 300;  // the dense inverse of this order takes about 0.03 s
constexpr Index kMostDenseRows =
    1200;  // the largest order of a dense inverse, where coarsening ends early
constexpr double kMostComplexity = 3;   // entries of all levels per entry of A
constexpr double kLeastReduction = .8;  // rows of a level per row of the finer one, at most
constexpr Index kMostLevels = 20;
constexpr double kMostProducts = 100;  // multiplications of A P per entry of A

/// Between nodes with several unknowns every connection is strong.
double strength_threshold(Index unknowns) { return unknowns > 1 ? 0 : 0.08; }

/// The seconds between calls of `lap`.
class Stopwatch {
 public:
  double lap() {
    const auto before = std::exchange(last_, std::chrono::steady_clock::now());
    return std::chrono::duration<double>(last_ - before).count();
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

/// Bounds the spectrum of A, whose diagonal is one. On coarser levels the rounding errors of PᵀAP,
/// divided by small diagonal entries, may be negative eigenvalues, so that only the finest level
/// tells whether A is indefinite.
template <class Ctx>
double upper_bound(Ctx& context, CsrView<double, typename Ctx::Space> A, bool finest) {
  const SpectrumBounds bounds = lanczos_bounds<double>(context, A);
  const double norm = symmetric_norm(context, A);
  if (!std::isfinite(norm) || !std::isfinite(bounds.upper)) refuse_infinite();
  const double bound = std::min(norm, bounds.upper);
  if (!(bound > 0)) return 1;
  const double rounding = static_cast<double>(A.rows) * std::numeric_limits<double>::epsilon();
  if (finest && bounds.smallest_ritz < -std::max(rounding, 1e-12) * bound) {
    refuse_indefinite(bounds.smallest_ritz / bound);
  }
  return bound;
}

/// The finest grid, and s with its A = diag(s) A diag(s). Its near null vectors are those given,
/// else the vectors that are 1 at one unknown of all nodes, in terms of the scaled matrix.
template <class Ctx, class Space = typename Ctx::Space>
std::pair<Grid<Space>, Buffer<double, Space>> finest_grid(Ctx& context, CsrView<double, Space> A,
                                                          const MultigridOptions& options) {
  const Index unknowns = options.unknowns > 0 ? options.unknowns : unknowns_per_node(context, A);
  if (A.rows % unknowns != 0) {
    throw InvalidArgument(fmt::format(
        "MultigridPreconditioner: {} rows are not a multiple of {} unknowns", A.rows, unknowns));
  }
  if (const auto entry = first_negative(context, extract_diagonal<double>(context, A))) {
    throw InvalidArgument(
        fmt::format("MultigridPreconditioner: A must be positive semidefinite, its diagonal entry "
                    "in row {} is {:.3g}",
                    entry->row + 1, entry->value));
  }
  const ConstBlockView<double, HostSpace> given = options.near_null;
  if (!given.empty() && given.rows() != A.rows) {
    throw InvalidArgument(fmt::format("MultigridPreconditioner: near_null has {} rows, A has {}",
                                      given.rows(), A.rows));
  }
  Buffer<double, Space> scaling = inverse_root_diagonal<double>(context, A);
  Grid<Space> grid;
  grid.near_null =
      near_null_vectors(context, given.empty() ? unknowns : given.cols(), given, scaling);
  grid.A = with_stored_diagonal<double>(context, A);
  scale_symmetrically(context, scaling, grid.A);
  grid.nodes = equal_nodes(context, A.rows, unknowns);
  return {std::move(grid), std::move(scaling)};
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
Hierarchy<typename Ctx::Space> make_hierarchy(Ctx& context, CsrView<double, typename Ctx::Space> A,
                                              const MultigridOptions& options) {
  using Space = typename Ctx::Space;
  if (options.degree < 1 || options.degree > kMostSmoothingDegree) {
    throw InvalidArgument(
        fmt::format("MultigridPreconditioner: the degree must be 1 to {}, it is {}",
                    kMostSmoothingDegree, options.degree));
  }
  Stopwatch stopwatch;
  Hierarchy<Space> made;
  auto [grid, scaling] = finest_grid(context, A, options);
  made.scaling = std::move(scaling);
  const Index unknowns = grid.near_null.cols();
  double entries = static_cast<double>(grid.A.nnz());
  const double most = kMostComplexity * entries;
  while (true) {
    const double bound = upper_bound(context, grid.A.view(), made.levels.empty());
    made.levels.push_back({.upper_bound = bound});
    HierarchyLevel<Space>& level = made.levels.back();
    const bool last = grid.A.rows() <= kCoarsestRows || std::ssize(made.levels) == kMostLevels;
    auto next = last ? CoarserGrid<Space>()
                     : coarser_grid(context, grid, strength_threshold(unknowns), bound);
    entries += static_cast<double>(next.grid.A.nnz());
    level.A = std::move(grid.A);
    context.synchronize();
    level.seconds = stopwatch.lap();
    if (next.P.cols() == 0 || entries > most) break;
    level.P = std::move(next.P);
    level.Pt = std::move(next.Pt);
    level.aggregates = next.aggregates;
    grid = std::move(next.grid);
  }
  const CsrView<double, Space> coarsest = made.levels.back().A.view();
  if (coarsest.rows <= kMostDenseRows) {
    made.coarse_inverse = coarse_inverse(context, coarsest, made.levels.size() == 1);
    made.levels.back().seconds += stopwatch.lap();
  }
  return made;
}

template Hierarchy<HostSpace> make_hierarchy(HostContext&, CsrView<double, HostSpace>,
                                             const MultigridOptions&);
#ifdef HEDDLE_HAS_CUDA
template Hierarchy<DeviceSpace> make_hierarchy(CudaContext&, CsrView<double, DeviceSpace>,
                                               const MultigridOptions&);
#endif

}  // namespace heddle::detail
