#include <fmt/format.h>

#include <algorithm>
#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/multivector.hpp>
#include <heddle/spmm/select/measure.hpp>

namespace heddle::detail::cuda {
namespace {

struct DestroyEvent {
  void operator()(CUevent_st* event) const noexcept { cudaEventDestroy(event); }
};
using Event = std::unique_ptr<CUevent_st, DestroyEvent>;

Event make_event() {
  cudaEvent_t event = nullptr;
  check(cudaEventCreate(&event));
  return Event(event);
}

/// Milliseconds of one product by `kernel`, which must be prepared: the median of `repeats` after
/// one that warms up. C is overwritten. Waits for the device.
template <class T>
double measure_product(CudaContext& context, KernelPlan<T, DeviceSpace>& kernel,
                       const SpmmProduct<T>& product, int repeats) {
  const Event begin = make_event();
  const Event end = make_event();
  kernel.run(context, product);
  std::vector<float> times(static_cast<std::size_t>(repeats));
  for (float& time : times) {
    check(cudaEventRecord(begin.get(), context.stream()));
    kernel.run(context, product);
    check(cudaEventRecord(end.get(), context.stream()));
    check(cudaEventSynchronize(end.get()));
    check(cudaEventElapsedTime(&time, begin.get(), end.get()));
  }
  const auto middle = times.begin() + repeats / 2;
  std::nth_element(times.begin(), middle, times.end());
  return static_cast<double>(*middle);
}

}  // namespace

template <class T>
KernelChoice choose_by_measuring(CudaContext& context, MatrixKernels<T, DeviceSpace>& kernels,
                                 const SpmmProduct<T>& product) {
  constexpr int kRepeats = 5;
  MultiVector<T, DeviceSpace> C(context, product.A.rows, product.N);
  SpmmProduct<T> trial = product.without_epilogue();
  trial.C = C.view().data();
  trial.ldc = C.ld();
  trial.beta = T{0};

  const std::vector<std::string_view> candidates =
      kernel_candidates(kernels.features(), product.N, sizeof(T));
  std::string_view best = candidates.front();
  double best_time = 0;
  std::string measured;
  for (const std::string_view name : candidates) {
    KernelPlan<T, DeviceSpace>& kernel = kernels.get(context, *cuda_kernel_table().find(name));
    kernel.prepare(context, product.N);
    const double time = measure_product(context, kernel, trial, kRepeats);
    measured += fmt::format("{}{} {:.4f} ms", measured.empty() ? "" : ", ", name, time);
    if (name == candidates.front() || time < best_time) {
      best = name;
      best_time = time;
    }
  }
  return {best, "measured: " + measured};
}

#define HEDDLE_INSTANTIATE(T)                                                             \
  template KernelChoice choose_by_measuring(CudaContext&, MatrixKernels<T, DeviceSpace>&, \
                                            const SpmmProduct<T>&);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail::cuda
