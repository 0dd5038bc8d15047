#pragma once

#include <heddle/linalg/blocks/convert.hpp>

/// Blocks in double precision that are kept as a block in another precision with factors, and
/// operations that compute their entries where they read them. They move half of the bytes.
namespace heddle {

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
