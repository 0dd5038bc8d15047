#include <fmt/format.h>

#include <algorithm>
#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/data/multivector.hpp>
#include <heddle/spmm/select/measure.hpp>
#include <type_traits>

namespace heddle::cuda {
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

}  // namespace

template <class T>
double measure_product(CudaContext& context, SpmmExecutor<T>& executor, CudaKernel kernel,
                       const SpmmProduct<T>& product, int repeats) {
  const Event begin = make_event();
  const Event end = make_event();
  executor.run(kernel, product);
  std::vector<float> times(static_cast<std::size_t>(repeats));
  for (float& time : times) {
    check(cudaEventRecord(begin.get(), context.stream()));
    executor.run(kernel, product);
    check(cudaEventRecord(end.get(), context.stream()));
    check(cudaEventSynchronize(end.get()));
    check(cudaEventElapsedTime(&time, begin.get(), end.get()));
  }
  const auto middle = times.begin() + repeats / 2;
  std::nth_element(times.begin(), middle, times.end());
  return static_cast<double>(*middle);
}

template <class T>
KernelChoice choose_by_measuring(CudaContext& context, SpmmExecutor<T>& executor,
                                 const SpmmProduct<T>& product) {
  constexpr int kRepeats = 5;
  MultiVector<T, DeviceSpace> C(context, product.A.rows, product.N);
  SpmmProduct<T> trial = product;
  trial.C = C.view().data();
  trial.ldc = C.ld();
  trial.beta = T{0};

  const std::vector<CudaKernel> candidates =
      kernel_candidates(executor.features(), product.N, sizeof(T));
  CudaKernel best = candidates.front();
  double best_time = 0;
  std::string measured;
  for (const CudaKernel kernel : candidates) {
    executor.prepare(kernel, product.N);
    const double time = measure_product(context, executor, kernel, trial, kRepeats);
    measured += fmt::format("{}{} {:.4f} ms", measured.empty() ? "" : ", ", name_of(kernel), time);
    if (kernel == candidates.front() || time < best_time) {
      best = kernel;
      best_time = time;
    }
  }
  return {best, "measured: " + measured};
}

template double measure_product(CudaContext&, SpmmExecutor<float>&, CudaKernel,
                                const SpmmProduct<float>&, int);
template double measure_product(CudaContext&, SpmmExecutor<double>&, CudaKernel,
                                const SpmmProduct<double>&, int);
template KernelChoice choose_by_measuring(CudaContext&, SpmmExecutor<float>&,
                                          const SpmmProduct<float>&);
template KernelChoice choose_by_measuring(CudaContext&, SpmmExecutor<double>&,
                                          const SpmmProduct<double>&);

}  // namespace heddle::cuda
