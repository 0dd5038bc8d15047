#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/sparse/csr_assembly.hpp>

namespace heddle {

template <Scalar T>
CsrAssembler<T>::CsrAssembler(HostContext& context, Index rows, Index cols)
    : context_(context), rows_(rows), cols_(cols) {
  check_csr_shape(rows, cols, 0);
  while ((rows_ >> shift_) >= kMostBuckets) ++shift_;
  buckets_ = (rows_ + (Index{1} << shift_) - 1) >> shift_;
  bucket_starts_ = {context_, static_cast<std::size_t>(buckets_ + 1)};
}

/// Converts the number of entries per piece and bucket into the positions at which they start.
/// Returns the total number of entries.
template <Scalar T>
Index CsrAssembler<T>::place_counts(Index pieces, Index* counts) {
  Index next = 0;
  for (Index bucket = 0; bucket < buckets_; ++bucket) {
    bucket_starts_[static_cast<std::size_t>(bucket)] = next;
    for (Index piece = 0; piece < pieces; ++piece) {
      const Index count = counts[piece * buckets_ + bucket];
      counts[piece * buckets_ + bucket] = next;
      next += count;
    }
  }
  bucket_starts_[static_cast<std::size_t>(buckets_)] = next;
  return next;
}

/// Writes the rows of `bucket` to A from the bucket's start on, with ascending columns and
/// duplicates summed. Returns the number of entries after summing.
template <Scalar T>
Index CsrAssembler<T>::finish_bucket(Index bucket, HostCsrMatrix<T>& A) {
  Entry* begin = entries_.data() + bucket_starts_[static_cast<std::size_t>(bucket)];
  Entry* end = entries_.data() + bucket_starts_[static_cast<std::size_t>(bucket + 1)];
  place_rows(bucket, A);
  bool ascending = true;
  bool distinct = true;
  Index row_start = bucket_starts_[static_cast<std::size_t>(bucket)];
  for (Index row = first_row(bucket); row < end_row(bucket); ++row) {
    const Index row_end = A.row_offsets()[row + 1];
    for (Index k = row_start + 1; k < row_end; ++k) {
      ascending = ascending && A.columns()[k - 1] <= A.columns()[k];
      distinct = distinct && A.columns()[k - 1] != A.columns()[k];
    }
    row_start = row_end;
  }
  if (ascending && distinct) return end - begin;
  if (!ascending) {
    std::stable_sort(begin, end, [](const Entry& a, const Entry& b) { return a.col < b.col; });
    place_rows(bucket, A);
  }
  return sum_duplicates(bucket, A);
}

/// Copies the entries of `bucket` to their rows of A, in input order.
template <Scalar T>
void CsrAssembler<T>::place_rows(Index bucket, HostCsrMatrix<T>& A) const {
  const Index begin = bucket_starts_[static_cast<std::size_t>(bucket)];
  const Index end = bucket_starts_[static_cast<std::size_t>(bucket + 1)];
  const Index rows = end_row(bucket) - first_row(bucket);
  // next[i] is the position of row i's next entry. When all entries are stored, it is the end of
  // row i.
  std::int64_t* next = A.row_offsets() + first_row(bucket) + 1;
  std::fill_n(next, rows, Index{0});
  for (Index k = begin; k < end; ++k) ++next[entries_.data()[k].row];
  Index place = begin;
  for (Index row = 0; row < rows; ++row) {
    const Index count = next[row];
    next[row] = place;
    place += count;
  }
  for (Index k = begin; k < end; ++k) {
    const Entry& entry = entries_.data()[k];
    const Index to = next[entry.row]++;
    A.columns()[to] = entry.col;
    A.values()[to] = entry.value;
  }
}

/// Sums duplicate columns in each row of `bucket` and closes the gaps between the rows. Returns the
/// number of entries after summing.
template <Scalar T>
Index CsrAssembler<T>::sum_duplicates(Index bucket, HostCsrMatrix<T>& A) const {
  const Index begin = bucket_starts_[static_cast<std::size_t>(bucket)];
  Index to = begin;
  Index from = begin;
  for (Index row = first_row(bucket); row < end_row(bucket); ++row) {
    const Index row_start = to;
    const Index row_end = A.row_offsets()[row + 1];
    for (; from < row_end; ++from) {
      if (to > row_start && A.columns()[to - 1] == A.columns()[from]) {
        A.values()[to - 1] += A.values()[from];
      } else {
        A.columns()[to] = A.columns()[from];
        A.values()[to] = A.values()[from];
        ++to;
      }
    }
    A.row_offsets()[row + 1] = to;
  }
  return to - begin;
}

/// A without the gaps that summing left at the ends of the buckets. `kept` holds the number of
/// entries of each bucket.
template <Scalar T>
HostCsrMatrix<T> CsrAssembler<T>::close_gaps(const HostCsrMatrix<T>& A, const Index* kept) const {
  Buffer<Index, HostSpace> starts(context_, static_cast<std::size_t>(buckets_));
  Index nnz = 0;
  for (Index bucket = 0; bucket < buckets_; ++bucket) {
    starts[static_cast<std::size_t>(bucket)] = nnz;
    nnz += kept[bucket];
  }
  HostCsrMatrix<T> dense(context_, rows_, cols_, nnz);
  dense.row_offsets()[0] = 0;
  const CsrView<T, HostSpace> view = A.view();
  parallel_for(context_.threads(), buckets_, [&](Index bucket) {
    const Index from = bucket_starts_[static_cast<std::size_t>(bucket)];
    const Index to = starts[static_cast<std::size_t>(bucket)];
    std::copy_n(view.columns + from, kept[bucket], dense.columns() + to);
    std::copy_n(view.values + from, kept[bucket], dense.values() + to);
    for (Index row = first_row(bucket); row < end_row(bucket); ++row) {
      dense.row_offsets()[row + 1] = view.row_offsets[row + 1] - from + to;
    }
  });
  return dense;
}

#define HEDDLE_INSTANTIATE(T) template class CsrAssembler<T>;
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
