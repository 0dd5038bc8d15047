#pragma once

#include <heddle/linalg/data/views.hpp>
#include <heddle/spgemm/cuda/rows/repeated_rows.cuh>

namespace heddle::detail {

/// Limits of the rows whose terms are gathered: a bit per factor, and values of B per factor.
inline constexpr int kMostFactors = 32;
inline constexpr Index kMostGathered = 64;

/// Entries of C that a warp computes at a time for all rows of a chunk. Their terms are a list
/// whose length is a multiple of kTermsAtOnce.
inline constexpr int kTile = 8;
inline constexpr int kTermsAtOnce = 8;

/// A term of the rows of a chunk: where its factors lie, in bytes from a row's own entries of A and
/// from its place in the stage of B. The last term of an entry has the sign bit set.
struct alignas(8) GatheredTerm {
  unsigned own = 0;
  unsigned stage = 0;
};

/// At least the places of the lists of terms of all tiles of a row.
__host__ __device__ constexpr int term_places(int products, int entries) {
  const int tiles = (entries + kTile - 1) / kTile;
  return (products + tiles * (kTermsAtOnce - 1) + 1) / 2 * 2;
}

/// Chunks of a run that a thread block computes one after the other, as long as there are enough
/// blocks for the device.
inline int chunks_per_strip(const CudaContext& context, Index rows) {
  constexpr Index kStripsPerMultiprocessor = 16;
  constexpr Index kMostChunks = 8;
  const Index strips = kStripsPerMultiprocessor * context.device().multiprocessors;
  return static_cast<int>(std::clamp<Index>(rows / (kWarp * strips), 1, kMostChunks));
}

/// Strips with up to this much shared memory have two stages, others one.
inline constexpr Index kMostForTwoStages = 72 * 1024;
inline int stages_within(Index bytes) { return bytes <= kMostForTwoStages ? 2 : 1; }

/// The shared memory of a strip, from its first chunk.
struct GatheredChunk {
  int staged_rows = 0;  ///< rows of B; those of neighbouring columns of A overlap
  int longest = 0;      ///< entries of a row of B
  int products = 0;     ///< terms per row of C
  bool fits = false;

  __host__ __device__ int pitch() const { return longest | 1; }  ///< odd, so lanes reach all banks

  __host__ __device__ Index bytes(int stages, int height, int factors, int entries,
                                  int scalar_bytes) const {
    // Each row of B begins an interval at worst, which lies like its source between 16 bytes.
    const Index between = (Index{factors} + 2) * 2 * (16 / scalar_bytes - 1);
    const Index stage = Index{staged_rows} * pitch() + Index{height} * (factors | 1) + between;
    const Index numbers = stages * stage + Index{height} * (entries | 1);
    const Index integers = (products + 1) / 2 + 3 * Index{entries};
    return Index{term_places(products, entries)} * static_cast<Index>(sizeof(GatheredTerm)) +
           numbers * scalar_bytes + integers * static_cast<Index>(sizeof(std::int32_t));
  }
};

template <class T>
__device__ GatheredChunk gathered_chunk(const CsrView<T, DeviceSpace>& A,
                                        const CsrView<T, DeviceSpace>& B, const Chunk& chunk) {
  GatheredChunk result;
  const Index begin = A.row_offsets[chunk.first];
  const Index count = A.row_offsets[chunk.first + 1] - begin;
  if (count > kMostFactors) return result;
  std::int32_t before = -1;
  for (Index a = begin; a < begin + count; ++a) {
    const std::int32_t k = A.columns[a];
    const Index terms = B.row_offsets[k + 1] - B.row_offsets[k];
    if (terms > kMostGathered) return result;
    result.staged_rows += a > begin && k == before + 1 ? 1 : static_cast<int>(chunk.rows);
    result.longest =
        static_cast<int>(terms) > result.longest ? static_cast<int>(terms) : result.longest;
    result.products += static_cast<int>(terms);
    before = k;
  }
  result.fits = true;
  return result;
}

}  // namespace heddle::detail
