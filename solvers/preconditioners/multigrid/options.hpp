#pragma once

#include <heddle/linalg/data/views.hpp>

namespace heddle {

/// How `MultigridPreconditioner` makes its levels.
struct MultigridOptions {
  int degree = 3;      ///< products per smoothing, one of them for the residual: 1 … 5
  Index unknowns = 0;  ///< per node, numbered node by node; 0: found in the pattern of A
  /// n×m in host memory: vectors that A nearly maps to zero away from the boundary, such as the
  /// rigid body motions of an elastic body. They must outlive the constructor. Empty: for each
  /// unknown of a node, the vector that is 1 there.
  ConstBlockView<double, HostSpace> near_null = {};
};

}  // namespace heddle
