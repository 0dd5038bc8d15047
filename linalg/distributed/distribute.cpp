#include <algorithm>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/distributed/distribute.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <memory>
#include <utility>

namespace heddle {
namespace {

/// Whether a column belongs to this process.
struct OwnColumns {
  RowRange range;

  bool holds(Index column) const noexcept {
    return column >= range.first && column < range.first + range.local;
  }
};

/// The sorted columns of other processes in which A has entries.
template <Scalar T>
std::vector<std::int32_t> halo_columns(const CsrView<T, HostSpace>& A, const OwnColumns& own) {
  std::vector<std::int32_t> halo;
  for (Index e = 0; e < A.nnz; ++e) {
    if (!own.holds(A.columns[e])) halo.push_back(A.columns[e]);
  }
  std::sort(halo.begin(), halo.end());
  halo.erase(std::unique(halo.begin(), halo.end()), halo.end());
  halo.shrink_to_fit();
  return halo;
}

/// The lists for a halo of these global columns. Each process tells the others which of their rows
/// it needs.
HaloLists make_lists(Processes& processes, const std::vector<std::int32_t>& halo,
                     const RowRange& rows, const RowRanges& columns) {
  HaloLists lists{rows, columns.of(processes.rank()), {}, {}, {}};
  const auto size = static_cast<std::size_t>(processes.size());
  std::vector<Index> needs(size), all(size * size);
  std::vector<std::int32_t> wanted;  // the halo in the numbers of its owners
  for (const std::int32_t column : halo) {
    const int owner = columns.owner(column);
    ++needs[static_cast<std::size_t>(owner)];
    wanted.push_back(static_cast<std::int32_t>(column - columns.of(owner).first));
  }
  processes.gather_all(needs.data(), all.data(), size * sizeof(Index));
  const auto add_run = [](int process, Index count, std::vector<HaloLists::Run>& runs) {
    if (count > 0) runs.push_back({process, count});
  };
  Index sent = 0;
  for (int k = 0; k < processes.size(); ++k) {
    const auto to = static_cast<std::size_t>(k);
    const Index asked = all[to * size + static_cast<std::size_t>(processes.rank())];
    add_run(k, needs[to], lists.receive);
    add_run(k, asked, lists.send);
    sent += asked;
  }
  lists.send_rows.resize(static_cast<std::size_t>(sent));
  const auto messages = [](const std::vector<HaloLists::Run>& runs, std::int32_t* data) {
    std::vector<Processes::Message> list;
    for (const HaloLists::Run& run : runs) {
      list.push_back({run.process, data, static_cast<std::size_t>(run.count) * sizeof *data});
      data += run.count;
    }
    return list;
  };
  processes.begin_exchange(messages(lists.send, lists.send_rows.data()),
                           messages(lists.receive, wanted.data()));
  processes.end_exchange();
  return lists;
}

/// The entries of A in own columns, numbered from 0.
template <Scalar T>
HostCsrMatrix<T> own_part(HostContext& context, const CsrView<T, HostSpace>& A,
                          const OwnColumns& own) {
  const Index nnz = std::count_if(A.columns, A.columns + A.nnz,
                                  [&own](std::int32_t column) { return own.holds(column); });
  HostCsrMatrix<T> part(context, A.rows, own.range.local, nnz);
  std::int64_t next = 0;
  part.row_offsets()[0] = 0;
  for (Index i = 0; i < A.rows; ++i) {
    for (std::int64_t e = A.row_offsets[i]; e < A.row_offsets[i + 1]; ++e) {
      if (!own.holds(A.columns[e])) continue;
      part.columns()[next] = static_cast<std::int32_t>(A.columns[e] - own.range.first);
      part.values()[next++] = A.values[e];
    }
    part.row_offsets()[i + 1] = next;
  }
  return part;
}

/// The entries of A in all other columns.
template <Scalar T>
RemoteColumns<T, HostSpace> remote_part(HostContext& context, const CsrView<T, HostSpace>& A,
                                        const OwnColumns& own,
                                        const std::vector<std::int32_t>& halo,
                                        std::shared_ptr<const HaloLists> lists) {
  std::vector<std::int32_t> rows;
  std::vector<Triplet<T>> entries;
  for (Index i = 0; i < A.rows; ++i) {
    const std::size_t before = entries.size();
    for (std::int64_t e = A.row_offsets[i]; e < A.row_offsets[i + 1]; ++e) {
      if (own.holds(A.columns[e])) continue;
      const Index column = std::lower_bound(halo.begin(), halo.end(), A.columns[e]) - halo.begin();
      entries.push_back({std::ssize(rows), column, A.values[e]});
    }
    if (entries.size() > before) rows.push_back(static_cast<std::int32_t>(i));
  }
  RemoteColumns<T, HostSpace> part{
      csr_from_triplets<T>(context, std::ssize(rows), std::ssize(halo), entries),
      {context, rows.size()},
      std::move(lists)};
  std::copy(rows.begin(), rows.end(), part.rows.data());
  return part;
}

}  // namespace

template <Scalar T>
DistributedCsr<T, HostSpace> distribute(HostContext& context, const CsrView<T, HostSpace>& A_rows,
                                        const RowRange& rows, const RowRanges& columns) {
  Processes& processes = *context.processes();
  const OwnColumns own{columns.of(processes.rank())};
  const std::vector<std::int32_t> halo = halo_columns(A_rows, own);
  auto lists = std::make_shared<const HaloLists>(make_lists(processes, halo, rows, columns));
  HostCsrMatrix<T> part = own_part(context, A_rows, own);
  return {std::move(part), std::make_shared<const RemoteColumns<T, HostSpace>>(
                               remote_part(context, A_rows, own, halo, std::move(lists)))};
}

#define HEDDLE_INSTANTIATE(T)                                                                  \
  template DistributedCsr<T, HostSpace> distribute(HostContext&, const CsrView<T, HostSpace>&, \
                                                   const RowRange&, const RowRanges&);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
