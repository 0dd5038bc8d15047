#pragma once

#include <algorithm>
#include <concepts>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/linalg/sparse/csr_ops.hpp>
#include <utility>

namespace heddle::detail {

/// A with its values rounded to T, in the context's memory as A is. A itself if it is in this
/// precision.
template <Scalar T, class Ctx, Scalar U, class Space = typename Ctx::Space>
CsrMatrix<T, Space> rounded(Ctx& context, CsrMatrix<U, Space> A) {
  if constexpr (std::same_as<T, U>) {
    return A;
  } else {
    return convert<T>(context, A.view());
  }
}

/// The values rounded to T, in the context's memory. The host rounds them.
template <Scalar T, class Ctx, class Space = typename Ctx::Space>
Buffer<T, Space> rounded(Ctx& context, Buffer<double, Space> values) {
  HostContext beside(1);
  const Buffer<double, HostSpace> source = fetch(context, beside, std::move(values));
  Buffer<T, HostSpace> target(host_of(context, beside), source.size());
  std::transform(source.data(), source.data() + source.size(), target.data(),
                 [](double value) { return static_cast<T>(value); });
  return place(context, std::move(target));
}

}  // namespace heddle::detail
