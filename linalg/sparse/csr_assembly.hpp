#pragma once

#include <algorithm>
#include <cstdint>
#include <heddle/linalg/context/host_parallel.hpp>
#include <heddle/linalg/data/buffer.hpp>
#include <heddle/linalg/data/csr_matrix.hpp>
#include <numeric>

/// Assembles sparse rows from entries in any order. The file readers, the gallery's random
/// structures, transposition and the graph Laplacians share it.
namespace heddle {

/// Builds a `HostCsrMatrix` by a stable sort in two steps. The first sorts into buckets of adjacent
/// rows, in parallel over the pieces of the input. The second sorts each bucket by row, in parallel
/// over the buckets. Duplicate entries are summed in input order, for any number of threads.
template <Scalar T>
class CsrAssembler {
 public:
  /// Throws `InvalidArgument` for a shape that a `CsrMatrix` cannot have.
  CsrAssembler(HostContext& context, Index rows, Index cols);

  /// `for_each(piece, emit)` must call `emit(row, col, value)` for the entries of a piece of the
  /// input in their order, 0 ≤ piece < pieces. Every entry must lie inside the matrix. `for_each`
  /// is called twice per piece, from several threads, and must not throw. Throws `OutOfMemory`.
  template <class ForEach>
  HostCsrMatrix<T> assemble(Index pieces, const ForEach& for_each);

 private:
  struct Entry {
    std::uint32_t row;  // from the bucket's first row
    std::int32_t col;
    T value;
  };

  static constexpr Index kMostBuckets = 1024;

  Index first_row(Index bucket) const noexcept { return bucket << shift_; }
  Index end_row(Index bucket) const noexcept { return std::min(rows_, (bucket + 1) << shift_); }

  template <class ForEach>
  void sort_into_buckets(Index pieces, const ForEach& for_each);
  Index place_counts(Index pieces, Index* counts);
  Index finish_bucket(Index bucket, HostCsrMatrix<T>& A);
  void place_rows(Index bucket, HostCsrMatrix<T>& A) const;
  Index sum_duplicates(Index bucket, HostCsrMatrix<T>& A) const;
  HostCsrMatrix<T> close_gaps(const HostCsrMatrix<T>& A, const Index* kept) const;

  HostContext& context_;
  Index rows_;
  Index cols_;
  int shift_ = 0;
  Index buckets_ = 0;
  Buffer<Index, HostSpace> bucket_starts_;  // buckets + 1
  Buffer<Entry, HostSpace> entries_;        // bucket by bucket, each in input order
};

template <Scalar T>
template <class ForEach>
HostCsrMatrix<T> CsrAssembler<T>::assemble(Index pieces, const ForEach& for_each) {
  sort_into_buckets(pieces, for_each);
  const Index nnz = bucket_starts_[static_cast<std::size_t>(buckets_)];
  HostCsrMatrix<T> A(context_, rows_, cols_, nnz);
  A.row_offsets()[0] = 0;
  Buffer<Index, HostSpace> kept(context_, static_cast<std::size_t>(buckets_));
  parallel_for_in_turns(context_.threads(), buckets_, [&](Index bucket) {
    kept[static_cast<std::size_t>(bucket)] = finish_bucket(bucket, A);
  });
  const Index total = std::accumulate(kept.data(), kept.data() + buckets_, Index{0});
  entries_ = {};
  return total == nnz ? std::move(A) : close_gaps(A, kept.data());
}

template <Scalar T>
template <class ForEach>
void CsrAssembler<T>::sort_into_buckets(Index pieces, const ForEach& for_each) {
  Buffer<Index, HostSpace> cursors(context_, static_cast<std::size_t>(pieces * buckets_));
  parallel_for(context_.threads(), pieces, [&](Index piece) {
    Index* counts = cursors.data() + piece * buckets_;
    std::fill_n(counts, buckets_, Index{0});
    for_each(piece, [&](Index row, Index, T) { ++counts[row >> shift_]; });
  });
  entries_ = {context_, static_cast<std::size_t>(place_counts(pieces, cursors.data()))};
  parallel_for(context_.threads(), pieces, [&](Index piece) {
    Index* next = cursors.data() + piece * buckets_;
    Entry* entries = entries_.data();
    for_each(piece, [&](Index row, Index col, T value) {
      const Index bucket = row >> shift_;
      entries[next[bucket]++] = {static_cast<std::uint32_t>(row - first_row(bucket)),
                                 static_cast<std::int32_t>(col), value};
    });
  });
}

}  // namespace heddle
