#include <algorithm>
#include <cmath>
#include <heddle/linalg/context/host_parallel.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/block_checks.hpp>
#include <heddle/linalg/data/halo_exchange.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/linalg/sparse/csr_ops.hpp>
#include <heddle/linalg/sparse/remote_copy.hpp>
#include <memory>
#include <utility>

namespace heddle {
namespace {

/// The sum of absolute values in a row, and the number of its entries.
struct RowSum {
  double sum = 0;
  Index entries = 0;
};

template <Scalar T>
RowSum absolute_sum(const CsrView<T, HostSpace>& A, Index i) {
  RowSum row{0, A.row_offsets[i + 1] - A.row_offsets[i]};
  for (std::int64_t e = A.row_offsets[i]; e < A.row_offsets[i + 1]; ++e) {
    row.sum += std::abs(static_cast<Wide<T>>(A.values[e]));
  }
  return row;
}

template <Scalar T>
double sum_of_squares(const CsrView<T, HostSpace>& A, Index i) {
  double sum = 0;
  for (std::int64_t e = A.row_offsets[i]; e < A.row_offsets[i + 1]; ++e) {
    sum += squared(static_cast<Wide<T>>(A.values[e]));
  }
  return sum;
}

/// The property that makes a block-diagonal matrix, square and without entries in columns of other
/// processes, a distributed one of these rows.
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
void for_each_remote_row(const DistributedCsrView<T, HostSpace>& A, const Body& body) {
  if (!A.is_distributed()) return;
  const CsrView<T, HostSpace> remote = A.remote->entries.view();
  for (Index k = 0; k < remote.rows; ++k) {
    body(A.remote->rows[static_cast<std::size_t>(k)], absolute_sum(remote, k));
  }
}

/// The largest absolute row sum of a distributed A, NaN if A contains one.
template <Scalar T>
double largest_row_sum(HostContext& context, const DistributedCsrView<T, HostSpace>& A) {
  double largest = 0;
  const auto take = [&largest](double sum) {
    if (std::isnan(sum) || sum > largest) largest = sum;
  };
  for (Index i = 0; i < A.own.rows; ++i) take(absolute_sum(A.own, i).sum);
  for_each_remote_row(
      A, [&](Index i, const RowSum& remote) { take(absolute_sum(A.own, i).sum + remote.sum); });
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
double norm_1(HostContext& context, DistributedCsrView<T, HostSpace> A) {
  return A.is_distributed() ? largest_row_sum(context, A) : norm_1(context, A.own);
}

template <Scalar T>
void absolute_row_sums(HostContext& context, DistributedCsrView<T, HostSpace> A,
                       BlockView<T, HostSpace> sums, Index terms) {
  require_same_shape("absolute_row_sums", Shape{sums.rows(), sums.cols()}, Shape{A.own.rows, 1});
  const auto set = [&](Index i, const RowSum& row) {
    const double of_terms = static_cast<double>(row.entries) / static_cast<double>(terms);
    const double times = terms > 0 ? std::max(1.0, of_terms) : 1;
    sums(i, 0) = static_cast<RealOf<T>>(times * row.sum);
  };
  parallel_for(context.threads(), A.own.rows, [&](Index i) { set(i, absolute_sum(A.own, i)); });
  for_each_remote_row(A, [&](Index i, const RowSum& remote) {
    const RowSum own = absolute_sum(A.own, i);
    set(i, {own.sum + remote.sum, own.entries + remote.entries});
  });
}

template <Scalar T>
DistributedCsr<T, HostSpace> squared_row_norms(HostContext& context,
                                               DistributedCsrView<T, HostSpace> A) {
  const Index rows = A.own.rows;
  HostCsrMatrix<T> squares(context, rows, rows, rows);
  for (Index i = 0; i < rows; ++i) {
    squares.row_offsets()[i] = i;
    squares.columns()[i] = static_cast<std::int32_t>(i);
    squares.values()[i] = static_cast<T>(sum_of_squares(A.own, i));
  }
  squares.row_offsets()[rows] = rows;
  if (!A.is_distributed()) return squares;
  const RemoteColumns<T, HostSpace>& remote = *A.remote;
  for (Index k = 0; k < remote.entries.rows(); ++k) {
    const Index i = remote.rows[static_cast<std::size_t>(k)];
    squares.values()[i] =
        static_cast<T>(sum_of_squares(A.own, i) + sum_of_squares(remote.entries.view(), k));
  }
  return {std::move(squares), no_remote_entries<T>(context, remote.lists->rows)};
}

template <Scalar T>
DistributedCsr<T, HostSpace> with_stored_diagonal(HostContext& context,
                                                  DistributedCsrView<T, HostSpace> A) {
  return {with_stored_diagonal(context, A.own), remote_of<T>(context, A)};
}

template <Scalar U, Scalar T>
DistributedCsr<U, HostSpace> convert(HostContext& context, DistributedCsrView<T, HostSpace> A) {
  return {convert<U>(context, A.own), remote_of<U>(context, A)};
}

template <Scalar T>
bool is_diagonal(DistributedCsrView<T, HostSpace> A) {
  return local_entries(A) == A.own.nnz && is_diagonal(A.own);
}

template <Scalar T>
void scale_symmetrically(HostContext& context, const Buffer<T, HostSpace>& d,
                         DistributedCsr<T, HostSpace>& A) {
  scale_symmetrically(context, d, A.own());
  if (A.is_distributed()) A.set_remote(scaled_remote(context, d, *A.remote()));
}

#define HEDDLE_INSTANTIATE(T)                                                                   \
  template double norm_1(HostContext&, DistributedCsrView<T, HostSpace>);                       \
  template void absolute_row_sums(HostContext&, DistributedCsrView<T, HostSpace>,               \
                                  BlockView<T, HostSpace>, Index);                              \
  template DistributedCsr<T, HostSpace> squared_row_norms(HostContext&,                         \
                                                          DistributedCsrView<T, HostSpace>);    \
  template DistributedCsr<T, HostSpace> with_stored_diagonal(HostContext&,                      \
                                                             DistributedCsrView<T, HostSpace>); \
  template bool is_diagonal(DistributedCsrView<T, HostSpace>);                                  \
  template void scale_symmetrically(HostContext&, const Buffer<T, HostSpace>&,                  \
                                    DistributedCsr<T, HostSpace>&);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

#define HEDDLE_INSTANTIATE(U, T) \
  template DistributedCsr<U, HostSpace> convert(HostContext&, DistributedCsrView<T, HostSpace>);
HEDDLE_FOR_EACH_CONVERSION(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
