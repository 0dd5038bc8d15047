#include <cub/block/block_scan.cuh>
#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/sparse/device_sort.hpp>
#include <heddle/spmm/kernels/cuda/narrow_values.hpp>
#include <heddle/spmm/kernels/cuda/staged/row_blocks.hpp>
#include <heddle/spmm/kernels/cuda/staged/row_part.cuh>
#include <limits>

/// The entries of the pieces of row blocks, by teams of rows.
namespace heddle::detail::cuda {
namespace {

constexpr int kTeamThreads = 64;

std::size_t size_of(Index n) { return static_cast<std::size_t>(n); }

/// The entries of a team of rows in a piece, merged by columns.
template <class T>
class TeamMerge {
 public:
  /// Team `team` of the piece's block.
  template <class V>
  __device__ TeamMerge(const CsrView<T, DeviceSpace>& A, const RowBlocksView<V>& blocks,
                       const RowPiece& piece, int team)
      : columns_(A.columns) {
    const Index place = static_cast<Index>(piece.block) * blocks.rows_per_block + team * kTeamRows;
#pragma unroll
    for (int r = 0; r < kTeamRows; ++r) {
      parts_[r] = part_of_row(A, blocks.rows[place + r], piece, blocks.columns);
    }
  }

  __device__ bool done() const {
    bool all = true;
#pragma unroll
    for (const RowPart& part : parts_) all = all && part.begin == part.end;
    return all;
  }

  /// Takes the next column. entries[r] is row r's entry in it, or −1.
  __device__ std::int32_t take(Index (&entries)[kTeamRows]) {
    constexpr std::int32_t kNone = std::numeric_limits<std::int32_t>::max();
    std::int32_t heads[kTeamRows];
    std::int32_t column = kNone;
#pragma unroll
    for (int r = 0; r < kTeamRows; ++r) {
      heads[r] = parts_[r].begin < parts_[r].end ? columns_[parts_[r].begin] : kNone;
      column = min(column, heads[r]);
    }
#pragma unroll
    for (int r = 0; r < kTeamRows; ++r) entries[r] = heads[r] == column ? parts_[r].begin++ : -1;
    return column;
  }

 private:
  const std::int32_t* columns_;
  RowPart parts_[kTeamRows];
};

/// The places of the teams' quads in a piece and the piece's number of quads, a thread block per
/// piece and a thread per team.
template <class T, class V>
__global__ __launch_bounds__(kTeamThreads) void count_quads_kernel(CsrView<T, DeviceSpace> A,
                                                                   RowBlocksView<V> blocks,
                                                                   RowPiece* pieces,
                                                                   std::uint16_t* team_quads,
                                                                   Index* quads) {
  using Scan = cub::BlockScan<int, kTeamThreads>;
  __shared__ typename Scan::TempStorage scratch;
  RowPiece& piece = pieces[blockIdx.x];
  std::uint16_t* const own = team_quads + static_cast<Index>(blockIdx.x) * blocks.quad_pitch();
  int before = 0;
  for (int chunk = 0; chunk < blocks.teams(); chunk += kTeamThreads) {
    const int team = chunk + static_cast<int>(threadIdx.x);
    int columns = 0;
    if (team < blocks.teams()) {
      TeamMerge<T> merge(A, blocks, piece, team);
      for (Index entries[kTeamRows]; !merge.done(); ++columns) merge.take(entries);
    }
    int own_before = 0;
    int all = 0;
    Scan(scratch).ExclusiveSum((columns + kQuad - 1) / kQuad, own_before, all);
    __syncthreads();
    if (team < blocks.teams()) own[team] = static_cast<std::uint16_t>(before + own_before);
    before += all;
  }
  for (int r = blocks.teams() + static_cast<int>(threadIdx.x); r < blocks.quad_pitch();
       r += kTeamThreads) {
    own[r] = static_cast<std::uint16_t>(before);
  }
  if (threadIdx.x == 0) {
    piece.quads = (before + 1) / 2 * 2;
    quads[blockIdx.x] = piece.quads;
  }
}

/// Writes the values and places of a piece's entries, a thread block per piece and a thread per
/// team.
template <class T, class V>
__global__ __launch_bounds__(kTeamThreads) void fill_kernel(CsrView<T, DeviceSpace> A,
                                                            RowBlocksView<V> blocks,
                                                            const Index* first_quad,
                                                            RowPiece* pieces, V* values,
                                                            std::uint16_t* places) {
  const Index first = first_quad[blockIdx.x];
  const RowPiece piece = pieces[blockIdx.x];
  const std::uint16_t* const team_quads =
      blocks.team_quads + static_cast<Index>(blockIdx.x) * blocks.quad_pitch();
  for (int team = static_cast<int>(threadIdx.x); team < blocks.teams(); team += kTeamThreads) {
    TeamMerge<T> merge(A, blocks, piece, team);
    const Index end = (first + team_quads[team + 1]) * kQuad;
    Index place = piece.first_column;
    for (Index k = (first + team_quads[team]) * kQuad; k < end; ++k) {
      Index entries[kTeamRows] = {-1, -1};
      if (!merge.done()) {
        const std::int32_t column = merge.take(entries);
        place = lower_bound(blocks.columns, place, piece.first_column + piece.columns, column);
      }
      places[k] = static_cast<std::uint16_t>(place - piece.first_column);
#pragma unroll
      for (int r = 0; r < kTeamRows; ++r) {
        values[k * kTeamRows + r] = entries[r] >= 0 ? static_cast<V>(A.values[entries[r]]) : V{0};
      }
    }
  }
  // An odd number of quads is made even by one that no team has.
  const Index used = (first + team_quads[blocks.teams()]) * kQuad;
  for (Index k = used + threadIdx.x; k < (first + piece.quads) * kQuad; k += kTeamThreads) {
    places[k] = 0;
    for (int r = 0; r < kTeamRows; ++r) values[k * kTeamRows + r] = V{0};
  }
  if (threadIdx.x == 0) pieces[blockIdx.x].first_quad = first;
}

}  // namespace

template <class V>
template <class T>
void RowBlocks<V>::store_entries(CudaContext& context, const CsrView<T, DeviceSpace>& A) {
  cudaStream_t stream = context.stream();
  const auto grid = static_cast<unsigned>(pieces());
  team_quads_ = Buffer<std::uint16_t, DeviceSpace>(context, size_of(pieces() * view_.quad_pitch()));
  Buffer<Index, DeviceSpace> first_quad(context, size_of(pieces() + 1));
  check(cudaMemsetAsync(first_quad.data() + pieces(), 0, sizeof(Index), stream));
  count_quads_kernel<<<grid, kTeamThreads, 0, stream>>>(A, view_, pieces_.data(),
                                                        team_quads_.data(), first_quad.data());
  check_launch();
  view_.team_quads = team_quads_.data();
  const Index quads = exclusive_sum(context, first_quad.data(), pieces() + 1);
  values_ = Buffer<V, DeviceSpace>(context, size_of(quads * kQuadValues));
  places_ = Buffer<std::uint16_t, DeviceSpace>(context, size_of(quads * kQuad));
  fill_kernel<<<grid, kTeamThreads, 0, stream>>>(A, view_, first_quad.data(), pieces_.data(),
                                                 values_.data(), places_.data());
  check_launch();
  view_.values = values_.data();
  view_.places = places_.data();
}

#define HEDDLE_INSTANTIATE(T, V) \
  template void RowBlocks<V>::store_entries(CudaContext&, const CsrView<T, DeviceSpace>&);
HEDDLE_FOR_EACH_STORED_VALUE(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail::cuda
