#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <heddle/linalg/base/error.hpp>
#include <heddle/solvers/preconditioners/options.hpp>
#include <vector>

namespace heddle {
namespace {

using Point = std::array<double, 3>;

/// The positions relative to their mean, in units of the largest one. z = 0 in the plane.
std::vector<Point> centred(ConstBlockView<double, HostSpace> coordinates) {
  const Index nodes = coordinates.rows(), d = coordinates.cols();
  std::vector<Point> points(static_cast<std::size_t>(nodes), Point{});
  double largest = 0;
  for (Index k = 0; k < d; ++k) {
    double mean = 0;
    for (Index i = 0; i < nodes; ++i) mean += coordinates(i, k) / static_cast<double>(nodes);
    for (Index i = 0; i < nodes; ++i) {
      double& x = points[static_cast<std::size_t>(i)][static_cast<std::size_t>(k)];
      x = coordinates(i, k) - mean;
      largest = std::max(largest, std::abs(x));
    }
  }
  for (Point& point : points) {
    for (double& x : point) x = largest > 0 ? x / largest : 0;
  }
  return points;
}

}  // namespace

MultiVector<double, HostSpace> rigid_body_motions(HostContext& context,
                                                  ConstBlockView<double, HostSpace> coordinates,
                                                  Index unknowns) {
  const Index nodes = coordinates.rows(), d = coordinates.cols();
  const Index angles = d == 2 ? 1 : 3;
  if ((d != 2 && d != 3) || (unknowns != d && unknowns != d + angles)) {
    throw InvalidArgument(
        fmt::format("rigid_body_motions: nodes with 2 coordinates have 2 or 3 unknowns, nodes with "
                    "3 have 3 or 6; these have {} and {}",
                    d, unknowns));
  }
  const std::vector<Point> points = centred(coordinates);
  MultiVector<double, HostSpace> made(context, nodes * unknowns, d + angles);
  for (Index node = 0; node < nodes; ++node) {
    const auto [x, y, z] = points[static_cast<std::size_t>(node)];
    // rotations[k][j]: displacement k of the rotation about axis j. That of the plane is about z.
    const double rotations[3][3] = {{0, z, -y}, {-z, 0, x}, {y, -x, 0}};
    for (Index k = 0; k < unknowns; ++k) {
      for (Index j = 0; j < d + angles; ++j) {
        const bool displacement = k < d, translation = j < d;
        const double of_angle = k - d == j - d ? 1 : 0;
        made.view()(node * unknowns + k, j) = translation    ? static_cast<double>(k == j)
                                              : displacement ? rotations[k][d == 2 ? 2 : j - d]
                                                             : of_angle;
      }
    }
  }
  return made;
}

}  // namespace heddle
