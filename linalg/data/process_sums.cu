#include <algorithm>
#include <cassert>
#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/context/kernel.cuh>
#include <heddle/linalg/data/process_sums.hpp>

namespace heddle {
namespace {

/// The parts of a sum as a kernel argument.
struct Parts {
  static constexpr int kMost = 4;

  SmallView<double, DeviceSpace> part[kMost];
  Index begin[kMost + 1] = {};  ///< the numbers of part k are begin[k] … begin[k + 1] − 1
  int count = 0;

  explicit Parts(std::initializer_list<SmallView<double, DeviceSpace>> parts) {
    assert(parts.size() <= kMost);
    for (const auto& each : parts) {
      part[count] = each;
      begin[count + 1] = begin[count] + each.rows * each.cols;
      ++count;
    }
  }

  Index size() const { return begin[count]; }

  /// Whether the numbers lie one after another as they are.
  bool is_packed() const { return count == 1 && (part[0].ld == part[0].rows || part[0].cols == 1); }

  /// Number e of all parts.
  __device__ double& at(Index e) const {
    int k = 0;
    while (e >= begin[k + 1]) ++k;
    const Index place = e - begin[k];
    return part[k].data[place / part[k].rows * part[k].ld + place % part[k].rows];
  }
};

__device__ Index thread_in_grid() { return Index{blockIdx.x} * kThreads + threadIdx.x; }

/// packed[e] ← number first + e of all parts.
__global__ void pack_parts_kernel(const __grid_constant__ Parts parts, Index first, Index size,
                                  double* packed) {
  const Index e = thread_in_grid();
  if (e < size) packed[e] = parts.at(first + e);
}

/// Number first + e of all parts ← its sum over `processes` groups of `size` numbers, added in the
/// order of the groups.
__global__ void add_kernel(const double* groups, Index first, Index size, int processes,
                           const __grid_constant__ Parts parts) {
  const Index e = thread_in_grid();
  if (e >= size) return;
  double sum = groups[e];
  for (int k = 1; k < processes; ++k) sum += groups[k * size + e];
  parts.at(first + e) = sum;
}

/// The most numbers that are gathered at once, so that those of all processes need little memory:
/// the matrices of dense solves have millions.
constexpr Index kMostSummed = Index{1} << 16;

/// The sum of the numbers first … first + size − 1 of all parts.
void sum_piece(CudaContext& context, const Parts& parts, Index first, Index size) {
  const auto blocks = static_cast<unsigned>(ceil_div<Index>(size, kThreads));
  const double* numbers = parts.part[0].data + first;
  if (!parts.is_packed()) {
    auto* const packed =
        static_cast<double*>(context.scratch(static_cast<std::size_t>(size) * sizeof(double)));
    pack_parts_kernel<<<blocks, kThreads, 0, context.stream()>>>(parts, first, size, packed);
    check_launch();
    numbers = packed;
  }
  const double* const all = context.gather_all(numbers, static_cast<std::size_t>(size));
  add_kernel<<<blocks, kThreads, 0, context.stream()>>>(all, first, size,
                                                        context.processes()->size(), parts);
  check_launch();
}

}  // namespace

void sum_over_processes(CudaContext& context,
                        std::initializer_list<SmallView<double, DeviceSpace>> list) {
  if (context.processes() == nullptr) return;
  const PhaseScope phase(context, Phase::sums);
  const Parts parts(list);
  for (Index first = 0; first < parts.size(); first += kMostSummed) {
    sum_piece(context, parts, first, std::min(kMostSummed, parts.size() - first));
  }
}

Index total_rows(CudaContext& context, Index rows) {
  auto number = static_cast<double>(rows);
  if (context.processes() != nullptr) context.processes()->sum({&number, 1});
  return static_cast<Index>(number);
}

}  // namespace heddle
