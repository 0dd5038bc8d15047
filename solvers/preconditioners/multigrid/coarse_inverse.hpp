#pragma once

#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/data/csr_matrix.hpp>
#include <optional>

namespace heddle::detail {

/// The pseudoinverse of A, whose diagonal is one, with all its entries, symmetric to the bit.
/// Eigenvalues count as zero if they are not larger than rounding, or than the size of negative
/// ones, which come from rounding on all levels but the finest. If A is the only level, `roundoff`
/// is the machine epsilon of its entries. Its null vectors are kept with the factor 1/λ_max then,
/// for the preconditioner to be definite. Throws `InvalidArgument` if A is not finite, or is the
/// only level and indefinite by more than rounding.
template <class Ctx>
CsrMatrix<double, typename Ctx::Space> coarse_inverse(Ctx& context,
                                                      CsrView<double, typename Ctx::Space> A,
                                                      std::optional<double> roundoff);

/// Negative eigenvalues up to this many times the machine epsilon of the entries and the largest
/// eigenvalue come from their rounding. The errors of dense rows of a few dozen entries add up.
inline constexpr double kRoundoffs = 8;

/// The least pivot with which a matrix counts as well-conditioned. Its diagonal is one.
inline constexpr double kLeastPivot = 1e-8;

/// The inverse by Gauss–Jordan elimination where all pivots are above kLeastPivot, so that no
/// eigenvalue is zero to rounding. Else nothing. On the host, the eigenvalues that
/// `coarse_inverse` computes serve all matrices.
std::optional<CsrMatrix<double, DeviceSpace>> definite_inverse(CudaContext& context,
                                                               CsrView<double, DeviceSpace> A);

[[noreturn]] void refuse_indefinite(double value);
[[noreturn]] void refuse_infinite();

}  // namespace heddle::detail
