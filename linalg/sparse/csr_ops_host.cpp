#include <algorithm>
#include <cmath>
#include <heddle/linalg/context/host_parallel.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/block_checks.hpp>
#include <heddle/linalg/sparse/csr_ops.hpp>
#include <numeric>
#include <vector>

namespace heddle {
namespace {

constexpr Index kSlabRows = 1024;  // rows of a piece of work

/// The position of A(i, i) among the entries of row i, or the position at which it would be
/// inserted.
template <Scalar T>
std::int64_t diagonal_place(const CsrView<T, HostSpace>& A, Index i) {
  const std::int32_t* first = A.columns + A.row_offsets[i];
  const std::int32_t* end = A.columns + A.row_offsets[i + 1];
  return std::lower_bound(first, end, static_cast<std::int32_t>(i)) - A.columns;
}

/// Whether A(i, i) is stored, given its `diagonal_place`.
template <Scalar T>
bool is_diagonal_at(const CsrView<T, HostSpace>& A, Index i, std::int64_t place) {
  return place < A.row_offsets[i + 1] && A.columns[place] == i;
}

template <Scalar T>
bool stores_diagonal(const CsrView<T, HostSpace>& A, Index i) {
  return is_diagonal_at(A, i, diagonal_place(A, i));
}

}  // namespace

template <Scalar T>
double norm_1(HostContext& context, CsrView<T, HostSpace> A) {
  // A thread sums a range of columns over all rows, so that every sum is in the order of the rows.
  Buffer<double, HostSpace> sums(context, static_cast<std::size_t>(A.cols));
  const Index threads = context.threads();
  const Slabs ranges{A.cols, std::max<Index>(1, (A.cols + threads - 1) / threads)};
  parallel_for(context.threads(), ranges.count(), [&](Index range) {
    const Index first = ranges.begin(range);
    const Index end = ranges.end(range);
    std::fill(sums.data() + first, sums.data() + end, 0.0);
    for (Index row = 0; row < A.rows; ++row) {
      const std::int32_t* row_end = A.columns + A.row_offsets[row + 1];
      const std::int32_t* col = std::lower_bound(A.columns + A.row_offsets[row], row_end, first);
      for (; col != row_end && *col < end; ++col) {
        sums.data()[*col] += std::abs(static_cast<Wide<T>>(A.values[col - A.columns]));
      }
    }
  });
  double largest = 0;
  for (Index col = 0; col < A.cols; ++col) {
    const double sum = sums.data()[col];
    if (std::isnan(sum)) return sum;
    largest = std::max(largest, sum);
  }
  return largest;
}

template <Scalar T>
Buffer<T, HostSpace> extract_diagonal(HostContext& context, CsrView<T, HostSpace> A) {
  require_square("extract_diagonal", Shape{A.rows, A.cols});
  Buffer<T, HostSpace> diagonal(context, static_cast<std::size_t>(A.rows));
  parallel_for(context.threads(), A.rows, [&](Index i) {
    const std::int64_t place = diagonal_place(A, i);
    diagonal[static_cast<std::size_t>(i)] = is_diagonal_at(A, i, place) ? A.values[place] : T{0};
  });
  return diagonal;
}

template <RealScalar T>
void weighted_row_squares(HostContext& context, CsrView<T, HostSpace> A,
                          ConstBlockView<T, HostSpace> weights, BlockView<T, HostSpace> sums) {
  require_same_shape("weighted_row_squares", Shape{weights.rows(), weights.cols()},
                     Shape{A.cols, 1});
  require_same_shape("weighted_row_squares", Shape{sums.rows(), sums.cols()}, Shape{A.rows, 1});
  parallel_for(context.threads(), A.rows, [&](Index i) {
    double sum = 0;
    for (std::int64_t e = A.row_offsets[i]; e < A.row_offsets[i + 1]; ++e) {
      const double value = A.values[e];
      sum += value * value * static_cast<double>(weights(A.columns[e], 0));
    }
    sums(i, 0) = static_cast<T>(sum);
  });
}

template <Scalar T>
HostCsrMatrix<T> with_stored_diagonal(HostContext& context, CsrView<T, HostSpace> A) {
  require_square("with_stored_diagonal", Shape{A.rows, A.cols});
  const Slabs slabs = make_slabs(A.rows, kSlabRows);
  std::vector<Index> inserted(static_cast<std::size_t>(slabs.count()) + 1, 0);  // before each slab
  parallel_for(context.threads(), slabs.count(), [&](Index slab) {
    Index& missing = inserted[static_cast<std::size_t>(slab) + 1];
    for (Index i = slabs.begin(slab); i < slabs.end(slab); ++i) missing += !stores_diagonal(A, i);
  });
  std::partial_sum(inserted.begin(), inserted.end(), inserted.begin());
  HostCsrMatrix<T> full(context, A.rows, A.cols, A.nnz + inserted.back());
  full.row_offsets()[A.rows] = full.nnz();
  parallel_for(context.threads(), slabs.count(), [&](Index slab) {
    Index before = inserted[static_cast<std::size_t>(slab)];
    std::int64_t next = A.row_offsets[slabs.begin(slab)];  // the first entry that is not copied yet
    const auto copy_to = [&](std::int64_t end) {
      std::copy(A.columns + next, A.columns + end, full.columns() + next + before);
      std::copy(A.values + next, A.values + end, full.values() + next + before);
      next = end;
    };
    for (Index i = slabs.begin(slab); i < slabs.end(slab); ++i) {
      full.row_offsets()[i] = A.row_offsets[i] + before;
      const std::int64_t place = diagonal_place(A, i);
      if (is_diagonal_at(A, i, place)) continue;
      copy_to(place);
      full.columns()[place + before] = static_cast<std::int32_t>(i);
      full.values()[place + before++] = T{0};
    }
    copy_to(A.row_offsets[slabs.end(slab)]);
  });
  return full;
}

template <Scalar T>
void scale_symmetrically(HostContext& context, const Buffer<T, HostSpace>& d, HostCsrMatrix<T>& A) {
  const CsrView<T, HostSpace> view = A.view();
  require_square("scale_symmetrically", Shape{A.rows(), A.cols()});
  require_one_per_column("scale_symmetrically", Shape{static_cast<Index>(d.size()), 1}, A.cols());
  parallel_for(context.threads(), A.rows(), [&](Index i) {
    const T d_i = d.data()[i];
    for (std::int64_t e = view.row_offsets[i]; e < view.row_offsets[i + 1]; ++e) {
      A.values()[e] *= d_i * d.data()[view.columns[e]];
    }
  });
}

template <Scalar T>
void shift_diagonal(HostContext& context, double shift, HostCsrMatrix<T>& A) {
  const CsrView<T, HostSpace> view = A.view();
  require_square("shift_diagonal", Shape{A.rows(), A.cols()});
  parallel_for(context.threads(), A.rows(), [&](Index i) {
    const std::int64_t place = diagonal_place(view, i);
    if (is_diagonal_at(view, i, place)) A.values()[place] += static_cast<RealOf<T>>(shift);
  });
}

#define HEDDLE_INSTANTIATE(T)                                                                      \
  template double norm_1(HostContext&, CsrView<T, HostSpace>);                                     \
  template Buffer<T, HostSpace> extract_diagonal(HostContext&, CsrView<T, HostSpace>);             \
  template HostCsrMatrix<T> with_stored_diagonal(HostContext&, CsrView<T, HostSpace>);             \
  template void scale_symmetrically(HostContext&, const Buffer<T, HostSpace>&, HostCsrMatrix<T>&); \
  template void shift_diagonal(HostContext&, double, HostCsrMatrix<T>&);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

#define HEDDLE_INSTANTIATE(T)                                             \
  template void weighted_row_squares(HostContext&, CsrView<T, HostSpace>, \
                                     ConstBlockView<T, HostSpace>, BlockView<T, HostSpace>);
HEDDLE_FOR_EACH_REAL(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
