#include <heddle/linalg/sparse/device_sort.hpp>
#include <heddle/solvers/preconditioners/multigrid/device_steps.cuh>
#include <heddle/solvers/preconditioners/multigrid/prolongator.hpp>
#include <utility>

namespace heddle::detail {
namespace {

__global__ void node_of_rows_kernel(Index nodes, const std::int64_t* begins, std::int32_t* of_row) {
  for (Index node = thread_index(); node < nodes; node += thread_count()) {
    for (Index row = begins[node]; row < begins[node + 1]; ++row) {
      of_row[row] = static_cast<std::int32_t>(node);
    }
  }
}

/// aggregates[i] = the aggregate of row i, `count` for a row without one. rows[i] = i.
__global__ void list_rows_kernel(Index n, const std::int32_t* node_of_row,
                                 const std::int32_t* aggregate_of_node, std::int32_t count,
                                 std::int32_t* aggregates, std::int32_t* rows) {
  for (Index i = thread_index(); i < n; i += thread_count()) {
    const std::int32_t aggregate = aggregate_of_node[node_of_row[i]];
    aggregates[i] = aggregate < 0 ? count : aggregate;
    rows[i] = static_cast<std::int32_t>(i);
  }
}

/// The rows of all aggregates, in ascending order in each of them.
struct AggregateRows {
  const Index* begins;  ///< of the rows of each aggregate
  const std::int32_t* rows;
  Index count;  ///< aggregates
};

/// The factors of all aggregates: row p of Q, n×m, belongs to the p-th row of the list, and R is
/// m×m per aggregate.
struct Factors {
  double* Q;
  double* R;
  Index* ranks;
  Index m;
};

/// xᵀy over the rows of an aggregate, m numbers apart, for all lanes of a warp. Lanes add their
/// sums in the order of a binary tree.
__device__ double dot(const double* x, const double* y, Index rows, Index m) {
  double sum = 0;
  for (Index i = lane_index(); i < rows; i += kWarp) sum += x[i * m] * y[i * m];
  __syncwarp();
  for (int step = kWarp / 2; step > 0; step /= 2) sum += __shfl_xor_sync(kWholeWarp, sum, step);
  return sum;
}

/// X = Q R for the rows of an aggregate by Gram–Schmidt in two rounds. Q, rows×m by rows, holds X
/// at first. R, m×m by rows, holds zeros. Returns the number of columns of Q. One warp, each lane
/// of which keeps to its rows of Q.
__device__ Index factor_columns(double* Q, double* R, Index rows, Index m) {
  Index rank = 0;
  for (Index j = 0; j < m; ++j) {
    double* const x = Q + j;
    const double norm = sqrt(dot(x, x, rows, m));
    for (int round = 0; round < 2; ++round) {
      for (Index i = 0; i < rank; ++i) {
        const double part = dot(Q + i, x, rows, m);
        for (Index k = lane_index(); k < rows; k += kWarp) x[k * m] -= part * Q[k * m + i];
        if (lane_index() == 0) R[i * m + j] += part;
      }
    }
    const double left = sqrt(dot(x, x, rows, m));
    if (!(left > kDependent * norm)) continue;
    for (Index k = lane_index(); k < rows; k += kWarp) Q[k * m + rank] = x[k * m] / left;
    if (lane_index() == 0) R[rank * m + j] = left;
    ++rank;
  }
  return rank;
}

/// One warp per aggregate.
__global__ void factor_kernel(AggregateRows of, DeviceRows<const double> X, Factors factors) {
  const Index m = factors.m;
  for (Index a = thread_index() / kWarp; a < of.count; a += thread_count() / kWarp) {
    const Index begin = of.begins[a];
    const Index rows = of.begins[a + 1] - begin;
    double* const Q = factors.Q + begin * m;
    for (Index k = lane_index(); k < rows; k += kWarp) {
      for (Index j = 0; j < m; ++j) Q[k * m + j] = X(of.rows[begin + k], j);
    }
    const Index rank = factor_columns(Q, factors.R + a * m * m, rows, m);
    if (lane_index() == 0) factors.ranks[a] = rank;
  }
}

/// lengths[i] = the columns of T in row i.
__global__ void lengths_kernel(AggregateRows of, const std::int32_t* aggregates,
                               const Index* first_columns, Index* lengths) {
  const Index listed = of.begins[of.count];
  for (Index p = thread_index(); p < listed; p += thread_count()) {
    const std::int32_t a = aggregates[p];
    lengths[of.rows[p]] = first_columns[a + 1] - first_columns[a];
  }
}

/// T with the parts Q in the rows and columns of their aggregates.
__global__ void assemble_kernel(AggregateRows of, const std::int32_t* aggregates,
                                const Index* first_columns, Factors factors,
                                const std::int64_t* offsets, std::int32_t* columns,
                                double* values) {
  const Index listed = of.begins[of.count];
  for (Index p = thread_index(); p < listed; p += thread_count()) {
    const Index first = first_columns[aggregates[p]];
    const std::int64_t begin = offsets[of.rows[p]];
    const std::int64_t end = offsets[of.rows[p] + 1];
    for (std::int64_t e = begin; e < end; ++e) {
      columns[e] = static_cast<std::int32_t>(first + e - begin);
      values[e] = factors.Q[p * factors.m + e - begin];
    }
  }
}

/// X_c, the rows of all R that belong to columns of T.
__global__ void coarse_vectors_kernel(Index count, const Index* first_columns, Factors factors,
                                      DeviceRows<double> X) {
  const Index m = factors.m;
  for (Index a = thread_index(); a < count; a += thread_count()) {
    for (Index k = first_columns[a]; k < first_columns[a + 1]; ++k) {
      const double* const R = factors.R + (a * m + k - first_columns[a]) * m;
      for (Index j = 0; j < m; ++j) X(k, j) = R[j];
    }
  }
}

}  // namespace

Buffer<std::int32_t, DeviceSpace> node_of_rows(CudaContext& context,
                                               const Grid<DeviceSpace>& grid) {
  Buffer<std::int32_t, DeviceSpace> of_row(context, static_cast<std::size_t>(grid.A.rows()));
  launch(context, grid_for(context, grid.node_count()), node_of_rows_kernel, grid.node_count(),
         grid.nodes.data(), of_row.data());
  return of_row;
}

TentativeProlongator<DeviceSpace> tentative_prolongator(CudaContext& context,
                                                        const Grid<DeviceSpace>& grid,
                                                        const Aggregates<DeviceSpace>& aggregates) {
  const Index n = grid.A.rows();
  const Index m = grid.near_null.cols();
  const Index count = aggregates.count;
  const unsigned blocks = grid_for(context, n);
  DeviceIntegers of_row(context, static_cast<std::size_t>(n));
  DeviceIntegers rows(context, static_cast<std::size_t>(n));
  launch(context, blocks, list_rows_kernel, n, node_of_rows(context, grid).data(),
         aggregates.of_node.data(), static_cast<std::int32_t>(count), of_row.data(), rows.data());
  sort_pairs(context, count, of_row, rows);
  Buffer<Index, DeviceSpace> begins(context, static_cast<std::size_t>(count) + 1);
  group_begins(context, of_row, count, begins.data());
  const AggregateRows sorted{begins.data(), rows.data(), count};

  Buffer<double, DeviceSpace> Q(context, static_cast<std::size_t>(n * m));
  Buffer<double, DeviceSpace> R = zeros<double>(context, count * m * m);
  TentativeProlongator<DeviceSpace> made;
  made.nodes = zeros<Index>(context, count + 1);
  const Factors factors{Q.data(), R.data(), made.nodes.data(), m};
  launch(context, grid_for(context, count * kWarp), factor_kernel, sorted,
         DeviceRows<const double>(grid.near_null.view()), factors);
  const Index columns = exclusive_sum(context, made.nodes.data(), count + 1);

  Buffer<Index, DeviceSpace> offsets = zeros<Index>(context, n + 1);
  launch(context, blocks, lengths_kernel, sorted, of_row.data(), made.nodes.data(), offsets.data());
  made.T = {context, n, columns, exclusive_sum(context, offsets.data(), n + 1)};
  check(cudaMemcpyAsync(made.T.row_offsets(), offsets.data(), offsets.size() * sizeof(Index),
                        cudaMemcpyDeviceToDevice, context.stream()));
  launch(context, blocks, assemble_kernel, sorted, of_row.data(), made.nodes.data(), factors,
         made.T.row_offsets(), made.T.columns(), made.T.values());
  made.near_null = {context, columns, m};
  launch(context, grid_for(context, count), coarse_vectors_kernel, count, made.nodes.data(),
         factors, DeviceRows<double>(made.near_null.view()));
  return made;
}

}  // namespace heddle::detail
