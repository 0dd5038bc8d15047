#pragma once

#include <heddle/spgemm/cuda/rows/repeated_rows.cuh>
#include <heddle/spgemm/cuda/rows/row_bins.hpp>
#include <heddle/spgemm/cuda/runs/gathered_runs.cuh>
#include <heddle/spgemm/cuda/teams/row_team.cuh>

/// Which kernel computes the values of a row of C.
namespace heddle::detail {

/// Bins of rows that a team sums in shared memory, by the bytes that it needs: 512, 1024 … 32768.
inline constexpr int kTableBins = 7;
__host__ __device__ constexpr int table_bytes(int bin) { return 512 << bin; }

/// The tables of matrices with fewer columns than kFewColumns end earlier: longer rows are then
/// summed faster by stretches of columns.
inline constexpr int kTableBinsOfFewColumns = 6;
inline constexpr Index kFewColumns = 1 << 18;

/// Bins of chunks of runs (see `find_runs`), by the entries of a row of C: 8, 12, 16, 24 …
inline constexpr int kRunBins = 11;
__host__ __device__ constexpr int run_entries(int bin) {
  return ((bin % 2 == 0 ? 8 : 12) << (bin / 2));
}

static_assert(run_entries(kRunBins - 1) == kMostRunEntries);

/// Bins of strips of runs whose terms are gathered, by their shared memory. With the last one, a
/// multiprocessor of an H200 holds two thread blocks.
inline constexpr int kGatherBins = 11;
__host__ __device__ constexpr Index gather_bytes(int bin) {
  constexpr int kSizes[kGatherBins] = {8, 12, 16, 20, 24, 28, 32, 40, 54, 72};
  constexpr Index kLargest = 115600;
  return bin < kGatherBins - 1 ? Index{1024} * kSizes[bin] : kLargest;
}

inline constexpr int kFirstRunBin = kTableBins;
inline constexpr int kFirstGatherBin = kFirstRunBin + kRunBins;
inline constexpr int kLongBin = kFirstGatherBin + kGatherBins;
inline constexpr int kValueBins = kLongBin + 1;
static_assert(kValueBins <= kMostBins);

/// A place of the hash table of a row: a block of columns, the mask of its columns, and the number
/// of entries of the row before it.
struct alignas(16) Slot {
  std::int32_t key;
  unsigned mask;
  unsigned before;
  unsigned unused;
};

/// The bytes of a team's memory for a row of `entries` in `blocks` blocks. The table is at most
/// three quarters full.
__device__ inline Index bytes_needed(Index entries, Index blocks, int scalar_bytes) {
  Index slots = 2;
  while (blocks * 4 > slots * 3) slots *= 2;
  return slots * static_cast<Index>(sizeof(Slot)) + entries * scalar_bytes;
}

/// The first chunk of the strip of row i.
__device__ inline Chunk first_of_strip(const Runs& runs, Index i, int chunks) {
  return chunk_of(runs, i - runs.places[i] % (kWarp * chunks));
}

/// The bin of strips whose first chunk is `chunk`, kGatherBins if they do not suit.
template <class T>
__device__ int gather_bin(const CsrView<T, DeviceSpace>& A, const CsrView<T, DeviceSpace>& B,
                          const Chunk& chunk, Index entries) {
  const GatheredChunk gathered = gathered_chunk(A, B, chunk);
  if (!gathered.fits) return kGatherBins;
  const Index factors = A.row_offsets[chunk.first + 1] - A.row_offsets[chunk.first];
  const auto with_stages = [&](int stages) {
    return gathered.bytes(stages, static_cast<int>(chunk.rows), static_cast<int>(factors),
                          static_cast<int>(entries), static_cast<int>(sizeof(T)));
  };
  Index bytes = with_stages(2);
  if (bytes > kMostForTwoStages) {
    bytes = with_stages(1) > kMostForTwoStages ? with_stages(1) : kMostForTwoStages + 1;
  }
  int bin = 0;
  while (bin < kGatherBins && bytes > gather_bytes(bin)) ++bin;
  return bin;
}

/// The bin of row i of C, kValueBins if it has no entries or belongs to a chunk of another row.
/// `leader_blocks`: blocks of columns of the leading row of its run. `chunks`: per strip.
template <class T>
__device__ int bin_of_row(const CsrView<T, DeviceSpace>& A, const CsrView<T, DeviceSpace>& B,
                          const Runs& runs, Index i, Index entries, std::int32_t leader_blocks,
                          int chunks) {
  constexpr int scalar_bytes = sizeof(T);
  const Index cols = B.cols;
  if (entries == 0) return kValueBins;
  const Chunk chunk = chunk_of(runs, i);
  if (chunk.is_computed(entries)) {
    if (i != chunk.first) return kValueBins;
    const Chunk strip = first_of_strip(runs, i, chunks);
    const int gathering = gather_bin(A, B, strip, entries);
    if (gathering < kGatherBins) return i == strip.first ? kFirstGatherBin + gathering : kValueBins;
    int bin = 0;
    while (entries > run_entries(bin)) ++bin;
    return kFirstRunBin + bin;
  }
  // Moved by some columns, a block of the leading row may lie in two.
  const Index moved = runs.leads(i) ? Index{leader_blocks} : 2 * Index{leader_blocks};
  const Index bytes = bytes_needed(entries, moved < entries ? moved : entries, scalar_bytes);
  const int bins = cols < kFewColumns ? kTableBinsOfFewColumns : kTableBins;
  int bin = 0;
  while (bin < bins && bytes > table_bytes(bin)) ++bin;
  return bin < bins ? bin : kLongBin;
}

}  // namespace heddle::detail
