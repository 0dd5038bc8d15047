#include <algorithm>
#include <cmath>
#include <heddle/spmm/model/model.hpp>

namespace heddle {

double nominal_block_seconds(Index height, Index width, Index N, std::size_t value_bytes,
                             bool gathered, const DeviceSpeed& device) noexcept {
  constexpr double kSector = 32;
  constexpr double kL2BytesPerCycle = 32;
  // Multiplications of half precision per cycle and multiprocessor by mma.sync, of which wgmma
  // alone reaches all 2048. They halve with each doubling of the values.
  constexpr double kHalfMultiplications = 1024;
  const auto bytes = static_cast<double>(value_bytes);
  const double own = static_cast<double>(height * width) * bytes + sizeof(std::int32_t);
  const double row = static_cast<double>(N) * bytes;
  const double row_of_B =
      gathered ? std::ceil(row / kSector) * kSector + sizeof(std::int32_t) : row;
  const double multiprocessors = device.clock * device.multiprocessors;
  const double memory = own / device.memory_bytes;
  const double l2 =
      (own + static_cast<double>(width) * row_of_B) / (kL2BytesPerCycle * multiprocessors);
  const double tensor = static_cast<double>(height * width * N) * (bytes / 2) /
                        (kHalfMultiplications * multiprocessors);
  return std::max({memory, l2, tensor});
}

}  // namespace heddle
