#include "spmm/bandwidth.hpp"

#include <heddle/linalg/data/buffer.hpp>

#include "spmm/stopwatch.hpp"

namespace heddle::lab {

double measure_bandwidth(CudaContext& context) {
  constexpr std::size_t kBytes = std::size_t{1} << 30;
  Buffer<char, DeviceSpace> source(context, kBytes);
  Buffer<char, DeviceSpace> target(context, kBytes);
  Stopwatch stopwatch(context);
  stopwatch.overwrite(source.data(), kBytes);
  const double ms =
      stopwatch.warm_ms([&] { stopwatch.copy(target.data(), source.data(), kBytes); });
  return 2 * static_cast<double>(kBytes) / (ms * 1e-3);
}

}  // namespace heddle::lab
