#include <algorithm>
#include <bit>
#include <heddle/linalg/sparse/device_sort.hpp>
#include <heddle/solvers/preconditioners/multigrid/device_steps.cuh>
#include <heddle/solvers/preconditioners/multigrid/prolongator.hpp>
#include <heddle/spgemm/spgemm.hpp>

namespace heddle::detail {
namespace {

/// A with its strong connections, which tell the entries of Ā.
struct Filter {
  CsrView<double, DeviceSpace> A;
  const std::int32_t* node_of_row;
  const std::int64_t* offsets;
  const std::int32_t* neighbours;

  /// Whether Ā has entry e, in row i.
  __device__ bool keeps(Index i, std::int64_t e) const {
    const std::int32_t I = node_of_row[i];
    const std::int32_t J = node_of_row[A.columns[e]];
    if (I == J) return true;
    const std::int64_t begin = offsets[I];
    const std::int64_t end = offsets[I + 1];
    const std::int64_t place = begin + count_below(neighbours + begin, end - begin, J);
    return place < end && neighbours[place] == J;
  }
};

/// counts[i] = the entries of row i of Ā. diagonal[i] is that of Ā, 0 in a row of a null vector.
/// *bound: the largest sum of a row of |D⁻¹Ā|. One team per row.
__global__ void survey_kernel(Filter of, Index* counts, double* diagonal, NumberBits* bound) {
  const Index i = team_number();
  const RowRange range = row_range_of(of.A.row_offsets, i, of.A.rows);
  double stored = 0;
  double weak = 0;
  double others = 0;
  int kept = 0;
  for (Index e = range.begin + team_lane(); e < range.end; e += kTeam) {
    const double value = of.A.values[e];
    if (!of.keeps(i, e)) {
      weak += value;
      continue;
    }
    ++kept;
    (of.A.columns[e] == i ? stored : others) += fabs(value);
  }
  __syncwarp();
  stored = team_sum(stored);
  weak = team_sum(weak);
  others = team_sum(others);
  kept = team_sum(kept);
  const double lumped = stored + weak;
  const double d = lumped > kLeastDiagonal * stored ? lumped : stored;
  const bool usable = stored > kLeastDiagonal && d > 0;
  if (i < of.A.rows && team_lane() == 0) {
    counts[i] = kept;
    diagonal[i] = usable ? d : 0;
  }
  __syncwarp();
  take_largest(usable ? bits_of(1 + others / d) : 0, bound);
}

/// I − ω D⁻¹ Ā. One team per row.
__global__ void smoother_kernel(Filter of, const double* diagonal, double omega,
                                const std::int64_t* offsets, std::int32_t* columns,
                                double* values) {
  const Index i = team_number();
  const RowRange range = row_range_of(of.A.row_offsets, i, of.A.rows);
  const double d = i < of.A.rows ? diagonal[i] : 0;
  Index next = i < of.A.rows ? offsets[i] : 0;
  for (Index e = range.begin + team_lane(); __any_sync(kWholeWarp, e < range.end); e += kTeam) {
    const bool kept = e < range.end && of.keeps(i, e);
    const unsigned votes = team_votes(kept);
    if (kept) {
      const Index place = next + __popc(votes & ((1U << team_lane()) - 1));
      const double identity = of.A.columns[e] == i ? 1 : 0;
      const double scaled = of.A.columns[e] == i ? 1 : of.A.values[e] / d;
      columns[place] = of.A.columns[e];
      values[place] = d > 0 ? identity - omega * scaled : identity;
    }
    next += __popc(votes);
  }
}

}  // namespace

CsrMatrix<double, DeviceSpace> smoothed_prolongator(CudaContext& context,
                                                    const Grid<DeviceSpace>& grid,
                                                    const NodeGraph<DeviceSpace>& strong,
                                                    CsrView<double, DeviceSpace> tentative,
                                                    double upper_bound) {
  const CsrView<double, DeviceSpace> A = grid.A.view();
  const Buffer<std::int32_t, DeviceSpace> node_of_row = node_of_rows(context, grid);
  const Filter of{A, node_of_row.data(), strong.offsets.data(), strong.neighbours.data()};
  Buffer<Index, DeviceSpace> offsets = zeros<Index>(context, A.rows + 1);
  Buffer<double, DeviceSpace> diagonal(context, static_cast<std::size_t>(A.rows));
  Buffer<NumberBits, DeviceSpace> largest = zeros<NumberBits>(context, 1);
  launch(context, team_blocks(A.rows), survey_kernel, of, offsets.data(), diagonal.data(),
         largest.data());
  const Index kept = exclusive_sum(context, offsets.data(), A.rows + 1);
  double bound = std::bit_cast<double>(fetch_number(context, largest.data()));
  if (kept == A.nnz) bound = std::min(bound, upper_bound);
  const double omega = bound > 0 ? 4 / (3 * bound) : 0;
  CsrMatrix<double, DeviceSpace> S(context, A.rows, A.cols, kept);  // I − ω D⁻¹ Ā
  check(cudaMemcpyAsync(S.row_offsets(), offsets.data(), offsets.size() * sizeof(Index),
                        cudaMemcpyDeviceToDevice, context.stream()));
  launch(context, team_blocks(A.rows), smoother_kernel, of, diagonal.data(), omega, S.row_offsets(),
         S.columns(), S.values());
  return spgemm<double>(context, S.view(), tentative);
}

}  // namespace heddle::detail
