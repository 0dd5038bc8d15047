#include <fmt/format.h>

#include <heddle/apps/info/spectrum.hpp>
#include <heddle/drivers/inspect/matrix_checks.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/solvers/operators/sparse_operator.hpp>
#include <utility>

namespace heddle::apps {
namespace {

template <WideScalar W>
void require_real_spectrum(HostContext& context, const std::string& name, CsrView<W, HostSpace> A) {
  constexpr std::string_view kNeeds = kComplex<W> ? "the spectrum is that of a Hermitian matrix"
                                                  : "the spectrum is that of a symmetric matrix";
  if (A.rows != A.cols) {
    throw InvalidArgument(
        fmt::format("{}: {}, this one has {} rows and {} columns", name, kNeeds, A.rows, A.cols));
  }
  if (A.rows == 0) throw InvalidArgument(fmt::format("{}: the matrix has no rows", name));
  for (const AsymmetryOf<W>& pair : find_asymmetry(context, A, detail::kSymmetryTolerance)) {
    throw InvalidArgument(
        fmt::format("{0}: {1}, of this one entry ({2}, {3}) is {4}, entry ({3}, "
                    "{2}) is {5}",
                    name, kNeeds, pair.row + 1, pair.col + 1, entry_text(pair.value, kComplex<W>),
                    entry_text(pair.transposed, kComplex<W>)));
  }
}

}  // namespace

std::string entry_text(std::complex<double> value, bool complex) {
  if (!complex) return fmt::format("{:.17g}", value.real());
  return fmt::format("{:.17g}{:+.17g}i", value.real(), value.imag());
}

double SpectrumReport::edge(std::size_t k) const noexcept {
  const double part = static_cast<double>(k) / static_cast<double>(bins.size());
  return lower + part * (upper - lower);
}

template <WideScalar W>
SpectrumReport inspect_spectrum(HostContext& context, const std::string& name, HostCsrMatrix<W> A,
                                Index bins) {
  require_real_spectrum(context, name, std::as_const(A).view());
  SparseOperator<W, HostContext> product(context, std::move(A));
  const SpectralDensity density = spectral_density<W, HostContext>(context, product);
  return {density.lower(), density.upper(), density.histogram(bins)};
}

template SpectrumReport inspect_spectrum(HostContext&, const std::string&, HostCsrMatrix<double>,
                                         Index);
template SpectrumReport inspect_spectrum(HostContext&, const std::string&,
                                         HostCsrMatrix<std::complex<double>>, Index);

}  // namespace heddle::apps
