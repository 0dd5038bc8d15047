#pragma once

#include <heddle/apps/info/spectrum.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/solvers/operators/preconditioner.hpp>
#include <heddle/spmm/features/features.hpp>
#include <heddle/spmm/model/model.hpp>
#include <optional>
#include <string>
#include <vector>

/// The report of heddle-info on a matrix, and its output as text and JSON.
namespace heddle::apps {

/// The diagonal of a square matrix. Entries that are not stored count as 0.
struct DiagonalReport {
  double smallest = 0;
  double largest = 0;
  Index not_positive = 0;  ///< number of entries that are zero or negative
  Index first_not_positive =
      0;  ///< row of the first of these, 0-based; meaningless if there is none
};

/// Two numbers about the ends of the spectrum of a symmetric matrix.
struct SpectrumEnds {
  double lower = 0;
  double upper = 0;
};

/// The kernels that would multiply by N columns.
struct KernelReport {
  Index N = 0;
  double compulsory_bytes = 0;  ///< of one product in double precision
  std::string host;             ///< kernel name
  std::string host_reason;
  std::string cuda{};  ///< empty if there is no kernel for such a matrix
  std::string cuda_reason{};
};

/// Everything about one matrix.
struct MatrixReport {
  std::string name;
  MatrixFeatures features;
  double norm_1 = 0;
  double largest_entry = 0;  ///< max |a_ij|
  bool complex = false;      ///< whether the entries are complex
  bool symmetric = false;    ///< to the bit; of a complex matrix: Hermitian
  /// Of a square matrix that is not symmetric: the worst pair, with real numbers of a real matrix.
  std::optional<AsymmetryOf<std::complex<double>>> asymmetry;
  std::optional<DiagonalReport> diagonal;  ///< of a square matrix with rows
  std::optional<SpectrumEnds> gershgorin;  ///< of a symmetric matrix with rows: contain it
  std::optional<SpectrumEnds> ritz;        ///< likewise: lie in it, near its ends
  std::vector<KernelReport> kernels;       ///< one entry per width
  std::optional<SpectrumReport> spectrum;  ///< if it was requested
  std::vector<OperatorLevel> levels;       ///< of multigrid, if they were requested
};

/// Inspects A except for its density of eigenvalues and its levels. The report uses `name` for A.
/// Without `widths` no kernels are looked for. Kernels of a GPU are chosen for the device of
/// `DeviceSpeed`'s defaults, and only for real matrices.
template <WideScalar W>
MatrixReport inspect(HostContext& context, std::string name, CsrView<W, HostSpace> A,
                     const std::vector<Index>& widths);

/// What is known of the signs of the eigenvalues of a symmetric matrix with rows, in words.
std::string definiteness(const MatrixReport& report);

}  // namespace heddle::apps
