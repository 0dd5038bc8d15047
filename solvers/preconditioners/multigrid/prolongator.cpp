#include <algorithm>
#include <cmath>
#include <heddle/linalg/context/host_parallel.hpp>
#include <heddle/linalg/data/filled_buffer.hpp>
#include <heddle/linalg/sparse/remote_copy.hpp>
#include <heddle/solvers/preconditioners/multigrid/prolongator.hpp>
#include <heddle/spgemm/spgemm.hpp>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

namespace heddle::detail {
namespace {

/// The rows of each aggregate, in ascending order: `rows[offsets[a]]` … `rows[offsets[a+1] − 1]`.
struct AggregateRows {
  std::vector<std::int64_t> offsets;
  Buffer<std::int64_t, HostSpace> rows;

  Index count(std::size_t a) const { return offsets[a + 1] - offsets[a]; }
  Index row(std::size_t a, Index i) const { return rows[static_cast<std::size_t>(offsets[a] + i)]; }
};

AggregateRows rows_of_aggregates(HostContext& context, const Grid<HostSpace>& grid,
                                 const Aggregates<HostSpace>& aggregates) {
  AggregateRows sorted;
  sorted.offsets.assign(static_cast<std::size_t>(aggregates.count) + 1, 0);
  const auto nodes = static_cast<std::size_t>(grid.node_count());
  for (std::size_t I = 0; I < nodes; ++I) {
    if (aggregates.of_node[I] < 0) continue;
    sorted.offsets[static_cast<std::size_t>(aggregates.of_node[I]) + 1] +=
        grid.nodes[I + 1] - grid.nodes[I];
  }
  for (std::size_t a = 1; a < sorted.offsets.size(); ++a) {
    sorted.offsets[a] += sorted.offsets[a - 1];
  }
  sorted.rows = {context, static_cast<std::size_t>(sorted.offsets.back())};
  std::vector<std::int64_t> next(sorted.offsets.begin(), sorted.offsets.end() - 1);
  for (std::size_t I = 0; I < nodes; ++I) {
    if (aggregates.of_node[I] < 0) continue;
    std::int64_t& place = next[static_cast<std::size_t>(aggregates.of_node[I])];
    for (std::int64_t row = grid.nodes[I]; row < grid.nodes[I + 1]; ++row) {
      sorted.rows[static_cast<std::size_t>(place++)] = row;
    }
  }
  return sorted;
}

/// X = Q R of a tall matrix by Gram–Schmidt in two rounds. Columns that depend on earlier ones are
/// left out of Q.
class ColumnFactors {
 public:
  /// Factors X, rows×m, stored by columns. Q replaces its first `rank` columns. R, m×m, is stored
  /// by rows and must be 0.
  ColumnFactors(double* X, double* R, Index rows, Index m) : X_(X), R_(R), rows_(rows), m_(m) {
    for (Index j = 0; j < m; ++j) add_column(j);
  }

  Index rank() const noexcept { return rank_; }

 private:
  double dot(const double* x, const double* y) const {
    double sum = 0;
    for (Index i = 0; i < rows_; ++i) sum += x[i] * y[i];
    return sum;
  }

  void add_column(Index j) {
    double* const x = X_ + j * rows_;
    const double norm = std::sqrt(dot(x, x));
    for (int round = 0; round < 2; ++round) {
      for (Index i = 0; i < rank_; ++i) {
        const double* const q = X_ + i * rows_;
        const double part = dot(q, x);
        for (Index k = 0; k < rows_; ++k) x[k] -= part * q[k];
        R_[i * m_ + j] += part;
      }
    }
    const double left = std::sqrt(dot(x, x));
    if (!(left > kDependent * norm)) return;
    double* const q = X_ + rank_ * rows_;
    for (Index k = 0; k < rows_; ++k) q[k] = x[k] / left;
    R_[rank_ * m_ + j] = left;
    ++rank_;
  }

  double* X_;
  double* R_;
  Index rows_, m_;
  Index rank_ = 0;
};

/// Q and R of all aggregates, one after the other. Q is stored by columns, R, m×m, by rows.
struct AggregateFactors {
  Buffer<double, HostSpace> Q, R;
  Buffer<std::int64_t, HostSpace>
      first_columns;  ///< of T, per aggregate, and the columns of T at the end
};

/// Calls body(a) for all aggregates on all threads.
template <class Body>
void for_each_aggregate(HostContext& context, const AggregateRows& of, const Body& body) {
  const double bytes = 4 * static_cast<double>(of.rows.size()) * sizeof(double);
  parallel_for(team_size(context.threads(), bytes, 0), std::ssize(of.offsets) - 1,
               [&](Index a) { body(static_cast<std::size_t>(a)); });
}

AggregateFactors factor(HostContext& context, ConstBlockView<double, HostSpace> X,
                        const AggregateRows& of) {
  const Index m = X.cols();
  const std::size_t columns = static_cast<std::size_t>(m);
  const std::size_t aggregates = of.offsets.size() - 1;
  AggregateFactors made{{context, of.rows.size() * columns},
                        filled(context, aggregates * columns * columns, 0.0),
                        {context, aggregates + 1}};
  made.first_columns[0] = 0;
  for_each_aggregate(context, of, [&](std::size_t a) {
    const Index rows = of.count(a);
    double* const Q = made.Q.data() + of.offsets[a] * m;
    for (Index j = 0; j < m; ++j) {
      for (Index i = 0; i < rows; ++i) Q[j * rows + i] = X(of.row(a, i), j);
    }
    const ColumnFactors factors(Q, made.R.data() + a * columns * columns, rows, m);
    made.first_columns[a + 1] = factors.rank();
  });
  std::int64_t* const first_columns = made.first_columns.data();
  std::partial_sum(first_columns, first_columns + aggregates + 1, first_columns);
  return made;
}

/// T with the parts Q in the rows and columns of their aggregates.
HostCsrMatrix<double> assemble(HostContext& context, Index n, Index m, const AggregateRows& of,
                               const AggregateFactors& factors) {
  auto offsets = filled<std::int64_t>(context, static_cast<std::size_t>(n) + 1, 0);
  for_each_aggregate(context, of, [&](std::size_t a) {
    const Index rank = factors.first_columns[a + 1] - factors.first_columns[a];
    for (Index i = 0; i < of.count(a); ++i) {
      offsets[static_cast<std::size_t>(of.row(a, i)) + 1] = rank;
    }
  });
  std::partial_sum(offsets.data(), offsets.data() + n + 1, offsets.data());
  const Index columns = factors.first_columns[factors.first_columns.size() - 1];
  HostCsrMatrix<double> T(context, n, columns, offsets.data()[n]);
  std::copy_n(offsets.data(), n + 1, T.row_offsets());
  for_each_aggregate(context, of, [&](std::size_t a) {
    const Index rows = of.count(a);
    const Index first = factors.first_columns[a];
    const double* const Q = factors.Q.data() + of.offsets[a] * m;
    for (Index i = 0; i < rows; ++i) {
      std::int64_t place = T.row_offsets()[of.row(a, i)];
      for (Index j = 0; j < factors.first_columns[a + 1] - first; ++j) {
        T.columns()[place] = static_cast<std::int32_t>(first + j);
        T.values()[place++] = Q[j * rows + i];
      }
    }
  });
  return T;
}

/// The entries of A, of which Ā keeps those in a node's own columns and in those of its strong
/// connections.
class FilteredEntries {
 public:
  FilteredEntries(HostContext& context, const Grid<HostSpace>& grid,
                  const NodeGraph<HostSpace>& strong)
      : A_(grid.A.view()), strong_(strong), of_row_(node_of_rows(context, grid)) {}

  /// Calls visit(e, kept) for all entries of a row, in their order. Columns and neighbours ascend.
  template <class Visit>
  void for_each(Index row, const Visit& visit) const {
    const std::int32_t I = of_row_[static_cast<std::size_t>(row)];
    const std::int32_t* neighbour = strong_.neighbours.data() + strong_.offsets[of(I)];
    const std::int32_t* const last = strong_.neighbours.data() + strong_.offsets[of(I) + 1];
    for (std::int64_t e = A_.row_offsets[row]; e < A_.row_offsets[row + 1]; ++e) {
      const std::int32_t J = of_row_[of(A_.columns[e])];
      while (neighbour < last && *neighbour < J) ++neighbour;
      visit(e, J == I || (neighbour < last && *neighbour == J));
    }
  }

 private:
  static std::size_t of(std::int32_t number) { return static_cast<std::size_t>(number); }

  CsrView<double, HostSpace> A_;
  const NodeGraph<HostSpace>& strong_;
  Buffer<std::int32_t, HostSpace> of_row_;
};

/// The places of the entries of Ā, its diagonal with 0 for rows of null vectors, and λ.
struct FilterSurvey {
  Buffer<std::int64_t, HostSpace> offsets;
  Buffer<double, HostSpace> diagonal;
  double bound = 0;
};

/// One row of Ā, whose entries are summed in their order.
struct FilteredRow {
  double stored = 0, weak = 0, others = 0;
  Index kept = 0;  // entries
};

/// The sums of the absolute values of A, per row, in columns of other processes. Empty if there are
/// no such columns.
Buffer<double, HostSpace> remote_sums(HostContext& context,
                                      const DistributedCsrView<double, HostSpace>& A) {
  if (!A.is_distributed()) return {};
  Buffer<double, HostSpace> sums = filled(context, static_cast<std::size_t>(A.own.rows), 0.0);
  const CsrView<double, HostSpace> remote = A.remote->entries.view();
  for (Index k = 0; k < remote.rows; ++k) {
    double& sum = sums[static_cast<std::size_t>(A.remote->rows[static_cast<std::size_t>(k)])];
    for (std::int64_t e = remote.row_offsets[k]; e < remote.row_offsets[k + 1]; ++e) {
      sum += std::abs(remote.values[e]);
    }
  }
  return sums;
}

FilterSurvey survey(HostContext& context, int threads,
                    const DistributedCsrView<double, HostSpace>& matrix,
                    const FilteredEntries& entries, double upper_bound) {
  const CsrView<double, HostSpace>& A = matrix.own;
  const auto n = static_cast<std::size_t>(A.rows);
  FilterSurvey made{{context, n + 1}, {context, n}};
  made.offsets[0] = 0;
  const Buffer<double, HostSpace> remote = remote_sums(context, matrix);
  Buffer<double, HostSpace> bounds(context, n);  // Gershgorin's
  parallel_for(threads, A.rows, [&](Index row) {
    FilteredRow sums;
    entries.for_each(row, [&](std::int64_t e, bool kept) {
      if (!kept) {
        sums.weak += A.values[e];
        return;
      }
      ++sums.kept;
      (A.columns[e] == row ? sums.stored : sums.others) += std::abs(A.values[e]);
    });
    const auto k = static_cast<std::size_t>(row);
    const double lumped = sums.stored + sums.weak;
    const double d = lumped > kLeastDiagonal * sums.stored ? lumped : sums.stored;
    made.diagonal[k] = sums.stored > kLeastDiagonal ? d : 0;
    const double others = sums.others + (remote.size() > 0 ? remote[k] : 0);
    bounds[k] = made.diagonal[k] > 0 ? 1 + others / d : 0;
    made.offsets[k + 1] = sums.kept;
  });
  for (std::size_t k = 0; k < n; ++k) {
    made.offsets[k + 1] += made.offsets[k];
    made.bound = std::max(made.bound, bounds[k]);
  }
  bool filtered = made.offsets[n] != A.nnz;
  if (matrix.is_distributed()) {
    context.processes()->largest({&made.bound, 1});
    filtered = context.agree(filtered);
  }
  if (!filtered) made.bound = std::min(made.bound, upper_bound);
  return made;
}

/// The entries of I − ω D⁻¹ Ā in columns of other processes, all of which count as strong.
std::shared_ptr<const RemoteColumns<double, HostSpace>> smoothed_remote(
    HostContext& context, const RemoteColumns<double, HostSpace>& source, const double* diagonal,
    double omega) {
  RemoteColumns<double, HostSpace> remote = copy_of<double>(context, source);
  const CsrView<double, HostSpace> R = remote.entries.view();
  for (Index k = 0; k < R.rows; ++k) {
    const double d = diagonal[remote.rows[static_cast<std::size_t>(k)]];
    const double factor = d > 0 ? -omega / d : 0;
    for (std::int64_t e = R.row_offsets[k]; e < R.row_offsets[k + 1]; ++e) {
      remote.entries.values()[e] *= factor;
    }
  }
  return std::make_shared<const RemoteColumns<double, HostSpace>>(std::move(remote));
}

}  // namespace

TentativeProlongator<HostSpace> tentative_prolongator(HostContext& context,
                                                      const Grid<HostSpace>& grid,
                                                      const Aggregates<HostSpace>& aggregates) {
  const Index m = grid.near_null.cols();
  const AggregateRows sorted = rows_of_aggregates(context, grid, aggregates);
  AggregateFactors factors = factor(context, grid.near_null.view(), sorted);
  TentativeProlongator<HostSpace> made;
  made.T = assemble(context, grid.A.rows(), m, sorted, factors);
  made.near_null = MultiVector<double, HostSpace>(context, made.T.cols(), m);
  const BlockView<double, HostSpace> X_c = made.near_null.view();
  for_each_aggregate(context, sorted, [&](std::size_t a) {
    const std::int64_t first = factors.first_columns[a];
    const double* const R = factors.R.data() + static_cast<Index>(a) * m * m;
    for (Index i = 0; i < factors.first_columns[a + 1] - first; ++i) {
      for (Index j = 0; j < m; ++j) X_c(first + i, j) = R[i * m + j];
    }
  });
  made.nodes = std::move(factors.first_columns);
  return made;
}

DistributedCsr<double, HostSpace> prolongation_smoother(
    HostContext& context, const Grid<HostSpace>& grid,
    const DistributedCsrView<double, HostSpace>& matrix, const NodeGraph<HostSpace>& strong,
    double upper_bound) {
  const CsrView<double, HostSpace>& A = matrix.own;
  const int threads = team_size(context.threads(), static_cast<double>(A.nnz) * sizeof(double), 0);
  const FilteredEntries entries(context, grid, strong);
  const FilterSurvey found = survey(context, threads, matrix, entries, upper_bound);
  const double omega = found.bound > 0 ? 4 / (3 * found.bound) : 0;
  HostCsrMatrix<double> S(context, A.rows, A.cols, found.offsets.data()[A.rows]);  // I − ω D⁻¹ Ā
  std::copy_n(found.offsets.data(), A.rows + 1, S.row_offsets());
  parallel_for(threads, A.rows, [&](Index row) {
    const double d = found.diagonal[static_cast<std::size_t>(row)];
    std::int64_t place = found.offsets[static_cast<std::size_t>(row)];
    entries.for_each(row, [&](std::int64_t e, bool kept) {
      if (!kept) return;
      const double identity = A.columns[e] == row ? 1 : 0;
      const double scaled = A.columns[e] == row ? 1 : A.values[e] / d;
      S.columns()[place] = A.columns[e];
      S.values()[place++] = d > 0 ? identity - omega * scaled : identity;
    });
  });
  if (!matrix.is_distributed()) return S;
  return {std::move(S), smoothed_remote(context, *matrix.remote, found.diagonal.data(), omega)};
}

HostCsrMatrix<double> smoothed_prolongator(HostContext& context, const Grid<HostSpace>& grid,
                                           const NodeGraph<HostSpace>& strong,
                                           CsrView<double, HostSpace> tentative,
                                           double upper_bound) {
  const DistributedCsr<double, HostSpace> smoother =
      prolongation_smoother(context, grid, grid.A.view(), strong, upper_bound);
  return spgemm<double>(context, smoother.own().view(), tentative);
}

}  // namespace heddle::detail
