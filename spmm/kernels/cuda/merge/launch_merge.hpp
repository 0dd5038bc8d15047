#pragma once

#include <heddle/spmm/kernels/cuda/carries.hpp>

namespace heddle::detail::cuda {

/// Values of type T that `launch_merge` needs for carries, uninitialised.
template <class T>
Index merge_carries(const MergePath& path, Index N);

/// Queues C = α A B + β C by merge: every lane group walks as many nonzeros (or rows and nonzeros,
/// as the path was cut), whatever rows they belong to, and every block as many as its groups
/// together ("EB_SR" in Huang et al. 2021). A group stores the rows it finishes. A row's parts in
/// other groups of the block come through shared memory, those of other blocks through `carries`
/// and a fix-up pass.
///
/// Reads A once per stripe of columns, moves 2·N·sizeof(T) bytes per block for carries. Sums of a
/// row are cut at places that depend on A and the device's sizes alone: deterministic.
/// Source: Yang, Buluç, Owens 2018, section 4.2.
template <class T>
void launch_merge(CudaContext& context, const SpmmProduct<T>& product, const MergePath& path,
                  T* carries);

}  // namespace heddle::detail::cuda
