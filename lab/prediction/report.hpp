#pragma once

#include <heddle/spmm/model/model.hpp>
#include <optional>
#include <string>
#include <vector>

#include "prediction/blocks.hpp"
#include "prediction/orders.hpp"

/// The prediction of the model of the SpMM kernels for a matrix, in double precision on an NVIDIA
/// H200.
namespace heddle::lab {

/// The kernels for blocks of N columns, the fastest first. None without entries.
struct WidthPrediction {
  Index N = 0;
  std::vector<KernelPrediction> kernels;
};

struct PredictionReport {
  std::string name;  ///< of the matrix
  MatrixFeatures features;
  std::vector<WidthPrediction> widths;
  std::optional<BlockReport> blocks;  ///< if they were requested
  std::optional<OrderReport> orders;  ///< if they were requested
};

/// Predicts for A, without its blocks and orders.
PredictionReport predict(HostContext& context, std::string name, CsrView<double, HostSpace> A,
                         const std::vector<Index>& widths);

std::string to_text(const PredictionReport& report);
/// `heddle plot` draws it as a roofline.
std::string to_json(const PredictionReport& report);

}  // namespace heddle::lab
