#pragma once

#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/data/csr_matrix.hpp>

namespace heddle {

/// C = A B by columns of A and rows of B, C = Σ_k A(:, k) B(k, :), to compare with `spgemm`, which
/// works row by row. All terms a_ik b_kj are written down in the order of k, sorted by (i, j) and
/// summed, each entry in the order of k in the precision T. C has the pattern and the order of sums
/// of `spgemm`.
///
/// Needs 32 bytes of device memory per multiplication and Aᵀ. Throws `InvalidArgument` if the
/// shapes do not fit or if there are 2³¹ multiplications or more, `OutOfMemory`. Sources: Matam,
/// Indarapu, Kothapalli, HiPC 2012, section 3.2 (the formulation); Bell, Dalton, Olson, SIAM J.
/// Sci. Comput. 34 (2012) C123 (expand, sort, compress).
template <Scalar T>
CsrMatrix<T, DeviceSpace> spgemm_column_row(CudaContext& context, CsrView<T, DeviceSpace> A,
                                            CsrView<T, DeviceSpace> B);

}  // namespace heddle
