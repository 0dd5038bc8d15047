#include <heddle/apps/spgemm/product.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/spgemm/spgemm.hpp>

namespace heddle::apps {
namespace {

#ifdef HEDDLE_HAS_CUDA
/// The part of the free memory that blocks of the product may take; plans need the rest.
constexpr std::size_t kShareNumerator = 3;
constexpr std::size_t kShareDenominator = 4;

template <Scalar T>
HostCsrMatrix<T> multiply_on_gpu(HostContext& host, CsrView<T, HostSpace> A,
                                 CsrView<T, HostSpace> B, std::size_t device_bytes) {
  CudaContext context;
  const auto left = place(context, convert<T>(host, A));
  const auto right = place(context, convert<T>(host, B));
  const std::size_t limit =
      device_bytes > 0 ? device_bytes : context.free_bytes() / kShareDenominator * kShareNumerator;
  return spgemm_to_host<T>(context, host, left.view(), right.view(), limit);
}
#endif

}  // namespace

template <Scalar T>
HostCsrMatrix<T> multiply_on_any(HostContext& host, CsrView<T, HostSpace> A,
                                 CsrView<T, HostSpace> B,
                                 [[maybe_unused]] std::size_t device_bytes) {
#ifdef HEDDLE_HAS_CUDA
  if (cuda_unavailable_reason().empty()) return multiply_on_gpu<T>(host, A, B, device_bytes);
#endif
  return spgemm<T>(host, A, B);
}

template HostCsrMatrix<float> multiply_on_any(HostContext&, CsrView<float, HostSpace>,
                                              CsrView<float, HostSpace>, std::size_t);
template HostCsrMatrix<double> multiply_on_any(HostContext&, CsrView<double, HostSpace>,
                                               CsrView<double, HostSpace>, std::size_t);

}  // namespace heddle::apps
