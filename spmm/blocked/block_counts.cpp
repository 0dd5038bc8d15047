#include <algorithm>
#include <cmath>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/context/host_parallel.hpp>
#include <heddle/linalg/data/buffer.hpp>
#include <heddle/spmm/blocked/block_counts.hpp>
#include <numeric>
#include <string>

namespace heddle {
namespace {

void check_permutation(const std::vector<std::int32_t>& order, Index size, const char* what) {
  if (order.empty()) return;
  const auto refuse = [&](const std::string& reason) {
    throw InvalidArgument(std::string("the order of ") + std::to_string(size) + " " + what + " " +
                          reason);
  };
  if (static_cast<Index>(order.size()) != size) {
    refuse("has " + std::to_string(order.size()) + " entries");
  }
  std::vector<bool> seen(order.size());
  for (const std::int32_t index : order) {
    if (index < 0 || index >= size) refuse("contains " + std::to_string(index));
    if (seen[static_cast<std::size_t>(index)]) {
      refuse("contains " + std::to_string(index) + " twice");
    }
    seen[static_cast<std::size_t>(index)] = true;
  }
}

}  // namespace

void check_order(const RowPattern& A, const BlockOrder& order) {
  check_permutation(order.rows, A.rows, "rows");
  check_permutation(order.columns, A.cols, "columns");
}

std::vector<std::int32_t> inverse_order(const std::vector<std::int32_t>& order) {
  std::vector<std::int32_t> inverse(order.size());
  for (std::size_t p = 0; p < order.size(); ++p) {
    inverse[static_cast<std::size_t>(order[p])] = static_cast<std::int32_t>(p);
  }
  return inverse;
}

Index BlockCounts::blocks() const noexcept {
  return std::accumulate(per_block_row.begin(), per_block_row.end(), Index{0});
}

double BlockCounts::mean() const noexcept {
  if (per_block_row.empty()) return 0;
  return static_cast<double>(blocks()) / static_cast<double>(per_block_row.size());
}

double BlockCounts::deviation() const noexcept {
  if (per_block_row.empty()) return 0;
  const double centre = mean();
  double sum = 0;
  for (const Index count : per_block_row) {
    const double distance = static_cast<double>(count) - centre;
    sum += distance * distance;
  }
  return std::sqrt(sum / static_cast<double>(per_block_row.size()));
}

Index BlockCounts::quantile(double q) const {
  if (per_block_row.empty()) return 0;
  std::vector<Index> sorted = per_block_row;
  const auto last = static_cast<double>(sorted.size() - 1);
  const auto place = static_cast<std::ptrdiff_t>(std::ceil(std::clamp(q, 0.0, 1.0) * last));
  std::nth_element(sorted.begin(), sorted.begin() + place, sorted.end());
  return sorted[static_cast<std::size_t>(place)];
}

double BlockCounts::fill() const noexcept {
  const Index count = blocks();
  if (count == 0) return 0;
  return static_cast<double>(nnz) /
         (static_cast<double>(shape.area()) * static_cast<double>(count));
}

double BlockCounts::block_csr_bytes(std::size_t value_bytes) const noexcept {
  const auto block =
      static_cast<double>(shape.area()) * static_cast<double>(value_bytes) + sizeof(std::int32_t);
  return block * static_cast<double>(blocks()) +
         static_cast<double>(per_block_row.size() + 1) * sizeof(std::int64_t);
}

BlockCounts count_blocks(HostContext& context, const RowPattern& A, BlockShape shape,
                         const BlockOrder& order) {
  if (shape.height <= 0 || shape.width <= 0) {
    throw InvalidArgument("blocks of " + std::to_string(shape.height) + " rows and " +
                          std::to_string(shape.width) + " columns: both must be positive");
  }
  check_order(A, order);
  const std::vector<std::int32_t> place = inverse_order(order.columns);
  BlockCounts counts{shape, A.nnz, {}};
  const Slabs block_rows{A.rows, shape.height};
  counts.per_block_row.resize(static_cast<std::size_t>(block_rows.count()));
  // Per thread and block column, the last block row that the thread found it in.
  const Index block_columns = (A.cols + shape.width - 1) / shape.width;
  const Index pitch = block_columns + kThreadGap<Index>;
  Buffer<Index, HostSpace> found(context, static_cast<std::size_t>(pitch * context.threads()));
  std::fill_n(found.data(), found.size(), Index{-1});
  parallel_for(context.threads(), block_rows.count(), [&](Index block_row, int member) {
    Index* mine = found.data() + pitch * member;
    Index count = 0;
    for (Index p = block_rows.begin(block_row); p < block_rows.end(block_row); ++p) {
      const Index row = order.rows.empty() ? p : order.rows[static_cast<std::size_t>(p)];
      for (Index k = A.row_offsets[row]; k < A.row_offsets[row + 1]; ++k) {
        const Index column =
            place.empty() ? A.columns[k] : place[static_cast<std::size_t>(A.columns[k])];
        Index& last = mine[column / shape.width];
        if (last != block_row) ++count;
        last = block_row;
      }
    }
    counts.per_block_row[static_cast<std::size_t>(block_row)] = count;
  });
  return counts;
}

Index column_groups(const BlockCounts& columns, Index width) noexcept {
  Index groups = 0;
  for (const Index count : columns.per_block_row) groups += (count + width - 1) / width;
  return groups;
}

double column_panel_bytes(const BlockCounts& columns, Index width,
                          std::size_t value_bytes) noexcept {
  const Index groups = column_groups(columns, width);
  const Index area = columns.shape.height * width;
  return static_cast<double>(groups) *
             (static_cast<double>(area) * static_cast<double>(value_bytes) +
              static_cast<double>(width) * sizeof(std::int32_t)) +
         static_cast<double>(columns.per_block_row.size() + 1) * sizeof(std::int64_t);
}

}  // namespace heddle
