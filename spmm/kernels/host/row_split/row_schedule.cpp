#include <algorithm>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/sparse/repeated_rows.hpp>
#include <heddle/spmm/kernels/host/row_split/column_traits.hpp>
#include <heddle/spmm/kernels/host/row_split/row_schedule.hpp>
#include <limits>
#include <utility>

namespace heddle::detail {
namespace {

// The cost of a row in addition to its entries (loading offsets, storing C), in entries.
constexpr Index kRowWork = 4;

// Work of a chunk: large enough that dealing chunks out costs nothing and that neighbouring rows
// mostly share a core's cache, small enough that the threads finish together.
constexpr Index kMaxChunkWork = 64 * 1024;
constexpr Index kMinChunkWork = 2 * 1024;
constexpr Index kChunksAimedAt = 256;

// Grouping rows costs a run for each change of height, so it is done only where it saves a good
// part of the loads of B.
constexpr double kMinGroupedShare = 0.25;

// Rows of a strip. On two cores of a Zen 5 EPYC (1 MiB of second-level cache each, 32 MiB of third)
// 2048 to 4096 did equally well for 8 to 32 columns of double; narrower strips read their borders
// too often, wider ones lose to the cache at 32 columns.
constexpr Index kStripRows = 3072;

template <Scalar T>
Index row_length(const CsrView<T, HostSpace>& A, Index row) {
  return A.row_offsets[row + 1] - A.row_offsets[row];
}

// Rows from `row` on that have its columns, counting itself, at most kMaxRunHeight; four alike are
// left as two and two rather than three and one.
int group_height(const Buffer<std::uint8_t, HostSpace>& repeats, Index row) {
  const auto rows = static_cast<Index>(repeats.size());
  Index alike = 1;
  while (alike <= kMaxRunHeight + 1 && row + alike < rows &&
         repeats[static_cast<std::size_t>(row + alike)] != 0) {
    ++alike;
  }
  if (alike == kMaxRunHeight + 1) return 2;
  return static_cast<int>(std::min<Index>(alike, kMaxRunHeight));
}

void append_group(RowSchedule& schedule, Index row, int height) {
  if (!schedule.runs.empty()) {
    RowRun& run = schedule.runs.back();
    if (run.last == row && run.height == height) {
      run.last += height;
      return;
    }
  }
  schedule.runs.push_back({row, row + height, height});
}

template <Scalar T>
void append_heavy_row(RowSchedule& schedule, const CsrView<T, HostSpace>& A, Index row) {
  const std::size_t first = schedule.segments.size();
  const Index end = A.row_offsets[row + 1];
  for (Index begin = A.row_offsets[row]; begin < end; begin += kSegmentLength) {
    schedule.segments.push_back({begin, std::min(begin + kSegmentLength, end)});
  }
  schedule.heavy_rows.push_back({row, first, schedule.segments.size()});
}

// Runs and segments of all rows, with runs of equal columns or, without `repeats`, of height 1.
template <Scalar T>
RowSchedule make_runs(const CsrView<T, HostSpace>& A,
                      const Buffer<std::uint8_t, HostSpace>& repeats) {
  RowSchedule schedule;
  for (Index row = 0; row < A.rows;) {
    if (row_length(A, row) > kSegmentLength) {
      append_heavy_row(schedule, A, row++);
      continue;
    }
    const int height = repeats.size() > 0 ? group_height(repeats, row) : 1;
    append_group(schedule, row, height);
    if (height > 1) schedule.grouped_nnz += height * row_length(A, row);
    row += height;
  }
  return schedule;
}

// Cuts planes of `plane` rows into strips of about kStripRows.
struct Strips {
  explicit Strips(Index plane_rows)
      : plane(plane_rows), count(std::max<Index>(1, (plane_rows + kStripRows / 2) / kStripRows)) {}

  Index of_row(Index row) const { return count == 1 ? 0 : row % plane * count / plane; }

  // The first row after `row` that is in another strip, or in another plane.
  Index end(Index row) const {
    if (count == 1) return std::numeric_limits<Index>::max();
    return row - row % plane + ((of_row(row) + 1) * plane + count - 1) / count;
  }

  Index plane;
  Index count;
};

// Cuts the runs at the borders of chunks and strips, and orders the chunks strip by strip.
template <Scalar T>
void make_chunks(RowSchedule& schedule, const CsrView<T, HostSpace>& A, const Strips& strips) {
  const Index aim =
      std::clamp((A.nnz + kRowWork * A.rows) / kChunksAimedAt, kMinChunkWork, kMaxChunkWork);
  std::vector<RowRun> cut;
  Index work = aim;
  Index strip = -1;
  Index strip_end = 0;
  for (const RowRun& run : schedule.runs) {
    bool continues = false;
    for (Index row = run.first; row < run.last; row += run.height) {
      const Index here = row < strip_end ? strip : strips.of_row(row);
      if (row >= strip_end) strip_end = strips.end(row);
      if (work >= aim || here != strip) {
        schedule.chunks.push_back({cut.size(), cut.size()});
        strip = here;
        work = 0;
        continues = false;
      }
      if (!continues) cut.push_back({row, row, run.height});
      continues = true;
      cut.back().last += run.height;
      schedule.chunks.back().last_run = cut.size();
      work += run.height * (row_length(A, row) + kRowWork);
    }
  }
  schedule.runs = std::move(cut);
  const auto strip_of = [&](const RowChunk& chunk) {
    return strips.of_row(schedule.runs[chunk.first_run].first);
  };
  std::stable_sort(schedule.chunks.begin(), schedule.chunks.end(),
                   [&](const RowChunk& a, const RowChunk& b) { return strip_of(a) < strip_of(b); });
}

}  // namespace

template <Scalar T>
RowSchedule schedule_rows(HostContext& context, const CsrView<T, HostSpace>& A) {
  RowSchedule schedule = make_runs(A, repeated_rows(context, A));
  if (static_cast<double>(schedule.grouped_nnz) < kMinGroupedShare * static_cast<double>(A.nnz)) {
    schedule = make_runs(A, {});
  }
  const ColumnTraits traits = column_traits(A);
  const Strips strips(traits.plane_rows);
  schedule.advances = traits.advances;
  schedule.spread = traits.spread;
  schedule.strip_rows = strips.count > 1 ? strips.plane / strips.count : 0;
  make_chunks(schedule, A, strips);
  return schedule;
}

#define HEDDLE_INSTANTIATE(T) \
  template RowSchedule schedule_rows(HostContext&, const CsrView<T, HostSpace>&);
HEDDLE_FOR_EACH_REAL(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
