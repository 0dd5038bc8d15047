#pragma once

#include <cstdint>
#include <heddle/linalg/data/csr_matrix.hpp>
#include <heddle/linalg/precision/narrow_float.hpp>
#include <vector>

/// Compressed rows for products without tensor cores, cut into slices of 8 pieces of rows. A warp
/// multiplies a slice at a time, four lanes per piece:
///
///     lane           0  1  …  7    8 …         entries k, k + 1, k + 2, k + 3 of 8 pieces at a
///     time, piece          0  1  …  7    0 …         so that 8 neighbouring lanes meet rows of B
///     that are entry (mod 4)  0  0  …  0    1 …         neighbours where the rows of A are alike
///
/// Source: Kreutzer et al., A unified sparse matrix data format for efficient general sparse
/// matrix-vector multiplication on modern processors (SELL-C-σ), SISC 2014.
namespace heddle::detail {

inline constexpr Index kPiecesPerSlice = 8;
inline constexpr Index kLanesPerPiece = 4;
inline constexpr Index kSliceLanes = kPiecesPerSlice * kLanesPerPiece;
/// A lane loads this many entries at a time, which lie side by side.
inline constexpr Index kEntriesPerLoad = 2;

/// Where the entries of a slice begin: load g of lane l is at kEntriesPerLoad (first + 32 g + l).
struct alignas(16) RowSlice {
  std::int64_t first;
  std::int32_t loads;
  std::int32_t padding = 0;
};

/// The rows and columns that a thread block multiplies.
struct alignas(16) SliceShare {
  std::int32_t first_slice;
  std::int32_t end_slice;
  std::int32_t first_cut_row;
  std::int32_t end_cut_row;
};

/// A row in several pieces, whose sums the slots first … end − 1 of a thread block keep.
struct CutRow {
  std::int32_t row;
  std::int32_t first_slot;
  std::int32_t end_slot;
};

/// Where the sum of a piece belongs: the row of C, kNoPiece, or slot s as kFirstSlot − s.
inline constexpr std::int32_t kNoPiece = -1;
inline constexpr std::int32_t kFirstSlot = -2;

/// A matrix in slices, in host memory.
template <class V>
struct SlicedRows {
  std::vector<SliceShare> shares;  ///< per thread block
  std::vector<RowSlice> slices;
  std::vector<std::int32_t> targets;  ///< 8 per slice
  std::vector<CutRow> cut_rows;
  std::vector<std::int32_t> columns;  ///< −1: no entry
  std::vector<V> values;
  std::int32_t most_slots = 0;  ///< of a thread block
};

/// Rows dealt out to thread blocks: thread block b has rows[offsets[b]] … rows[offsets[b+1] − 1].
struct RowGroups {
  std::vector<std::int32_t> rows;
  std::vector<Index> offsets = {0};

  Index count() const noexcept { return static_cast<Index>(offsets.size()) - 1; }
};

/// How many pieces a row of this length has: pieces of at most `longest` entries, but at most
/// `most` pieces, and at least one.
Index pieces_of_row(Index length, Index longest, Index most) noexcept;

/// Neighbouring rows with `pieces` pieces together or fewer.
RowGroups neighbouring_rows(const CsrView<float, HostSpace>& A, Index longest, Index pieces);

/// The cost of a row in addition to its entries, in entries.
inline constexpr Index kRowCost = 8;

/// Rows for `groups` thread blocks with about the same number of entries each: the longest rows
/// first, each to the group with the fewest entries so far.
RowGroups balanced_rows(const CsrView<float, HostSpace>& A, Index groups);

/// A in slices of pieces of at most `longest` entries (`pieces_of_row`). Pieces with more loads
/// come first in a thread block, otherwise they keep their order. Values must be numbers of V. Runs
/// in parallel with the same result for every number of threads.
template <class V>
SlicedRows<V> slice_rows(HostContext& context, const CsrView<float, HostSpace>& A,
                         const RowGroups& groups, Index longest, Index most_pieces);

}  // namespace heddle::detail
