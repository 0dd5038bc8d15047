#include <cuda_runtime_api.h>

#include <algorithm>
#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/spgemm/cuda/inspection/small_product.hpp>
#include <heddle/spgemm/cuda/rows/repeated_rows.hpp>
#include <heddle/spgemm/cuda/values/values.hpp>
#include <heddle/spgemm/plan/plan_members.hpp>
#include <utility>

namespace heddle {
namespace detail {

template <>
struct ProductSchedule<DeviceSpace> : InspectedProduct {};

namespace {

/// `blocks`: null where rows of B are read by columns.
template <class T>
PatternFactors factors_of(const CsrView<T, DeviceSpace>& A, const CsrView<T, DeviceSpace>& B,
                          const ColumnBlock* blocks, const std::int32_t* counts) {
  return {.rows = A.rows,
          .cols = B.cols,
          .entries = A.nnz,
          .row_offsets = A.row_offsets,
          .columns = A.columns,
          .B = {B.row_offsets, B.columns, counts, blocks}};
}

/// Finds all runs, the bins of the rows that lead them, and the blocks of B where these are read.
template <class T>
void find_leading_rows(CudaContext& context, const CsrView<T, DeviceSpace>& A,
                       const CsrView<T, DeviceSpace>& B, RowBlocks& blocks,
                       InspectedProduct& product) {
  product.row_offsets = {context, static_cast<std::size_t>(A.rows) + 1};
  product.places = find_runs(context, A, B);
  blocks.counts = count_blocks(context, B);
  BinCounts counts{};
  product.pattern_rows = bin_by_bound(context, factors_of(A, B, nullptr, nullptr), B.row_offsets,
                                      blocks.counts, product.places, counts);
  product.set_counts(counts, A);
  if (product.by_blocks) {
    blocks.blocks = {context, static_cast<std::size_t>(B.nnz)};
    write_blocks(context, B, blocks.blocks.data(), blocks.counts.data());
  }
}

/// Counts the entries of all rows of C, whose runs and bins are known.
template <class T>
void count_entries(CudaContext& context, const CsrView<T, DeviceSpace>& A,
                   const CsrView<T, DeviceSpace>& B, const RowBlocks& blocks,
                   InspectedProduct& product) {
  Index* const offsets = product.row_offsets.data();
  DeviceIntegers row_blocks(context, static_cast<std::size_t>(A.rows));
  const ColumnBlock* of_B = product.by_blocks ? blocks.blocks.data() : nullptr;
  count_rows(context, factors_of(A, B, of_B, blocks.counts.data()), product.pattern_rows,
             {offsets, row_blocks.data()});
  spread_counts(context, product.places, offsets);
  queue_exclusive_sum(context, offsets, A.rows + 1);
  product.value_rows =
      bin_by_size(context, A, B, product.places, offsets, row_blocks.data(), product.entries);
}

/// Sets counts.nnz and counts.multiplications.
template <class T>
InspectedProduct inspect(CudaContext& context, const CsrView<T, DeviceSpace>& A,
                         const CsrView<T, DeviceSpace>& B, SpgemmCounts& counts) {
  InspectedProduct product;
  if (A.rows == 0 || A.nnz == 0 || B.nnz == 0) {
    product.row_offsets = {context, static_cast<std::size_t>(A.rows) + 1};
    check(cudaMemsetAsync(product.row_offsets.data(), 0, product.row_offsets.size() * sizeof(Index),
                          context.stream()));
    return product;
  }
  RowBlocks blocks;
  if (!is_small_product(A, B)) {
    find_leading_rows(context, A, B, blocks, product);
    count_entries(context, A, B, blocks, product);
  } else if (!inspect_small_product(context, A, B, blocks, product)) {
    count_entries(context, A, B, blocks, product);
  }
  if (!product.has_runs(A.rows)) product.places = {};
  counts.multiplications = product.multiplications;
  counts.nnz = product.entries;
  return product;
}

/// The bytes of the blocks of B and their counts if the columns of C are found from them. 0 if not:
/// they must fit into the memory of C's values, which is not in use then.
template <class T>
std::size_t bytes_of_blocks(const InspectedProduct& product, const CsrView<T, DeviceSpace>& B) {
  if (!product.by_blocks) return 0;
  const std::size_t bytes = static_cast<std::size_t>(B.nnz) * sizeof(ColumnBlock) +
                            static_cast<std::size_t>(B.rows) * sizeof(std::int32_t);
  return bytes <= static_cast<std::size_t>(product.entries) * sizeof(T) ? bytes : 0;
}

/// Writes the columns of C, whose row offsets are known, except for those that `compute_values`
/// writes. `memory`: of `bytes_of_blocks`, null if these are 0.
template <class T>
void fill_columns(CudaContext& context, const InspectedProduct& product,
                  const CsrView<T, DeviceSpace>& A, const CsrView<T, DeviceSpace>& B,
                  const std::int64_t* row_offsets, std::int32_t* columns, void* memory) {
  if (product.entries == 0) return;
  auto* const blocks = static_cast<ColumnBlock*>(memory);
  std::int32_t* counts = nullptr;
  if (blocks != nullptr) {
    counts = reinterpret_cast<std::int32_t*>(blocks + B.nnz);
    write_blocks(context, B, blocks, counts);
  }
  fill_rows(context, factors_of(A, B, blocks, counts), product.pattern_rows, row_offsets, columns);
  if (product.has_runs(A.rows)) copy_patterns(context, product.places, row_offsets, columns);
}

}  // namespace

template <Scalar T>
std::shared_ptr<const ProductSchedule<DeviceSpace>> inspect_product(CudaContext& context,
                                                                    CsrView<T, DeviceSpace> A,
                                                                    CsrView<T, DeviceSpace> B,
                                                                    SpgemmCounts& counts) {
  return std::make_shared<ProductSchedule<DeviceSpace>>(
      ProductSchedule<DeviceSpace>{inspect(context, A, B, counts)});
}

void fetch_offsets(CudaContext& context, const ProductSchedule<DeviceSpace>& product,
                   Index* row_offsets) {
  context.copy_to_host(row_offsets, product.row_offsets.data(),
                       product.row_offsets.size() * sizeof(Index));
}

template <Scalar T>
void fill_pattern(CudaContext& context, const ProductSchedule<DeviceSpace>& product,
                  CsrView<T, DeviceSpace> A, CsrView<T, DeviceSpace> B, const ProductArrays<T>& C) {
  check(cudaMemcpyAsync(C.row_offsets, product.row_offsets.data(),
                        product.row_offsets.size() * sizeof(Index), cudaMemcpyDeviceToDevice,
                        context.stream()));
  const bool fits = bytes_of_blocks<T>(product, B) > 0 &&
                    reinterpret_cast<std::uintptr_t>(C.values) % alignof(ColumnBlock) == 0;
  fill_columns(context, product, A, B, C.row_offsets, C.columns, fits ? C.values : nullptr);
}

template <Scalar T>
void compute_values(CudaContext& context, const ProductSchedule<DeviceSpace>& product,
                    CsrView<T, DeviceSpace> A, CsrView<T, DeviceSpace> B, const ProductArrays<T>& C,
                    bool with_columns) {
  if (C.nnz == 0) return;
  compute_rows<T>(context, A, B, product.value_rows, product.places, product.longest_of_B,
                  {C.row_offsets, C.columns, C.values}, with_columns);
}

}  // namespace detail

template <Scalar T>
CsrMatrix<T, DeviceSpace> spgemm(CudaContext& context, CsrView<T, DeviceSpace> A,
                                 CsrView<T, DeviceSpace> B) {
  detail::require_factors(A, B);
  SpgemmCounts counts{.rows = A.rows, .cols = B.cols};
  detail::ProductSchedule<DeviceSpace> product{detail::inspect(context, A, B, counts)};
  // Memory that the columns alone need is freed before the values are allocated.
  Buffer<std::int32_t, DeviceSpace> columns(context, static_cast<std::size_t>(counts.nnz));
  {
    const std::size_t bytes = detail::bytes_of_blocks<T>(product, B);
    Buffer<char, DeviceSpace> blocks(context, bytes);
    detail::fill_columns(context, product, A, B, product.row_offsets.data(), columns.data(),
                         bytes > 0 ? blocks.data() : nullptr);
    product.pattern_rows.rows = {};
  }
  CsrMatrix<T, DeviceSpace> C(context, counts.rows, counts.cols, counts.nnz,
                              std::move(product.row_offsets), std::move(columns));
  detail::compute_values<T>(context, product, A, B,
                            {counts.nnz, C.row_offsets(), C.columns(), C.values()}, true);
  detail::count_product(context, A, B, counts);
  return C;
}

#define HEDDLE_INSTANTIATE(T)                                                      \
  template class SpgemmPlan<T, CudaContext>;                                       \
  template CsrMatrix<T, DeviceSpace> spgemm(CudaContext&, CsrView<T, DeviceSpace>, \
                                            CsrView<T, DeviceSpace>);
HEDDLE_FOR_EACH_REAL(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
