#include <algorithm>
#include <heddle/linalg/sparse/csr_ops.hpp>
#include <heddle/linalg/sparse/device_sort.hpp>
#include <heddle/solvers/preconditioners/multigrid/connections.hpp>
#include <heddle/solvers/preconditioners/multigrid/device_steps.cuh>
#include <limits>

namespace heddle::detail {
namespace {

using NodeMatrix = CsrMatrix<double, DeviceSpace>;

/// The nodes of a grid, and the node of each row.
struct Nodes {
  const std::int64_t* begins;
  const std::int32_t* of_row;
  Index count;
};

/// The place of the first entry of row i whose column is not below `column`.
__device__ std::int64_t place_from(const CsrView<double, DeviceSpace>& A, Index i, Index column) {
  const std::int64_t begin = A.row_offsets[i];
  return begin + count_below(A.columns + begin, A.row_offsets[i + 1] - begin, column);
}

/// The least column of the entries of the node's rows that is not below `from`. One warp.
__device__ std::int32_t next_column(const CsrView<double, DeviceSpace>& A, const Nodes& nodes,
                                    Index node, Index from) {
  unsigned next = std::numeric_limits<std::int32_t>::max();
  for (Index i = nodes.begins[node] + lane_index(); i < nodes.begins[node + 1]; i += kWarp) {
    const std::int64_t place = place_from(A, i, from);
    if (place < A.row_offsets[i + 1]) next = min(next, static_cast<unsigned>(A.columns[place]));
  }
  return static_cast<std::int32_t>(__reduce_min_sync(kWholeWarp, next));
}

/// The sum of the squares of the entries in the rows of one node and the columns of another. One
/// warp, whose lanes add their sums in the order of a binary tree.
__device__ double square_of_block(const CsrView<double, DeviceSpace>& A, const Nodes& nodes,
                                  Index node, Index other) {
  double sum = 0;
  for (Index i = nodes.begins[node] + lane_index(); i < nodes.begins[node + 1]; i += kWarp) {
    std::int64_t place = place_from(A, i, nodes.begins[other]);
    for (; place < A.row_offsets[i + 1] && A.columns[place] < nodes.begins[other + 1]; ++place) {
      sum += A.values[place] * A.values[place];
    }
  }
  __syncwarp();
  for (int step = kWarp / 2; step > 0; step /= 2) sum += __shfl_xor_sync(kWholeWarp, sum, step);
  return sum;
}

/// counts[I] = the number of nodes in whose columns node I has entries. One warp per node.
__global__ void count_blocks_kernel(CsrView<double, DeviceSpace> A, Nodes nodes, Index* counts) {
  for (Index I = thread_index() / kWarp; I < nodes.count; I += thread_count() / kWarp) {
    Index count = 0;
    Index from = 0;
    for (;; ++count) {
      const std::int32_t column = next_column(A, nodes, I, from);
      if (column == std::numeric_limits<std::int32_t>::max()) break;
      from = nodes.begins[nodes.of_row[column] + 1];
    }
    if (lane_index() == 0) counts[I] = count;
  }
}

/// The norms of these blocks. One warp per node.
__global__ void norm_blocks_kernel(CsrView<double, DeviceSpace> A, Nodes nodes,
                                   const std::int64_t* offsets, std::int32_t* columns,
                                   double* norms) {
  for (Index I = thread_index() / kWarp; I < nodes.count; I += thread_count() / kWarp) {
    Index from = 0;
    for (std::int64_t e = offsets[I]; e < offsets[I + 1]; ++e) {
      const std::int32_t J = nodes.of_row[next_column(A, nodes, I, from)];
      const double square = square_of_block(A, nodes, I, J);
      if (lane_index() == 0) {
        columns[e] = J;
        norms[e] = sqrt(square);
      }
      from = nodes.begins[J + 1];
    }
  }
}

/// The norms of the blocks of all nodes, a row per node.
NodeMatrix block_norms(CudaContext& context, const Grid<DeviceSpace>& grid) {
  const Index count = grid.node_count();
  const Buffer<std::int32_t, DeviceSpace> of_row = node_of_rows(context, grid);
  const Nodes nodes{grid.nodes.data(), of_row.data(), count};
  const unsigned blocks = grid_for(context, count * kWarp);
  Buffer<Index, DeviceSpace> offsets = zeros<Index>(context, count + 1);
  launch(context, blocks, count_blocks_kernel, grid.A.view(), nodes, offsets.data());
  const Index nnz = exclusive_sum(context, offsets.data(), count + 1);
  NodeMatrix norms(context, count, count, nnz);
  check(cudaMemcpyAsync(norms.row_offsets(), offsets.data(), offsets.size() * sizeof(Index),
                        cudaMemcpyDeviceToDevice, context.stream()));
  launch(context, blocks, norm_blocks_kernel, grid.A.view(), nodes, norms.row_offsets(),
         norms.columns(), norms.values());
  return norms;
}

/// The connections of nodes: N holds the norms of blocks, up to their signs.
struct Connections {
  CsrView<double, DeviceSpace> N;
  const double* diagonal;
  float* largest;  ///< weight of each node's connections
  float threshold;

  /// The weight of entry e, in the row of node I.
  __device__ float weight(Index I, std::int64_t e) const {
    const std::int32_t J = N.columns[e];
    if (J == I) return 0;
    const double scale = sqrt(fabs(diagonal[I]) * fabs(diagonal[J]));
    return static_cast<float>(scale > 0 ? fabs(N.values[e]) / scale : 1.0);
  }

  __device__ bool is_strong(Index I, std::int64_t e, float weight) const {
    const float least = fminf(largest[I], largest[N.columns[e]]);
    return weight > 0 && weight > threshold * least;
  }
};

/// One team per node, here and below.
__global__ void largest_weights_kernel(Connections of) {
  const Index I = team_number();
  const RowRange range = row_range_of(of.N.row_offsets, I, of.N.rows);
  float largest = 0;
  for (Index e = range.begin + team_lane(); e < range.end; e += kTeam) {
    largest = fmaxf(largest, of.weight(I, e));
  }
  __syncwarp();
  for (int step = kTeam / 2; step > 0; step /= 2) {
    largest = fmaxf(largest, __shfl_xor_sync(kWholeWarp, largest, step, kTeam));
  }
  if (I < of.N.rows && team_lane() == 0) of.largest[I] = largest;
}

__global__ void count_strong_kernel(Connections of, Index* counts) {
  const Index I = team_number();
  const RowRange range = row_range_of(of.N.row_offsets, I, of.N.rows);
  int count = 0;
  for (Index e = range.begin + team_lane(); e < range.end; e += kTeam) {
    count += of.is_strong(I, e, of.weight(I, e));
  }
  __syncwarp();
  count = team_sum(count);
  if (I < of.N.rows && team_lane() == 0) counts[I] = count;
}

__global__ void list_strong_kernel(Connections of, const std::int64_t* offsets,
                                   std::int32_t* neighbours, float* weights) {
  const Index I = team_number();
  const RowRange range = row_range_of(of.N.row_offsets, I, of.N.rows);
  Index next = I < of.N.rows ? offsets[I] : 0;
  for (Index e = range.begin + team_lane(); __any_sync(kWholeWarp, e < range.end); e += kTeam) {
    const float weight = e < range.end ? of.weight(I, e) : 0;
    const bool strong = e < range.end && of.is_strong(I, e, weight);
    const unsigned votes = team_votes(strong);
    if (strong) {
      const Index place = next + __popc(votes & ((1U << team_lane()) - 1));
      neighbours[place] = of.N.columns[e];
      weights[place] = weight;
    }
    next += __popc(votes);
  }
}

}  // namespace

NodeGraph<DeviceSpace> strong_connections(CudaContext& context, const Grid<DeviceSpace>& grid,
                                          double threshold) {
  NodeMatrix norms;
  if (!grid.nodes_are_rows()) norms = block_norms(context, grid);
  const CsrView<double, DeviceSpace> N = grid.nodes_are_rows() ? grid.A.view() : norms.view();
  const auto nodes = static_cast<std::size_t>(N.rows);
  const Buffer<double, DeviceSpace> diagonal = extract_diagonal<double>(context, N);
  Buffer<float, DeviceSpace> largest(context, nodes);
  const Connections of{N, diagonal.data(), largest.data(), static_cast<float>(threshold)};
  const unsigned blocks = team_blocks(N.rows);
  launch(context, blocks, largest_weights_kernel, of);
  NodeGraph<DeviceSpace> strong;
  strong.offsets = zeros<Index>(context, N.rows + 1);
  launch(context, blocks, count_strong_kernel, of, strong.offsets.data());
  const auto edges =
      static_cast<std::size_t>(exclusive_sum(context, strong.offsets.data(), N.rows + 1));
  strong.neighbours = {context, edges};
  strong.weights = {context, edges};
  launch(context, blocks, list_strong_kernel, of, strong.offsets.data(), strong.neighbours.data(),
         strong.weights.data());
  return strong;
}

}  // namespace heddle::detail
