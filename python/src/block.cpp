#include <algorithm>
#include <cstdint>
#include <string>

#include "bindings.hpp"

namespace heddle::python {

Block block_of(const Array2& X) {
  const auto rows = static_cast<Index>(X.shape(0));
  const auto cols = static_cast<Index>(X.shape(1));
  const bool contiguous = cols <= 1 || X.stride(1) == 1;
  const Index ld = rows <= 1 ? cols : X.stride(0);
  if (!contiguous || ld < cols) {
    throw InvalidArgument("a block of " + std::to_string(rows) + " x " + std::to_string(cols) +
                          " has strides of " + std::to_string(X.stride(0)) + " and " +
                          std::to_string(X.stride(1)) + " numbers: its rows must be contiguous");
  }
  return Block(ConstBlockView<double, HostSpace>(X.data(), rows, cols, ld));
}

nb::object numpy_copy(ConstBlockView<double, HostSpace> X) {
  const auto rows = static_cast<std::size_t>(X.rows());
  const auto cols = static_cast<std::size_t>(X.cols());
  auto values = std::make_unique<double[]>(rows * cols);
  for (Index i = 0; i < X.rows(); ++i) {
    std::copy_n(X.data() + i * X.ld(), X.cols(), values.get() + i * X.cols());
  }
  double* const data = values.get();
  nb::capsule owner(values.release(), [](void* p) noexcept { delete[] static_cast<double*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, double, nb::ndim<2>>(data, {rows, cols}, owner));
}

}  // namespace heddle::python
