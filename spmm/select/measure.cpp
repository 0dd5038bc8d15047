#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/multivector.hpp>
#include <heddle/spmm/select/measure.hpp>
#include <limits>
#include <memory>

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

/// Times products on a stream.
class ProductTimer {
 public:
  explicit ProductTimer(CudaContext& context)
      : context_(context), begin_(make_event()), end_(make_event()) {}

  /// Milliseconds of one product by `kernel`, which must be prepared. Waits for the device.
  template <class T>
  double milliseconds(KernelPlan<T, DeviceSpace>& kernel, const SpmmProduct<T>& product) {
    float time = 0;
    check(cudaEventRecord(begin_.get(), context_.stream()));
    kernel.run(context_, product);
    check(cudaEventRecord(end_.get(), context_.stream()));
    check(cudaEventSynchronize(end_.get()));
    check(cudaEventElapsedTime(&time, begin_.get(), end_.get()));
    return static_cast<double>(time);
  }

 private:
  CudaContext& context_;
  Event begin_;
  Event end_;
};

}  // namespace

template <class T>
KernelChoice choose_by_measuring(CudaContext& context, MatrixKernels<T, DeviceSpace>& kernels,
                                 const std::vector<std::string_view>& names,
                                 const SpmmProduct<T>& product) {
  constexpr double kMostProducts = 20;
  constexpr double kHopeless = 1.5;
  MultiVector<T, DeviceSpace> C(context, product.A.rows, product.N);
  SpmmProduct<T> trial = product.without_epilogue();
  trial.C = C.view().data();
  trial.ldc = C.ld();
  trial.beta = T{0};

  ProductTimer timer(context);
  KernelChoice best;
  double best_time = std::numeric_limits<double>::infinity();
  double spent = 0;
  for (const std::string_view name : names) {
    if (spent > kMostProducts * best_time) break;
    KernelPlan<T, DeviceSpace>& kernel = kernels.get(context, *cuda_kernel_table().find(name));
    kernel.prepare(context, product.N);
    context.synchronize();  // formats are complete before `run`
    // The first product may wait until the driver has loaded the kernel's code, which can take as
    // long as many products, and finds in the caches what the kernel before left there.
    timer.milliseconds(kernel, trial);
    double time = timer.milliseconds(kernel, trial);
    spent += 2 * time;
    if (time < kHopeless * best_time) {
      std::array<double, 3> times = {time};
      for (std::size_t k = 1; k < times.size(); ++k) {
        times[k] = timer.milliseconds(kernel, trial);
        spent += times[k];
      }
      std::sort(times.begin(), times.end());
      time = times[1];
    }
    best.reason +=
        fmt::format("{}{} {:.4f} ms", best.reason.empty() ? "measured: " : ", ", name, time);
    if (time < best_time) {
      best.kernel = name;
      best_time = time;
    }
  }
  return best;
}

#define HEDDLE_INSTANTIATE(T)                                                             \
  template KernelChoice choose_by_measuring(CudaContext&, MatrixKernels<T, DeviceSpace>&, \
                                            const std::vector<std::string_view>&,         \
                                            const SpmmProduct<T>&);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail::cuda
