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

/// Expands F(Ctx) once per context that the build has, for constructors of preconditioners in
/// single precision from a matrix in double. As templates of members, they are not part of an
/// explicit instantiation of their class.
#ifdef HEDDLE_HAS_CUDA
#define HEDDLE_FOR_EACH_ROUNDING(F) F(::heddle::HostContext) F(::heddle::CudaContext)
#else
#define HEDDLE_FOR_EACH_ROUNDING(F) F(::heddle::HostContext)
#endif
