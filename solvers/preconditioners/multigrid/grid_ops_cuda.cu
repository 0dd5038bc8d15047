#include <array>
#include <bit>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/sparse/csr_ops.hpp>
#include <heddle/solvers/preconditioners/multigrid/device_steps.cuh>
#include <heddle/solvers/preconditioners/multigrid/grid_ops.hpp>
#include <heddle/solvers/preconditioners/multigrid/unknowns.hpp>
#include <limits>

namespace heddle::detail {
namespace {

using Count = unsigned long long;

__global__ void first_negative_kernel(Index n, const double* d, Count* row) {
  for (Index i = thread_index(); i < n; i += thread_count()) {
    if (d[i] < 0) atomicMin(row, static_cast<Count>(i));
  }
}

/// *largest: the largest sum of absolute values in a row. One team per row.
__global__ void largest_row_sum_kernel(CsrView<double, DeviceSpace> A, NumberBits* largest) {
  const RowRange range = row_range_of(A.row_offsets, team_number(), A.rows);
  double sum = 0;
  for (Index e = range.begin + team_lane(); e < range.end; e += kTeam) sum += fabs(A.values[e]);
  __syncwarp();
  take_largest(bits_of(team_sum(sum)), largest);
}

__global__ void equal_nodes_kernel(Index count, Index unknowns, std::int64_t* nodes) {
  for (Index node = thread_index(); node <= count; node += thread_count()) {
    nodes[node] = node * unknowns;
  }
}

/// The largest absolute values of the columns of X. One block of threads in the grid's second
/// dimension per column.
__global__ void column_maxima_kernel(DeviceRows<const double> X, NumberBits* largest) {
  const Index j = blockIdx.y;
  NumberBits own = 0;
  for (Index i = thread_index(); i < X.rows; i += thread_count()) {
    const double size = fabs(X(i, j));
    if (size > 0) own = max(own, bits_of(size));  // as the host, which passes over NaN
  }
  __syncwarp();
  take_largest(own, largest + j);
}

/// X(i, j) ← X(i, j) 2^(−e_j)/s_i with the binary exponents e_j of `largest`.
__global__ void scale_given_kernel(DeviceRows<double> X, const NumberBits* largest,
                                   const double* s) {
  const Index m = X.cols;
  for (Index k = thread_index(); k < X.rows * m; k += thread_count()) {
    const Index j = k % m;
    const double most = __longlong_as_double(static_cast<long long>(largest[j]));
    double& x = X(k / m, j);
    x = scalbn(x, most > 0 ? -ilogb(most) : 0) / s[k / m];
  }
}

__global__ void unit_vectors_kernel(DeviceRows<double> X, const double* s) {
  const Index m = X.cols;
  for (Index k = thread_index(); k < X.rows * m; k += thread_count()) {
    const Index i = k / m;
    X(i, k % m) = (i % m == k % m ? 1.0 : 0.0) / s[i];
  }
}

__global__ void largest_kernel(Index n, const double* d, NumberBits* largest) {
  NumberBits own = 0;
  for (Index i = thread_index(); i < n; i += thread_count()) {
    if (d[i] > 0) own = max(own, bits_of(d[i]));
  }
  __syncwarp();
  take_largest(own, largest);
}

__global__ void unit_scaling_kernel(Index n, const NumberBits* largest, double* d) {
  const double zero = kZeroDiagonal * __longlong_as_double(static_cast<long long>(*largest));
  for (Index i = thread_index(); i < n; i += thread_count()) {
    d[i] = d[i] > zero ? 1 / sqrt(d[i]) : 1;
  }
}

/// *sum += the multiplications. Sums of integers do not depend on their order.
__global__ void multiplications_kernel(CsrView<double, DeviceSpace> A,
                                       CsrView<double, DeviceSpace> P, Count* sum) {
  Count own = 0;
  for (Index e = thread_index(); e < A.nnz; e += thread_count()) {
    const std::int32_t k = A.columns[e];
    own += static_cast<Count>(P.row_offsets[k + 1] - P.row_offsets[k]);
  }
  __syncwarp();
  for (int step = kWarp / 2; step > 0; step /= 2) own += __shfl_xor_sync(kWholeWarp, own, step);
  if (lane_index() == 0) atomicAdd(sum, own);
}

__global__ void scale_columns_kernel(Index nnz, const std::int32_t* columns, const double* s,
                                     double* values) {
  for (Index e = thread_index(); e < nnz; e += thread_count()) values[e] *= s[columns[e]];
}

/// Rows of Pᵀ times s, rows of X over s. One team per row.
__global__ void scale_rows_kernel(Index rows, const std::int64_t* offsets, const double* s,
                                  double* values, DeviceRows<double> X) {
  const Index i = team_number();
  const RowRange range = row_range_of(offsets, i, rows);
  for (Index e = range.begin + team_lane(); e < range.end; e += kTeam) values[e] *= s[i];
  if (i >= rows) return;
  for (Index j = team_lane(); j < X.cols; j += kTeam) X(i, j) /= s[i];
}

/// Whether the b rows from `first` on have equal columns, which are whole nodes.
__device__ bool is_node(const CsrView<double, DeviceSpace>& A, Index first, Index b) {
  const std::int32_t* const columns = A.columns + A.row_offsets[first];
  const Index length = A.row_offsets[first + 1] - A.row_offsets[first];
  if (length == 0 || length % b != 0) return false;
  for (Index k = 0; k < length; ++k) {
    if (columns[k] % b != k % b || columns[k] / b != columns[k - k % b] / b) return false;
  }
  for (Index row = first + 1; row < first + b; ++row) {
    if (A.row_offsets[row + 1] - A.row_offsets[row] != length) return false;
    const std::int32_t* const others = A.columns + A.row_offsets[row];
    for (Index k = 0; k < length; ++k) {
      if (columns[k] != others[k]) return false;
    }
  }
  return true;
}

/// *full: the nodes of the sample that are full blocks.
__global__ void full_nodes_kernel(CsrView<double, DeviceSpace> A, NodeSample sample, Index b,
                                  Count* full) {
  for (Index k = thread_index(); k < sample.count; k += thread_count()) {
    if (is_node(A, k * sample.step * b, b)) atomicAdd(full, Count{1});
  }
}

}  // namespace

std::optional<NegativeEntry> first_negative(CudaContext& context,
                                            const Buffer<double, DeviceSpace>& d) {
  const auto n = static_cast<Index>(d.size());
  Buffer<Count, DeviceSpace> row(context, 1);
  check(cudaMemsetAsync(row.data(), 0xff, sizeof(Count), context.stream()));
  launch(context, grid_for(context, n), first_negative_kernel, n, d.data(), row.data());
  const Count found = fetch_number(context, row.data());
  if (found == std::numeric_limits<Count>::max()) return {};
  return NegativeEntry{static_cast<Index>(found), fetch_number(context, d.data() + found)};
}

double symmetric_norm(CudaContext& context, CsrView<double, DeviceSpace> A) {
  Buffer<NumberBits, DeviceSpace> largest = zeros<NumberBits>(context, 1);
  launch(context, team_blocks(A.rows), largest_row_sum_kernel, A, largest.data());
  return std::bit_cast<double>(fetch_number(context, largest.data()));
}

Buffer<std::int64_t, DeviceSpace> equal_nodes(CudaContext& context, Index rows, Index unknowns) {
  const Index count = rows / unknowns;
  Buffer<std::int64_t, DeviceSpace> nodes(context, static_cast<std::size_t>(count) + 1);
  launch(context, grid_for(context, count + 1), equal_nodes_kernel, count, unknowns, nodes.data());
  return nodes;
}

MultiVector<double, DeviceSpace> near_null_vectors(CudaContext& context, Index m,
                                                   ConstBlockView<double, HostSpace> given,
                                                   const Buffer<double, DeviceSpace>& s) {
  const auto n = static_cast<Index>(s.size());
  MultiVector<double, DeviceSpace> X(context, n, m);
  const unsigned blocks = grid_for(context, n * m);
  if (given.empty()) {
    launch(context, blocks, unit_vectors_kernel, DeviceRows<double>(X.view()), s.data());
    return X;
  }
  send<double>(context, given, X.view());
  Buffer<NumberBits, DeviceSpace> largest = zeros<NumberBits>(context, m);
  column_maxima_kernel<<<dim3(grid_for(context, n), static_cast<unsigned>(m)), kThreads, 0,
                         context.stream()>>>(DeviceRows<const double>(X.view()), largest.data());
  check_launch();
  launch(context, blocks, scale_given_kernel, DeviceRows<double>(X.view()), largest.data(),
         s.data());
  return X;
}

void to_unit_scaling(CudaContext& context, Buffer<double, DeviceSpace>& d) {
  const auto n = static_cast<Index>(d.size());
  Buffer<NumberBits, DeviceSpace> largest = zeros<NumberBits>(context, 1);
  launch(context, grid_for(context, n), largest_kernel, n, d.data(), largest.data());
  launch(context, grid_for(context, n), unit_scaling_kernel, n, largest.data(), d.data());
}

double multiplications(CudaContext& context, CsrView<double, DeviceSpace> A,
                       CsrView<double, DeviceSpace> P) {
  Buffer<Count, DeviceSpace> sum = zeros<Count>(context, 1);
  launch(context, grid_for(context, A.nnz), multiplications_kernel, A, P, sum.data());
  return static_cast<double>(fetch_number(context, sum.data()));
}

void scale_coarse_side(CudaContext& context, const Buffer<double, DeviceSpace>& s,
                       CsrMatrix<double, DeviceSpace>& P, CsrMatrix<double, DeviceSpace>& Pt,
                       BlockView<double, DeviceSpace> X) {
  launch(context, grid_for(context, P.nnz()), scale_columns_kernel, P.nnz(), P.columns(), s.data(),
         P.values());
  launch(context, team_blocks(Pt.rows()), scale_rows_kernel, Pt.rows(), Pt.row_offsets(), s.data(),
         Pt.values(), DeviceRows<double>(X));
}

void fetch_dense(CudaContext& context, HostContext& host, CsrView<double, DeviceSpace> A,
                 SmallView<double, HostSpace> H) {
  fetch_dense(host, host, fetch<double>(context, host, A).view(), H);
}

Index unknowns_per_node(CudaContext& context, CsrView<double, DeviceSpace> A) {
  std::array<Count, kMostUnknowns + 1> full{};
  Buffer<Count, DeviceSpace> counts = zeros<Count>(context, kMostUnknowns + 1);
  for (Index b = 2; b <= kMostUnknowns; ++b) {
    const NodeSample sample = node_sample(A.rows, b);
    if (sample.count == 0) continue;
    launch(context, grid_for(context, sample.count), full_nodes_kernel, A, sample, b,
           counts.data() + b);
  }
  context.copy_to_host(full.data(), counts.data(), sizeof full);
  for (Index b = kMostUnknowns; b > 1; --b) {
    const auto found = static_cast<Index>(full[static_cast<std::size_t>(b)]);
    if (node_sample(A.rows, b).has_enough(found)) return b;
  }
  return 1;
}

}  // namespace heddle::detail
