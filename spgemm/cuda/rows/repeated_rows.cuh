#pragma once

#include <heddle/linalg/sparse/csr_kernels.cuh>
#include <heddle/spgemm/cuda/rows/repeated_rows.hpp>
#include <heddle/spgemm/cuda/teams/row_team.cuh>

namespace heddle::detail {

/// Whether row i of M has the columns of row i − 1, plus 1, and `required` is set for each of its
/// columns (if not null). A team of W lanes looks at the row. No for i ≥ M.rows.
template <int W, class T>
__device__ bool row_repeats(const CsrView<T, DeviceSpace>& M, Index i,
                            const unsigned char* required) {
  using Team = RowTeam<W>;
  bool same = i > 0 && i < M.rows;
  Index begin = 0;
  Index length = 0;
  if (same) {
    begin = M.row_offsets[i];
    length = M.row_offsets[i + 1] - begin;
    same = length > 0 && begin - M.row_offsets[i - 1] == length;
  }
  const Index before = begin - length;
  for (Index e = Team::lane(); Team::any(same && e < length); e += W) {
    if (!same || e >= length) continue;
    const std::int32_t column = M.columns[begin + e];
    same = column == M.columns[before + e] + 1 && (required == nullptr || required[column] != 0);
  }
  const unsigned votes = __ballot_sync(kAllLanes, same);
  constexpr unsigned kTeam = kAllLanes >> (kWarp - W);
  const int first = Team::in_block() * W % kWarp;
  return ((votes >> first) & kTeam) == kTeam;
}

/// A chunk of a run has one row per lane of a warp. With fewer rows than this it is no faster than
/// its rows one by one.
inline constexpr Index kLeastChunk = 12;

/// Longer rows of C leave too few chunks in shared memory.
inline constexpr Index kMostRunEntries = 256;

/// The runs of the rows of C, see `RunPlaces`.
struct Runs {
  const RunPlace* places = nullptr;
  Index rows = 0;

  __device__ Index leader(Index i) const { return i - places[i]; }
  __device__ bool leads(Index i) const { return places[i] == 0; }

  /// Row i and those behind it in its run, `most` at most.
  __device__ Index count_from(Index i, Index most) const {
    Index first = 1;
    Index end = rows - i < most ? rows - i : most;
    while (first < end) {
      const Index middle = first + (end - first) / 2;
      if (places[i + middle] == places[i] + middle) {
        first = middle + 1;
      } else {
        end = middle;
      }
    }
    return first;
  }
};

inline Runs runs_of(const RunPlaces& places) {
  return {places.data(), static_cast<Index>(places.size())};
}

/// The chunk of a run that row i belongs to.
struct Chunk {
  Index first;
  Index rows;

  /// Whether the rows of the chunk are computed together. Each has `entries` entries.
  __device__ bool is_computed(Index entries) const {
    return rows >= kLeastChunk && entries > 0 && entries <= kMostRunEntries;
  }
};

__device__ inline Chunk chunk_of(const Runs& runs, Index i) {
  const Index first = i - runs.places[i] % kWarp;
  return {first, runs.count_from(first, kWarp)};
}

}  // namespace heddle::detail
