#pragma once

#include <heddle/linalg/data/csr_matrix.hpp>
#include <heddle/solvers/spectrum/spectral_density.hpp>
#include <string>
#include <vector>

namespace heddle::apps {

/// The distribution of the eigenvalues of a symmetric matrix, estimated by `spectral_density`.
struct SpectrumReport {
  double lower = 0;  ///< lower end of an interval that contains the spectrum closely
  double upper = 0;
  std::vector<EigenvalueCount> bins;  ///< equal parts of [lower, upper], in ascending order

  /// The lower end of bin k, 0-based. For k = bins.size(), the upper end of the last bin.
  double edge(std::size_t k) const noexcept;
};

/// A number as text. The imaginary part is shown only if it is an entry of a complex matrix.
std::string entry_text(std::complex<double> value, bool complex);

/// The largest number of bins that the estimate can resolve. A bin is then about three times as
/// wide as the resolution.
inline constexpr Index kMaxBins = 100;

/// Estimates the number of eigenvalues of A in each of `bins` (1 … `kMaxBins`) equal parts of its
/// spectrum. Throws `InvalidArgument`, naming the matrix `name`, if A is not square, has no rows,
/// or is not symmetric, or Hermitian, to `kSymmetryTolerance`.
template <WideScalar W>
SpectrumReport inspect_spectrum(HostContext& context, const std::string& name, HostCsrMatrix<W> A,
                                Index bins);

}  // namespace heddle::apps
