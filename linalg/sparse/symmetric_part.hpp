#pragma once

#include <heddle/linalg/data/csr_matrix.hpp>

namespace heddle {

/// (A + Aᵀ)/2, symmetric to the bit. Entries not stored count as 0. Throws `InvalidArgument` if A is
/// not square.
template <Scalar T>
HostCsrMatrix<T> symmetric_part(HostContext& context, CsrView<T, HostSpace> A);

/// The largest |a_ij − a_ji| of A relative to its largest finite entry, 0 for a symmetric A. Throws
/// `InvalidArgument` if A is not square.
template <Scalar T>
double relative_asymmetry(HostContext& context, CsrView<T, HostSpace> A);

}  // namespace heddle
