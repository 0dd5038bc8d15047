#include <cmath>
#include <heddle/solvers/detail/inverse_diagonal.hpp>
#include <span>

namespace heddle {

template <Scalar T>
Buffer<T, HostSpace> inverse_diagonal(HostContext& context, CsrView<T, HostSpace> A) {
  const auto n = static_cast<std::size_t>(A.rows);
  Buffer<T, HostSpace> inverse(context, n);
  const std::span<T> d(inverse.data(), n);
  extract_diagonal(context, A, d);
  double mean = 0;  // kept as a mean: a sum of large entries could overflow
  double count = 0;
  for (const T& value : d) {
    if (std::isnormal(value)) mean += (std::abs(static_cast<double>(value)) - mean) / ++count;
  }
  if (count == 0) mean = 1;
  for (T& value : d) {
    value =
        static_cast<T>(1 / (std::isnormal(value) ? std::abs(static_cast<double>(value)) : mean));
  }
  return inverse;
}

template Buffer<float, HostSpace> inverse_diagonal(HostContext&, CsrView<float, HostSpace>);
template Buffer<double, HostSpace> inverse_diagonal(HostContext&, CsrView<double, HostSpace>);

}  // namespace heddle
