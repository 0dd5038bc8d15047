#pragma once

#include <heddle/spmm/kernels/cuda/merge_path.hpp>

namespace heddle::detail::cuda {

/// The second pass of kernels in which each team (block or warp) processes `stretches` stretches of
/// a merge path and stores a carry: its partial sum of the row that is unfinished at its end.
///
/// carries[w·N + j] is column j of team w's carry. The team that finishes the row has already
/// ended the row of C with its own part, all terms of the epilogue included. This pass adds α times
/// the carries to C and αη times the carries to Y, those of each row in a fixed order, so
/// it is deterministic. Moves teams·N·sizeof(T) bytes and the rows of C and Y that have carries.
template <class T>
void launch_add_carries(CudaContext& context, const SpmmProduct<T>& product, const MergePath& path,
                        Index stretches, const T* carries);

}  // namespace heddle::detail::cuda
