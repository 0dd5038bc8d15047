#pragma once

#include <array>
#include <heddle/linalg/base/isa.hpp>
#include <heddle/linalg/blocks/convert.hpp>
#include <heddle/linalg/data/small_matrix.hpp>
#include <heddle/linalg/data/views.hpp>

/// The inner loops of the block operations, per instruction set.
namespace heddle {

/// One product G = XᵀY.
template <class T>
struct GramProduct {
  ConstBlockView<T, HostSpace> Y;
  SmallView<double, HostSpace> G;
  const ScaledView<float, HostSpace>* scaled = nullptr;  ///< Y, whose view has only its shape then
};

/// The shape of a scaled block, as a view without memory.
inline ConstBlockView<double, HostSpace> shape_of(const ScaledView<float, HostSpace>& Z) {
  return {nullptr, Z.block.rows(), Z.block.cols(), Z.block.cols()};
}

/// `gram` for blocks of matching shapes: one or two products in one pass over X.
template <Isa kVariant, Scalar T, std::size_t kCount>
void gram_kernel(HostContext& context, const ConstBlockView<T, HostSpace>& X,
                 const std::array<GramProduct<T>, kCount>& products);

// The loops of `column_norms` (sums of squares only), `weighted_squares`, `column_dots`, `residual`
// (with sums of squares), `scale_columns`, `scale_rows` and `axpby` for operands of matching
// shapes.

template <Isa kVariant, Scalar T>
void squares_kernel(HostContext& context, const ConstBlockView<T, HostSpace>& X,
                    SmallView<double, HostSpace> sums);

template <Isa kVariant, Scalar T>
void weighted_squares_kernel(HostContext& context, const ConstBlockView<T, HostSpace>& weights,
                             const ConstBlockView<T, HostSpace>& X,
                             SmallView<double, HostSpace> sums);

template <Isa kVariant, Scalar T>
void dots_kernel(HostContext& context, const ConstBlockView<T, HostSpace>& X,
                 const ConstBlockView<T, HostSpace>& Y, SmallView<double, HostSpace> dots);

template <Isa kVariant>
void scaled_dots_kernel(HostContext& context, const ConstBlockView<double, HostSpace>& X,
                        const ScaledView<float, HostSpace>& Z, SmallView<double, HostSpace> dots);

template <Isa kVariant, Scalar T>
void residual_kernel(HostContext& context, const ConstBlockView<T, HostSpace>& AX,
                     const ConstBlockView<T, HostSpace>& BX, const double* theta,
                     const BlockView<T, HostSpace>& R, SmallView<double, HostSpace> squares);

template <Isa kVariant, Scalar T>
void scale_columns_kernel(HostContext& context, const double* factors,
                          const BlockView<T, HostSpace>& X);

template <Isa kVariant, Scalar T>
void scale_rows_kernel(HostContext& context, const ConstBlockView<T, HostSpace>& factors,
                       const ConstBlockView<T, HostSpace>& X, const BlockView<T, HostSpace>& Y);

template <Isa kVariant, Scalar T>
void axpby_kernel(HostContext& context, double alpha, const ConstBlockView<T, HostSpace>& X,
                  double beta, const BlockView<T, HostSpace>& Y);

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
  T* copy = nullptr;
  Index copy_ld = 0;
  const ScaledView<float, HostSpace>* scaled = nullptr;  ///< W in place of `w`, for a T of double
};

/// The product of blocks of fitting shapes.
template <Scalar T>
RowProduct<T> row_product(double alpha, const ConstBlockView<T, HostSpace>& X,
                          const ConstSmallView<double, HostSpace>& C, double beta,
                          const ConstBlockView<T, HostSpace>& W, const BlockView<T, HostSpace>& Y) {
  return {.n = X.rows(),
          .a = X.cols(),
          .b = Y.cols(),
          .alpha = alpha,
          .X = {X.data(), X.ld(), 1},
          .C = {C.data, 1, C.ld},
          .beta = static_cast<T>(beta),
          .w = W.data(),
          .w_ld = W.ld(),
          .y = Y.data(),
          .y_ld = Y.ld()};
}

/// Computes the product.
template <Isa kVariant, Scalar T>
void multiply_kernel(HostContext& context, const RowProduct<T>& product);

/// Computes the product and the sums of squares of the columns of Y (b×1), those of
/// `squares_kernel`.
template <Isa kVariant, Scalar T>
void multiply_kernel(HostContext& context, const RowProduct<T>& product,
                     SmallView<double, HostSpace> squares);

/// Computes the product Y, and G = ZᵀY in the same pass over the rows. Z may contain Y.
template <Isa kVariant, Scalar T>
void multiply_gram_kernel(HostContext& context, const RowProduct<T>& p,
                          const ConstBlockView<T, HostSpace>& Z, const GramProduct<T>& product);

}  // namespace heddle
