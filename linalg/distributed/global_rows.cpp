#include <algorithm>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/halo_exchange.hpp>
#include <heddle/linalg/distributed/global_rows.hpp>
#include <heddle/linalg/distributed/scatter.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace heddle {
namespace {

using Runs = std::vector<HaloLists::Run>;
using Messages = std::vector<Processes::Message>;

/// Adds a message of `count` values unless it is empty. Messages carry writable memory. Those that
/// are sent are only read.
template <class Value>
void add_message(int process, const Value* data, Index count, Messages& messages) {
  if (count == 0) return;
  messages.push_back(
      {process, const_cast<Value*>(data), static_cast<std::size_t>(count) * sizeof(Value)});
}

std::vector<std::int32_t> first_numbers(Index count) {
  std::vector<std::int32_t> numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

/// The rows A(rows, :), one after another.
template <WideScalar W>
HostCsrMatrix<W> rows_of(HostContext& context, const CsrView<W, HostSpace>& A,
                         std::span<const std::int32_t> rows) {
  Index nnz = 0;
  for (const std::int32_t i : rows) nnz += A.row_offsets[i + 1] - A.row_offsets[i];
  HostCsrMatrix<W> taken(context, std::ssize(rows), A.cols, nnz);
  std::int64_t* const offsets = taken.row_offsets();
  offsets[0] = 0;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const std::int64_t first = A.row_offsets[rows[k]];
    const std::int64_t count = A.row_offsets[rows[k] + 1] - first;
    std::copy_n(A.columns + first, count, taken.columns() + offsets[k]);
    std::copy_n(A.values + first, count, taken.values() + offsets[k]);
    offsets[k + 1] = offsets[k] + count;
  }
  return taken;
}

/// Messages for the lengths of the rows, run by run.
Messages of_lengths(const Runs& runs, const std::vector<Index>& lengths) {
  Messages messages;
  const Index* next = lengths.data();
  for (const HaloLists::Run& run : runs) {
    add_message(run.process, next, run.count, messages);
    next += run.count;
  }
  return messages;
}

/// Messages for the entries of the rows, run by run.
template <WideScalar W>
Messages of_entries(const Runs& runs, const CsrView<W, HostSpace>& rows) {
  Messages messages;
  Index row = 0;
  for (const HaloLists::Run& run : runs) {
    const std::int64_t first = rows.row_offsets[row];
    row += run.count;
    const Index count = rows.row_offsets[row] - first;
    add_message(run.process, rows.columns + first, count, messages);
    add_message(run.process, rows.values + first, count, messages);
  }
  return messages;
}

/// The rows that other processes send, in the order of the runs `receive`, where this one sends
/// `sent`, in the order of the runs `send`.
template <WideScalar W>
HostCsrMatrix<W> exchange_rows(HostContext& context, const CsrView<W, HostSpace>& sent,
                               const Runs& send, const Runs& receive) {
  Processes& processes = *context.processes();
  std::vector<Index> own(static_cast<std::size_t>(sent.rows));
  for (std::size_t i = 0; i < own.size(); ++i) {
    own[i] = sent.row_offsets[i + 1] - sent.row_offsets[i];
  }
  Index rows = 0;
  for (const HaloLists::Run& run : receive) rows += run.count;
  std::vector<Index> lengths(static_cast<std::size_t>(rows));
  processes.begin_exchange(of_lengths(receive, lengths), of_lengths(send, own));
  processes.end_exchange();
  HostCsrMatrix<W> received(context, rows, sent.cols,
                            std::accumulate(lengths.begin(), lengths.end(), Index{0}));
  received.row_offsets()[0] = 0;
  std::partial_sum(lengths.begin(), lengths.end(), received.row_offsets() + 1);
  processes.begin_exchange(of_entries(receive, received.view()), of_entries(send, sent));
  processes.end_exchange();
  return received;
}

/// The global numbers of the columns of the halo.
std::vector<std::int32_t> halo_numbers(HostContext& context, const HaloLists& lists) {
  const Index local = lists.columns.local;
  MultiVector<double, HostSpace> numbers(context, local, 1);  // below 2³¹, so exact
  for (Index i = 0; i < local; ++i) {
    numbers.view()(i, 0) = static_cast<double>(lists.columns.first + i);
  }
  HaloExchange<double, HostContext> exchange(context, lists);
  exchange.begin(context, numbers.view());
  const ConstBlockView<double, HostSpace> halo = exchange.end(context);
  std::vector<std::int32_t> columns(static_cast<std::size_t>(lists.halo()));
  for (std::size_t k = 0; k < columns.size(); ++k) {
    columns[k] = static_cast<std::int32_t>(halo(static_cast<Index>(k), 0));
  }
  return columns;
}

/// Rows that grow by pieces, whose lengths are known before.
template <WideScalar W>
class RowsInPieces {
 public:
  RowsInPieces(HostContext& context, const std::vector<Index>& lengths, Index cols)
      : rows_(context, std::ssize(lengths), cols,
              std::accumulate(lengths.begin(), lengths.end(), Index{0})) {
    rows_.row_offsets()[0] = 0;
    std::partial_sum(lengths.begin(), lengths.end(), rows_.row_offsets() + 1);
    next_.assign(rows_.row_offsets(), rows_.row_offsets() + lengths.size());
  }

  /// Appends entries first … end − 1 of A to row i, with columns number(column).
  template <class Number>
  void append(Index i, const CsrView<W, HostSpace>& A, std::int64_t first, std::int64_t end,
              const Number& number) {
    std::int64_t& place = next_[static_cast<std::size_t>(i)];
    for (std::int64_t e = first; e < end; ++e) {
      rows_.columns()[place] = static_cast<std::int32_t>(number(A.columns[e]));
      rows_.values()[place++] = A.values[e];
    }
  }

  HostCsrMatrix<W> take() { return std::move(rows_); }

 private:
  HostCsrMatrix<W> rows_;
  std::vector<std::int64_t> next_;
};

template <WideScalar W>
std::vector<Index> lengths_of(const CsrView<W, HostSpace>& A) {
  std::vector<Index> lengths(static_cast<std::size_t>(A.rows));
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    lengths[i] = A.row_offsets[i + 1] - A.row_offsets[i];
  }
  return lengths;
}

/// The rows of Aᵀ for the columns of the halo, with columns in global numbers.
HostCsrMatrix<double> transposed_remote(HostContext& context,
                                        const RemoteColumns<double, HostSpace>& remote) {
  HostCsrMatrix<double> Rt = transpose<double>(context, remote.entries.view());
  HostCsrMatrix<double> numbered(context, Rt.rows(), remote.lists->rows.global, Rt.nnz());
  std::copy_n(Rt.row_offsets(), Rt.rows() + 1, numbered.row_offsets());
  std::copy_n(Rt.values(), Rt.nnz(), numbered.values());
  std::transform(Rt.columns(), Rt.columns() + Rt.nnz(), numbered.columns(), [&](std::int32_t k) {
    const Index row = remote.rows[static_cast<std::size_t>(k)];
    return static_cast<std::int32_t>(remote.lists->rows.first + row);
  });
  return numbered;
}

}  // namespace

template <WideScalar W>
HostCsrMatrix<W> global_rows(HostContext& context, const DistributedCsrView<W, HostSpace>& A) {
  const CsrView<W, HostSpace>& own = A.own;
  const RemoteColumns<W, HostSpace>& remote = A.others();
  const CsrView<W, HostSpace> R = remote.entries.view();
  const Index first = remote.lists->columns.first;
  const std::vector<std::int32_t> halo = halo_numbers(context, *remote.lists);
  std::vector<Index> lengths = lengths_of(own);
  for (Index k = 0; k < R.rows; ++k) {
    lengths[static_cast<std::size_t>(remote.rows[static_cast<std::size_t>(k)])] +=
        R.row_offsets[k + 1] - R.row_offsets[k];
  }
  RowsInPieces<W> rows(context, lengths, remote.lists->columns.global);
  const auto number = [&](std::int32_t column) { return halo[static_cast<std::size_t>(column)]; };
  Index k = 0;  // of the rows of R
  for (Index i = 0; i < own.rows; ++i) {
    const bool both = k < R.rows && remote.rows[static_cast<std::size_t>(k)] == i;
    std::int64_t before = both ? R.row_offsets[k] : 0;
    if (both) {
      while (before < R.row_offsets[k + 1] && number(R.columns[before]) < first) ++before;
      rows.append(i, R, R.row_offsets[k], before, number);
    }
    rows.append(i, own, own.row_offsets[i], own.row_offsets[i + 1],
                [first](std::int32_t column) { return first + column; });
    if (both) rows.append(i, R, before, R.row_offsets[++k], number);
  }
  return rows.take();
}

HostCsrMatrix<double> halo_rows(HostContext& context, const HaloLists& lists,
                                const CsrView<double, HostSpace>& B_rows) {
  const HostCsrMatrix<double> sent = rows_of(context, B_rows, lists.send_rows);
  return exchange_rows(context, sent.view(), lists.send, lists.receive);
}

HostCsrMatrix<double> transposed_rows(HostContext& context,
                                      const DistributedCsrView<double, HostSpace>& A) {
  const RemoteColumns<double, HostSpace>& remote = A.others();
  const HaloLists& lists = *remote.lists;
  // Columns of the halo go back to those that hold them: the way of the halo, reversed.
  const HostCsrMatrix<double> received =
      exchange_rows(context, transposed_remote(context, remote).view(), lists.receive, lists.send);
  const CsrView<double, HostSpace> others = received.view();
  const HostCsrMatrix<double> own = transpose<double>(context, A.own);
  std::vector<Index> lengths = lengths_of(own.view());
  for (std::size_t k = 0; k < lists.send_rows.size(); ++k) {
    lengths[static_cast<std::size_t>(lists.send_rows[k])] +=
        others.row_offsets[k + 1] - others.row_offsets[k];
  }
  RowsInPieces<double> rows(context, lengths, lists.rows.global);
  const auto append_own = [&] {
    const Index first = lists.rows.first;
    for (Index i = 0; i < own.rows(); ++i) {
      rows.append(i, own.view(), own.view().row_offsets[i], own.view().row_offsets[i + 1],
                  [first](std::int32_t column) { return first + column; });
    }
  };
  bool appended = false;  // in the order of the processes, columns ascend
  std::size_t k = 0;
  for (const HaloLists::Run& run : lists.send) {
    if (!appended && run.process > context.processes()->rank()) {
      append_own();
      appended = true;
    }
    for (Index j = 0; j < run.count; ++j, ++k) {
      rows.append(lists.send_rows[k], others, others.row_offsets[k], others.row_offsets[k + 1],
                  [](std::int32_t column) { return column; });
    }
  }
  if (!appended) append_own();
  return rows.take();
}

template <WideScalar W>
HostCsrMatrix<W> all_rows(HostContext& context, const CsrView<W, HostSpace>& A_rows) {
  Processes& processes = *context.processes();
  const RowRanges ranges = ranges_of_all(processes, A_rows.rows);
  std::vector<std::int32_t> copies;  // the own rows, once for each of the others
  Runs send, receive;
  for (int k = 0; k < processes.size(); ++k) {
    if (k == processes.rank()) continue;
    const std::vector<std::int32_t> own = first_numbers(A_rows.rows);
    copies.insert(copies.end(), own.begin(), own.end());
    send.push_back({k, A_rows.rows});
    receive.push_back({k, ranges.of(k).local});
  }
  const HostCsrMatrix<W> others =
      exchange_rows(context, rows_of(context, A_rows, copies).view(), send, receive);
  const RowRange own = ranges.of(processes.rank());
  std::vector<Index> lengths = lengths_of(others.view());
  const std::vector<Index> own_lengths = lengths_of(A_rows);
  lengths.insert(lengths.begin() + own.first, own_lengths.begin(), own_lengths.end());
  RowsInPieces<W> rows(context, lengths, A_rows.cols);
  for (Index i = 0; i < ranges.rows(); ++i) {
    const bool here = i >= own.first && i < own.first + own.local;
    const CsrView<W, HostSpace> source = here ? A_rows : others.view();
    const Index row = here ? i - own.first : i < own.first ? i : i - own.local;
    rows.append(i, source, source.row_offsets[row], source.row_offsets[row + 1],
                [](std::int32_t column) { return column; });
  }
  return rows.take();
}

MultiVector<double, HostSpace> all_rows(HostContext& context,
                                        const ConstBlockView<double, HostSpace>& X) {
  Processes& processes = *context.processes();
  const RowRanges ranges = ranges_of_all(processes, X.rows());
  MultiVector<double, HostSpace> all(context, ranges.rows(), X.cols());
  MultiVector<double, HostSpace> own(context, X.rows(), X.cols());
  for (Index i = 0; i < X.rows(); ++i) {
    std::copy_n(X.data() + i * X.ld(), X.cols(), own.view().data() + i * own.ld());
  }
  double* const data = all.view().data();
  Messages send, receive;
  for (int k = 0; k < processes.size(); ++k) {
    const RowRange range = ranges.of(k);
    if (k == processes.rank()) {
      std::copy_n(own.view().data(), range.local * own.ld(), data + range.first * all.ld());
      continue;
    }
    add_message(k, own.view().data(), own.rows() * own.ld(), send);
    add_message(k, data + range.first * all.ld(), range.local * all.ld(), receive);
  }
  processes.begin_exchange(receive, send);
  processes.end_exchange();
  return all;
}

#define HEDDLE_INSTANTIATE(W)                                                                   \
  template HostCsrMatrix<W> global_rows(HostContext&, const DistributedCsrView<W, HostSpace>&); \
  template HostCsrMatrix<W> all_rows(HostContext&, const CsrView<W, HostSpace>&);
HEDDLE_INSTANTIATE(double)
HEDDLE_FOR_EACH_COMPLEX(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
