#include <fmt/format.h>

#include <heddle/apps/info/spectrum.hpp>
#include <heddle/drivers/inspect/matrix_checks.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/solvers/operators/sparse_operator.hpp>
#include <utility>

namespace heddle::apps {
namespace {

void require_real_spectrum(HostContext& context, const std::string& name,
                           CsrView<double, HostSpace> A) {
  constexpr std::string_view kNeeds = "the spectrum is that of a symmetric matrix";
  if (A.rows != A.cols) {
    throw InvalidArgument(
        fmt::format("{}: {}, this one has {} rows and {} columns", name, kNeeds, A.rows, A.cols));
  }
  if (A.rows == 0) throw InvalidArgument(fmt::format("{}: the matrix has no rows", name));
  for (const Asymmetry& pair : find_asymmetry(context, A, detail::kSymmetryTolerance)) {
    throw InvalidArgument(
        fmt::format("{0}: {1}, of this one entry ({2}, {3}) is {4}, entry ({3}, "
                    "{2}) is {5}",
                    name, kNeeds, pair.row + 1, pair.col + 1, pair.value, pair.transposed));
  }
}

}  // namespace

double SpectrumReport::edge(std::size_t k) const noexcept {
  const double part = static_cast<double>(k) / static_cast<double>(bins.size());
  return lower + part * (upper - lower);
}

SpectrumReport inspect_spectrum(HostContext& context, const std::string& name,
                                HostCsrMatrix<double> A, Index bins) {
  require_real_spectrum(context, name, std::as_const(A).view());
  SparseOperator<double, HostContext> product(context, std::move(A));
  const SpectralDensity density = spectral_density<double, HostContext>(context, product);
  return {density.lower(), density.upper(), density.histogram(bins)};
}

}  // namespace heddle::apps
