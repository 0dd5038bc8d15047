#include <cmath>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/sparse/csr_ops.hpp>
#include <heddle/solvers/preconditioners/inverse_diagonal.hpp>
#include <heddle/solvers/preconditioners/invert_normal.hpp>
#include <span>
#include <utility>

namespace heddle::detail {
namespace {

/// 1/|d_i|, with `root` its square root. Entries that need a replacement, see the header, are seen
/// to on the host.
template <Scalar T, class Ctx, class Space = typename Ctx::Space>
Buffer<T, Space> inverted(Ctx& context, CsrView<T, Space> A, bool root) {
  Buffer<T, Space> there = extract_diagonal(context, A);
  if constexpr (!std::same_as<Space, HostSpace>) {
    Buffer<T, Space> inverse(context, there.size());
    if (invert_normal(context, there, root, inverse)) return inverse;
  }
  HostContext beside(1);
  Buffer<T, HostSpace> diagonal = fetch(context, beside, std::move(there));
  const std::span<T> d(diagonal.data(), diagonal.size());
  double mean = 0;  // updated as a mean, because a sum of large entries could overflow
  double count = 0;
  for (const T& value : d) {
    if (std::isnormal(value)) mean += (std::abs(static_cast<double>(value)) - mean) / ++count;
  }
  if (count == 0) mean = 1;
  for (T& value : d) {
    const double size = std::isnormal(value) ? std::abs(static_cast<double>(value)) : mean;
    value = static_cast<T>(root ? std::sqrt(1 / size) : 1 / size);
  }
  return place(context, std::move(diagonal));
}

}  // namespace

template <Scalar T, class Ctx>
Buffer<T, typename Ctx::Space> inverse_diagonal(Ctx& context, CsrView<T, typename Ctx::Space> A) {
  return inverted<T>(context, A, false);
}

template <Scalar T, class Ctx>
Buffer<T, typename Ctx::Space> inverse_root_diagonal(Ctx& context,
                                                     CsrView<T, typename Ctx::Space> A) {
  return inverted<T>(context, A, true);
}

#define HEDDLE_INSTANTIATE(T, Ctx)                                                                 \
  template Buffer<T, typename Ctx::Space> inverse_diagonal(Ctx&, CsrView<T, typename Ctx::Space>); \
  template Buffer<T, typename Ctx::Space> inverse_root_diagonal(Ctx&,                              \
                                                                CsrView<T, typename Ctx::Space>);
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
