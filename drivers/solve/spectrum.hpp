#pragma once

#include <heddle/drivers/place/device.hpp>
#include <heddle/drivers/problem/matrix.hpp>
#include <heddle/solvers/spectrum/spectral_density.hpp>

/// The spectrum of a matrix in host memory.
namespace heddle {

/// The spectral density of a symmetric n×n A, estimated on `device`. A stored A is copied to the
/// device once. Throws `ProblemError` if A is empty, not square or, as far as it is stored, not
/// symmetric, and `RequestError` for a callable on a GPU. Throws as `spectral_density` of an
/// operator does.
SpectralDensity spectral_density(Device& device, const Matrix& A,
                                 const SpectralDensityOptions& options = {});

}  // namespace heddle
