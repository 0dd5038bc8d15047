#include <cuda_runtime_api.h>

#include <algorithm>
#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/spgemm/cuda/repeated_rows.hpp>
#include <heddle/spgemm/cuda/values.hpp>
#include <heddle/spgemm/plan/plan_members.hpp>

namespace heddle {
namespace detail {

/// The pattern of a matrix by blocks of columns, empty where its columns are used instead.
struct BlockRows {
  Buffer<std::int64_t, DeviceSpace> offsets;
  DeviceIntegers keys;
  Buffer<unsigned, DeviceSpace> masks;

  Index bytes() const {
    return static_cast<Index>(offsets.size() * sizeof(std::int64_t) +
                              keys.size() * (sizeof(std::int32_t) + sizeof(unsigned)));
  }
};

template <>
struct ProductSchedule<DeviceSpace> {
  Buffer<std::int64_t, DeviceSpace> row_offsets;  ///< of C
  DeviceIntegers leaders;
  RowBins pattern_rows;
  RowBins value_rows;
  BlockRows blocks_of_B;
  Index longest_of_B = 0;
};

namespace {

/// Blocks of columns pay where a block has at least two columns, and where more rows than the first
/// ones of long runs are to be found.
constexpr Index kLeastColumnsPerBlock = 2;
constexpr Index kLeastShareOfRows = 4;

/// They are kept for `multiply` if they take at most this part of the memory of C.
constexpr Index kShareOfProduct = 20;

template <class T>
PatternFactors factors_of(const CsrView<T, DeviceSpace>& A, const CsrView<T, DeviceSpace>& B,
                          const BlockRows& blocks) {
  PatternFactors factors{.rows = A.rows,
                         .cols = B.cols,
                         .entries = A.nnz,
                         .row_offsets = A.row_offsets,
                         .columns = A.columns,
                         .B = {B.row_offsets, B.columns, nullptr}};
  Index entries = B.nnz;
  if (blocks.keys.size() > 0) {
    factors.B = {blocks.offsets.data(), blocks.keys.data(), blocks.masks.data()};
    entries = static_cast<Index>(blocks.keys.size());
  }
  constexpr int kMostLanes = 32;
  while (factors.lanes < kMostLanes && factors.lanes * B.rows < entries) factors.lanes *= 2;
  return factors;
}

template <class T>
BlockRows make_blocks(CudaContext& context, const CsrView<T, DeviceSpace>& B,
                      const DeviceIntegers& blocks_of_B) {
  BlockRows blocks;
  blocks.offsets = {context, static_cast<std::size_t>(B.rows) + 1};
  const Index count = block_offsets(context, blocks_of_B, blocks.offsets.data());
  blocks.keys = {context, static_cast<std::size_t>(count)};
  blocks.masks = {context, static_cast<std::size_t>(count)};
  fill_blocks(context, B, blocks.offsets.data(), blocks.keys.data(), blocks.masks.data());
  return blocks;
}

}  // namespace

template <Scalar T>
std::shared_ptr<const ProductSchedule<DeviceSpace>> inspect_product(CudaContext& context,
                                                                    CsrView<T, DeviceSpace> A,
                                                                    CsrView<T, DeviceSpace> B,
                                                                    SpgemmCounts& counts) {
  auto schedule = std::make_shared<ProductSchedule<DeviceSpace>>();
  schedule->row_offsets = {context, static_cast<std::size_t>(A.rows) + 1};
  Index* const offsets = schedule->row_offsets.data();
  if (A.rows == 0 || A.nnz == 0 || B.nnz == 0) {
    check(cudaMemsetAsync(offsets, 0, schedule->row_offsets.size() * sizeof(Index),
                          context.stream()));
    return schedule;
  }
  schedule->leaders = find_run_leaders(context, A, B);
  BlockRows& blocks = schedule->blocks_of_B;
  RowBins& rows = schedule->pattern_rows;
  {
    const DeviceIntegers blocks_of_B = count_blocks(context, B);
    BinCounts found{};
    rows = bin_by_bound(context, factors_of(A, B, {}), B.row_offsets, blocks_of_B,
                        schedule->leaders, found);
    counts.multiplications = static_cast<Index>(found.multiplications);
    schedule->longest_of_B = static_cast<Index>(found.longest);
    if (found.leading_blocks * kLeastColumnsPerBlock <= found.leading_products &&
        static_cast<Index>(rows.rows.size()) * kLeastShareOfRows >= A.rows) {
      blocks = make_blocks(context, B, blocks_of_B);
    }
  }
  DeviceIntegers row_blocks(context, static_cast<std::size_t>(A.rows));
  count_rows(context, factors_of(A, B, blocks), rows, {offsets, row_blocks.data()});
  spread_counts(context, schedule->leaders, offsets);
  queue_exclusive_sum(context, offsets, A.rows + 1);
  schedule->value_rows =
      bin_by_size(context, A, B, schedule->leaders, offsets, row_blocks.data(), counts.nnz);
  const Index bytes = counts.nnz * static_cast<Index>(sizeof(T) + sizeof(std::int32_t));
  if (blocks.bytes() * kShareOfProduct > bytes) blocks = {};
  return schedule;
}

void fetch_offsets(CudaContext& context, const ProductSchedule<DeviceSpace>& schedule,
                   Index* row_offsets) {
  context.copy_to_host(row_offsets, schedule.row_offsets.data(),
                       schedule.row_offsets.size() * sizeof(Index));
}

template <Scalar T>
void fill_pattern(CudaContext& context, const ProductSchedule<DeviceSpace>& schedule,
                  CsrView<T, DeviceSpace> A, CsrView<T, DeviceSpace> B, const ProductArrays<T>& C) {
  check(cudaMemcpyAsync(C.row_offsets, schedule.row_offsets.data(),
                        schedule.row_offsets.size() * sizeof(Index), cudaMemcpyDeviceToDevice,
                        context.stream()));
  if (C.nnz == 0) return;
  fill_rows(context, factors_of(A, B, schedule.blocks_of_B), schedule.pattern_rows, C.row_offsets,
            C.columns);
  copy_patterns(context, schedule.leaders, C.row_offsets, C.columns);
}

template <Scalar T>
void compute_values(CudaContext& context, const ProductSchedule<DeviceSpace>& schedule,
                    CsrView<T, DeviceSpace> A, CsrView<T, DeviceSpace> B, const ProductArrays<T>& C,
                    bool with_columns) {
  if (C.nnz == 0) return;
  compute_rows<T>(context, A, B, schedule.value_rows, schedule.leaders, schedule.longest_of_B,
                  {C.row_offsets, C.columns, C.values}, with_columns);
}

}  // namespace detail

#define HEDDLE_INSTANTIATE(T) template class SpgemmPlan<T, CudaContext>;
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
