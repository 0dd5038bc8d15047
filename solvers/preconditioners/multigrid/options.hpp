#pragma once

#include <heddle/linalg/data/views.hpp>
#include <heddle/spmm/low_precision/precision.hpp>

namespace heddle {

/// How `MultigridPreconditioner` makes its levels.
struct MultigridOptions {
  int degree = 3;      ///< products per smoothing, one of them for the residual: 1 … 5
  Index unknowns = 0;  ///< per node, numbered node by node; 0: found in the pattern of A
  /// n×m in host memory: vectors that A nearly maps to zero away from the boundary, such as the
  /// rigid body motions of an elastic body. They must outlive the constructor. Empty: for each
  /// unknown of a node, the vector that is 1 there.
  ConstBlockView<double, HostSpace> near_null = {};
  /// The precision of the smoothing in a preconditioner for single precision that is made from an A
  /// in double precision: single_precision, half, bf16 or tf32. Residuals, prolongation and the
  /// coarsest level are in single precision.
  ProductPrecision smoothing = ProductPrecision::single_precision;
};

}  // namespace heddle
