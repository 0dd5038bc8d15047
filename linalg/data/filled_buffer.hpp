#pragma once

#include <algorithm>
#include <heddle/linalg/data/buffer.hpp>

namespace heddle {

/// `size` times `value` in memory of the context, which is cleared by the system less often than
/// that of a `std::vector`, see `detail::HostMemory`. Throws `OutOfMemory`.
template <class T>
Buffer<T, HostSpace> filled(HostContext& context, std::size_t size, T value) {
  Buffer<T, HostSpace> made(context, size);
  std::fill_n(made.data(), size, value);
  return made;
}

}  // namespace heddle
