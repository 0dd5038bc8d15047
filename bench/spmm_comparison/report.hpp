#pragma once

#include <filesystem>

#include "spmm_comparison/comparison.hpp"

namespace heddle::bench {

/// A matrix in one precision, all widths.
struct MatrixComparison {
  std::string matrix;
  std::string precision;
  Index rows = 0;
  Index cols = 0;
  Index nnz = 0;
  std::vector<WidthComparison> widths;
};

/// All that one call of heddle-spmm found.
struct SpmmReport {
  CudaDevice device;
  double bandwidth = 0;  ///< bytes per second of a large device copy, measured in the same run
  std::vector<MatrixComparison> matrices;
};

/// A line a kernel on stdout: ms warm and cold, GFLOP/s, GB/s and fraction of the bound on
/// compulsory bytes, ratio of the best cuSPARSE time to this one's. The chosen kernel has a star.
void print(const MatrixComparison& comparison, double bandwidth);

/// Geometric mean and minimum over matrices and widths of best cuSPARSE time over chosen kernel's
/// and over heddle's fastest kernel's.
void print_summary(const SpmmReport& report);

/// Everything as JSON. Throws `InputError` if the file cannot be written.
void write_json(const SpmmReport& report, const std::filesystem::path& path);

}  // namespace heddle::bench
