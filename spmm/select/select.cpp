#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <heddle/spmm/features/node_size.hpp>
#include <heddle/spmm/kernels/cuda/merge/merge_kernel.hpp>
#include <heddle/spmm/kernels/cuda/merge_path/merge_path_kernel.hpp>
#include <heddle/spmm/kernels/cuda/node_block/node_block_kernel.hpp>
#include <heddle/spmm/kernels/cuda/panel_mma/panel_mma_kernel.hpp>
#include <heddle/spmm/kernels/cuda/row_cached/row_cached_kernel.hpp>
#include <heddle/spmm/kernels/cuda/row_parallel/row_parallel_kernel.hpp>
#include <heddle/spmm/kernels/cuda/row_split/row_shape.hpp>
#include <heddle/spmm/kernels/cuda/row_split/row_split_kernel.hpp>
#include <heddle/spmm/kernels/cuda/staged/staged_kernel.hpp>
#include <heddle/spmm/kernels/host/row_split/row_split_kernel.hpp>
#include <heddle/spmm/kernels/kernel_table.hpp>
#include <heddle/spmm/select/select.hpp>
#include <heddle/spmm/spmm.hpp>

namespace heddle {

const std::vector<std::string_view>& spmm_choices() {
  static const std::vector<std::string_view> kWays = {"auto", "rule", "rule_row_mean", "measure"};
  return kWays;
}

}  // namespace heddle

namespace heddle::detail {
namespace {

constexpr std::string_view kRowSplit = cuda::RowSplitKernel::kTraits.name;
constexpr std::string_view kRowParallel = cuda::RowParallelKernel::kTraits.name;
constexpr std::string_view kRowCached = cuda::RowCachedKernel::kTraits.name;
constexpr std::string_view kMerge = cuda::MergeKernel::kTraits.name;
constexpr std::string_view kMergePath = cuda::MergePathKernel::kTraits.name;
constexpr std::string_view kNodeBlock = cuda::NodeBlockKernel::kTraits.name;
constexpr std::string_view kPanelMma = cuda::PanelMmaKernel::kTraits.name;
constexpr std::string_view kStaged = cuda::StagedKernel::kTraits.name;

/// Bounds on σ/d. Up to kUneven, a few lane groups per row balance the rows. From kVeryUneven on,
/// only segments of long rows or equal nonzeros per group do.
constexpr double kUneven = 1.2;
constexpr double kVeryUneven = 2;
/// The ratio of the longest to the mean row length from which one row keeps its lanes busy while
/// all others wait.
constexpr double kHeavyRow = 64;
/// R(8) from which sharing a row of B in a panel outweighs the panel's zeros. Narrow blocks need
/// more.
constexpr double kPanelReuse = 2;
constexpr double kNarrowPanelReuse = 4;
/// R of the boxes of a grid from which rows of B are worth a copy in shared memory.
constexpr double kGridReuse = 6;
/// The mean row length up to which a block of rows fits into shared memory as a whole.
constexpr double kStagedRowMean = 40;
/// R(8) below which neighbouring rows share so few columns that L1 serves only A.
constexpr double kNoReuse = 1.1;
/// The number of columns up to which a row of B fits in one or two sectors.
constexpr Index kNarrow = 8;
/// The number of columns up to which lanes over nonzeros use a warp better than lanes over columns.
constexpr Index kVeryNarrow = 4;
/// The number of columns up to which a warp has several lane groups for the nonzeros of a row.
constexpr Index kSeveralGroups = 16;
/// The number of columns from which a lane of `node_block` has four of them in double.
constexpr Index kWide = 32;
/// The number of node rows from which the longest ones do not decide about the time, and the number
/// of busy lanes from which they hide their latency (one H200 holds 100 000).
constexpr Index kEnoughNodes = 5000;
constexpr Index kEnoughNodeLanes = 40000;
/// The mean row length from which several lane groups per row are busy for a very narrow block.
constexpr double kLongRows = 32;
/// The mean row length below which a finished row costs as much as a nonzero.
constexpr double kManyRows = 32;
/// The mean row length below which Yang et al. split by nonzeros.
constexpr double kShortRows = 9.35;

/// Whether a kernel multiplies matrices of values of that size. Only complex ones exceed a double.
constexpr bool takes(const KernelTraits& traits, std::size_t scalar_bytes) noexcept {
  return traits.takes_complex || scalar_bytes <= sizeof(double);
}

bool has_panels(const MatrixFeatures& A, Index N, std::size_t scalar_bytes) noexcept {
  if (!takes(cuda::PanelMmaKernel::kTraits, scalar_bytes)) return false;
  const bool gather_is_good = N <= kNarrow && A.variation() <= kUneven;
  return N > kVeryNarrow && A.reuse_8 >= (gather_is_good ? kNarrowPanelReuse : kPanelReuse);
}

bool is_very_uneven(const MatrixFeatures& A) noexcept {
  return A.variation() > kVeryUneven || static_cast<double>(A.row_max) > kHeavyRow * A.row_mean;
}

/// Whether boxes of rows share columns that neighbouring rows alone do not. Where eight
/// neighbouring rows share as many as in bands and node blocks, panels are faster.
bool has_boxes(const MatrixFeatures& A, Index N, std::size_t scalar_bytes) noexcept {
  // In single precision, gathers are as fast where panels share few columns.
  if (scalar_bytes < sizeof(double) && A.reuse_8 < kPanelReuse) return false;
  return N > kNarrow && A.reuse_grid >= kGridReuse && A.reuse_8 < kNarrowPanelReuse &&
         A.row_mean <= kStagedRowMean && A.variation() <= kUneven && !is_very_uneven(A);
}

/// Whether A takes fewer bytes in whole node blocks than in compressed rows. A node row ends within
/// a chunk of 16 bytes' worth of blocks, on average in its middle.
bool saves_bytes_in_nodes(const MatrixFeatures& A, std::size_t scalar_bytes) noexcept {
  if (A.node_size == 0 || !takes(cuda::NodeBlockKernel::kTraits, scalar_bytes)) return false;
  const double padding = (16.0 / static_cast<double>(scalar_bytes) - 1) / 2;
  const double blocks_per_row = A.row_mean / (A.node_size * A.node_fill);
  return node_bytes_per_entry(A.node_size, A.node_fill, scalar_bytes) *
             (1 + padding / blocks_per_row) <
         static_cast<double>(scalar_bytes + sizeof(std::int32_t));
}

/// Whether node blocks are the fastest way for N columns, too.
bool has_nodes(const MatrixFeatures& A, Index N, std::size_t scalar_bytes) noexcept {
  if (N <= kVeryNarrow || is_very_uneven(A) || !saves_bytes_in_nodes(A, scalar_bytes)) return false;
  const bool single = scalar_bytes == sizeof(float);
  const Index nodes = A.rows / A.node_size;
  const Index lanes_per_node = std::max<Index>(4, N / (single || N >= kWide ? 4 : 2));
  if (nodes < kEnoughNodes || nodes * lanes_per_node < kEnoughNodeLanes) return false;
  if (single) return A.node_size > 2 || A.row_mean >= kLongRows;
  return N <= kSeveralGroups || (N >= kWide && A.node_size <= 3);
}

std::string_view by_nonzeros(const MatrixFeatures& A, Index N) noexcept {
  if (N <= kNarrow) return kRowParallel;
  return is_very_uneven(A) && A.row_mean < kManyRows ? kMergePath : kMerge;
}

std::string_view by_rows(const MatrixFeatures& A, Index N) noexcept {
  if (N <= kVeryNarrow && A.row_mean >= kLongRows) return kRowParallel;
  return A.reuse_8 < kNoReuse ? kRowCached : kRowSplit;
}

}  // namespace

std::string_view choose_on_host() noexcept { return RowSplitKernel::kTraits.name; }

KernelChoice choose_by_row_mean(const MatrixFeatures& A) {
  return {A.row_mean < kShortRows ? kMerge : kRowSplit,
          fmt::format("mean row length {:.2f}, bound {}", A.row_mean, kShortRows)};
}

std::vector<KernelPrediction> predicted_kernels(const MatrixFeatures& A, Index N,
                                                std::size_t scalar_bytes,
                                                const DeviceSpeed& device) {
  std::vector<KernelPrediction> predictions = predict_kernels(A, N, scalar_bytes, device);
  std::erase_if(predictions, [&](const KernelPrediction& prediction) {
    const auto* row = cuda_kernel_table().find(prediction.kernel);
    return row == nullptr || !row->traits.repeatable || !takes(row->traits, scalar_bytes);
  });
  return predictions;
}

std::vector<std::string_view> contenders(const MatrixFeatures& A, Index N, std::size_t scalar_bytes,
                                         const DeviceSpeed& device) {
  const auto predictions = predicted_kernels(A, N, scalar_bytes, device);
  if (predictions.empty()) return {choose_by_features(A, N, scalar_bytes).kernel};
  // Both of two predictions may be wrong.
  const double in_question = predictions.front().seconds * std::exp2(2 * kModelError);
  std::vector<std::string_view> names;
  for (const KernelPrediction& prediction : predictions) {
    if (prediction.seconds <= in_question) names.push_back(prediction.kernel);
  }
  return names;
}

int forced_row_groups(const MatrixFeatures& A, Index N, const DeviceSizes& device) noexcept {
  // A thread computes one or two entries of C.
  const bool busy = A.rows * N >= device.resident_threads();
  const bool even = A.variation() <= kUneven && !is_very_uneven(A);
  return even && busy ? 1 : cuda::row_groups(A);
}

}  // namespace heddle::detail

namespace heddle {

KernelChoice choose_by_model(const MatrixFeatures& A, Index N, std::size_t scalar_bytes,
                             const DeviceSpeed& device) {
  const auto predictions = detail::predicted_kernels(A, N, scalar_bytes, device);
  if (predictions.empty()) return choose_by_features(A, N, scalar_bytes);
  const KernelPrediction& first = predictions.front();
  constexpr double kMicro = 1e6;
  std::string why =
      fmt::format("predicted {:.3g} us, bound by {}", kMicro * first.seconds, first.bound_by());
  if (predictions.size() > 1) {
    why +=
        fmt::format("; then {} {:.3g} us", predictions[1].kernel, kMicro * predictions[1].seconds);
  }
  return {first.kernel, std::move(why)};
}

KernelChoice choose_by_features(const MatrixFeatures& A, Index N, std::size_t scalar_bytes) {
  using namespace detail;
  if (has_nodes(A, N, scalar_bytes)) {
    return {kNodeBlock, fmt::format("entries fill {:.0f} % of the {}x{} blocks that hold them",
                                    100 * A.node_fill, A.node_size, A.node_size)};
  }
  if (has_boxes(A, N, scalar_bytes)) {
    return {kStaged, fmt::format("boxes of 64 rows use a row of B {:.1f} times", A.reuse_grid)};
  }
  if (has_panels(A, N, scalar_bytes)) {
    return {kPanelMma,
            fmt::format("eight neighbouring rows use a row of B {:.1f} times", A.reuse_8)};
  }
  std::string why =
      fmt::format("row lengths spread by {:.2f} of their mean {:.1f}, the longest is {}",
                  A.variation(), A.row_mean, A.row_max);
  if (is_very_uneven(A)) return {by_nonzeros(A, N), std::move(why)};
  if (A.variation() > kUneven) {
    return {N <= kSeveralGroups ? kRowParallel : by_nonzeros(A, N), std::move(why)};
  }
  return {by_rows(A, N), std::move(why)};
}

}  // namespace heddle
