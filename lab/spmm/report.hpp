#pragma once

#include <filesystem>

#include "spmm/comparison.hpp"

namespace heddle::lab {

/// The results for one matrix in one precision and all widths.
struct MatrixComparison {
  std::string matrix;
  std::string precision;         ///< of the numbers, such as "complex double"
  std::size_t number_bytes = 8;  ///< of one of them
  Index rows = 0;
  Index cols = 0;
  Index nnz = 0;
  MatrixFeatures features;
  std::vector<WidthComparison> widths;
};

/// All results of one call of spmm_timing.
struct SpmmReport {
  CudaDevice device;
  DeviceSpeed speed;
  double bandwidth = 0;  ///< bytes per second of a large device copy, measured in the same run
  std::vector<MatrixComparison> matrices;
};

/// Prints one line per kernel: ms warm, predicted and cold, GFLOP/s, GB/s and fraction of the bound
/// by compulsory bytes, and the best cuSPARSE time divided by this time. A star marks the chosen
/// kernel.
void print(const MatrixComparison& comparison, double bandwidth);

/// Prints the features that the choice is made by, and for each width what the model says of each
/// kernel next to what was measured: the kernel's storage and traffic, what bounds it, both times,
/// and how the winner by the model fared against the fastest kernel.
void explain(const MatrixComparison& comparison);

/// Prints the geometric mean and the minimum, over matrices and widths, of the best cuSPARSE time
/// divided by the chosen kernel's time, and divided by the time of heddle's fastest kernel.
void print_summary(const SpmmReport& report);

/// Writes all results as JSON, of which `heddle plot` draws the rooflines. Throws `InputError` if
/// the file cannot be written.
void write_json(const SpmmReport& report, const std::filesystem::path& path);

}  // namespace heddle::lab
