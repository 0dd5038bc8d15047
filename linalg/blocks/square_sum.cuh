#pragma once

namespace heddle {

/// A sum of squares in three parts (small, medium and large terms), so that squares neither
/// overflow nor underflow. Source: Blue, A portable Fortran program to find the Euclidean norm of a
/// vector, TOMS 4 (1978). The constants for IEEE double are those of Anderson, TOMS 44 (2018) 12.
struct SquareSum {
  static constexpr double kSmall = 0x1p-511;
  static constexpr double kLarge = 0x1p486;
  static constexpr double kScaleSmall = 0x1p537;
  static constexpr double kScaleLarge = 0x1p-538;

  double small;
  double medium;
  double large;

  /// NaN fails both comparisons and is added to `medium`.
  __device__ void add(double x) {
    const double size = fabs(x);
    if (size > kLarge) {
      large += (size * kScaleLarge) * (size * kScaleLarge);
    } else if (size < kSmall) {
      small += (size * kScaleSmall) * (size * kScaleSmall);
    } else {
      medium += size * size;
    }
  }

  __device__ void add(const SquareSum& other) {
    small += other.small;
    medium += other.medium;
    large += other.large;
  }

  __device__ double result() const {
    if (large > 0) return sqrt(large + medium * kScaleLarge * kScaleLarge) / kScaleLarge;
    if (small > 0) {
      const double below = sqrt(small) / kScaleSmall;
      return medium == 0 ? below : hypot(sqrt(medium), below);
    }
    return sqrt(medium);
  }
};

}  // namespace heddle
