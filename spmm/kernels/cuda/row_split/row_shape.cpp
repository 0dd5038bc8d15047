#include <algorithm>
#include <bit>
#include <cmath>
#include <heddle/spmm/kernels/cuda/row_split/row_shape.hpp>

namespace heddle::detail::cuda {

int row_groups(const MatrixFeatures& A) noexcept {
  const double groups = std::clamp(A.row_mean / 4, 1.0, 32.0);
  return static_cast<int>(std::bit_ceil(static_cast<unsigned>(std::ceil(groups))));
}

int row_lanes(const MatrixFeatures& A) noexcept {
  constexpr double kTwoRounds = 8;
  constexpr int kWarpSize = 32;
  return A.row_mean <= kTwoRounds ? kWarpSize / 2 : kWarpSize;
}

}  // namespace heddle::detail::cuda
