#include <algorithm>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/distributed/distribute.hpp>
#include <heddle/linalg/distributed/scatter.hpp>
#include <numeric>

namespace heddle {
namespace {

using Messages = std::vector<Processes::Message>;

/// Messages carry writable memory. Those that are sent are only read.
template <class T>
Processes::Message message(int process, const T* data, Index count) {
  return {process, const_cast<T*>(data), static_cast<std::size_t>(count) * sizeof(T)};
}

void exchange(Processes& processes, const Messages& receive, const Messages& send) {
  processes.begin_exchange(receive, send);
  processes.end_exchange();
}

/// The rows of A in `range`, as process 0 holds them. Their offsets do not begin at 0.
template <Scalar T>
CsrView<T, HostSpace> rows_of(const CsrView<T, HostSpace>& A, const RowRange& range) {
  const std::int64_t* offsets = A.row_offsets + range.first;
  const Index first = offsets[0];
  return {range.local,       A.cols,          offsets[range.local] - first, offsets,
          A.columns + first, A.values + first};
}

template <Scalar T>
void send_rows(Processes& processes, const CsrView<T, HostSpace>& A, const RowRanges& rows) {
  Messages send;
  for (int k = 1; k < processes.size(); ++k) {
    const CsrView<T, HostSpace> part = rows_of(A, rows.of(k));
    send.push_back(message(k, part.row_offsets, part.rows + 1));
    send.push_back(message(k, part.columns, part.nnz));
    send.push_back(message(k, part.values, part.nnz));
  }
  exchange(processes, {}, send);
}

template <Scalar T>
HostCsrMatrix<T> receive_rows(HostContext& context, const RowRanges& rows, const RowRanges& columns,
                              Index nnz) {
  Processes& processes = *context.processes();
  const RowRange range = rows.of(processes.rank());
  HostCsrMatrix<T> part(context, range.local, columns.rows(), nnz);
  exchange(processes,
           {message(0, part.row_offsets(), range.local + 1), message(0, part.columns(), nnz),
            message(0, part.values(), nnz)},
           {});
  const std::int64_t first = part.row_offsets()[0];
  for (Index i = 0; i <= range.local; ++i) part.row_offsets()[i] -= first;
  return part;
}

/// The number of own rows whose numbers are below `row`.
Index rows_before(const RowRange& own, const std::vector<std::int32_t>& numbers, Index row) {
  if (numbers.empty()) return std::clamp<Index>(row - own.first, 0, own.local);
  return std::lower_bound(numbers.begin(), numbers.end(), row) - numbers.begin();
}

}  // namespace

RowRanges shared_ranges(HostContext& context, RowRanges ranges) {
  Processes& processes = *context.processes();
  ranges.begins.resize(static_cast<std::size_t>(processes.size()) + 1);
  processes.broadcast(ranges.begins.data(), ranges.begins.size() * sizeof(Index));
  return ranges;
}

RowRanges ranges_of_all(Processes& processes, Index local) {
  RowRanges ranges;
  ranges.begins.resize(static_cast<std::size_t>(processes.size()) + 1);
  processes.gather_all(&local, ranges.begins.data() + 1, sizeof local);
  std::partial_sum(ranges.begins.begin(), ranges.begins.end(), ranges.begins.begin());
  return ranges;
}

template <Scalar T>
DistributedCsr<T, HostSpace> scatter(HostContext& context, const CsrView<T, HostSpace>& A,
                                     const RowRanges& rows, const RowRanges& columns) {
  Processes& processes = *context.processes();
  std::vector<Index> counts(static_cast<std::size_t>(processes.size()));
  if (processes.leads()) {
    for (int k = 0; k < processes.size(); ++k) {
      counts[static_cast<std::size_t>(k)] = rows_of(A, rows.of(k)).nnz;
    }
  }
  processes.broadcast(counts.data(), counts.size() * sizeof(Index));
  if (processes.leads()) {
    send_rows(processes, A, rows);
    return distribute(context, rows_of(A, rows.of(0)), rows.of(0), columns);
  }
  const HostCsrMatrix<T> part =
      receive_rows<T>(context, rows, columns, counts[static_cast<std::size_t>(processes.rank())]);
  return distribute(context, part.view(), rows.of(processes.rank()), columns);
}

template <Scalar T>
MultiVector<T, HostSpace> scatter(HostContext& context, const ConstBlockView<T, HostSpace>& X,
                                  const RowRanges& rows) {
  return scatter(*context.processes(), context, X, rows);
}

template <Scalar T>
MultiVector<T, HostSpace> scatter(Processes& processes, HostContext& memory,
                                  const ConstBlockView<T, HostSpace>& X, const RowRanges& rows) {
  Index cols = X.cols();
  processes.broadcast(&cols, sizeof cols);
  const auto part_of = [&](int process) {
    const RowRange range = rows.of(process);
    MultiVector<T, HostSpace> part(memory, range.local, cols);
    if (!processes.leads()) return part;
    for (Index i = 0; i < range.local; ++i) {
      const T* const row = X.data() + (range.first + i) * X.ld();
      std::copy_n(row, cols, part.view().data() + i * part.ld());
    }
    return part;
  };
  if (!processes.leads()) {
    MultiVector<T, HostSpace> part = part_of(processes.rank());
    exchange(processes, {message(0, part.view().data(), part.rows() * part.ld())}, {});
    return part;
  }
  for (int k = 1; k < processes.size(); ++k) {
    const MultiVector<T, HostSpace> part = part_of(k);
    exchange(processes, {}, {message(k, part.view().data(), part.rows() * part.ld())});
  }
  return part_of(0);
}

template <class Value>
std::vector<Value> scatter(HostContext& context, const std::vector<Value>& values,
                           const RowRanges& rows) {
  Processes& processes = *context.processes();
  const RowRange own = rows.of(processes.rank());
  if (!processes.leads()) {
    std::vector<Value> part(static_cast<std::size_t>(own.local));
    exchange(processes, {message(0, part.data(), own.local)}, {});
    return part;
  }
  Messages send;
  for (int k = 1; k < processes.size(); ++k) {
    send.push_back(message(k, values.data() + rows.of(k).first, rows.of(k).local));
  }
  exchange(processes, {}, send);
  return {values.begin(), values.begin() + own.local};
}

template <Scalar T>
MultiVector<T, HostSpace> gather(Processes& processes, const MultiVector<T, HostSpace>& X,
                                 HostContext& target) {
  const RowRanges rows = ranges_of_all(processes, X.rows());
  const T* const own = X.view().data();
  if (!processes.leads()) {
    exchange(processes, {}, {message(0, own, X.rows() * X.ld())});
    return {};
  }
  MultiVector<T, HostSpace> whole(target, rows.rows(), X.cols());
  T* const data = whole.view().data();
  Messages receive;
  for (int k = 1; k < processes.size(); ++k) {
    const RowRange range = rows.of(k);
    receive.push_back(message(k, data + range.first * X.ld(), range.local * X.ld()));
  }
  exchange(processes, receive, {});
  std::copy_n(own, X.rows() * X.ld(), data);
  return whole;
}

template <Scalar T>
MultiVector<T, HostSpace> rows_of_columns(Processes& processes, HostContext& memory,
                                          const ConstBlockView<T, HostSpace>& X,
                                          const RowRanges& rows) {
  const RowRanges columns = ranges_of_all(processes, X.cols());
  const RowRange own = rows.of(processes.rank());
  const bool packed = X.ld() == X.cols();
  Buffer<T, HostSpace> copy(memory, packed ? 0 : static_cast<std::size_t>(X.rows() * X.cols()));
  for (Index i = 0; i < X.rows() && !packed; ++i) {
    std::copy_n(X.data() + i * X.ld(), X.cols(), copy.data() + i * X.cols());
  }
  const T* const sent = packed ? X.data() : copy.data();
  Buffer<T, HostSpace> received(memory, static_cast<std::size_t>(own.local * columns.rows()));
  Messages send, receive;
  for (int k = 0; k < processes.size(); ++k) {
    const RowRange part = columns.of(k);
    const RowRange theirs = rows.of(k);
    T* const place = received.data() + own.local * part.first;
    const T* const source = sent + theirs.first * X.cols();
    if (k == processes.rank()) {
      std::copy_n(source, own.local * part.local, place);
      continue;
    }
    receive.push_back(message(k, place, own.local * part.local));
    send.push_back(message(k, source, theirs.local * X.cols()));
  }
  exchange(processes, receive, send);
  MultiVector<T, HostSpace> all(memory, own.local, columns.rows());
  const BlockView<T, HostSpace> Y = all.view();
  for (int k = 0; k < processes.size(); ++k) {
    const RowRange part = columns.of(k);
    const T* const source = received.data() + own.local * part.first;
    for (Index i = 0; i < own.local; ++i) {
      std::copy_n(source + i * part.local, part.local, Y.data() + i * Y.ld() + part.first);
    }
  }
  return all;
}

template <Scalar T>
void gather_part(Processes& processes, const ConstBlockView<T, HostSpace>& X, const RowRanges& rows,
                 const std::vector<std::int32_t>& numbers, const BlockWindow& window,
                 BlockView<T, HostSpace> part) {
  const RowRange own = rows.of(processes.rank());
  const Index first = rows_before(own, numbers, window.first_row);
  const Index end = rows_before(own, numbers, window.first_row + window.rows);
  std::vector<T> values;
  for (Index i = first; i < end; ++i) {
    const T* const row = X.data() + i * X.ld() + window.first_column;
    values.insert(values.end(), row, row + window.columns);
  }
  std::vector<std::int32_t> places;  // of these rows in the window
  for (Index i = first; i < end; ++i) {
    const Index row = numbers.empty() ? own.first + i : numbers[static_cast<std::size_t>(i)];
    places.push_back(static_cast<std::int32_t>(row - window.first_row));
  }
  const RowRanges counts = ranges_of_all(processes, end - first);
  if (!processes.leads()) {
    exchange(processes, {},
             {message(0, values.data(), std::ssize(values)),
              message(0, places.data(), std::ssize(places))});
    return;
  }
  values.resize(static_cast<std::size_t>(window.rows * window.columns));
  places.resize(static_cast<std::size_t>(window.rows));
  Messages receive;
  for (int k = 1; k < processes.size(); ++k) {
    const RowRange count = counts.of(k);
    receive.push_back(
        message(k, values.data() + count.first * window.columns, count.local * window.columns));
    receive.push_back(message(k, places.data() + count.first, count.local));
  }
  exchange(processes, receive, {});
  for (std::size_t k = 0; k < places.size(); ++k) {
    std::copy_n(values.data() + static_cast<Index>(k) * window.columns, window.columns,
                part.data() + places[k] * part.ld());
  }
}

#define HEDDLE_INSTANTIATE(T)                                                                   \
  template DistributedCsr<T, HostSpace> scatter(HostContext&, const CsrView<T, HostSpace>&,     \
                                                const RowRanges&, const RowRanges&);            \
  template MultiVector<T, HostSpace> scatter(HostContext&, const ConstBlockView<T, HostSpace>&, \
                                             const RowRanges&);                                 \
  template MultiVector<T, HostSpace> scatter(                                                   \
      Processes&, HostContext&, const ConstBlockView<T, HostSpace>&, const RowRanges&);         \
  template MultiVector<T, HostSpace> gather(Processes&, const MultiVector<T, HostSpace>&,       \
                                            HostContext&);                                      \
  template MultiVector<T, HostSpace> rows_of_columns(                                           \
      Processes&, HostContext&, const ConstBlockView<T, HostSpace>&, const RowRanges&);         \
  template void gather_part(Processes&, const ConstBlockView<T, HostSpace>&, const RowRanges&,  \
                            const std::vector<std::int32_t>&, const BlockWindow&,               \
                            BlockView<T, HostSpace>);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

template std::vector<double> scatter(HostContext&, const std::vector<double>&, const RowRanges&);
template std::vector<std::int32_t> scatter(HostContext&, const std::vector<std::int32_t>&,
                                           const RowRanges&);

}  // namespace heddle
