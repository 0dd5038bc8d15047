#pragma once

#include <heddle/spmm/kernels/cuda/product.hpp>

namespace heddle::cuda {

/// Row split by warps that broadcast: a warp takes a row and 32 columns of C, one a lane; the lanes
/// load 32 nonzeros of A together and hand them round by shuffles, so that every load is
/// coalesced. Source: Yang, Buluç, Owens, Design Principles for Sparse Matrix Multiplication on
/// the GPU, Euro-Par 2018, section 4.1.
///
/// Good for rows of about a multiple of 32 nonzeros and N a multiple of 32; below that lanes idle.
/// Reads A once a 32-column slab. Deterministic.
template <class T>
void launch_row_broadcast(const SpmmProduct<T>& product, cudaStream_t stream);

}  // namespace heddle::cuda
