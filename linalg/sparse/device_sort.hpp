#pragma once

#include <cstdint>
#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/data/buffer.hpp>

/// Sorting and counting in device memory, of which sparse matrices are built there. All results
/// have the same bits in every run.
namespace heddle::detail {

/// Keys or values of a sort, in device memory.
using DeviceIntegers = Buffer<std::int32_t, DeviceSpace>;

/// counts[k] ← counts[0] + … + counts[k − 1] for k = 0 … size − 1. Returns the last of these sums,
/// for which it waits. `counts` is in device memory, and `size` is at least 1.
Index exclusive_sum(CudaContext& context, Index* counts, Index size);

/// The same without the result and without waiting.
void queue_exclusive_sum(CudaContext& context, Index* counts, Index size);

/// Sorts the pairs (keys[k], values[k]) by their keys, which lie in 0 … largest_key. Pairs with
/// equal keys keep their order. Both buffers have the same size.
void sort_pairs(CudaContext& context, Index largest_key, DeviceIntegers& keys,
                DeviceIntegers& values);

/// begins[g] = the number of keys below g, for g = 0 … groups. The keys ascend. `begins` is in
/// device memory.
void group_begins(CudaContext& context, const DeviceIntegers& keys, Index groups, Index* begins);

}  // namespace heddle::detail
