#pragma once

#include <algorithm>
#include <heddle/linalg/small_matrix.hpp>

/// Small matrices between the host and a context's memory. Code templated on the context decides on
/// the host with `fetch`ed numbers and hands coefficients back with `send`; on the host both are
/// plain copies. Each `fetch` waits for the context.
namespace heddle {

/// target = source, a small matrix of the host context. Shapes must be equal.
inline void fetch(HostContext&, ConstSmallView<HostSpace> source, SmallView<HostSpace> target) {
  assert(source.rows == target.rows && source.cols == target.cols);
  if (source.data == target.data) return;
  for (Index j = 0; j < source.cols; ++j) {
    std::copy_n(source.data + j * source.ld, source.rows, target.data + j * target.ld);
  }
}

/// target = source, into the host context's memory. Shapes must be equal.
inline void send(HostContext& context, ConstSmallView<HostSpace> source,
                 SmallView<HostSpace> target) {
  fetch(context, source, target);
}

}  // namespace heddle
