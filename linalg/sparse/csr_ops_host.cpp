#include <algorithm>
#include <cmath>
#include <heddle/linalg/context/host_parallel.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/block_checks.hpp>
#include <heddle/linalg/data/halo_exchange.hpp>
#include <heddle/linalg/sparse/csr_ops.hpp>
#include <heddle/linalg/sparse/remote_copy.hpp>
#include <memory>
#include <numeric>
#include <utility>
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

/// The sum of absolute values in a row, and the number of its entries.
struct RowSum {
  double sum = 0;
  Index entries = 0;
};

template <Scalar T>
RowSum absolute_sum(const CsrView<T, HostSpace>& A, Index i) {
  RowSum row{0, A.row_offsets[i + 1] - A.row_offsets[i]};
  for (std::int64_t e = A.row_offsets[i]; e < A.row_offsets[i + 1]; ++e) {
    row.sum += std::abs(static_cast<double>(A.values[e]));
  }
  return row;
}

template <Scalar T>
double sum_of_squares(const CsrView<T, HostSpace>& A, Index i) {
  double sum = 0;
  for (std::int64_t e = A.row_offsets[i]; e < A.row_offsets[i + 1]; ++e) {
    sum += static_cast<double>(A.values[e]) * static_cast<double>(A.values[e]);
  }
  return sum;
}

/// What makes a block-diagonal matrix, square and without entries in columns of other processes, a
/// distributed one of these rows.
template <Scalar T>
std::shared_ptr<const RemoteColumns<T, HostSpace>> no_remote_entries(HostContext& context,
                                                                     const RowRange& rows) {
  RemoteColumns<T, HostSpace> none{HostCsrMatrix<T>(context, 0, 0, 0), {context, 0}, nullptr};
  none.entries.row_offsets()[0] = 0;
  none.lists = std::make_shared<const HaloLists>(HaloLists{rows, rows, {}, {}, {}});
  return std::make_shared<const RemoteColumns<T, HostSpace>>(std::move(none));
}

/// Calls body(i, row sum in columns of other processes) for all rows i that have entries there.
template <Scalar T, class Body>
void for_each_remote_row(const CsrView<T, HostSpace>& A, const Body& body) {
  if (A.remote == nullptr) return;
  const CsrView<T, HostSpace> remote = A.remote->entries.view();
  for (Index k = 0; k < remote.rows; ++k) {
    body(A.remote->rows[static_cast<std::size_t>(k)], absolute_sum(remote, k));
  }
}

/// The largest absolute row sum of a distributed A, NaN if A contains one.
template <Scalar T>
double largest_row_sum(HostContext& context, const CsrView<T, HostSpace>& A) {
  double largest = 0;
  const auto take = [&largest](double sum) {
    if (std::isnan(sum) || sum > largest) largest = sum;
  };
  for (Index i = 0; i < A.rows; ++i) take(absolute_sum(A, i).sum);
  for_each_remote_row(
      A, [&](Index i, const RowSum& remote) { take(absolute_sum(A, i).sum + remote.sum); });
  context.processes()->largest({&largest, 1});
  return largest;
}

/// The remote part of a distributed D A D, D = diag(d).
template <Scalar T>
std::shared_ptr<const RemoteColumns<T, HostSpace>> scaled_remote(
    HostContext& context, const Buffer<T, HostSpace>& d,
    const RemoteColumns<T, HostSpace>& source) {
  HaloExchange<T, HostContext> exchange(context, *source.lists);
  exchange.begin(context, {d.data(), static_cast<Index>(d.size()), 1, 1});
  RemoteColumns<T, HostSpace> scaled = copy_of<T>(context, source);
  const CsrView<T, HostSpace> view = scaled.entries.view();
  const ConstBlockView<T, HostSpace> halo = exchange.end(context);
  for (Index k = 0; k < view.rows; ++k) {
    const T d_row = d.data()[source.rows[static_cast<std::size_t>(k)]];
    for (std::int64_t e = view.row_offsets[k]; e < view.row_offsets[k + 1]; ++e) {
      scaled.entries.values()[e] *= d_row * halo(view.columns[e], 0);
    }
  }
  return std::make_shared<const RemoteColumns<T, HostSpace>>(std::move(scaled));
}

}  // namespace

template <Scalar T>
double norm_1(HostContext& context, CsrView<T, HostSpace> A) {
  if (A.remote != nullptr) return largest_row_sum(context, A);
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
        sums.data()[*col] += std::abs(static_cast<double>(A.values[col - A.columns]));
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
void absolute_row_sums(HostContext& context, CsrView<T, HostSpace> A, BlockView<T, HostSpace> sums,
                       Index terms) {
  require_same_shape("absolute_row_sums", Shape{sums.rows(), sums.cols()}, Shape{A.rows, 1});
  const auto set = [&](Index i, const RowSum& row) {
    const double of_terms = static_cast<double>(row.entries) / static_cast<double>(terms);
    const double times = terms > 0 ? std::max(1.0, of_terms) : 1;
    sums(i, 0) = static_cast<T>(times * row.sum);
  };
  parallel_for(context.threads(), A.rows, [&](Index i) { set(i, absolute_sum(A, i)); });
  for_each_remote_row(A, [&](Index i, const RowSum& remote) {
    const RowSum own = absolute_sum(A, i);
    set(i, {own.sum + remote.sum, own.entries + remote.entries});
  });
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
  full.set_remote(remote_of<T>(context, A));
  return full;
}

template <Scalar T>
HostCsrMatrix<T> squared_row_norms(HostContext& context, CsrView<T, HostSpace> A) {
  HostCsrMatrix<T> squares(context, A.rows, A.rows, A.rows);
  for (Index i = 0; i < A.rows; ++i) {
    squares.row_offsets()[i] = i;
    squares.columns()[i] = static_cast<std::int32_t>(i);
    squares.values()[i] = static_cast<T>(sum_of_squares(A, i));
  }
  squares.row_offsets()[A.rows] = A.rows;
  if (A.remote == nullptr) return squares;
  const RemoteColumns<T, HostSpace>& remote = *A.remote;
  for (Index k = 0; k < remote.entries.rows(); ++k) {
    const Index i = remote.rows[static_cast<std::size_t>(k)];
    squares.values()[i] =
        static_cast<T>(sum_of_squares(A, i) + sum_of_squares(remote.entries.view(), k));
  }
  squares.set_remote(no_remote_entries<T>(context, remote.lists->rows));
  return squares;
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
  if (view.remote != nullptr) A.set_remote(scaled_remote(context, d, *view.remote));
}

template <Scalar T>
void shift_diagonal(HostContext& context, double shift, HostCsrMatrix<T>& A) {
  const CsrView<T, HostSpace> view = A.view();
  require_square("shift_diagonal", Shape{A.rows(), A.cols()});
  parallel_for(context.threads(), A.rows(), [&](Index i) {
    const std::int64_t place = diagonal_place(view, i);
    if (is_diagonal_at(view, i, place)) A.values()[place] += static_cast<T>(shift);
  });
}

#define HEDDLE_INSTANTIATE(T)                                                                      \
  template double norm_1(HostContext&, CsrView<T, HostSpace>);                                     \
  template void absolute_row_sums(HostContext&, CsrView<T, HostSpace>, BlockView<T, HostSpace>,    \
                                  Index);                                                          \
  template Buffer<T, HostSpace> extract_diagonal(HostContext&, CsrView<T, HostSpace>);             \
  template HostCsrMatrix<T> squared_row_norms(HostContext&, CsrView<T, HostSpace>);                \
  template HostCsrMatrix<T> with_stored_diagonal(HostContext&, CsrView<T, HostSpace>);             \
  template void scale_symmetrically(HostContext&, const Buffer<T, HostSpace>&, HostCsrMatrix<T>&); \
  template void shift_diagonal(HostContext&, double, HostCsrMatrix<T>&);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
