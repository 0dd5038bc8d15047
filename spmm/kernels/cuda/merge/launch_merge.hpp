#pragma once

#include <heddle/spmm/kernels/cuda/carries.hpp>
#include <heddle/spmm/kernels/cuda/narrow_values.hpp>

namespace heddle::detail::cuda {

/// The number of values of type T that `launch_merge` needs for carries. They may be uninitialised.
template <class T>
Index merge_carries(const MergePath& path, Index N);

/// Queues the product by the merge method: every lane group processes equally many nonzeros (or
/// rows and nonzeros, depending on how the path was cut), regardless of row ends ("EB_SR" in Huang
/// et al. 2021). A group stores the rows that end in its part of the path. A row's partial sums
/// from other groups of the block are added through shared memory. Those from other blocks are
/// stored in `carries` and added by a second pass.
///
/// Reads A once per stripe of columns and moves 2·N·sizeof(T) bytes per block for carries.
/// Deterministic: the places at which a row's sum is divided depend only on A and the device's
/// size.
/// Source: Yang, Buluç, Owens 2018, section 4.2.
template <class T, class V>
void launch_merge(CudaContext& context, const SpmmProduct<T>& product,
                  const StoredValues<T, V>& values, const MergePath& path, T* carries);

}  // namespace heddle::detail::cuda
