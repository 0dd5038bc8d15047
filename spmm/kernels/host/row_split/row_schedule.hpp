#pragma once

#include <cstddef>
#include <heddle/linalg/context/context.hpp>
#include <heddle/linalg/data/views.hpp>
#include <vector>

namespace heddle::detail {

/// Rows first … last − 1 in groups of `height` rows. Rows of a group have equal columns and are
/// multiplied together, so that a row of B is loaded once for all of them. (last − first) is a
/// multiple of height.
struct RowRun {
  Index first;
  Index last;
  int height;
};

/// Runs first_run … last_run − 1, the unit of work of a thread.
struct RowChunk {
  std::size_t first_run;
  std::size_t last_run;
};

/// A part of a heavy row: entries begin … end − 1 of the matrix.
struct RowSegment {
  Index begin;
  Index end;
};

/// A row whose sum is divided into segments first_segment … last_segment − 1, which are added in
/// this order.
struct HeavyRow {
  Index row;
  std::size_t first_segment;
  std::size_t last_segment;
};

/// The schedule for multiplying the rows of a matrix. It depends on the matrix alone and not on the
/// number of threads, so the bits of the result do not depend on the number of threads either.
struct RowSchedule {
  std::vector<RowRun> runs;      ///< all rows but the heavy ones, ascending
  std::vector<RowChunk> chunks;  ///< in the order in which they should be multiplied
  std::vector<RowSegment> segments;
  std::vector<HeavyRow> heavy_rows;
  Index grouped_nnz = 0;  ///< entries in runs of height above 1
  bool advances = false;  ///< in most rows the last column moves on a little from row to row
  Index spread = 0;       ///< mean distance between a row's first and last column
  Index strip_rows = 0;   ///< rows of a strip where the chunks follow strips, else 0
};

/// The largest `RowRun::height`. It is three for the node blocks of 3-D elasticity. With three rows
/// of eight vectors of C, the accumulators still fit in 32 vector registers.
inline constexpr int kMaxRunHeight = 3;

/// Entries of a heavy row's segment. Rows no longer than that are never split.
inline constexpr Index kSegmentLength = 8192;

/// Groups the rows of A into runs of equal columns, the runs into chunks of about equal work, and
/// divides rows longer than `kSegmentLength` into segments.
///
/// On a grid, rows of adjacent planes share columns, but a plane of B may exceed the cache. If most
/// rows have their farthest columns at the same distance, this distance is taken as the size of a
/// plane, and the planes are cut into strips. The chunks process one strip in all planes before the
/// next strip. Between two uses of a row of B, only three planes of a strip are then read.
template <Scalar T>
RowSchedule schedule_rows(HostContext& context, const CsrView<T, HostSpace>& A);

}  // namespace heddle::detail
