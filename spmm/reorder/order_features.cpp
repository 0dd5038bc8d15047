#include <algorithm>
#include <cmath>
#include <heddle/linalg/base/philox.hpp>
#include <heddle/spmm/blocked/block_counts.hpp>
#include <heddle/spmm/features/row_runs.hpp>
#include <heddle/spmm/features/row_tiles.hpp>
#include <heddle/spmm/reorder/node_graph.hpp>
#include <heddle/spmm/reorder/order_features.hpp>
#include <limits>

namespace heddle::detail {
namespace {

constexpr RowTiles kTiles[] = {{8, 1024}, {128, 128}, {2048, 16}, {32768, 4}};
constexpr RowTiles kFewTiles = {8, 128};

/// Counts distinct columns of a few rows.
class DistinctColumns {
 public:
  explicit DistinctColumns(Index cols) : seen_by_(at(cols), 0) {}

  /// Adds rows row_at(first) … row_at(end − 1) to `total`, up to the entries that a tile takes.
  template <class RowAt>
  void add(const RowPattern& A, Index first, Index end, const RowAt& row_at, TileCount& total) {
    ++tile_;
    Index entries = 0;
    for (Index k = first; k < end && entries < RowTiles::kMostEntries; ++k) {
      const Index row = row_at(k);
      entries += A.length(row);
      for (std::int64_t e = A.row_offsets[row]; e < A.row_offsets[row + 1]; ++e) {
        std::int32_t& last = seen_by_[at(A.columns[e])];
        if (last != tile_) ++total.distinct;
        last = tile_;
      }
    }
    total.entries += entries;
  }

 private:
  std::vector<std::int32_t> seen_by_;  // the last tile that has the column
  std::int32_t tile_ = 0;
};

/// Rows, columns, entries and everything about the lengths of rows in `order`.
HostFeatures length_features(const RowPattern& A, const std::vector<std::int32_t>& order) {
  HostFeatures features;
  features.rows = A.rows;
  features.cols = A.cols;
  features.nnz = A.nnz;
  if (A.rows == 0) return features;
  features.row_mean = static_cast<double>(A.nnz) / static_cast<double>(A.rows);
  double squares = 0;
  for (Index i = 0; i < A.rows; ++i) {
    const double deviation = static_cast<double>(A.length(i)) - features.row_mean;
    squares += deviation * deviation;
    features.row_max = std::max(features.row_max, A.length(i));
    if (A.length(i) == 0) ++features.empty_rows;
  }
  features.row_deviation = std::sqrt(squares / static_cast<double>(A.rows));
  std::vector<std::int64_t> offsets;
  if (!order.empty()) {
    offsets = {0};
    offsets.reserve(order.size() + 1);
    for (const std::int32_t row : order) offsets.push_back(offsets.back() + A.length(row));
  }
  const std::int64_t* const row_offsets = order.empty() ? A.row_offsets : offsets.data();
  for (Index i = 0; i < A.rows; i += kRunStride) {
    features.rows_within_128 =
        std::max(features.rows_within_128, rows_within_128(row_offsets, A.rows, i));
  }
  return features;
}

void set_reuse(const TileCount (&counts)[4], MatrixFeatures& features) {
  features.reuse_8 = counts[0].reuse();
  features.reuse_128 = counts[1].reuse();
  features.reuse_2048 = counts[2].reuse();
  features.reuse_32768 = counts[3].reuse();
  // log R is taken as linear in log T from 8 to 128.
  const double growth = std::max(1.0, features.reuse_128 / std::max(1.0, features.reuse_8));
  features.reuse_32 = features.reuse_8 * std::pow(growth, 0.5);
  features.reuse_grid = features.reuse_8 * std::pow(growth, 0.75);
}

/// The mean length of runs of neighbouring columns in the rows of `tiles`.
double column_run(const RowPattern& A, const std::vector<std::int32_t>& order,
                  const RowTiles& tiles) {
  const std::vector<std::int32_t> place =
      A.rows == A.cols ? inverse_order(order) : std::vector<std::int32_t>();
  const Index samples = tiles.count(A.rows, A.cols);
  TileCount total;
  std::vector<std::int32_t> row;
  for (Index tile = 0; tile < samples; ++tile) {
    const Index first = tiles.first_row(tile, samples, A.rows);
    for (Index k = first; k < std::min(first + tiles.rows, A.rows); ++k) {
      const Index i = order.empty() ? k : order[at(k)];
      row.assign(A.columns + A.row_offsets[i], A.columns + A.row_offsets[i + 1]);
      if (!place.empty()) {
        for (std::int32_t& column : row) column = place[at(column)];
        std::sort(row.begin(), row.end());
      }
      total.entries += std::ssize(row);
      for (std::size_t e = 1; e < row.size(); ++e) {
        if (row[e - 1] + 1 == row[e]) ++total.following;
      }
    }
  }
  return total.run();
}

/// The part of some rows of a square A that have an entry whose column is among the other half of
/// these rows. `rows` are in an order; empty: all rows of A in its own order. From a sample.
double rows_across(const RowPattern& A, const std::vector<std::int32_t>& rows,
                   const RowTiles& tiles) {
  const Index count = rows.empty() ? A.rows : std::ssize(rows);
  std::vector<signed char> half(at(A.rows), 0);  // −1 and 1: the first and the second of the rows
  const auto row_at = [&](Index place) { return rows.empty() ? place : Index{rows[at(place)]}; };
  for (Index place = 0; place < count; ++place)
    half[at(row_at(place))] = place < count / 2 ? -1 : 1;
  const Index samples = tiles.count(count, A.cols);
  Index looked_at = 0;
  Index across = 0;
  for (Index tile = 0; tile < samples; ++tile) {
    const Index first = tiles.first_row(tile, samples, count);
    for (Index place = first; place < std::min(first + tiles.rows, count); ++place) {
      const Index row = row_at(place);
      ++looked_at;
      across += std::any_of(A.columns + A.row_offsets[row], A.columns + A.row_offsets[row + 1],
                            [&](std::int32_t j) { return half[at(j)] == -half[at(row)]; });
    }
  }
  return looked_at > 0 ? static_cast<double>(across) / static_cast<double>(looked_at) : 0;
}

/// The first rows of a breadth-first search.
std::vector<std::int32_t> ball(const RowPattern& A, Index start, Index rows,
                               std::vector<char>& seen) {
  std::vector<std::int32_t> members(1, static_cast<std::int32_t>(start));
  seen[at(start)] = 1;
  Index entries = 0;
  for (std::size_t head = 0; head < members.size(); ++head) {
    const std::int32_t u = members[head];
    entries += A.length(u);
    if (std::ssize(members) >= rows || entries > RowTiles::kMostEntries) break;
    for (std::int64_t e = A.row_offsets[u]; e < A.row_offsets[u + 1]; ++e) {
      const std::int32_t v = A.columns[e];
      if (seen[at(v)] != 0 || std::ssize(members) >= rows) continue;
      seen[at(v)] = 1;
      members.push_back(v);
    }
  }
  for (const std::int32_t u : members) seen[at(u)] = 0;
  return members;
}

}  // namespace

double own_rows_across(const RowPattern& A) { return rows_across(A, {}, kFewTiles); }

double possible_rows_across(const RowPattern& A) {
  if (A.rows == 0) return 0;
  constexpr Index kBall = 4096;
  std::vector<char> seen(at(A.rows), 0);
  const std::vector<std::int32_t> rows = ball(A, A.rows / 2, kBall, seen);
  const auto part = static_cast<double>(rows.size()) / static_cast<double>(A.rows);
  return std::cbrt(part) * rows_across(A, rows, kFewTiles);
}

HostFeatures sampled_features(const RowPattern& A, const std::vector<std::int32_t>& order) {
  HostFeatures features = length_features(A, order);
  if (A.nnz == 0) return features;
  DistinctColumns distinct(A.cols);
  TileCount counts[4];
  for (std::size_t k = 0; k < 4; ++k) {
    const RowTiles& tiles = kTiles[k];
    const Index samples = tiles.count(A.rows, A.cols);
    for (Index tile = 0; tile < samples; ++tile) {
      const Index first = tiles.first_row(tile, samples, A.rows);
      distinct.add(
          A, first, std::min(first + tiles.rows, A.rows),
          [&](Index place) { return order.empty() ? place : Index{order[at(place)]}; }, counts[k]);
    }
  }
  set_reuse(counts, features);
  features.column_run = column_run(A, order, kTiles[1]);
  if (A.rows == A.cols) features.rows_across = rows_across(A, order, kTiles[0]);
  return features;
}

HostFeatures ideal_features(const RowPattern& A) {
  HostFeatures features = length_features(A, {});
  if (A.nnz == 0) return features;
  const double entries =
      static_cast<double>(A.nnz) / static_cast<double>(A.rows - features.empty_rows);
  const auto reuse = [entries](double rows) { return std::min(rows, entries); };
  features.reuse_8 = reuse(8);
  features.reuse_32 = reuse(32);
  features.reuse_grid = features.reuse_128 = reuse(128);
  features.reuse_2048 = reuse(2048);
  features.reuse_32768 = reuse(32768);
  features.column_run = entries;
  return features;
}

HostFeatures possible_features(const RowPattern& A) {
  HostFeatures features = length_features(A, {});
  if (A.nnz == 0) return features;
  // As many as a small matrix has room for: one of them may have all its rows.
  const Index balls = std::clamp<Index>(A.rows / kTiles[3].rows, 1, 4);
  DistinctColumns distinct(A.cols);
  std::vector<char> seen(at(A.rows), 0);
  TileCount counts[4];
  for (Index k = 0; k < balls; ++k) {
    const PhiloxBlock bits = random_block(0, 1, static_cast<std::uint64_t>(k));
    const Index start = uniform_below(bits.words[0], bits.words[1], A.rows);
    const std::vector<std::int32_t> rows = ball(A, start, kTiles[3].rows, seen);
    features.rows_across += rows_across(A, rows, kTiles[0]) / static_cast<double>(balls);
    for (std::size_t size = 0; size < 4; ++size) {
      for (Index first = 0; first < std::ssize(rows); first += kTiles[size].rows) {
        distinct.add(
            A, first, std::min<Index>(first + kTiles[size].rows, std::ssize(rows)),
            [&](Index place) { return Index{rows[at(place)]}; }, counts[size]);
      }
    }
  }
  set_reuse(counts, features);
  features.column_run = column_run(A, {}, kTiles[1]);
  return features;
}

}  // namespace heddle::detail
