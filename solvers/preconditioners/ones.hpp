#pragma once

#include <algorithm>
#include <heddle/linalg/data/buffer.hpp>
#include <heddle/linalg/data/transfer.hpp>

namespace heddle::detail {

/// n ones in the context's memory.
template <Scalar T, class Ctx>
Buffer<T, typename Ctx::Space> ones(Ctx& context, Index n) {
  HostContext beside(1);
  Buffer<T, HostSpace> values(host_of(context, beside), static_cast<std::size_t>(n));
  std::fill_n(values.data(), values.size(), T{1});
  return place(context, std::move(values));
}

}  // namespace heddle::detail
