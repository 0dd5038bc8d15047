#pragma once

#include <concepts>
#include <heddle/linalg/blocks/convert.hpp>
#include <heddle/linalg/data/small_matrix.hpp>
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

template <Scalar T, class Ctx, Scalar U, class Space = typename Ctx::Space>
DistributedCsr<T, Space> rounded(Ctx& context, DistributedCsr<U, Space> A) {
  if constexpr (std::same_as<T, U>) {
    return A;
  } else {
    return convert<T>(context, A.view());
  }
}

/// The values rounded to T, in the context's memory.
template <Scalar T, class Ctx, class Space = typename Ctx::Space>
Buffer<T, Space> rounded(Ctx& context, Buffer<double, Space> values) {
  if constexpr (std::same_as<T, double>) {
    return values;
  } else {
    const auto size = static_cast<Index>(values.size());
    Buffer<T, Space> target(context, values.size());
    SmallMatrix<double, Space> one(context, 1, 1);
    const double factor = 1;
    send(context, ConstSmallView<double, HostSpace>{&factor, 1, 1, 1}, one.view(1, 1));
    convert<T, double>(context, {values.data(), size, 1, 1}, one.view(1, 1),
                       {target.data(), size, 1, 1});
    return target;
  }
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
