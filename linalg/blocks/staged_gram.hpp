#pragma once

#include <heddle/linalg/data/small_matrix.hpp>
#include <heddle/linalg/data/views.hpp>

namespace heddle {

class CudaContext;

/// [G H] = Xᵀ[Y Z] by a kernel that copies rows of all three blocks to shared memory, several
/// pieces ahead of the products (X n×a, Y n×b, Z n×c, G a×b, H a×c; shapes must fit). Columns of Y
/// or Z that are columns of X are copied once. Returns false without a result where another kernel
/// must do it or is faster: for floats, one block as X and Y, odd widths, blocks that are not
/// aligned to 16 bytes, and products with too many tiles for one thread block.
template <Scalar T>
bool staged_gram(CudaContext& context, ConstBlockView<T, DeviceSpace> X,
                 ConstBlockView<T, DeviceSpace> Y, SmallView<double, DeviceSpace> G,
                 ConstBlockView<T, DeviceSpace> Z = {}, SmallView<double, DeviceSpace> H = {});

}  // namespace heddle
