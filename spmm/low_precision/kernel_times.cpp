#include <algorithm>
#include <heddle/spmm/low_precision/block_schedule.hpp>
#include <heddle/spmm/low_precision/kernel_times.hpp>
#include <limits>

namespace heddle::detail {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

// Fitted to products of seven matrices with 105 thousand to 3.7 million entries and of bands, those
// of `rows` and columns beyond 8 to elasticity3d 40³ and the 27-point stencil on 96³; seconds on
// 132 multiprocessors.
constexpr double kMultiprocessors = 132;
constexpr double kBlockLaunch = 1.3e-6;
constexpr double kBlock = 1.7e-10;       // of 772 bytes, which 8 columns take
constexpr double kColumnByte = 2.2e-13;  // of B beyond them
constexpr double kSliceLaunch = 1.4e-6;
constexpr double kLine = 1.7e-11;        // of B
constexpr double kRowLine = 7.7e-12;     // of B, in lanes of a warp side by side
constexpr double kCachedLine = 1.9e-12;  // of A, from the first-level cache
constexpr double kAlikeRow = 1e-11;      // per load, for each further row of the same columns
constexpr double kStagedLaunch = 2.2e-6;
constexpr double kStagedRow = 1.6e-10;
constexpr double kStagedEntry = 1.6e-12;

constexpr double kBlockBytes = 512 + 256;  // of A, and of 32 bytes' worth of rows of B for half
constexpr double kColumnBytes = 32;        // of B that a block meets, per column

constexpr double kWarpLanes = 32;
constexpr double kLineBytes = 128;
constexpr double kPieceBytes = 16;  // of a row of B that a lane has

double scale_of(const ProductCounts& counts) noexcept {
  return kMultiprocessors / counts.multiprocessors;
}

/// Pieces of a row of B.
double pieces_of(const ProductCounts& counts) noexcept {
  const Index bytes = counts.columns * static_cast<Index>(counts.value_bytes);
  return static_cast<double>((bytes + 15) / 16);
}

double seconds_of_blocks(const ProductCounts& counts, Index blocks, double index_bytes) noexcept {
  if (!counts.tensor_cores) return kNever;
  const Index slab = slab_columns(counts.columns);
  const auto slabs = static_cast<double>((counts.columns + slab - 1) / slab);
  const double block = kBlock * (kBlockBytes + index_bytes) / (kBlockBytes + sizeof(float)) +
                       kColumnByte * kColumnBytes * static_cast<double>(slab - 8);
  return kBlockLaunch + scale_of(counts) * static_cast<double>(blocks) * slabs * block;
}

}  // namespace

double rows_seconds(const ProductCounts& counts) noexcept {
  if (counts.nnz == 0) return kSliceLaunch;
  const auto nnz = static_cast<double>(counts.nnz);
  const double width = std::min(pieces_of(counts), kWarpLanes);  // lanes of a row
  const double groups = kWarpLanes / width;                      // of rows, of a warp
  const double alike = counts.alike_rows;
  // Between 0, all rows of B lie side by side, and 1, each has lines of its own.
  const double lines_of_8 = 8 * static_cast<double>(counts.gathered_lines) / nnz;
  const double apart = std::clamp(alike * (lines_of_8 - 1) / 7, 0.0, 1.0);
  const double of_B = kRowLine * (1 - apart) * kWarpLanes * kPieceBytes / kLineBytes +
                      kLine * apart * groups * std::max(1.0, width * kPieceBytes / kLineBytes);
  const auto of_A = [&](double bytes) {  // per row or group, those of neighbours being neighbours
    return std::min(groups, 1 + groups * bytes / kLineBytes);
  };
  const double stored = alike == 3 ? 4 : alike;
  const double value_bytes = stored * static_cast<double>(counts.value_bytes) * counts.mean_row;
  const double column_bytes = alike * sizeof(std::int32_t) * counts.mean_row;
  const double loads = nnz / alike * pieces_of(counts) / kWarpLanes;
  return kSliceLaunch + scale_of(counts) * loads *
                            (of_B + kCachedLine * (of_A(value_bytes) + of_A(column_bytes)) +
                             kAlikeRow * (alike - 1));
}

double blocks_seconds(const ProductCounts& counts) noexcept {
  if (counts.blocks == 0) return kNever;
  return seconds_of_blocks(counts, counts.blocks, sizeof(std::int32_t));
}

double panels_seconds(const ProductCounts& counts) noexcept {
  const double width = 32.0 / static_cast<double>(counts.value_bytes);
  return seconds_of_blocks(counts, counts.groups, width * sizeof(std::int32_t));
}

double slices_seconds(const ProductCounts& counts) noexcept {
  if (!counts.tensor_cores) return kNever;
  return kSliceLaunch +
         kLine * scale_of(counts) * pieces_of(counts) * static_cast<double>(counts.gathered_lines);
}

double staged_slices_seconds(const ProductCounts& counts) noexcept {
  if (!counts.stages || !counts.tensor_cores) return kNever;
  return kStagedLaunch +
         pieces_of(counts) * (kStagedRow * static_cast<double>(counts.cols) +
                              kStagedEntry * scale_of(counts) * static_cast<double>(counts.nnz));
}

}  // namespace heddle::detail
