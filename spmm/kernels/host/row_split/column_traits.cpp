#include <algorithm>
#include <cstdlib>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/spmm/kernels/host/row_split/column_traits.hpp>
#include <vector>

namespace heddle::detail {
namespace {

constexpr Index kSampledRows = 512;

// Columns by which a row's last column may be ahead of that of the row above: a node's unknowns.
constexpr Index kMaxAdvance = 8;

// How far the middle of the farthest columns may be from the plane's distance, as a share of it.
constexpr Index kPlaneSpread = 64;

// The distance from `row` to the middle of the columns behind its widest gap above the diagonal,
// 0 if none lies above the diagonal.
template <Scalar T>
Index far_distance(const CsrView<T, HostSpace>& A, Index row) {
  const std::int32_t* const first = A.columns + A.row_offsets[row];
  const std::int32_t* const last = A.columns + A.row_offsets[row + 1];
  if (last - first < 2) return 0;
  Index gap = 0;
  Index middle = row;
  for (const std::int32_t* column = first + 1; column < last; ++column) {
    if (*column > row && column[0] - column[-1] >= gap) {
      gap = column[0] - column[-1];
      middle = (Index{column[0]} + last[-1]) / 2;
    }
  }
  return middle - row;
}

}  // namespace

template <Scalar T>
ColumnTraits column_traits(const CsrView<T, HostSpace>& A) {
  std::vector<Index> distances;
  Index advancing = 0;
  Index spread = 0;
  const Index step = std::max<Index>(1, A.rows / kSampledRows);
  for (Index row = 0; row + 1 < A.rows; row += step) {
    const Index* const offsets = A.row_offsets + row;
    if (offsets[0] == offsets[1] || offsets[1] == offsets[2]) continue;
    const Index advance = A.columns[offsets[2] - 1] - A.columns[offsets[1] - 1];
    if (advance >= 0 && advance <= kMaxAdvance) ++advancing;
    spread += A.columns[offsets[1] - 1] - A.columns[offsets[0]];
    distances.push_back(far_distance(A, row));
  }
  if (distances.empty()) return {};
  const auto sampled = static_cast<Index>(distances.size());
  const auto middle = distances.begin() + sampled / 2;
  std::nth_element(distances.begin(), middle, distances.end());
  const Index plane = *middle;
  const auto near_plane = std::count_if(distances.begin(), distances.end(), [&](Index distance) {
    return std::abs(distance - plane) <= plane / kPlaneSpread;
  });
  return {2 * advancing > sampled, 2 * near_plane > sampled ? plane : 0, spread / sampled};
}

#define HEDDLE_INSTANTIATE(T) template ColumnTraits column_traits(const CsrView<T, HostSpace>&);
HEDDLE_FOR_EACH_REAL(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
