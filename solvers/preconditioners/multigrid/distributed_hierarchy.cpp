#include <algorithm>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/data/process_sums.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/distributed/distribute.hpp>
#include <heddle/linalg/distributed/global_rows.hpp>
#include <heddle/linalg/distributed/scatter.hpp>
#include <heddle/solvers/preconditioners/multigrid/local_levels.hpp>
#include <heddle/spgemm/distributed.hpp>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace heddle::detail {
namespace {

constexpr Index kGatheredRows = 4000;  // a cycle below costs about what its messages would
/// Where aggregates within processes are no coarser, a level of this many rows is gathered as it
/// is.
constexpr Index kMostGatheredRows = 20000;

using Shared = DistributedCsr<double, HostSpace>;

/// The grid of a level that processes share.
struct SharedGrid {
  Grid<HostSpace> own;  ///< with the rows of this process in its own columns
  std::shared_ptr<const RemoteColumns<double, HostSpace>> remote;
  RowRanges ranges;  ///< of the rows of all processes

  DistributedCsrView<double, HostSpace> matrix() const noexcept {
    return {own.A.view(), remote.get()};
  }
};

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

/// The operations of `add_levels` for levels that processes share, on the host.
class SharedLevels {
 public:
  using Space = HostSpace;
  using Matrix = Shared;
  using LevelGrid = SharedGrid;
  using Columns = RowRanges;
  using Prolongator = HostCsrMatrix<double>;  // its rows on this process, with global columns
  using Coarser = CoarserLevel<SharedLevels>;

  explicit SharedLevels(HostContext& context) : context_(&context) {}

  HostContext& context() const noexcept { return *context_; }
  const Grid<HostSpace>& own(const SharedGrid& grid) const noexcept { return grid.own; }
  DistributedCsrView<double, HostSpace> matrix(const SharedGrid& grid) const noexcept {
    return grid.matrix();
  }
  Shared take_matrix(SharedGrid grid) const { return {std::move(grid.own.A), grid.remote}; }
  Index rows(const SharedGrid& grid) const noexcept { return grid.ranges.rows(); }
  double entries(const SharedGrid& grid) const {
    return static_cast<double>(total_rows(*context_, local_entries(grid.matrix())));
  }
  RowRanges columns(Index local) const { return ranges_of_all(processes(), local); }
  Index total(const RowRanges& columns) const noexcept { return columns.rows(); }

  SharedGrid grid(Shared A, Buffer<std::int64_t, HostSpace> nodes,
                  MultiVector<double, HostSpace> near_null, RowRanges ranges) const {
    auto remote = A.remote();
    return {{std::move(A.own()), std::move(nodes), std::move(near_null)},
            std::move(remote),
            std::move(ranges)};
  }

  /// The first row of all processes with a negative diagonal entry, the same on all of them.
  std::optional<NegativeEntry> first_negative_entry(
      const DistributedCsrView<double, HostSpace>& A) const {
    const auto first = first_negative(*context_, extract_diagonal<double>(*context_, A.own));
    NegativeEntry here{-1, 0};
    if (first) here = {row_range(A).first + first->row, first->value};
    std::vector<NegativeEntry> all(static_cast<std::size_t>(processes().size()));
    processes().gather_all(&here, all.data(), sizeof here);
    for (const NegativeEntry& entry : all) {
      if (entry.row >= 0) return entry;
    }
    return {};
  }

  /// Aggregates of nodes of one process. Nodes that are connected to nodes of other processes alone
  /// become aggregates of their own, for the coarser level to see these connections.
  Aggregates<HostSpace> aggregates(const SharedGrid& grid,
                                   const NodeGraph<HostSpace>& strong) const {
    Aggregates<HostSpace> made = aggregate(*context_, strong);
    const Buffer<std::int32_t, HostSpace> of_row = node_of_rows(*context_, grid.own);
    const Buffer<std::int32_t, HostSpace>& rows = grid.remote->rows;
    for (std::size_t k = 0; k < rows.size(); ++k) {
      const auto node = static_cast<std::size_t>(of_row[static_cast<std::size_t>(rows[k])]);
      std::int32_t& aggregate = made.of_node[node];
      if (aggregate < 0) aggregate = static_cast<std::int32_t>(made.count++);
    }
    return made;
  }

  /// See `smoothed_prolongator`, and `LocalLevels` for where it is T.
  Prolongator prolongator(const SharedGrid& grid, const NodeGraph<HostSpace>& strong,
                          HostCsrMatrix<double> T, const RowRanges& columns, double bound) const {
    HostCsrMatrix<double> T_rows = numbered(*context_, T, own_range(columns));
    const Shared smoother =
        prolongation_smoother(*context_, grid.own, grid.matrix(), strong, bound);
    HostCsrMatrix<double> P_rows =
        distributed_product(*context_, smoother.view(), T_rows.view(), own_range(columns));
    return fills(grid.matrix(), P_rows) ? std::move(T_rows) : std::move(P_rows);
  }

  CoarseProducts<Shared> products(const SharedGrid& fine, const Prolongator& P_rows,
                                  const RowRanges& coarse) const {
    const RowRange rows = own_range(fine.ranges), columns = own_range(coarse);
    Shared P = distribute<double>(*context_, P_rows.view(), rows, coarse);
    Shared Pt = distribute<double>(*context_, transposed_rows(*context_, P.view()).view(), columns,
                                   fine.ranges);
    const HostCsrMatrix<double> AP =
        distributed_product(*context_, fine.matrix(), P_rows.view(), columns);
    const HostCsrMatrix<double> product =
        distributed_product(*context_, Pt.view(), AP.view(), columns);
    return {with_stored_diagonal<double>(
                *context_, distribute<double>(*context_, product.view(), columns, coarse).view()),
            std::move(P), std::move(Pt)};
  }

  /// The level after `fine`: a coarser one, or `fine` itself, to be gathered, where that is small
  /// or aggregates within processes would not be coarser. Nothing if it is too large for that.
  std::optional<Coarser> next(const SharedGrid& fine, Index, double bound) const {
    std::optional<Coarser> made;
    if (rows(fine) > kCoarsestRows) made = coarser_level(*this, fine, bound);
    if (made) made->gathers = rows(made->grid) <= kGatheredRows;
    if (!made && rows(fine) <= kMostGatheredRows) made = unchanged(fine);
    return made;
  }

  /// Makes `next` the level that every process has the whole of, with all coarser ones, and sets
  /// what leads to it from the last level. The context of the others takes part in no sums.
  void gather(Coarser next, const EntryCount& count, Hierarchy<HostSpace>& made) const {
    const RowRanges& ranges = next.grid.ranges;
    const RowRange all = RowRange::all(ranges.rows());
    HierarchyLevel<HostSpace>& level = made.levels.back();
    level.P = global_rows(*context_, next.P.view());
    level.Pt = std::move(next.Pt);
    level.gather = distribute<double>(*context_, identity_rows(*context_, all).view(), all, ranges);
    HostContext alone(context_->threads());
    Hierarchy<HostSpace> rest;
    rest.levels = std::move(made.levels);
    const std::size_t distributed = rest.levels.size();
    add_levels(LocalLevels<HostContext>(alone), gathered(next.grid), count, rest);
    made.levels = std::move(rest.levels);
    for (std::size_t l = distributed; l < made.levels.size(); ++l) {
      HierarchyLevel<HostSpace>& whole = made.levels[l];
      whole.A = moved(whole.A.own());
      if (l + 1 == made.levels.size()) continue;
      whole.P = moved(whole.P.own());
      whole.Pt = moved(whole.Pt.own());
    }
    if (rest.coarse_inverse.rows() > 0) made.coarse_inverse = moved(rest.coarse_inverse);
  }

  /// A last level that is not gathered has no inverse.
  void end(Hierarchy<HostSpace>&) const noexcept {}

 private:
  Processes& processes() const noexcept { return *context_->processes(); }
  RowRange own_range(const RowRanges& ranges) const { return ranges.of(processes().rank()); }

  /// A, in memory of the context.
  HostCsrMatrix<double> moved(const HostCsrMatrix<double>& A) const {
    return convert<double>(*context_, A.view());
  }

  /// Whether A P would need too many multiplications. Rows of P on other processes count as those
  /// of this one do on average.
  bool fills(const DistributedCsrView<double, HostSpace>& A,
             const HostCsrMatrix<double>& P_rows) const {
    const double mean =
        static_cast<double>(P_rows.nnz()) / static_cast<double>(std::max<Index>(P_rows.rows(), 1));
    double counts[] = {multiplications(*context_, A.own, P_rows.view()) +
                           mean * static_cast<double>(A.remote->entries.nnz()),
                       static_cast<double>(local_entries(A))};
    processes().sum(counts);
    return counts[0] > kMostProducts * counts[1];
  }

  /// P = Pᵀ = I, from a grid to itself, to be gathered.
  Coarser unchanged(const SharedGrid& fine) const {
    const RowRange rows = own_range(fine.ranges);
    const HostCsrMatrix<double> ones = identity_rows(*context_, rows);
    const Grid<HostSpace>& own = fine.own;
    MultiVector<double, HostSpace> near_null(*context_, own.near_null.rows(), own.near_null.cols());
    copy<double>(*context_, own.near_null.view(), near_null.view());
    return {{{moved(own.A), copied(*context_, own.nodes.data(), own.nodes.size()),
              std::move(near_null)},
             fine.remote,
             fine.ranges},
            distribute<double>(*context_, ones.view(), rows, fine.ranges),
            distribute<double>(*context_, ones.view(), rows, fine.ranges),
            own.node_count(),
            true};
  }

  /// The whole grid, on every process.
  Grid<HostSpace> gathered(const SharedGrid& grid) const {
    return {all_rows(*context_, global_rows(*context_, grid.matrix()).view()),
            all_nodes(*context_, grid.own),
            all_rows(*context_, std::as_const(grid.own.near_null).view())};
  }

  HostContext* context_;
};

}  // namespace

Hierarchy<HostSpace> distributed_hierarchy(HostContext& context,
                                           const DistributedCsrView<double, HostSpace>& A,
                                           const MultigridOptions& options, double roundoff) {
  return all_levels(SharedLevels(context), A, options, roundoff);
}

#ifdef HEDDLE_HAS_CUDA

namespace {

/// The matrix in device memory. The last level has no P and Pᵀ, not even row offsets.
DistributedCsr<double, DeviceSpace> placed_if_made(CudaContext& context,
                                                   DistributedCsr<double, HostSpace> A) {
  if (A.own().row_offsets() == nullptr) return {};
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

Hierarchy<DeviceSpace> distributed_hierarchy(CudaContext& context,
                                             const DistributedCsrView<double, DeviceSpace>& A,
                                             const MultigridOptions& options, double roundoff) {
  Processes& processes = *context.processes();
  HostContext team(threads_of_each(processes), borrowed(&processes));
  Hierarchy<HostSpace> made =
      distributed_hierarchy(team, fetch(context, team, A).view(), options, roundoff);
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
