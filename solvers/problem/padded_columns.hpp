#pragma once

#include <heddle/linalg/data/multivector.hpp>

namespace heddle::detail {

/// The columns for which a `MultiVector` of `count` columns holds memory on a device, with scalars
/// of `scalar_size` bytes. In host memory it holds `count`.
inline double padded_columns(Index count, std::size_t scalar_size) noexcept {
  const Index ld =
      scalar_size == sizeof(float) ? padded_ld<float>(count) : padded_ld<double>(count);
  return static_cast<double>(ld);
}

}  // namespace heddle::detail
