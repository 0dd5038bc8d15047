#include <algorithm>
#include <cmath>
#include <heddle/linalg/base/error.hpp>
#include <heddle/spmm/model/model.hpp>
#include <map>
#include <mutex>

namespace heddle {
namespace {

/// Sums of the normal equations of ((T_e n + T_init)/t − 1)².
struct Sums {
  double nn = 0;  ///< Σ (n/t)²
  double n1 = 0;  ///< Σ n/t²
  double ones = 0;
  double n = 0;
  double one = 0;
};

Sums sums_of(std::span<const MeasuredTime> measured) {
  Sums sums;
  for (const MeasuredTime& time : measured) {
    if (!(time.seconds > 0) || !std::isfinite(time.seconds)) {
      throw InvalidArgument("a measured time of " + std::to_string(time.seconds) +
                            " s: times must be positive and finite");
    }
    const double slope = time.elements / time.seconds;
    const double constant = 1 / time.seconds;
    sums.nn += slope * slope;
    sums.n1 += slope * constant;
    sums.ones += constant * constant;
    sums.n += slope;
    sums.one += constant;
  }
  return sums;
}

}  // namespace

LinearTime fit_linear_time(std::span<const MeasuredTime> measured) {
  const auto differs = [&](const MeasuredTime& time) {
    return time.elements != measured.front().elements;
  };
  if (measured.empty() || std::none_of(measured.begin(), measured.end(), differs)) {
    throw InvalidArgument(
        "times of products with at least two different numbers of blocks are needed to fit a line");
  }
  const Sums sums = sums_of(measured);
  const double determinant = sums.nn * sums.ones - sums.n1 * sums.n1;
  const LinearTime free = {(sums.ones * sums.n - sums.n1 * sums.one) / determinant,
                           (sums.nn * sums.one - sums.n1 * sums.n) / determinant};
  if (free.per_element >= 0 && free.initial >= 0) return free;
  // The least value under the constraints lies where one of them is met.
  if (free.initial < 0) return {sums.n / sums.nn, 0};
  return {0, sums.one / sums.ones};
}

LinearTime fitted_linear_time(const std::string& key,
                              const std::function<std::vector<MeasuredTime>()>& measure) {
  static std::mutex mutex;
  static std::map<std::string, LinearTime> fits;
  const std::lock_guard lock(mutex);
  const auto known = fits.find(key);
  if (known != fits.end()) return known->second;
  return fits.emplace(key, fit_linear_time(measure())).first->second;
}

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
