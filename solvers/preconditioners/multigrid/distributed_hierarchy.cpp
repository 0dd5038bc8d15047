#include <algorithm>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/data/process_sums.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/distributed/distribute.hpp>
#include <heddle/linalg/distributed/global_rows.hpp>
#include <heddle/linalg/distributed/scatter.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/linalg/sparse/csr_ops.hpp>
#include <heddle/solvers/preconditioners/multigrid/grid_ops.hpp>
#include <heddle/solvers/preconditioners/multigrid/levels.hpp>
#include <heddle/solvers/preconditioners/multigrid/prolongator.hpp>
#include <heddle/spgemm/distributed.hpp>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

namespace heddle::detail {
namespace {

constexpr Index kGatheredRows = 4000;  // a cycle below costs about what its messages would
/// Where aggregates within processes are no coarser, a level of so many rows is gathered as it is.
constexpr Index kMostGatheredRows = 20000;

/// The grid of a level that processes share, with their ranges of its rows.
struct SharedGrid {
  Grid<HostSpace> grid;
  RowRanges ranges;

  Index rows() const noexcept { return ranges.rows(); }
};

/// A coarser grid with the P and Pᵀ that lead to it, all of them distributed.
struct CoarserShared {
  SharedGrid shared;
  HostCsrMatrix<double> P, Pt;
  Index aggregates = 0;  // of nodes of this process
  bool gathers = false;  // whether every process shall have the whole of it
};

double entries_of(HostContext& context, const HostCsrMatrix<double>& A) {
  return static_cast<double>(total_rows(context, local_entries(A.view())));
}

/// Ones on the diagonal in rows first … first + local − 1, with columns in global numbers.
HostCsrMatrix<double> identity_rows(HostContext& context, const RowRange& rows) {
  HostCsrMatrix<double> ones(context, rows.local, rows.global, rows.local);
  for (Index i = 0; i < rows.local; ++i) {
    ones.row_offsets()[i] = i;
    ones.columns()[i] = static_cast<std::int32_t>(rows.first + i);
    ones.values()[i] = 1;
  }
  ones.row_offsets()[rows.local] = rows.local;
  return ones;
}

/// Nodes that are connected to nodes of other processes alone become aggregates of their own, for
/// the coarser level to see these connections.
void add_border_nodes(HostContext& context, const Grid<HostSpace>& grid,
                      Aggregates<HostSpace>& aggregates) {
  const Buffer<std::int32_t, HostSpace> of_row = node_of_rows(context, grid);
  const Buffer<std::int32_t, HostSpace>& rows = grid.A.remote()->rows;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const auto node = static_cast<std::size_t>(of_row[static_cast<std::size_t>(rows[k])]);
    std::int32_t& aggregate = aggregates.of_node[node];
    if (aggregate < 0) aggregate = static_cast<std::int32_t>(aggregates.count++);
  }
}

/// T with columns in global numbers.
HostCsrMatrix<double> numbered(HostContext& context, const HostCsrMatrix<double>& T,
                               const RowRange& columns) {
  HostCsrMatrix<double> rows(context, T.rows(), columns.global, T.nnz());
  const CsrView<double, HostSpace> view = T.view();
  std::copy_n(view.row_offsets, view.rows + 1, rows.row_offsets());
  std::copy_n(view.values, view.nnz, rows.values());
  std::transform(view.columns, view.columns + view.nnz, rows.columns(), [&](std::int32_t column) {
    return static_cast<std::int32_t>(columns.first + column);
  });
  return rows;
}

/// Whether A P would need too many multiplications. Rows of P on other processes count as those of
/// this one do on average.
bool fills(HostContext& context, const HostCsrMatrix<double>& A,
           const HostCsrMatrix<double>& P_rows) {
  const double mean =
      static_cast<double>(P_rows.nnz()) / static_cast<double>(std::max<Index>(P_rows.rows(), 1));
  double counts[] = {multiplications(context, A.view(), P_rows.view()) +
                         mean * static_cast<double>(A.remote()->entries.nnz()),
                     static_cast<double>(local_entries(A.view()))};
  context.processes()->sum(counts);
  return counts[0] > kMostProducts * counts[1];
}

/// The rows of P on this process, with columns in global numbers, see `smoothed_prolongator`.
HostCsrMatrix<double> prolongator_rows(HostContext& context, const Grid<HostSpace>& grid,
                                       const NodeGraph<HostSpace>& strong,
                                       HostCsrMatrix<double> T_rows, const RowRange& columns,
                                       double bound) {
  HostCsrMatrix<double> P_rows = distributed_product(
      context, prolongation_smoother(context, grid, strong, bound).view(), T_rows.view(), columns);
  return fills(context, grid.A, P_rows) ? std::move(T_rows) : std::move(P_rows);
}

/// The next coarser grid. Nothing if it would not be smaller.
std::optional<CoarserShared> coarser_grid(HostContext& context, const SharedGrid& fine,
                                          double bound) {
  const Grid<HostSpace>& grid = fine.grid;
  const NodeGraph<HostSpace> strong =
      strong_connections(context, grid, strength_threshold(grid.near_null.cols()));
  Aggregates<HostSpace> aggregates = aggregate(context, strong);
  add_border_nodes(context, grid, aggregates);
  TentativeProlongator<HostSpace> tentative = tentative_prolongator(context, grid, aggregates);
  const RowRanges coarse = ranges_of_all(*context.processes(), tentative.T.cols());
  const auto most = kLeastReduction * static_cast<double>(fine.rows());
  if (coarse.rows() == 0 || static_cast<double>(coarse.rows()) > most) return {};
  const int rank = context.processes()->rank();
  const RowRange rows = fine.ranges.of(rank), columns = coarse.of(rank);
  const HostCsrMatrix<double> P_rows = prolongator_rows(
      context, grid, strong, numbered(context, tentative.T, columns), columns, bound);
  CoarserShared made;
  made.aggregates = aggregates.count;
  made.P = distribute<double>(context, P_rows.view(), rows, coarse);
  made.Pt = distribute<double>(context, transposed_rows(context, made.P.view()).view(), columns,
                               fine.ranges);
  const HostCsrMatrix<double> AP =
      distributed_product(context, grid.A.view(), P_rows.view(), columns);
  const HostCsrMatrix<double> product =
      distributed_product(context, made.Pt.view(), AP.view(), columns);
  Grid<HostSpace>& next = made.shared.grid;
  next.A = with_stored_diagonal<double>(
      context, distribute<double>(context, product.view(), columns, coarse).view());
  next.nodes = std::move(tentative.nodes);
  next.near_null = std::move(tentative.near_null);
  made.shared.ranges = coarse;
  made.gathers = coarse.rows() <= kGatheredRows;
  Buffer<double, HostSpace> scaling = extract_diagonal<double>(context, next.A.view());
  to_unit_scaling(context, scaling);
  scale_symmetrically(context, scaling, next.A);
  scale_coarse_side(context, scaling, made.P, made.Pt, next.near_null.view());
  return made;
}

/// So many numbers, in memory of the context.
Buffer<std::int64_t, HostSpace> copied(HostContext& context, const std::int64_t* numbers,
                                       std::size_t count) {
  Buffer<std::int64_t, HostSpace> made(context, count);
  std::copy_n(numbers, count, made.data());
  return made;
}

/// The nodes of all processes, one after another.
Buffer<std::int64_t, HostSpace> all_nodes(HostContext& context, const Grid<HostSpace>& grid) {
  MultiVector<double, HostSpace> begins(context, grid.A.rows(), 1);  // 1: a node begins there
  for (Index i = 0; i < grid.A.rows(); ++i) begins.view()(i, 0) = 0;
  for (Index node = 0; node < grid.node_count(); ++node) {
    begins.view()(grid.nodes[static_cast<std::size_t>(node)], 0) = 1;
  }
  const MultiVector<double, HostSpace> all = all_rows(context, std::as_const(begins).view());
  std::vector<std::int64_t> nodes;
  for (Index i = 0; i < all.rows(); ++i) {
    if (all.view()(i, 0) != 0) nodes.push_back(i);
  }
  nodes.push_back(all.rows());
  return copied(context, nodes.data(), nodes.size());
}

/// The whole grid, on every process.
Grid<HostSpace> gathered(HostContext& context, const Grid<HostSpace>& grid) {
  Grid<HostSpace> whole;
  whole.A = all_rows(context, global_rows(context, grid.A.view()).view());
  whole.nodes = all_nodes(context, grid);
  whole.near_null = all_rows(context, std::as_const(grid.near_null).view());
  return whole;
}

/// A, in memory of `context`.
HostCsrMatrix<double> moved_to(HostContext& context, const HostCsrMatrix<double>& A) {
  return convert<double>(context, A.view());
}

/// Appends the levels of `grid` and all coarser ones, which every process makes for itself. The
/// context of the others takes part in no sums.
void add_gathered_levels(HostContext& context, Grid<HostSpace> grid, EntryCount count,
                         Hierarchy<HostSpace>& made) {
  HostContext alone(context.threads());
  Hierarchy<HostSpace> rest;
  rest.levels = std::move(made.levels);
  const std::size_t distributed = rest.levels.size();
  add_levels(alone, std::move(grid), count, rest);
  made.levels = std::move(rest.levels);
  for (std::size_t l = distributed; l < made.levels.size(); ++l) {
    HierarchyLevel<HostSpace>& level = made.levels[l];
    level.A = moved_to(context, level.A);
    if (l + 1 == made.levels.size()) continue;
    level.P = moved_to(context, level.P);
    level.Pt = moved_to(context, level.Pt);
  }
  if (rest.coarse_inverse.rows() > 0) {
    made.coarse_inverse = moved_to(context, rest.coarse_inverse);
  }
}

/// P = Pᵀ = I, from a grid to itself, to be gathered.
CoarserShared unchanged(HostContext& context, const SharedGrid& fine) {
  const RowRange rows = fine.ranges.of(context.processes()->rank());
  const HostCsrMatrix<double> ones = identity_rows(context, rows);
  CoarserShared made;
  made.shared.ranges = fine.ranges;
  made.shared.grid.A = moved_to(context, fine.grid.A);
  made.shared.grid.nodes = copied(context, fine.grid.nodes.data(), fine.grid.nodes.size());
  made.shared.grid.near_null = MultiVector<double, HostSpace>(context, fine.grid.near_null.rows(),
                                                              fine.grid.near_null.cols());
  copy<double>(context, fine.grid.near_null.view(), made.shared.grid.near_null.view());
  made.P = distribute<double>(context, ones.view(), rows, fine.ranges);
  made.Pt = distribute<double>(context, ones.view(), rows, fine.ranges);
  made.aggregates = fine.grid.node_count();
  made.gathers = true;
  return made;
}

/// The grid after `fine`: a coarser one, or `fine` itself, to be gathered, where that is small or
/// aggregates within processes would not be coarser. Nothing if it is too large for that.
std::optional<CoarserShared> next_grid(HostContext& context, const SharedGrid& fine, double bound) {
  std::optional<CoarserShared> next;
  if (fine.rows() > kCoarsestRows) next = coarser_grid(context, fine, bound);
  if (!next && fine.rows() <= kMostGatheredRows) next = unchanged(context, fine);
  return next;
}

/// Makes `next` the level that every process has the whole of, with all coarser ones, and sets what
/// leads to it from the last level.
void gather_levels(HostContext& context, CoarserShared next, EntryCount count,
                   Hierarchy<HostSpace>& made) {
  const RowRanges& ranges = next.shared.ranges;
  const RowRange all = RowRange::whole(ranges.rows());
  HierarchyLevel<HostSpace>& level = made.levels.back();
  level.P = global_rows(context, next.P.view());
  level.Pt = std::move(next.Pt);
  level.gather = distribute<double>(context, identity_rows(context, all).view(), all, ranges);
  add_gathered_levels(context, gathered(context, next.shared.grid), count, made);
}

}  // namespace

Hierarchy<HostSpace> distributed_hierarchy(HostContext& context, CsrView<double, HostSpace> A,
                                           const MultigridOptions& options, double roundoff) {
  Stopwatch stopwatch;
  Hierarchy<HostSpace> made{.roundoff = roundoff};
  SharedGrid fine{{}, ranges_of_all(*context.processes(), A.rows)};
  std::tie(fine.grid, made.scaling) = finest_grid(context, A, options);
  EntryCount count{entries_of(context, fine.grid.A), 0};
  count.most = kMostComplexity * count.entries;
  while (true) {
    const double bound = upper_bound(context, fine.grid.A.view(), roundoff_of_next(made));
    made.levels.push_back({.upper_bound = bound});
    HierarchyLevel<HostSpace>& level = made.levels.back();
    std::optional<CoarserShared> next = next_grid(context, fine, bound);
    if (next) count.entries += entries_of(context, next->shared.grid.A);
    level.A = std::move(fine.grid.A);
    level.seconds = stopwatch.lap();
    if (!next || count.entries > count.most) return made;
    level.aggregates = next->aggregates;
    if (next->gathers) {
      gather_levels(context, std::move(*next), count, made);
      return made;
    }
    level.P = std::move(next->P);
    level.Pt = std::move(next->Pt);
    fine = std::move(next->shared);
  }
}

#ifdef HEDDLE_HAS_CUDA

namespace {

/// A in the memory of `host`, with its remote columns.
HostCsrMatrix<double> fetched(CudaContext& context, HostContext& host,
                              const CsrView<double, DeviceSpace>& A) {
  HostCsrMatrix<double> there = fetch(context, host, A);
  const RemoteColumns<double, DeviceSpace>& source = *A.remote;
  RemoteColumns<double, HostSpace> remote{
      fetch(context, host, source.entries.view()), {host, source.rows.size()}, source.lists};
  context.copy_to_host(remote.rows.data(), source.rows.data(),
                       source.rows.size() * sizeof(std::int32_t));
  there.set_remote(std::make_shared<const RemoteColumns<double, HostSpace>>(std::move(remote)));
  return there;
}

/// The matrix in device memory. The last level has no P and Pᵀ, not even row offsets.
CsrMatrix<double, DeviceSpace> placed_if_made(CudaContext& context, HostCsrMatrix<double> A) {
  if (A.row_offsets() == nullptr) return {};
  return place(context, std::move(A));
}

/// The processes of a context, which outlives the result.
std::shared_ptr<Processes> borrowed(Processes* processes) {
  return {std::shared_ptr<Processes>(), processes};
}

/// The threads of each of the processes of this machine.
int threads_of_each(const Processes& processes) {
  return std::max(1, HostContext().threads() / processes.on_this_machine());
}

}  // namespace

Hierarchy<DeviceSpace> distributed_hierarchy(CudaContext& context, CsrView<double, DeviceSpace> A,
                                             const MultigridOptions& options, double roundoff) {
  Processes& processes = *context.processes();
  HostContext team(threads_of_each(processes), borrowed(&processes));
  Hierarchy<HostSpace> made =
      distributed_hierarchy(team, fetched(context, team, A).view(), options, roundoff);
  Hierarchy<DeviceSpace> placed;
  placed.scaling = place(context, std::move(made.scaling));
  for (HierarchyLevel<HostSpace>& level : made.levels) {
    placed.levels.push_back({.A = place(context, std::move(level.A)),
                             .upper_bound = level.upper_bound,
                             .P = placed_if_made(context, std::move(level.P)),
                             .Pt = placed_if_made(context, std::move(level.Pt)),
                             .aggregates = level.aggregates,
                             .seconds = level.seconds});
    if (level.gather) placed.levels.back().gather = place(context, *std::move(level.gather));
  }
  placed.coarse_inverse = place(context, std::move(made.coarse_inverse));
  return placed;
}

#endif

}  // namespace heddle::detail
