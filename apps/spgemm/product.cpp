#include <heddle/apps/spgemm/product.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/spgemm/spgemm.hpp>

namespace heddle::apps {
namespace {

constexpr const char* kHost = "the host";

/// C = A B in the memory of the context.
template <Scalar T, class Ctx>
DiaMatrix<T, typename Ctx::Space> multiply_bands(Ctx& context,
                                                 const DiaMatrix<T, typename Ctx::Space>& A,
                                                 const DiaMatrix<T, typename Ctx::Space>& B) {
  return BandPlan<T, Ctx>(context, A.shape(), B.shape()).multiply(context, A, B);
}

#ifdef HEDDLE_HAS_CUDA
/// The part of the free memory that blocks of the product may take; plans need the rest.
constexpr std::size_t kShareNumerator = 3;
constexpr std::size_t kShareDenominator = 4;

std::size_t most_bytes(const CudaContext& context, std::size_t device_bytes) {
  return device_bytes > 0 ? device_bytes
                          : context.free_bytes() / kShareDenominator * kShareNumerator;
}

template <Scalar T>
SparseProduct<T> multiply_on_gpu(HostContext& host, CsrView<T, HostSpace> A,
                                 CsrView<T, HostSpace> B, std::size_t device_bytes) {
  CudaContext context;
  const auto left = place(context, convert<T>(host, A));
  const auto right = place(context, convert<T>(host, B));
  const std::size_t limit = most_bytes(context, device_bytes);
  return {spgemm_to_host<T>(context, host, left.view(), right.view(), limit),
          context.device().name};
}
#endif

template <Scalar T>
HostDiaMatrix<T> multiply_bands_on_any(HostContext& host, const HostDiaMatrix<T>& A,
                                       const HostDiaMatrix<T>& B, const DiaShape& C,
                                       [[maybe_unused]] std::size_t device_bytes,
                                       std::string& device) {
#ifdef HEDDLE_HAS_CUDA
  if (cuda_unavailable_reason().empty()) {
    CudaContext context;
    const std::size_t product = static_cast<std::size_t>(A.ld() * C.diagonals());
    if ((A.size() + B.size() + product) * sizeof(T) <= most_bytes(context, device_bytes)) {
      device = context.device().name;
      return fetch(context, host, multiply_bands<T>(context, place(context, A), place(context, B)));
    }
  }
#endif
  static_cast<void>(C);
  device = kHost;
  return multiply_bands<T>(host, A, B);
}

template <Scalar T>
SparseProduct<T> multiply_by_diagonals(HostContext& host, CsrView<T, HostSpace> A,
                                       CsrView<T, HostSpace> B, std::size_t device_bytes,
                                       const FormatChoice& format) {
  const DiaPattern pattern =
      product_pattern(host, dia_pattern(host, A, format.A), dia_pattern(host, B, format.B));
  SparseProduct<T> product;
  product.C = csr_from_dia(
      host,
      multiply_bands_on_any(host, dia_from_csr(host, A, format.A), dia_from_csr(host, B, format.B),
                            pattern.shape(), device_bytes, product.device),
      pattern);
  return product;
}

}  // namespace

template <Scalar T>
SparseProduct<T> multiply_on_any(HostContext& host, CsrView<T, HostSpace> A,
                                 CsrView<T, HostSpace> B, std::size_t device_bytes,
                                 const FormatChoice& format) {
  if (format.dia) return multiply_by_diagonals<T>(host, A, B, device_bytes, format);
#ifdef HEDDLE_HAS_CUDA
  if (cuda_unavailable_reason().empty()) return multiply_on_gpu<T>(host, A, B, device_bytes);
#endif
  return {spgemm<T>(host, A, B), kHost};
}

template SparseProduct<float> multiply_on_any(HostContext&, CsrView<float, HostSpace>,
                                              CsrView<float, HostSpace>, std::size_t,
                                              const FormatChoice&);
template SparseProduct<double> multiply_on_any(HostContext&, CsrView<double, HostSpace>,
                                               CsrView<double, HostSpace>, std::size_t,
                                               const FormatChoice&);

}  // namespace heddle::apps
