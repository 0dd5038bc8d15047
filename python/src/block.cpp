#include <algorithm>
#include <complex>
#include <cstdint>
#include <string>

#include "bindings.hpp"

namespace heddle::python {

template <Scalar T>
HostBlock<T> block_of(const Array2<T>& X) {
  const auto rows = static_cast<Index>(X.shape(0));
  const auto cols = static_cast<Index>(X.shape(1));
  const bool contiguous = cols <= 1 || X.stride(1) == 1;
  const Index ld = rows <= 1 ? cols : X.stride(0);
  if (!contiguous || ld < cols) {
    throw InvalidArgument("a block of " + std::to_string(rows) + " x " + std::to_string(cols) +
                          " has strides of " + std::to_string(X.stride(0)) + " and " +
                          std::to_string(X.stride(1)) + " numbers: its rows must be contiguous");
  }
  return HostBlock<T>(ConstBlockView<T, HostSpace>(X.data(), rows, cols, ld));
}

template <Scalar T>
nb::object numpy_copy(ConstBlockView<T, HostSpace> X) {
  const auto rows = static_cast<std::size_t>(X.rows());
  const auto cols = static_cast<std::size_t>(X.cols());
  auto values = std::make_unique<T[]>(rows * cols);
  for (Index i = 0; i < X.rows(); ++i) {
    std::copy_n(X.data() + i * X.ld(), X.cols(), values.get() + i * X.cols());
  }
  T* const data = values.get();
  nb::capsule owner(values.release(), [](void* p) noexcept { delete[] static_cast<T*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<2>>(data, {rows, cols}, owner));
}

template Block block_of(const Array2<double>&);
template ComplexBlock block_of(const Array2<std::complex<double>>&);
template nb::object numpy_copy(ConstBlockView<double, HostSpace>);
template nb::object numpy_copy(ConstBlockView<std::complex<double>, HostSpace>);

}  // namespace heddle::python
