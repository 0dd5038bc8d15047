#pragma once

#include <heddle/linalg/data/views.hpp>
#include <heddle/spgemm/cuda/teams/row_team.cuh>

namespace heddle::detail {

/// Entries of a row of B that a row of A takes.
struct Segment {
  Index from = 0;
  int length = 0;
};

/// A term of a row of C: the factor a_ik and an entry of row k of B. No column: there is none.
template <class T>
struct Term {
  std::int32_t column = -1;
  T factor{0};
  T value{0};
};

/// The segments of up to W factors of a row, one per lane, and a position in them.
template <class T, int W>
class Walk {
 public:
  using Team = RowTeam<W>;

  /// A factor per lane, those without terms included.
  __device__ Walk(const CsrView<T, DeviceSpace>& B, Segment segment, T factor)
      : B_(B), segment_(segment), factor_(factor) {
    const int first = lane_index() / W * W;
    left_ = (__ballot_sync(kAllLanes, segment.length > 0) >> first) & (kAllLanes >> (kWarp - W));
  }

  __device__ bool is_done() const { return left_ == 0; }

  /// The next W entries of the segment at hand, one per lane. Teams of a warp call it together.
  __device__ Term<T> next() {
    const int number = __ffs(static_cast<int>(left_)) - 1;  // any if none is left
    const Index from = __shfl_sync(kAllLanes, segment_.from, number, W);
    const int length = __shfl_sync(kAllLanes, segment_.length, number, W);
    Term<T> term;
    term.factor = __shfl_sync(kAllLanes, factor_, number, W);
    const int mine = entry_ + Team::lane();
    if (!is_done() && mine < length) {
      term.column = B_.columns[from + mine];
      term.value = B_.values[from + mine];
    }
    entry_ += W;
    if (entry_ >= length) {
      entry_ = 0;
      left_ &= left_ - 1;
    }
    return term;
  }

 private:
  const CsrView<T, DeviceSpace>& B_;
  Segment segment_;
  T factor_;
  unsigned left_;  ///< a bit per factor whose terms are not all passed
  int entry_ = 0;
};

/// Calls add(term) for all terms of a row of C in the order of k, with the entries `first` …
/// `last` − 1 of A. The lanes of a team have entries of one row of B at a time, which are terms of
/// different sums, and wait for each other before the next ones. `segment_of(k)`: the entries of
/// row k of B to take. Entries are loaded two calls ahead, and factors before the terms of those
/// before.
template <int W, class T, class SegmentOf, class Add>
__device__ void walk_terms(const CsrView<T, DeviceSpace>& A, const CsrView<T, DeviceSpace>& B,
                           Index first, Index last, const SegmentOf& segment_of, const Add& add) {
  using Team = RowTeam<W>;
  Segment segment;
  T factor{0};
  const auto load_factor = [&](Index a) {
    segment = a < last ? segment_of(A.columns[a]) : Segment{};
    factor = a < last ? A.values[a] : T{0};
  };
  load_factor(first + Team::lane());
  for (Index a = first; Team::any(a < last); a += W) {
    Walk<T, W> walk(B, segment, factor);
    load_factor(a + W + Team::lane());
    Term<T> now = walk.next();
    Term<T> soon = walk.next();
    while (Team::any(!walk.is_done())) {
      const Term<T> later = walk.next();
      if (now.column >= 0) add(now);
      __syncwarp();
      now = soon;
      soon = later;
    }
    if (now.column >= 0) add(now);
    __syncwarp();
    if (soon.column >= 0) add(soon);
    __syncwarp();
  }
}

}  // namespace heddle::detail
