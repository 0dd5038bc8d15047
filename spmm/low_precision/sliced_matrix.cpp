#include <algorithm>
#include <heddle/spmm/blocked/value_types.hpp>
#include <heddle/spmm/kernels/cuda/upload.hpp>
#include <heddle/spmm/low_precision/sliced_matrix.hpp>
#include <limits>

namespace heddle::detail {
namespace {

// A warp has 8 pieces at a time, and a thread block one slice per warp.
constexpr Index kPieces = kSliceWarps * kPiecesPerSlice;
constexpr Index kLongestPiece = 64;
// With B in shared memory, longer pieces leave fewer sums to add.
constexpr Index kLeastStagedPiece = 256;
constexpr Index kMostStagedPieces = 64;

/// Room for the sums of pieces in addition to B.
constexpr std::int32_t kStagedSlots = 1024;

/// A length of pieces with which no thread block has more than `kStagedSlots` of them: a row that
/// is cut has less than 2 length/piece pieces, and a thread block the average and one row at most.
Index staged_piece(const CsrView<float, HostSpace>& A, Index groups) {
  Index longest_row = 0;
  for (Index row = 0; row < A.rows; ++row) {
    longest_row = std::max(longest_row, A.row_offsets[row + 1] - A.row_offsets[row]);
  }
  const Index most = (A.nnz + kRowCost * A.rows) / groups + longest_row + kRowCost;
  return std::max(kLeastStagedPiece, 2 * most / kStagedSlots + 1);
}

}  // namespace

template <class V>
bool SlicedMatrix<V>::stages(const CudaContext& context, Index rows_of_B) noexcept {
  return rows_of_B + kFirstStagedRow <= std::numeric_limits<std::uint16_t>::max() &&
         sliced_product_bytes(rows_of_B, kStagedSlots, true) <=
             context.device().shared_bytes_per_block;
}

template <class V>
SlicedMatrix<V>::SlicedMatrix(CudaContext& context, HostContext& host,
                              const CsrView<float, HostSpace>& A, bool staged) {
  const Index multiprocessors = context.device().multiprocessors;
  const Index longest = staged ? staged_piece(A, multiprocessors) : kLongestPiece;
  const RowGroups groups =
      staged ? balanced_rows(A, multiprocessors) : neighbouring_rows(A, longest, kPieces);
  const SlicedRows<V> sliced =
      slice_rows<V>(host, A, groups, longest, staged ? kMostStagedPieces : kPieces);
  thread_blocks_ = groups.count();
  most_slots_ = sliced.most_slots;
  shares_ = cuda::upload(context, sliced.shares);
  slices_ = cuda::upload(context, sliced.slices);
  targets_ = cuda::upload(context, sliced.targets);
  cut_rows_ = cuda::upload(context, sliced.cut_rows);
  if (staged) {
    std::vector<std::uint16_t> rows(sliced.columns.size());
    std::transform(sliced.columns.begin(), sliced.columns.end(), rows.begin(),
                   [](std::int32_t column) {
                     return static_cast<std::uint16_t>(column < 0 ? 0 : kFirstStagedRow + column);
                   });
    staged_rows_ = cuda::upload(context, rows);
  } else {
    columns_ = cuda::upload(context, sliced.columns);
  }
  values_ = cuda::upload(context, sliced.values);
}

template <class V>
double SlicedMatrix<V>::bytes() const noexcept {
  return static_cast<double>(columns_.size() * sizeof(std::int32_t) +
                             staged_rows_.size() * sizeof(std::uint16_t) +
                             values_.size() * sizeof(V));
}

template <class V>
template <class Result>
void SlicedMatrix<V>::run(CudaContext& context, const ShortBlock<V>& B, const Result& C) const {
  SlicedProduct<V, Result> product;
  product.thread_blocks = thread_blocks_;
  product.shares = shares_.data();
  product.slices = slices_.data();
  product.targets = targets_.data();
  product.cut_rows = cut_rows_.data();
  product.columns = columns_.data();
  product.staged_rows = staged_rows_.data();
  product.values = values_.data();
  product.most_slots = most_slots_;
  product.B = B;
  product.C = C;
  multiply_slices(context, product);
}

#define HEDDLE_INSTANTIATE(V) template class SlicedMatrix<V>;
HEDDLE_FOR_EACH_NARROW_FLOAT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
