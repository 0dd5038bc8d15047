#include <algorithm>
#include <bit>
#include <heddle/linalg/context/host_parallel.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/spmm/blocked/block_csr.hpp>
#include <heddle/spmm/blocked/value_types.hpp>
#include <heddle/spmm/kernels/cuda/grow.hpp>
#include <heddle/spmm/kernels/cuda/upload.hpp>
#include <heddle/spmm/low_precision/block_matrix.hpp>
#include <heddle/spmm/low_precision/column_groups.hpp>
#include <heddle/spmm/low_precision/fragment_order.hpp>
#include <utility>

namespace heddle::detail {
namespace {

/// Block rows are cut where one would keep the warps of a team busy for longer than this many
/// blocks each, or longer than the other blocks keep all warps.
constexpr Index kLeastPiece = 8;

/// Thread blocks with shares take at most this many block rows, so that their slots have room.
constexpr Index kMostShareRows = 32;

Index longest_piece(const CudaContext& context, Index blocks) {
  const Index warps = warps_at_a_time(context, 1);
  return kMostWarpsPerUnit * std::max(kLeastPiece, (blocks + warps - 1) / warps);
}

/// The values of blocks stored by rows, in the order of fragments.
template <class V>
Buffer<V, HostSpace> in_fragment_order(HostContext& host, const Buffer<V, HostSpace>& values) {
  constexpr int kWidth = kBlockRowBytes / static_cast<int>(sizeof(V));
  constexpr Index kArea = kBlockRows * kWidth;
  Buffer<V, HostSpace> ordered(host, values.size());
  constexpr Index kLeastBlocks = 64;
  const Slabs slabs = make_slabs(static_cast<Index>(values.size()) / kArea, kLeastBlocks);
  parallel_for(host.threads(), slabs.count(), [&](Index slab) {
    for (Index block = slabs.begin(slab); block < slabs.end(slab); ++block) {
      for (int k = 0; k < kArea; ++k) {
        ordered.data()[block * kArea + fragment_place<V>(k / kWidth, k % kWidth)] =
            values.data()[block * kArea + k];
      }
    }
  });
  return ordered;
}

}  // namespace

template <class V>
BlockMatrix<V>::BlockMatrix(CudaContext& context, HostContext& host,
                            const CsrView<float, HostSpace>& A, const BlockOrder& order)
    : gathered_(false) {
  BlockCsr<V, HostSpace> blocked = make_block_csr<V>(host, A, kShape, order);
  blocks_ = blocked.blocks();
  set_schedules(context, blocked.row_offsets.data(), blocked.block_rows());
  values_ = place(context, in_fragment_order<V>(host, blocked.values));
  columns_ = place(context, std::move(blocked.columns));
  row_order_ = place(context, std::move(blocked.row_order));
  column_order_ = place(context, std::move(blocked.column_order));
}

template <class V>
BlockMatrix<V>::BlockMatrix(CudaContext& context, const CsrView<V, DeviceSpace>& A,
                            const std::vector<std::int32_t>& row_order)
    : gathered_(true), row_order_(cuda::upload(context, row_order)) {
  ColumnGroups<V> groups = make_column_groups(context, A, row_order_.data());
  blocks_ = groups.count;
  const Index panels = (A.rows + kShape.height - 1) / kShape.height;
  std::vector<std::int64_t> offsets(static_cast<std::size_t>(panels + 1));
  context.copy_to_host(offsets.data(), groups.offsets.data(),
                       offsets.size() * sizeof(std::int64_t));
  set_schedules(context, offsets.data(), panels);
  values_ = std::move(groups.values);
  columns_ = std::move(groups.columns);
}

template <class V>
double BlockMatrix<V>::bytes() const noexcept {
  return static_cast<double>(values_.size() * sizeof(V) + columns_.size() * sizeof(std::int32_t));
}

template <class V>
void BlockMatrix<V>::set_schedules(CudaContext& context, const std::int64_t* row_offsets,
                                   Index block_rows) {
  const BlockSchedule schedule =
      block_schedule(row_offsets, block_rows, longest_piece(context, blocks_));
  units_ = static_cast<Index>(schedule.units.size());
  split_rows_ = static_cast<Index>(schedule.split_rows.size());
  slots_ = schedule.slots;
  schedule_ = cuda::upload(context, schedule.units);
  split_ = cuda::upload(context, schedule.split_rows);
  set_shares(context, row_offsets, block_rows);
}

template <class V>
void BlockMatrix<V>::set_shares(CudaContext& context, const std::int64_t* row_offsets,
                                Index block_rows) {
  constexpr Index kMostBlocks = kShareWarps * WarpShare::kMost;
  constexpr Index kMostTries = 4;  // each with an eighth more thread blocks
  // All thread blocks run at a time: beyond, teams of warps that take several blocks each are
  // faster.
  const Index most_thread_blocks = Index{2} * context.device().multiprocessors;
  Index thread_blocks =
      std::max<Index>({context.device().multiprocessors, (blocks_ + kMostBlocks - 1) / kMostBlocks,
                       (block_rows + kMostShareRows - 1) / kMostShareRows});
  ShareSchedule shares;
  const auto fits = [&] {
    return shares.most_blocks <= WarpShare::kMost && shares.most_slots <= kMostShareSlots;
  };
  for (Index k = 0; k < kMostTries && thread_blocks <= most_thread_blocks; ++k) {
    shares = share_schedule(row_offsets, block_rows, thread_blocks, kShareWarps);
    if (fits()) break;
    thread_blocks += thread_blocks / 8;
  }
  if (shares.shares.empty() || !fits()) return;
  shares_ = static_cast<Index>(shares.shares.size());
  share_slots_ = shares.most_slots;
  row_shares_ = cuda::upload(context, shares.shares);
  warp_shares_ = cuda::upload(context, shares.warps);
  row_slots_ = cuda::upload(context, shares.slots);
}

template <class V>
StoredBlocks<V> BlockMatrix<V>::stored() const noexcept {
  return {values_.data(), columns_.data(), gathered_, row_order_.data()};
}

template <class V>
template <class Result>
void BlockMatrix<V>::run(CudaContext& context, const ShortBlock<V>& B, const Result& C) {
  if (C.N > kWidestShare || shares_ == 0) return multiply_units(context, B, C);
  ShareProduct<V, Result> product;
  product.A = stored();
  product.B = B;
  product.C = C;
  product.thread_blocks = shares_;
  product.shares = row_shares_.data();
  product.warps = warp_shares_.data();
  product.slots = row_slots_.data();
  product.most_slots = share_slots_;
  multiply_shares(context, product);
}

template <class V>
template <class Result>
void BlockMatrix<V>::multiply_units(CudaContext& context, const ShortBlock<V>& B, const Result& C) {
  const Index slab = slab_columns(C.N);
  const Index slabs = (C.N + slab - 1) / slab;
  cuda::grow(context, partial_, kShape.height * slots_ * slabs * slab);
  grow_counters(context, arrived_, split_rows_ * slabs);
  const int team = warps_per_unit(units_ * slabs, blocks_ * slabs, warps_at_a_time(context, C.N));
  BlockProduct<V, Result> product;
  product.A = stored();
  product.B = B;
  product.C = C;
  product.units = units_;
  product.team_exponent = std::countr_zero(static_cast<unsigned>(team));
  product.schedule = schedule_.data();
  product.split = split_.data();
  product.partial = partial_.data();
  product.arrived = arrived_.data();
  multiply_blocks(context, product);
}

#define HEDDLE_INSTANTIATE(V) template class BlockMatrix<V>;
HEDDLE_FOR_EACH_NARROW_FLOAT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
