#pragma once

#include <cstddef>
#include <heddle/linalg/data/views.hpp>
#include <vector>

namespace heddle::detail {

/// Rows first … last − 1, `height` rows at a time: rows that are multiplied together have the same
/// columns, so that a row of B is loaded once for all of them. (last − first) is a multiple of
/// height.
struct RowRun {
  Index first;
  Index last;
  int height;
};

/// Runs first_run … last_run − 1: what a thread takes at a time.
struct RowChunk {
  std::size_t first_run;
  std::size_t last_run;
};

/// A part of a heavy row: entries begin … end − 1 of the matrix.
struct RowSegment {
  Index begin;
  Index end;
};

/// A row whose sum is made of segments first_segment … last_segment − 1, added in that order.
struct HeavyRow {
  Index row;
  std::size_t first_segment;
  std::size_t last_segment;
};

/// How the rows of a matrix are multiplied. It depends on the matrix alone, never on the number of
/// threads, so that neither do the bits of the result.
struct RowSchedule {
  std::vector<RowRun> runs;      ///< all rows but the heavy ones, ascending
  std::vector<RowChunk> chunks;  ///< in the order in which they are best multiplied
  std::vector<RowSegment> segments;
  std::vector<HeavyRow> heavy_rows;
  Index grouped_nnz = 0;  ///< entries in runs of height above 1
  bool advances = false;  ///< in most rows the last column moves on a little from row to row
  Index spread = 0;       ///< mean distance between a row's first and last column
  Index strip_rows = 0;   ///< rows of a strip where the chunks follow strips, else 0
};

/// Largest `RowRun::height`. Three, for the node blocks of 3-D elasticity: with three rows of eight
/// vectors of C the accumulators still fit into 32 vector registers.
inline constexpr int kMaxRunHeight = 3;

/// Entries of a heavy row's segment. Rows no longer than that are never split.
inline constexpr Index kSegmentLength = 8192;

/// Deals the rows of A into runs of equal columns, the runs into chunks of about equal work, and
/// rows longer than `kSegmentLength` into segments.
///
/// On a grid, rows a plane apart share columns, but a plane of B may be more than a cache holds.
/// Where most rows have their farthest columns at the same distance, a plane, the planes are cut
/// into strips and the chunks go through all planes of one strip before the next, so that what is
/// between two uses of a row of B is three planes of a strip.
template <Scalar T>
RowSchedule schedule_rows(const CsrView<T, HostSpace>& A);

}  // namespace heddle::detail
