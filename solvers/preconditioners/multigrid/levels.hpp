#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/data/process_sums.hpp>
#include <heddle/linalg/sparse/csr_ops.hpp>
#include <heddle/solvers/preconditioners/inverse_diagonal.hpp>
#include <heddle/solvers/preconditioners/multigrid/aggregates.hpp>
#include <heddle/solvers/preconditioners/multigrid/coarse_inverse.hpp>
#include <heddle/solvers/preconditioners/multigrid/grid_ops.hpp>
#include <heddle/solvers/preconditioners/multigrid/hierarchy.hpp>
#include <heddle/solvers/preconditioners/multigrid/prolongator.hpp>
#include <heddle/solvers/preconditioners/multigrid/unknowns.hpp>
#include <heddle/solvers/spectrum/lanczos_bounds.hpp>
#include <limits>
#include <optional>
#include <utility>

/// The loop that makes the levels of multigrid. It is a template over a class of operations, for
/// levels that one process holds (`LocalLevels`) and for those that processes share
/// (`SharedLevels`). Such a class has
///
///     Space, Matrix, LevelGrid   the memory, the type of A, P and Pᵀ, and a `Grid` with what else
///                                the operations need of its matrix
///     Columns                    which columns of P belong to which process
///     Prolongator                P, before its transpose exists
///
/// and the functions that the loop calls. Processes that share a level call them together.
namespace heddle::detail {

inline constexpr Index kCoarsestRows = 300;    // the dense inverse of this order takes about 0.03 s
inline constexpr double kMostComplexity = 3;   // entries of all levels per entry of A
inline constexpr double kLeastReduction = .8;  // rows of a level per row of the finer one, at most
inline constexpr double kMostProducts = 100;   // multiplications of A P per entry of A

/// The threshold of strong connections. Between nodes with several unknowns all are strong.
inline double strength_threshold(Index unknowns) { return unknowns > 1 ? 0 : 0.08; }

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

/// The stored entries of all levels, and how many there may be.
struct EntryCount {
  double entries = 0;
  double most = 0;
};

/// The machine epsilon of the entries of the next level's A if that is the finest one.
template <class Space>
std::optional<double> roundoff_of_next(const Hierarchy<Space>& made) {
  return made.levels.empty() ? std::optional(made.roundoff) : std::nullopt;
}

/// A grid with the P and Pᵀ that lead to it from the next finer one.
template <class Levels>
struct CoarserLevel {
  typename Levels::LevelGrid grid;
  typename Levels::Matrix P{}, Pt{};
  Index aggregates = 0;  ///< of nodes of this process
  bool gathers = false;  ///< whether every process shall hold the whole of a shared grid
};

/// A, P and Pᵀ of a coarser level.
template <class Matrix>
struct CoarseProducts {
  Matrix A, P, Pt;
};

/// The rows of this process.
template <class Space>
const CsrMatrix<double, Space>& own_rows(const CsrMatrix<double, Space>& A) {
  return A;
}
template <class Space>
const CsrMatrix<double, Space>& own_rows(const DistributedCsr<double, Space>& A) {
  return A.own();
}

[[noreturn]] void refuse_node_rows(Index rows, Index unknowns);
[[noreturn]] void refuse_negative(const NegativeEntry& entry);
[[noreturn]] void refuse_near_null(Index given, Index rows);

/// An upper bound of the spectrum of A, whose diagonal is one. On coarser levels the rounding
/// errors of PᵀAP, divided by small diagonal entries, may be negative eigenvalues, so that only the
/// finest level, which gives the machine epsilon of its entries, shows whether A is indefinite. It
/// throws `InvalidArgument` if it is.
template <class Ctx, class View>
double upper_bound(Ctx& context, const View& A, std::optional<double> roundoff) {
  const SpectrumBounds bounds = lanczos_bounds<double>(context, A);
  const double norm = symmetric_norm(context, A);
  if (!std::isfinite(norm) || !std::isfinite(bounds.upper)) refuse_infinite();
  const double bound = std::min(norm, bounds.upper);
  if (!(bound > 0)) return 1;
  const double rows = static_cast<double>(row_range(DistributedCsrView(A)).global);
  const double rounding = rows * std::numeric_limits<double>::epsilon();
  const double least = std::max({rounding, 1e-12, kRoundoffs * roundoff.value_or(0)});
  if (roundoff && bounds.smallest_ritz < -least * bound) {
    refuse_indefinite(bounds.smallest_ritz / bound);
  }
  return bound;
}

/// The finest grid, and s with its A = diag(s) A diag(s). Its near null vectors are those given,
/// else the vectors that are 1 at one unknown of all nodes, in terms of the scaled matrix. Throws
/// `InvalidArgument` if A has a negative diagonal entry or does not fit the options.
template <class Levels, class View, class Space = typename Levels::Space>
std::pair<typename Levels::LevelGrid, Buffer<double, Space>> finest_grid(
    const Levels& levels, const View& A, const MultigridOptions& options) {
  auto& context = levels.context();
  const RowRange rows = row_range(DistributedCsrView(A));
  const Index unknowns = options.unknowns > 0 ? options.unknowns : unknowns_per_node(context, A);
  if (context.agree(rows.local % unknowns != 0)) refuse_node_rows(rows.global, unknowns);
  if (const auto entry = levels.first_negative_entry(A)) refuse_negative(*entry);
  const ConstBlockView<double, HostSpace> given = options.near_null;
  if (context.agree(given.cols() > 0 && given.rows() != rows.local)) {
    refuse_near_null(total_rows(context, given.rows()), rows.global);
  }
  Buffer<double, Space> scaling = inverse_root_diagonal<double>(context, A);
  MultiVector<double, Space> near_null =
      near_null_vectors(context, given.cols() == 0 ? unknowns : given.cols(), given, scaling);
  typename Levels::Matrix scaled = with_stored_diagonal<double>(context, A);
  scale_symmetrically(context, scaling, scaled);
  return {levels.grid(std::move(scaled), equal_nodes(context, rows.local, unknowns),
                      std::move(near_null), levels.columns(rows.local)),
          std::move(scaling)};
}

/// The next coarser level. Nothing if it would not be smaller. `bound` is the `upper_bound` of
/// `fine`.
template <class Levels>
std::optional<CoarserLevel<Levels>> coarser_level(const Levels& levels,
                                                  const typename Levels::LevelGrid& fine,
                                                  double bound) {
  using Space = typename Levels::Space;
  auto& context = levels.context();
  const Grid<Space>& grid = levels.own(fine);
  TentativeProlongator<Space> tentative;
  typename Levels::Columns columns{};
  typename Levels::Prolongator prolongator{};
  Index count = 0;  // of aggregates
  {
    const NodeGraph<Space> strong =
        strong_connections(context, grid, strength_threshold(grid.near_null.cols()));
    const Aggregates<Space> aggregates = levels.aggregates(fine, strong);
    tentative = tentative_prolongator(context, grid, aggregates);
    count = aggregates.count;
    columns = levels.columns(tentative.T.cols());
    const Index coarse = levels.total(columns);
    const double most = kLeastReduction * static_cast<double>(levels.rows(fine));
    if (coarse == 0 || static_cast<double>(coarse) > most) return std::nullopt;
    prolongator = levels.prolongator(fine, strong, std::move(tentative.T), columns, bound);
  }
  CoarseProducts<typename Levels::Matrix> made =
      levels.products(fine, std::move(prolongator), columns);
  Buffer<double, Space> scaling = extract_diagonal<double>(context, own_rows(made.A).view());
  to_unit_scaling(context, scaling);
  scale_symmetrically(context, scaling, made.A);
  scale_coarse_side(context, scaling, made.P, made.Pt, tentative.near_null.view());
  return CoarserLevel<Levels>{levels.grid(std::move(made.A), std::move(tentative.nodes),
                                          std::move(tentative.near_null), std::move(columns)),
                              std::move(made.P), std::move(made.Pt), count};
}

/// Appends the level of `grid` and all coarser ones to `made`. `count` includes the entries of
/// `grid`.
template <class Levels, class Space = typename Levels::Space>
void add_levels(const Levels& levels, typename Levels::LevelGrid grid, EntryCount count,
                Hierarchy<Space>& made) {
  auto& context = levels.context();
  Stopwatch stopwatch;
  while (true) {
    const double bound = upper_bound(context, levels.matrix(grid), roundoff_of_next(made));
    made.levels.push_back({.upper_bound = bound});
    HierarchyLevel<Space>& level = made.levels.back();
    std::optional<CoarserLevel<Levels>> next = levels.next(grid, std::ssize(made.levels), bound);
    if (next) count.entries += levels.entries(next->grid);
    level.A = levels.take_matrix(std::move(grid));
    context.synchronize();
    level.seconds = stopwatch.lap();
    if (!next || count.entries > count.most) break;
    level.aggregates = next->aggregates;
    if (next->gathers) return levels.gather(std::move(*next), count, made);
    level.P = std::move(next->P);
    level.Pt = std::move(next->Pt);
    grid = std::move(next->grid);
  }
  levels.end(made);
  made.levels.back().seconds += stopwatch.lap();
}

/// All levels of A.
template <class Levels, class View>
Hierarchy<typename Levels::Space> all_levels(const Levels& levels, const View& A,
                                             const MultigridOptions& options, double roundoff) {
  Stopwatch stopwatch;
  Hierarchy<typename Levels::Space> made{.roundoff = roundoff};
  auto [grid, scaling] = finest_grid(levels, A, options);
  made.scaling = std::move(scaling);
  const double seconds = stopwatch.lap();
  const double entries = levels.entries(grid);
  add_levels(levels, std::move(grid), {entries, kMostComplexity * entries}, made);
  made.levels.front().seconds += seconds;
  return made;
}

/// `make_hierarchy` for an A that processes share.
Hierarchy<HostSpace> distributed_hierarchy(HostContext& context,
                                           const DistributedCsrView<double, HostSpace>& A,
                                           const MultigridOptions& options, double roundoff);

/// The same for an A on a GPU, from levels made on the host.
Hierarchy<DeviceSpace> distributed_hierarchy(CudaContext& context,
                                             const DistributedCsrView<double, DeviceSpace>& A,
                                             const MultigridOptions& options, double roundoff);

}  // namespace heddle::detail
