#pragma once

#include <heddle/linalg/data/csr_matrix.hpp>
#include <heddle/solvers/spectrum/spectral_density.hpp>
#include <string>
#include <vector>

namespace heddle::apps {

/// Where the eigenvalues of a symmetric matrix lie, by `spectral_density`.
struct SpectrumReport {
  double lower = 0;  ///< of an interval that holds the spectrum, hardly wider than it
  double upper = 0;
  std::vector<EigenvalueCount> bins;  ///< equal parts of [lower, upper], from below

  /// The lower end of bin k, 0-based; for k = bins.size() the upper end of the last.
  double edge(std::size_t k) const noexcept;
};

/// Bins that the resolution of the estimate still tells apart, each some three times as wide.
inline constexpr Index kMaxBins = 100;

/// Estimates how many eigenvalues of A lie in each of `bins` (1 … `kMaxBins`) equal parts of its
/// spectrum. Throws `InvalidArgument` in the name `name` if A is not square, has no rows, or is
/// further from symmetric than `kSymmetryTolerance`.
SpectrumReport inspect_spectrum(HostContext& context, const std::string& name,
                                HostCsrMatrix<double> A, Index bins);

}  // namespace heddle::apps
