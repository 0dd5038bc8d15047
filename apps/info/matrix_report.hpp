#pragma once

#include <heddle/apps/info/spectrum.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/spmm/features/features.hpp>
#include <optional>
#include <string>
#include <vector>

/// What heddle-info finds out about a matrix, and how it says it.
namespace heddle::apps {

/// The diagonal of a square matrix; entries that are not stored are 0.
struct DiagonalReport {
  double smallest = 0;
  double largest = 0;
  Index not_positive = 0;        ///< how many entries are zero or negative
  Index first_not_positive = 0;  ///< the row of the first of them, 0-based; meaningless if none
};

/// An interval that holds the spectrum of a symmetric matrix.
struct SpectrumBounds {
  double lower = 0;
  double upper = 0;
};

/// How N columns would be multiplied.
struct KernelReport {
  Index N = 0;
  double compulsory_bytes = 0;  ///< of one product in double precision
  std::string host;             ///< kernel name
  std::string host_reason;
  std::string cuda;
  std::string cuda_reason;
};

/// Everything about one matrix.
struct MatrixReport {
  std::string name;
  MatrixFeatures features;
  double norm_1 = 0;
  double largest_entry = 0;                  ///< max |a_ij|
  bool symmetric = false;                    ///< to the bit
  std::optional<Asymmetry> asymmetry;        ///< of a square matrix that is not: the worst pair
  std::optional<DiagonalReport> diagonal;    ///< of a square matrix with rows
  std::optional<SpectrumBounds> gershgorin;  ///< of a symmetric matrix with rows
  std::vector<KernelReport> kernels;         ///< a width each
  std::optional<SpectrumReport> spectrum;    ///< where it was asked for
};

/// Inspects A but for its spectrum; `name` stands for it in the report.
MatrixReport inspect(HostContext& context, std::string name, CsrView<double, HostSpace> A,
                     const std::vector<Index>& widths);

/// Aligned lines for a terminal. Rows and columns count from 1 in it, as in Matrix Market files.
std::string to_text(const MatrixReport& report);

/// A JSON document with the fields of the report, indented. Rows and columns count from 0 in it;
/// numbers that are not finite become null.
std::string to_json(const MatrixReport& report);

}  // namespace heddle::apps
