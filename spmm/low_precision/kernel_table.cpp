#include <algorithm>
#include <heddle/linalg/data/csr_matrix.hpp>
#include <heddle/spmm/blocked/value_types.hpp>
#include <heddle/spmm/kernels/cuda/upload.hpp>
#include <heddle/spmm/low_precision/block_matrix.hpp>
#include <heddle/spmm/low_precision/column_groups.hpp>
#include <heddle/spmm/low_precision/kernel_table.hpp>
#include <heddle/spmm/low_precision/low_precision.hpp>
#include <heddle/spmm/low_precision/row_matrix.hpp>
#include <heddle/spmm/low_precision/sliced_matrix.hpp>
#include <utility>

namespace heddle::detail {
namespace {

/// The oldest device whose tensor cores take these types.
constexpr int kLeastCapability = 80;

/// The columns of whole blocks.
template <class V>
Index padded_columns(const CsrView<V, DeviceSpace>& A) {
  constexpr Index kWidth = BlockMatrix<V>::kShape.width;
  return (A.cols + kWidth - 1) / kWidth * kWidth;
}

template <class V>
HostCsrMatrix<float> host_copy(const ShortInput<V>& input) {
  const CsrView<V, DeviceSpace>& A = input.A;
  HostCsrMatrix<float> copy(input.host, A.rows, A.cols, A.nnz);
  const auto fetch = [&](auto* to, const auto* from, Index count) {
    input.context.copy_to_host(to, from, static_cast<std::size_t>(count) * sizeof *from);
  };
  fetch(copy.row_offsets(), A.row_offsets, A.rows + 1);
  fetch(copy.columns(), A.columns, A.nnz);
  std::vector<V> values(static_cast<std::size_t>(A.nnz));
  fetch(values.data(), A.values, A.nnz);
  std::transform(values.begin(), values.end(), copy.values(),
                 [](V value) { return value.value(); });
  return copy;
}

/// One maker per number type.
template <class Make>
constexpr auto makers_of(const Make&) {
  const auto maker = []<class V>(V) -> MakeShort<V> {
    return
        [](const ShortInput<V>& input) -> std::unique_ptr<ShortMatrix<V>> { return Make{}(input); };
  };
  return std::tuple{maker(Half{}), maker(Bfloat16{}), maker(Tf32{})};
}

template <class V, bool kStaged>
std::unique_ptr<ShortMatrix<V>> make_slices(const ShortInput<V>& input) {
  const HostCsrMatrix<float> A = host_copy(input);
  return std::make_unique<SlicedMatrix<V>>(input.context, input.host, A.view(), kStaged);
}

}  // namespace

const std::vector<ShortKernel>& short_kernels() {
  static const std::vector<ShortKernel> kernels = {
      {"rows", "compressed rows; rows with equal columns together", false, false, rows_seconds,
       makers_of([]<class V>(const ShortInput<V>& input) {
         return std::make_unique<RowMatrix<V>>(input.context, input.A);
       })},
      {"panels", "tensor cores; dense blocks of the columns with entries", false, true,
       panels_seconds, makers_of([]<class V>(const ShortInput<V>& input) {
         return std::make_unique<BlockMatrix<V>>(input.context, input.A, input.order.rows);
       })},
      {"blocks", "tensor cores; dense blocks at multiples of their width", true, true,
       blocks_seconds, makers_of([]<class V>(const ShortInput<V>& input) {
         const HostCsrMatrix<float> A = host_copy(input);
         return std::make_unique<BlockMatrix<V>>(input.context, input.host, A.view(), input.order);
       })},
      {"slices", "slices of 8 rows in their natural order", true, false, slices_seconds,
       makers_of([]<class V>(const ShortInput<V>& input) { return make_slices<V, false>(input); })},
      {"staged_slices", "slices of 8 rows, B in shared memory", true, false, staged_slices_seconds,
       makers_of([]<class V>(const ShortInput<V>& input) { return make_slices<V, true>(input); })},
  };
  return kernels;
}

template <class V>
ProductCounts count_product(const ShortInput<V>& input, const RowPattern* pattern, Index columns) {
  const auto& [context, host, A, order] = input;
  ProductCounts counts;
  counts.cols = padded_columns(A);
  counts.nnz = A.nnz;
  counts.mean_row = static_cast<double>(A.nnz) / static_cast<double>(std::max<Index>(1, A.rows));
  counts.alike_rows = rows_alike(context, A.rows, A.row_offsets, A.columns);
  const Buffer<std::int32_t, DeviceSpace> row_order = cuda::upload(context, order.rows);
  counts.groups = count_column_groups(context, A, row_order.data());
  if (pattern != nullptr) {
    counts.blocks = count_blocks(host, *pattern, BlockMatrix<V>::kShape, order).blocks();
  }
  counts.gathered_lines = gathered_lines(context, A);
  counts.stages = SlicedMatrix<V>::stages(context, padded_columns(A));
  counts.tensor_cores = context.device().compute_capability >= kLeastCapability;
  counts.columns = columns;
  counts.value_bytes = sizeof(V);
  counts.multiprocessors = context.device().multiprocessors;
  return counts;
}

#define HEDDLE_INSTANTIATE(V) \
  template ProductCounts count_product(const ShortInput<V>&, const RowPattern*, Index);
HEDDLE_FOR_EACH_NARROW_FLOAT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
