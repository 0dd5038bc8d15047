#pragma once

#include <heddle/linalg/data/small_matrix.hpp>
#include <heddle/linalg/data/views.hpp>

/// Copies of blocks in another precision. Columns are scaled, so that a column of any norm fits
/// into the range of single precision.
namespace heddle {

/// scales(j, 0) = 2^(-k) and scales(j, 1) = 2^k (scales b×2, X n×b), with k such that the norm of
/// 2^(-k) x_j is at least 1 and less than 2. Multiplications by both are exact. k is limited to
/// ±1022, so that both are normal numbers, and 0 for a column of zeros or with a NaN.
template <Scalar T>
void norm_scales(HostContext& context, ConstBlockView<T, HostSpace> X,
                 SmallView<double, HostSpace> scales);

/// The same from norms(j, 0) = ‖x_j‖ (b×1).
void norm_scales(HostContext& context, ConstSmallView<double, HostSpace> norms,
                 SmallView<double, HostSpace> scales);

/// y_j = factors(j, 0)·x_j, multiplied in double and rounded to U (X and Y n×b, factors b×1).
/// Values beyond the range of U become infinite.
template <Scalar U, Scalar T>
void convert(HostContext& context, ConstBlockView<T, HostSpace> X,
             ConstSmallView<double, HostSpace> factors, BlockView<U, HostSpace> Y);

/// Y(i, j) = rows(i, 0)·factors(j, 0)·X(i, j), multiplied in double and rounded to U (X and Y n×b,
/// rows n×1, factors b×1): the product with a diagonal matrix and the conversion in one pass.
template <Scalar U, Scalar T, Scalar V>
void convert(HostContext& context, ConstBlockView<V, HostSpace> rows,
             ConstBlockView<T, HostSpace> X, ConstSmallView<double, HostSpace> factors,
             BlockView<U, HostSpace> Y);

class CudaContext;

// The same for blocks in device memory. A call queues its work on the context's stream.

template <Scalar T>
void norm_scales(CudaContext& context, ConstBlockView<T, DeviceSpace> X,
                 SmallView<double, DeviceSpace> scales);

void norm_scales(CudaContext& context, ConstSmallView<double, DeviceSpace> norms,
                 SmallView<double, DeviceSpace> scales);

template <Scalar U, Scalar T>
void convert(CudaContext& context, ConstBlockView<T, DeviceSpace> X,
             ConstSmallView<double, DeviceSpace> factors, BlockView<U, DeviceSpace> Y);

template <Scalar U, Scalar T, Scalar V>
void convert(CudaContext& context, ConstBlockView<V, DeviceSpace> rows,
             ConstBlockView<T, DeviceSpace> X, ConstSmallView<double, DeviceSpace> factors,
             BlockView<U, DeviceSpace> Y);

// Blocks in double precision that are kept as a block in another precision with factors, and
// operations that compute their entries where they read them. They move half of the bytes.

/// The n×b block Z in double precision with Z(i, j) = rows(i, 0)·factors(j, 0)·block(i, j). Does
/// not own the memory.
template <Scalar T, class Space>
struct ScaledView {
  ConstBlockView<T, Space> block;
  ConstBlockView<T, Space> rows;          ///< n×1. Without rows: ones
  ConstSmallView<double, Space> factors;  ///< b×1

  Index cols() const noexcept { return block.cols(); }
};

/// Y = Z (n×b), for a Z in single precision, on the host and on a GPU.
template <class Ctx, class Space = typename Ctx::Space>
void copy(Ctx& context, const ScaledView<float, Space>& Z, BlockView<double, Space> Y) {
  if (Z.rows.rows() == 0) return convert<double, float>(context, Z.block, Z.factors, Y);
  convert<double, float, float>(context, Z.rows, Z.block, Z.factors, Y);
}

// For a Z in single precision in host memory, and all other blocks in double. Results have the bits
// of the operations of the same name in block_ops.hpp, for Z as a block of its own.

/// G = XᵀZ (X n×a, G a×b).
void gram(HostContext& context, ConstBlockView<double, HostSpace> X,
          const ScaledView<float, HostSpace>& Z, SmallView<double, HostSpace> G);

/// Y = α X C + β Z (X n×a, C a×b, Y n×b), and then G = WᵀY (W n×c, G c×b), in one pass over the
/// rows. Y may share memory with X, and W may be or contain Y.
void multiply_gram(HostContext& context, double alpha, ConstBlockView<double, HostSpace> X,
                   ConstSmallView<double, HostSpace> C, double beta,
                   const ScaledView<float, HostSpace>& Z, BlockView<double, HostSpace> Y,
                   ConstBlockView<double, HostSpace> W, SmallView<double, HostSpace> G);

/// dots(j, 0) = x_jᵀz_j (dots b×1), for b > 1 with the bits of `column_dots`.
void column_dots(HostContext& context, ConstBlockView<double, HostSpace> X,
                 const ScaledView<float, HostSpace>& Z, SmallView<double, HostSpace> dots);

}  // namespace heddle
