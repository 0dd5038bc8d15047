#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/sparse/csr_kernels.cuh>
#include <heddle/linalg/sparse/device_sort.hpp>
#include <heddle/spgemm/cuda/rows/block_rows.cuh>
#include <heddle/spgemm/cuda/teams/row_team.cuh>

namespace heddle::detail {
namespace {

/// Threads per row for rows of more than kShortRow entries on average. Shorter rows have a thread.
constexpr int kLanes = 8;
constexpr Index kShortRow = 12;

template <int W, class T>
__global__ void count_kernel(CsrView<T, DeviceSpace> M, std::int32_t* counts) {
  const Index i = RowTeam<W>::number();
  const int count = blocks_of_row<W>(M, i);
  if (i < M.rows && RowTeam<W>::lane() == 0) counts[i] = count;
}

template <class T>
__global__ void write_kernel(CsrView<T, DeviceSpace> M, ColumnBlock* blocks, std::int32_t* counts) {
  const Index i = RowTeam<kLanes>::number();
  ColumnBlock* const target = blocks + (i < M.rows ? M.row_offsets[i] - M.row_offsets[0] : 0);
  const int count = write_blocks_of_row<kLanes>(M, i, target);
  if (i < M.rows && RowTeam<kLanes>::lane() == 0) counts[i] = count;
}

}  // namespace

template <Scalar T>
DeviceIntegers count_blocks(CudaContext& context, const CsrView<T, DeviceSpace>& M) {
  DeviceIntegers counts(context, static_cast<std::size_t>(M.rows));
  if (M.nnz <= kShortRow * M.rows) {
    launch_teams<1>(context.stream(), count_kernel<1, T>, M.rows, kThreads, 0, M, counts.data());
  } else {
    launch_teams<kLanes>(context.stream(), count_kernel<kLanes, T>, M.rows, kThreads, 0, M,
                         counts.data());
  }
  return counts;
}

template <Scalar T>
void write_blocks(CudaContext& context, const CsrView<T, DeviceSpace>& M, ColumnBlock* blocks,
                  std::int32_t* counts) {
  launch_teams<kLanes>(context.stream(), write_kernel<T>, M.rows, kThreads, 0, M, blocks, counts);
}

#define HEDDLE_INSTANTIATE(T)                                                            \
  template DeviceIntegers count_blocks(CudaContext&, const CsrView<T, DeviceSpace>&);    \
  template void write_blocks(CudaContext&, const CsrView<T, DeviceSpace>&, ColumnBlock*, \
                             std::int32_t*);
HEDDLE_FOR_EACH_REAL(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
