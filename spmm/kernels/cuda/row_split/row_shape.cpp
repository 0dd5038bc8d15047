#include <algorithm>
#include <bit>
#include <cmath>
#include <heddle/spmm/kernels/cuda/row_split/row_shape.hpp>

namespace heddle::detail::cuda {
namespace {

constexpr int kWarpSize = 32;

}  // namespace

int row_groups(const MatrixFeatures& A) noexcept {
  const double groups = std::clamp(A.row_mean / 4, 1.0, 32.0);
  return static_cast<int>(std::bit_ceil(static_cast<unsigned>(std::ceil(groups))));
}

LongRowShape long_row_shape(const MatrixFeatures& A, Index N, Index scalar_bytes) noexcept {
  constexpr Index kVectorBytes = 16;
  constexpr Index kShortest = 64;
  constexpr Index kLongest = 512;
  constexpr Index kEntriesOfGroup = 32;
  const auto vectors = static_cast<unsigned>((N * scalar_bytes + kVectorBytes - 1) / kVectorBytes);
  const auto lanes = static_cast<Index>(std::bit_ceil(std::max(vectors, 1U)));
  const Index length = std::clamp(kLongest / lanes, kShortest, kLongest);
  constexpr double kOfMean = 2;
  const Index limit = std::max(std::min(length, kEntriesOfGroup * row_groups(A)),
                               static_cast<Index>(std::ceil(kOfMean * A.row_mean)));
  return {limit, std::max(limit, length)};
}

int lanes_of_group(Index vectors) noexcept {
  constexpr Index kFewest = 8;
  const auto with_idle = [&](Index lanes) { return (vectors + lanes - 1) / lanes * lanes; };
  auto best = static_cast<Index>(
      std::bit_ceil(static_cast<unsigned>(std::clamp<Index>(vectors, 1, kWarpSize))));
  for (Index lanes = best / 2; lanes >= kFewest; lanes /= 2) {
    if (with_idle(lanes) < with_idle(best)) best = lanes;
  }
  return static_cast<int>(best);
}

int row_lanes(const MatrixFeatures& A) noexcept {
  constexpr double kTwoRounds = 8;
  return A.row_mean <= kTwoRounds ? kWarpSize / 2 : kWarpSize;
}

}  // namespace heddle::detail::cuda
