#pragma once

#include <heddle/spmm/kernels/cuda/node_block/node_rows.hpp>
#include <heddle/spmm/kernels/cuda/product.hpp>

namespace heddle::detail::cuda {

/// Queues a product with A in rows of blocks.
void launch_node_block(const SpmmProduct<double>& product, const NodeRows<double>& rows,
                       CudaContext& context);
void launch_node_block(const SpmmProduct<float>& product, const NodeRows<float>& rows,
                       CudaContext& context);

/// Whether every row of the product's blocks is aligned to 16 bytes. Its columns may end within a
/// vector.
template <class T>
bool blocks_are_aligned(const SpmmProduct<T>& product) noexcept {
  return rows_are_aligned(product.B, product.ldb) && rows_are_aligned(product.C, product.ldc) &&
         (product.delta == T{0} || rows_are_aligned(product.X, product.ldx)) &&
         (product.eta == T{0} || rows_are_aligned(product.Y, product.ldy));
}

}  // namespace heddle::detail::cuda
