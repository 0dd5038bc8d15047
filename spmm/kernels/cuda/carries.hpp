#pragma once

#include <heddle/spmm/kernels/cuda/merge_path.hpp>

namespace heddle::detail::cuda {

/// The fix-up pass of kernels whose teams (blocks or warps) each walk `stretches` stretches of a
/// merge path and leave the unfinished last row's sum behind.
///
/// carries[w·N + j] is the sum that team w holds for the row at its end; the team that finishes
/// that row has stored its own part. Adds α times the carries to C, each row's in the order of the
/// teams: deterministic. Moves teams·N·sizeof(T) bytes and the touched rows of C.
template <class T>
void launch_add_carries(CudaContext& context, const SpmmProduct<T>& product, const MergePath& path,
                        Index stretches, const T* carries);

}  // namespace heddle::detail::cuda
