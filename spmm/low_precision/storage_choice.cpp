#include <heddle/spmm/low_precision/storage_choice.hpp>
#include <limits>

namespace heddle::detail {
namespace {

// Fitted to products of seven matrices with 105 thousand to 3.7 million entries, seconds on 132
// multiprocessors.
constexpr int kMultiprocessors = 132;
constexpr double kBlockLaunch = 1.3e-6;
constexpr double kBlock = 1.7e-10;  // of 772 bytes
constexpr double kSliceLaunch = 1.4e-6;
constexpr double kLine = 1.7e-11;
constexpr double kStagedLaunch = 2.2e-6;
constexpr double kStagedRow = 1.6e-10;
constexpr double kStagedEntry = 1.6e-12;

constexpr double kBlockBytes = 512 + 256;  // of A, and of 32 bytes' worth of rows of B for half

}  // namespace

StorageTimes storage_times(const StorageCounts& counts, std::size_t value_bytes,
                           int multiprocessors) noexcept {
  const double scale = static_cast<double>(kMultiprocessors) / multiprocessors;
  // Rows of B with 8 columns: one piece of 16 bytes for half, two for tf32.
  const double pieces = static_cast<double>(value_bytes) / 2;
  const double width = 32.0 / static_cast<double>(value_bytes);
  const auto blocks_take = [&](Index blocks, double index_bytes) {
    const double bytes = kBlockBytes + index_bytes;
    return kBlockLaunch +
           kBlock * scale * static_cast<double>(blocks) * bytes / (kBlockBytes + sizeof(float));
  };
  StorageTimes times;
  times.blocks = blocks_take(counts.blocks, sizeof(std::int32_t));
  times.panels = blocks_take(counts.groups, width * sizeof(std::int32_t));
  times.slices = kSliceLaunch + kLine * scale * pieces * static_cast<double>(counts.gathered_lines);
  times.staged_slices = std::numeric_limits<double>::infinity();
  if (counts.stages) {
    times.staged_slices =
        kStagedLaunch + pieces * (kStagedRow * static_cast<double>(counts.cols) +
                                  kStagedEntry * scale * static_cast<double>(counts.nnz));
  }
  return times;
}

}  // namespace heddle::detail
