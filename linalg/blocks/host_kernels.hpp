#pragma once

#include <heddle/linalg/base/isa.hpp>
#include <heddle/linalg/data/small_matrix.hpp>
#include <heddle/linalg/data/views.hpp>

/// The kernels of the block operations that do most of the arithmetic, per instruction set.
namespace heddle {

/// `gram` for blocks of matching shapes.
template <Isa kVariant, Scalar T>
void gram_kernel(HostContext& context, const ConstBlockView<T, HostSpace>& X,
                 const ConstBlockView<T, HostSpace>& Y, SmallView<double, HostSpace> G);

/// A matrix whose entry (i, j) is data[i·row_stride + j·col_stride].
template <class T>
struct Strided {
  const T* data;
  Index row_stride;
  Index col_stride;

  const T* row(Index i) const { return data + i * row_stride; }
  T operator()(Index i, Index j) const { return data[i * row_stride + j * col_stride]; }
};

/// The operands of Y = α X C + β W for X n×a, C a×b and row-major W and Y n×b. Y may lie over X row
/// by row, and be W.
template <class T>
struct RowProduct {
  Index n;
  Index a;
  Index b;
  double alpha;
  Strided<T> X;
  Strided<double> C;
  T beta;
  const T* w;
  Index w_ld;
  T* y;
  Index y_ld;
};

/// Computes the product.
template <Isa kVariant, Scalar T>
void multiply_kernel(HostContext& context, const RowProduct<T>& product);

}  // namespace heddle
