#include <algorithm>
#include <functional>
#include <heddle/linalg/context/host_parallel.hpp>
#include <heddle/spmm/blocked/value_types.hpp>
#include <heddle/spmm/low_precision/sliced_rows.hpp>
#include <numeric>
#include <queue>

namespace heddle::detail {
namespace {

/// Neighbouring entries of a row.
struct Piece {
  Index first;
  Index count;
  std::int32_t target;

  Index loads() const noexcept {
    constexpr Index kPerLoad = kLanesPerPiece * kEntriesPerLoad;
    return (count + kPerLoad - 1) / kPerLoad;
  }
};

/// The pieces of a thread block and its rows with several of them.
struct GroupPieces {
  std::vector<Piece> pieces;
  std::vector<CutRow> cut_rows;
  std::int32_t slots = 0;

  Index slices() const noexcept {
    return (static_cast<Index>(pieces.size()) + kPiecesPerSlice - 1) / kPiecesPerSlice;
  }
  Index loads(Index slice) const noexcept {
    return pieces[static_cast<std::size_t>(slice * kPiecesPerSlice)].loads();
  }
};

GroupPieces pieces_of_group(const CsrView<float, HostSpace>& A, const RowGroups& groups,
                            Index group, Index longest, Index most_pieces) {
  GroupPieces result;
  for (Index k = groups.offsets[static_cast<std::size_t>(group)];
       k < groups.offsets[static_cast<std::size_t>(group + 1)]; ++k) {
    const std::int32_t row = groups.rows[static_cast<std::size_t>(k)];
    const Index first = A.row_offsets[row];
    const Index length = A.row_offsets[row + 1] - first;
    const Index pieces = pieces_of_row(length, longest, most_pieces);
    CutRow cut{row, result.slots, result.slots};
    for (Index p = 0; p < pieces; ++p) {
      const Index begin = length * p / pieces;
      const std::int32_t target = pieces == 1 ? row : kFirstSlot - cut.end_slot++;
      result.pieces.push_back({first + begin, length * (p + 1) / pieces - begin, target});
    }
    result.slots = cut.end_slot;
    if (pieces > 1) result.cut_rows.push_back(cut);
  }
  std::stable_sort(result.pieces.begin(), result.pieces.end(),
                   [](const Piece& a, const Piece& b) { return a.loads() > b.loads(); });
  return result;
}

template <class V>
void fill_slice(SlicedRows<V>& sliced, Index slice, const GroupPieces& group, Index in_group,
                const CsrView<float, HostSpace>& A) {
  const RowSlice& place = sliced.slices[static_cast<std::size_t>(slice)];
  const auto begin = static_cast<std::size_t>(place.first * kEntriesPerLoad);
  const auto size = static_cast<std::size_t>(place.loads * kSliceLanes * kEntriesPerLoad);
  std::fill_n(sliced.columns.begin() + static_cast<std::ptrdiff_t>(begin), size, -1);
  std::fill_n(sliced.values.begin() + static_cast<std::ptrdiff_t>(begin), size, V{});
  for (Index p = 0; p < kPiecesPerSlice; ++p) {
    const auto number = static_cast<std::size_t>(in_group * kPiecesPerSlice + p);
    std::int32_t& target = sliced.targets[static_cast<std::size_t>(slice * kPiecesPerSlice + p)];
    target = kNoPiece;
    if (number >= group.pieces.size()) continue;
    const Piece& piece = group.pieces[number];
    target = piece.target;
    for (Index k = 0; k < piece.count; ++k) {
      const Index lane = p + kPiecesPerSlice * (k % kLanesPerPiece);
      const Index of_lane = k / kLanesPerPiece;
      const Index load = of_lane / kEntriesPerLoad;
      const auto at =
          begin + static_cast<std::size_t>((load * kSliceLanes + lane) * kEntriesPerLoad +
                                           of_lane % kEntriesPerLoad);
      sliced.columns[at] = A.columns[piece.first + k];
      sliced.values[at] = V::round(static_cast<double>(A.values[piece.first + k]));
    }
  }
}

}  // namespace

Index pieces_of_row(Index length, Index longest, Index most) noexcept {
  return std::clamp<Index>((length + longest - 1) / longest, 1, most);
}

RowGroups neighbouring_rows(const CsrView<float, HostSpace>& A, Index longest, Index pieces) {
  RowGroups groups;
  groups.rows.resize(static_cast<std::size_t>(A.rows));
  std::iota(groups.rows.begin(), groups.rows.end(), 0);
  Index in_group = 0;
  for (Index row = 0; row < A.rows; ++row) {
    const Index length = A.row_offsets[row + 1] - A.row_offsets[row];
    const Index of_row = pieces_of_row(length, longest, pieces);
    if (in_group + of_row > pieces) {
      groups.offsets.push_back(row);
      in_group = 0;
    }
    in_group += of_row;
  }
  if (A.rows > 0) groups.offsets.push_back(A.rows);
  return groups;
}

RowGroups balanced_rows(const CsrView<float, HostSpace>& A, Index groups) {
  const auto length = [&](std::int32_t row) { return A.row_offsets[row + 1] - A.row_offsets[row]; };
  std::vector<std::int32_t> order(static_cast<std::size_t>(A.rows));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](auto a, auto b) { return length(a) > length(b); });
  using Load = std::pair<Index, Index>;  // entries, group
  std::priority_queue<Load, std::vector<Load>, std::greater<>> least;
  for (Index group = 0; group < groups; ++group) least.push({0, group});
  std::vector<std::vector<std::int32_t>> of_group(static_cast<std::size_t>(groups));
  for (const std::int32_t row : order) {
    const auto [entries, group] = least.top();
    least.pop();
    of_group[static_cast<std::size_t>(group)].push_back(row);
    least.push({entries + length(row) + kRowCost, group});
  }
  RowGroups result;
  for (const auto& rows : of_group) {
    result.rows.insert(result.rows.end(), rows.begin(), rows.end());
    result.offsets.push_back(static_cast<Index>(result.rows.size()));
  }
  return result;
}

template <class V>
SlicedRows<V> slice_rows(HostContext& context, const CsrView<float, HostSpace>& A,
                         const RowGroups& groups, Index longest, Index most_pieces) {
  std::vector<GroupPieces> pieces(static_cast<std::size_t>(groups.count()));
  parallel_for(context.threads(), groups.count(), [&](Index group) {
    pieces[static_cast<std::size_t>(group)] =
        pieces_of_group(A, groups, group, longest, most_pieces);
  });
  SlicedRows<V> sliced;
  Index first = 0;
  for (const GroupPieces& group : pieces) {
    const auto first_slice = static_cast<std::int32_t>(sliced.slices.size());
    for (Index slice = 0; slice < group.slices(); ++slice) {
      sliced.slices.push_back({first, static_cast<std::int32_t>(group.loads(slice))});
      first += group.loads(slice) * kSliceLanes;
    }
    const auto first_cut = static_cast<std::int32_t>(sliced.cut_rows.size());
    sliced.cut_rows.insert(sliced.cut_rows.end(), group.cut_rows.begin(), group.cut_rows.end());
    sliced.shares.push_back({first_slice, static_cast<std::int32_t>(sliced.slices.size()),
                             first_cut, static_cast<std::int32_t>(sliced.cut_rows.size())});
    sliced.most_slots = std::max(sliced.most_slots, group.slots);
  }
  sliced.targets.resize(sliced.slices.size() * kPiecesPerSlice);
  sliced.columns.resize(static_cast<std::size_t>(first * kEntriesPerLoad));
  sliced.values.resize(static_cast<std::size_t>(first * kEntriesPerLoad));
  parallel_for(context.threads(), groups.count(), [&](Index group) {
    const SliceShare& share = sliced.shares[static_cast<std::size_t>(group)];
    for (Index slice = share.first_slice; slice < share.end_slice; ++slice) {
      fill_slice(sliced, slice, pieces[static_cast<std::size_t>(group)], slice - share.first_slice,
                 A);
    }
  });
  return sliced;
}

#define HEDDLE_INSTANTIATE(V)                                                       \
  template SlicedRows<V> slice_rows(HostContext&, const CsrView<float, HostSpace>&, \
                                    const RowGroups&, Index, Index);
HEDDLE_FOR_EACH_NARROW_FLOAT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
