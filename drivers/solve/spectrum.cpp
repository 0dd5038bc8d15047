#include <heddle/drivers/inspect/matrix_checks.hpp>
#include <heddle/drivers/place/place.hpp>
#include <heddle/drivers/solve.hpp>

namespace heddle {

namespace {

template <Scalar T>
SpectralDensity density(Device& device, const HostMatrix<T>& A,
                        const SpectralDensityOptions& options) {
  detail::check_square(ProblemPart::matrix, A.rows(), A.cols());
  if (A.is_stored()) {
    detail::check_symmetric(device.host(), ProblemPart::matrix, A);
  } else if (!device.is_host()) {
    throw RequestError("device", ": cuda cannot be used: A is a callable on host blocks");
  }
  if (device.processes() > 1) {
    throw InvalidArgument("a spectral density is computed by one process with one GPU");
  }
  return device.with_context([&](auto& context) {
    auto placed = detail::place_matrix(context, A, {});
    return spectral_density(context, *placed.product, options);
  });
}

}  // namespace

SpectralDensity spectral_density(Device& device, const Matrix& A,
                                 const SpectralDensityOptions& options) {
  return density(device, A, options);
}

SpectralDensity spectral_density(Device& device, const ComplexMatrix& A,
                                 const SpectralDensityOptions& options) {
  return density(device, A, options);
}

}  // namespace heddle
