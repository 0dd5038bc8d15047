#pragma once

#include <heddle/linalg/context/context.hpp>
#include <heddle/linalg/data/csr_matrix.hpp>

namespace heddle::detail {

/// The lower triangles of A and B in one pattern, with all diagonal entries last in their rows.
struct LowerTriangles {
  HostCsrMatrix<double> A;
  Buffer<double, HostSpace> B;  ///< the values of B
};

/// Those of symmetric matrices A and B of one order. A B without rows is the identity.
LowerTriangles lower_triangles(HostContext& host, const CsrView<double, HostSpace>& A,
                               const CsrView<double, HostSpace>& B);

/// Puts the values of another A in the place of those of A. Entries that it does not have are 0.
/// False, and nothing happens, if it has one outside of the pattern.
bool set_values(LowerTriangles& lower, const CsrView<double, HostSpace>& A);

}  // namespace heddle::detail
