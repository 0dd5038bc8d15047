#pragma once

#include <heddle/spmm/model/model.hpp>
#include <string>
#include <vector>

/// The roofline of SpMM kernels as a picture.
namespace heddle::lab {

/// A kernel and width in the picture.
struct RooflinePoint {
  std::string kernel;
  Index N = 0;
  double intensity = 0;  ///< flops per byte that A in the kernel's format, B and C take
  double predicted = 0;  ///< flops per second
  double measured = 0;   ///< flops per second, 0 if it was not measured
};

/// The point of a prediction for A. `measured` is in flops per second, 0 if it was not measured.
RooflinePoint roofline_point(const MatrixFeatures& A, Index N, std::size_t scalar_bytes,
                             const KernelPrediction& prediction, double measured);

/// An SVG document: throughput over intensity, both logarithmic, below the roof of device memory. A
/// ring is a prediction, a disc a measurement. Each kernel has its colour, the points of a kernel
/// are joined in the order of their widths. Source: Williams, Waterman, Patterson, Roofline, CACM
/// 52 (2009).
std::string roofline_svg(const std::string& title, const std::vector<RooflinePoint>& points,
                         const DeviceSpeed& device);

}  // namespace heddle::lab
