#include <cmath>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/sparse/csr_ops.hpp>
#include <heddle/solvers/preconditioners/inverse_diagonal.hpp>
#include <span>

namespace heddle::detail {
namespace {

/// f(1/|d_i|), computed on the host, with the replacements that the header describes.
template <Scalar T, class Ctx, class F>
Buffer<T, typename Ctx::Space> inverted(Ctx& context, CsrView<T, typename Ctx::Space> A,
                                        const F& f) {
  HostContext beside(1);
  Buffer<T, HostSpace> diagonal = fetch(context, beside, extract_diagonal(context, A));
  const std::span<T> d(diagonal.data(), diagonal.size());
  double mean = 0;  // updated as a mean, because a sum of large entries could overflow
  double count = 0;
  for (const T& value : d) {
    if (std::isnormal(value)) mean += (std::abs(static_cast<double>(value)) - mean) / ++count;
  }
  if (count == 0) mean = 1;
  for (T& value : d) {
    const double size = std::isnormal(value) ? std::abs(static_cast<double>(value)) : mean;
    value = static_cast<T>(f(1 / size));
  }
  return place(context, std::move(diagonal));
}

}  // namespace

template <Scalar T, class Ctx>
Buffer<T, typename Ctx::Space> inverse_diagonal(Ctx& context, CsrView<T, typename Ctx::Space> A) {
  return inverted<T>(context, A, [](double inverse) { return inverse; });
}

template <Scalar T, class Ctx>
Buffer<T, typename Ctx::Space> inverse_root_diagonal(Ctx& context,
                                                     CsrView<T, typename Ctx::Space> A) {
  return inverted<T>(context, A, [](double inverse) { return std::sqrt(inverse); });
}

#define HEDDLE_INSTANTIATE(T, Ctx)                                                                 \
  template Buffer<T, typename Ctx::Space> inverse_diagonal(Ctx&, CsrView<T, typename Ctx::Space>); \
  template Buffer<T, typename Ctx::Space> inverse_root_diagonal(Ctx&,                              \
                                                                CsrView<T, typename Ctx::Space>);
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
