#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/spmm/kernels/cuda/lanes.cuh>
#include <heddle/spmm/kernels/kernel_table.hpp>

#include "spmm/kernels/row_per_thread.hpp"

namespace heddle::test {
namespace {

constexpr int kThreads = 128;

int products = 0;

template <class T>
__global__ void row_per_thread_kernel(detail::SpmmProduct<T, DeviceSpace> p) {
  const Index i = static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= p.A.rows) return;
  for (Index j = 0; j < p.N; ++j) {
    T sum = 0;
    for (Index k = p.A.row_offsets[i]; k < p.A.row_offsets[i + 1]; ++k) {
      detail::cuda::multiply_add(p.A.values[k], p.B[p.A.columns[k] * p.ldb + j], sum);
    }
    T& c = p.C[i * p.ldc + j];
    sum = product(p.alpha, sum);
    if (p.beta != T{0}) detail::cuda::multiply_add(p.beta, c, sum);
    c = sum;
  }
}

template <class T>
class RowPerThread : public detail::KernelPlan<T, DeviceSpace> {
 public:
  RowPerThread(CudaContext&, const detail::KernelMatrix<T, DeviceSpace>&) {}

  void run(CudaContext& context, const detail::SpmmProduct<T, DeviceSpace>& product) override {
    ++products;
    const auto blocks = static_cast<unsigned>((product.A.rows + kThreads - 1) / kThreads);
    row_per_thread_kernel<<<blocks, kThreads, 0, context.stream()>>>(product);
    check_launch();
  }
};

struct RowPerThreadKernel {
  static constexpr detail::KernelTraits kTraits = {.name = "row_per_thread",
                                                   .description = "a thread per row, for tests",
                                                   .takes_complex = true};
};

}  // namespace

void register_row_per_thread() {
  auto& table = detail::cuda_kernel_table();
  if (table.find("row_per_thread") != nullptr) return;
  table.add({.traits = RowPerThreadKernel::kTraits,
             .makers = detail::makers_of<RowPerThreadKernel, RowPerThread, DeviceSpace>()});
}

int row_per_thread_products() { return products; }

}  // namespace heddle::test
