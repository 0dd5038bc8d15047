#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/context/kernel.cuh>
#include <heddle/linalg/data/process_sums.hpp>

namespace heddle {
namespace {

/// part(i, j) = the sum of entry i + rows·j of the `processes` groups of `stride` numbers, added in
/// the order of the groups.
__global__ void add_kernel(const double* groups, Index stride, int processes,
                           SmallView<double, DeviceSpace> part) {
  const Index e = Index{blockIdx.x} * kThreads + threadIdx.x;
  if (e >= part.rows * part.cols) return;
  double sum = groups[e];
  for (int k = 1; k < processes; ++k) sum += groups[k * stride + e];
  part.data[e / part.rows * part.ld + e % part.rows] = sum;
}

/// Whether the entries lie one after another.
bool is_packed(const SmallView<double, DeviceSpace>& part) {
  return part.ld == part.rows || part.cols == 1;
}

/// Copies the entries of `part`, column by column, to `target`.
void pack(CudaContext& context, const SmallView<double, DeviceSpace>& part, double* target) {
  if (part.rows * part.cols == 0) return;
  const std::size_t column = static_cast<std::size_t>(part.rows) * sizeof(double);
  check(cudaMemcpy2DAsync(
      target, column, part.data, static_cast<std::size_t>(part.ld) * sizeof(double), column,
      static_cast<std::size_t>(part.cols), cudaMemcpyDeviceToDevice, context.stream()));
}

/// The entries of all parts, one after another.
const double* packed(CudaContext& context,
                     std::initializer_list<SmallView<double, DeviceSpace>> parts, Index size) {
  if (parts.size() == 1 && is_packed(*parts.begin())) return parts.begin()->data;
  auto* const numbers =
      static_cast<double*>(context.scratch(static_cast<std::size_t>(size) * sizeof(double)));
  double* next = numbers;
  for (const auto& part : parts) {
    pack(context, part, next);
    next += part.rows * part.cols;
  }
  return numbers;
}

}  // namespace

void sum_over_processes(CudaContext& context,
                        std::initializer_list<SmallView<double, DeviceSpace>> parts) {
  if (context.processes() == nullptr) return;
  const PhaseScope phase(context, Phase::sums);
  Index size = 0;
  for (const auto& part : parts) size += part.rows * part.cols;
  if (size == 0) return;
  const double* all =
      context.gather_all(packed(context, parts, size), static_cast<std::size_t>(size));
  for (const auto& part : parts) {
    const Index entries = part.rows * part.cols;
    if (entries == 0) continue;
    add_kernel<<<static_cast<unsigned>(ceil_div<Index>(entries, kThreads)), kThreads, 0,
                 context.stream()>>>(all, size, context.processes()->size(), part);
    check_launch();
    all += entries;
  }
}

Index total_rows(CudaContext& context, Index rows) {
  auto number = static_cast<double>(rows);
  if (context.processes() != nullptr) context.processes()->sum({&number, 1});
  return static_cast<Index>(number);
}

}  // namespace heddle
