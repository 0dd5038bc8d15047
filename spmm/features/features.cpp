#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <heddle/linalg/base/philox.hpp>
#include <heddle/linalg/context/host_parallel.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/buffer.hpp>
#include <heddle/spmm/features/features.hpp>
#include <heddle/spmm/features/node_size.hpp>
#include <heddle/spmm/features/row_grid.hpp>
#include <heddle/spmm/features/row_runs.hpp>
#include <heddle/spmm/features/row_tiles.hpp>
#include <vector>

namespace heddle {
namespace {

using detail::kSmallestNode;
using detail::NodeFills;
using detail::RowTiles;
using detail::set_node_size;
using detail::TileCount;

/// The sparsity pattern of A. The values of A are never read.
struct Pattern {
  HostContext& context;
  Index rows;
  Index cols;
  Index nnz;
  const std::int64_t* row_offsets;
  const std::int32_t* columns;

  Index length(Index row) const { return row_offsets[row + 1] - row_offsets[row]; }
};

/// Sums and maxima over a slab of rows.
struct RowTotals {
  double squared_deviations = 0;
  double widths = 0;
  Index longest = 0;
  Index empty = 0;
  Index bandwidth = 0;
  Index rows_within_128 = 0;

  void add(const RowTotals& other) {
    squared_deviations += other.squared_deviations;
    widths += other.widths;
    longest = std::max(longest, other.longest);
    empty += other.empty;
    bandwidth = std::max(bandwidth, other.bandwidth);
    rows_within_128 = std::max(rows_within_128, other.rows_within_128);
  }
};

RowTotals slab_totals(const Pattern& A, Index begin, Index end, double mean) {
  RowTotals totals;
  for (Index row = begin; row < end; ++row) {
    const Index length = A.length(row);
    const double deviation = static_cast<double>(length) - mean;
    totals.squared_deviations += deviation * deviation;
    totals.longest = std::max(totals.longest, length);
    if (row % detail::kRunStride == 0) {
      totals.rows_within_128 =
          std::max(totals.rows_within_128, detail::rows_within_128(A.row_offsets, A.rows, row));
    }
    if (length == 0) {
      ++totals.empty;
      continue;
    }
    const Index first = A.columns[A.row_offsets[row]];
    const Index last = A.columns[A.row_offsets[row + 1] - 1];
    totals.widths += static_cast<double>(last - first);
    totals.bandwidth = std::max({totals.bandwidth, std::abs(first - row), std::abs(last - row)});
  }
  return totals;
}

RowTotals row_totals(const Pattern& A, double mean) {
  constexpr Index kLeastRows = 1024;
  const Slabs slabs = make_slabs(A.rows, kLeastRows);
  std::vector<RowTotals> parts(static_cast<std::size_t>(slabs.count()));
  parallel_for(A.context.threads(), slabs.count(), [&](Index slab) {
    parts[static_cast<std::size_t>(slab)] =
        slab_totals(A, slabs.begin(slab), slabs.end(slab), mean);
  });
  RowTotals totals;
  for (const RowTotals& part : parts) totals.add(part);
  return totals;
}

/// Whether every entry below the diagonal has its mirror entry, and as many entries are stored
/// above the diagonal as below. Then every entry above has its mirror entry as well.
bool has_symmetric_pattern(const Pattern& A) {
  if (A.rows != A.cols) return false;
  constexpr Index kLeastRows = 1024;
  const Slabs slabs = make_slabs(A.rows, kLeastRows);
  std::vector<Index> excess(static_cast<std::size_t>(slabs.count()));
  std::atomic<bool> symmetric = true;
  parallel_for(A.context.threads(), slabs.count(), [&](Index slab) {
    Index above_minus_below = 0;
    for (Index row = slabs.begin(slab); row < slabs.end(slab); ++row) {
      if (!symmetric.load(std::memory_order_relaxed)) return;
      for (std::int64_t k = A.row_offsets[row]; k < A.row_offsets[row + 1]; ++k) {
        const Index column = A.columns[k];
        above_minus_below += column > row ? 1 : column < row ? -1 : 0;
        if (column < row && !std::binary_search(A.columns + A.row_offsets[column],
                                                A.columns + A.row_offsets[column + 1], row)) {
          symmetric.store(false, std::memory_order_relaxed);
          return;
        }
      }
    }
    excess[static_cast<std::size_t>(slab)] = above_minus_below;
  });
  Index total = 0;
  for (const Index part : excess) total += part;
  return symmetric && total == 0;
}

/// Counts the distinct column groups of a few rows, by one bit per group. The bits are set while
/// counting and cleared afterwards.
class DistinctCounter {
 public:
  DistinctCounter(HostContext& context, Index cols)
      : bits_(context, static_cast<std::size_t>(cols / kBits + 1)) {
    std::fill_n(bits_.data(), bits_.size(), Word{0});
  }

  /// Distinct values of column/kWidth among the entries of rows begin … end − 1.
  template <std::int32_t kWidth>
  Index count(const Pattern& A, Index begin, Index end) {
    return count<kWidth>(A.columns + A.row_offsets[begin], A.columns + A.row_offsets[end]);
  }

  /// Distinct values of column/kWidth among columns first … last − 1.
  template <std::int32_t kWidth>
  Index count(const std::int32_t* first, const std::int32_t* last) {
    Index distinct = 0;
    for (const std::int32_t* column = first; column != last; ++column) {
      const auto group = static_cast<std::size_t>(*column / kWidth);
      const Word bit = Word{1} << group % kBits;
      distinct += (bits_[group / kBits] & bit) == 0 ? 1 : 0;
      bits_[group / kBits] |= bit;
    }
    for (const std::int32_t* column = first; column != last; ++column) {
      bits_[static_cast<std::size_t>(*column / kWidth) / kBits] = 0;
    }
    return distinct;
  }

 private:
  using Word = std::uint64_t;
  static constexpr int kBits = 64;
  Buffer<Word, HostSpace> bits_;
};

/// The index of panel `sample` of `samples` out of `panels`: each panel if all are sampled,
/// otherwise a random one in each of `samples` equal ranges.
Index sampled_panel(Index sample, Index samples, Index panels) {
  if (samples == panels) return sample;
  const Index begin = panels * sample / samples;
  const Index end = panels * (sample + 1) / samples;
  const PhiloxBlock bits = random_block(0, 0, static_cast<std::uint64_t>(sample));
  return begin + uniform_below(bits.words[0], bits.words[1], end - begin);
}

/// Entries divided by distinct groups of kWidth columns, both summed over panels of kHeight rows.
/// All panels are used, or a sample if there are more than `most`. 0 without entries.
template <Index kHeight, std::int32_t kWidth>
double entries_per_group(const Pattern& A, std::vector<DistinctCounter>& counters, Index most) {
  const Slabs panels{A.rows, kHeight};
  const Index samples = std::min(panels.count(), most);
  struct Count {
    Index entries = 0;
    Index groups = 0;
  };
  std::vector<Count> counts(counters.size());
  const auto pieces = static_cast<Index>(counters.size());
  parallel_for(A.context.threads(), pieces, [&](Index piece) {
    DistinctCounter& counter = counters[static_cast<std::size_t>(piece)];
    Count count;
    for (Index s = samples * piece / pieces; s < samples * (piece + 1) / pieces; ++s) {
      const Index panel = sampled_panel(s, samples, panels.count());
      const Index begin = panels.begin(panel);
      const Index end = panels.end(panel);
      count.entries += A.row_offsets[end] - A.row_offsets[begin];
      count.groups += counter.count<kWidth>(A, begin, end);
    }
    counts[static_cast<std::size_t>(piece)] = count;
  });
  Count total;
  for (const Count& count : counts) {
    total.entries += count.entries;
    total.groups += count.groups;
  }
  if (total.groups == 0) return 0;
  return static_cast<double>(total.entries) / static_cast<double>(total.groups);
}

/// Entries divided by the capacity of the b×b aligned blocks that contain them.
template <std::int32_t b>
double block_fill(const Pattern& A, std::vector<DistinctCounter>& counters) {
  return entries_per_group<b, b>(A, counters, A.rows) / (b * b);
}

/// R(kRows) as defined in `MatrixFeatures`.
template <Index kRows>
double reuse(const Pattern& A, std::vector<DistinctCounter>& counters) {
  constexpr Index kMostTiles = 4096;
  return entries_per_group<kRows, 1>(A, counters, kMostTiles);
}

TileCount count_tiles(const Pattern& A, const RowTiles& tiles, DistinctCounter& counter) {
  const Index samples = tiles.count(A.rows, A.cols);
  TileCount total;
  for (Index tile = 0; tile < samples; ++tile) {
    const Index first_row = tiles.first_row(tile, samples, A.rows);
    const Index begin = A.row_offsets[first_row];
    const Index end = std::min<Index>(A.row_offsets[std::min(first_row + tiles.rows, A.rows)],
                                      begin + RowTiles::kMostEntries);
    total.entries += end - begin;
    total.distinct += counter.count<1>(A.columns + begin, A.columns + end);
    for (Index k = begin + 1; k < end; ++k) {
      if (A.columns[k - 1] + 1 == A.columns[k]) ++total.following;
    }
  }
  return total;
}

template <class T>
bool are_floats(const HostContext& context, const T* values, Index count) {
  if constexpr (std::is_same_v<T, float>) return true;
  using Float = std::conditional_t<kComplex<T>, std::complex<float>, float>;
  constexpr Index kPiece = 65536;
  const Index pieces = (count + kPiece - 1) / kPiece;
  std::vector<char> differ(static_cast<std::size_t>(pieces));
  parallel_for(context.threads(), pieces, [&](Index piece) {
    const T* const end = values + std::min(count, (piece + 1) * kPiece);
    differ[static_cast<std::size_t>(piece)] = std::any_of(
        values + piece * kPiece, end, [](T value) { return !(T(Float(value)) == value); });
  });
  return std::find(differ.begin(), differ.end(), 1) == differ.end();
}

void add_locality(const Pattern& A, MatrixFeatures& features) {
  std::vector<DistinctCounter> counters;
  for (int thread = 0; thread < A.context.threads(); ++thread) {
    counters.emplace_back(A.context, A.cols);
  }
  const NodeFills fills = {block_fill<2>(A, counters), block_fill<3>(A, counters),
                           block_fill<4>(A, counters), block_fill<5>(A, counters),
                           block_fill<6>(A, counters), block_fill<7>(A, counters),
                           block_fill<8>(A, counters)};
  features.block_fill_2 = fills[2 - kSmallestNode];
  features.block_fill_3 = fills[3 - kSmallestNode];
  features.block_fill_4 = fills[4 - kSmallestNode];
  features.block_fill_8 = fills[8 - kSmallestNode];
  set_node_size(fills, features);
  features.reuse_8 = reuse<8>(A, counters);
  features.reuse_32 = reuse<32>(A, counters);
  features.reuse_128 = reuse<128>(A, counters);
  features.reuse_2048 = count_tiles(A, detail::kMiddleTiles, counters.front()).reuse();
  const TileCount high = count_tiles(A, detail::kHighTiles, counters.front());
  features.reuse_32768 = high.reuse();
  features.column_run = high.run();
  features.reuse_grid = detail::grid_reuse(A.rows, A.row_offsets, A.columns);
}

}  // namespace

template <Scalar T>
MatrixFeatures matrix_features(HostContext& context, CsrView<T, HostSpace> A) {
  const Pattern pattern{context, A.rows, A.cols, A.nnz, A.row_offsets, A.columns};
  MatrixFeatures features;
  features.rows = A.rows;
  features.cols = A.cols;
  features.nnz = A.nnz;
  features.symmetric_pattern = has_symmetric_pattern(pattern);
  features.values_are_floats = A.values != nullptr && are_floats(context, A.values, A.nnz);
  if (A.rows > 0) {
    const auto rows = static_cast<double>(A.rows);
    features.row_mean = static_cast<double>(A.nnz) / rows;
    const RowTotals totals = row_totals(pattern, features.row_mean);
    features.row_deviation = std::sqrt(totals.squared_deviations / rows);
    features.row_max = totals.longest;
    features.empty_rows = totals.empty;
    features.rows_within_128 = totals.rows_within_128;
    features.bandwidth = totals.bandwidth;
    features.mean_bandwidth = totals.widths / rows;
  }
  if (A.nnz > 0) add_locality(pattern, features);
  return features;
}

#define HEDDLE_INSTANTIATE(T) \
  template MatrixFeatures matrix_features(HostContext&, CsrView<T, HostSpace>);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
