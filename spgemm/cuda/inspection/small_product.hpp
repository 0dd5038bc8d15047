#pragma once

#include <heddle/spgemm/cuda/inspection/inspected_product.hpp>

/// The inspection of a small product in one launch, because launches and waits take most of its
/// time otherwise.
namespace heddle::detail {

/// Whether C = A B is small: the masks of all columns of a row fit into a warp's part of shared
/// memory, and the factors have few entries.
template <Scalar T>
bool is_small_product(const CsrView<T, DeviceSpace>& A, const CsrView<T, DeviceSpace>& B);

/// Inspects a small product. A.rows, A.nnz and B.nnz are positive. Waits for the device. `blocks`:
/// see `InspectedProduct::by_blocks`. Returns false if the rows of C have that many multiplications
/// that launches for each bin are faster: then only the runs and the bins for the pattern are
/// found.
template <Scalar T>
bool inspect_small_product(CudaContext& context, const CsrView<T, DeviceSpace>& A,
                           const CsrView<T, DeviceSpace>& B, RowBlocks& blocks,
                           InspectedProduct& product);

}  // namespace heddle::detail
