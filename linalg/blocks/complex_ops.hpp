#pragma once

#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/data/small_matrix.hpp>
#include <heddle/linalg/data/views.hpp>

/// The operations of block_ops.hpp for complex blocks in the memory of a context. Transposes are
/// adjoints. An n×b block of complex numbers is an n×2b block of real ones, and most operations are
/// those of the real block:
///
///     XᴴY from [Re X, Im X]ᵀ[Re Y, Im Y],  X C by the 2×2 real form of each entry of C
///
/// Both take no more multiplications than complex arithmetic does, and run in the real kernels.
namespace heddle {

/// X as a block of real numbers: columns 2j and 2j + 1 are the parts of column j.
template <ComplexScalar T, class Space>
ConstBlockView<RealOf<T>, Space> real_view(const ConstBlockView<T, Space>& X) noexcept {
  return {reinterpret_cast<const RealOf<T>*>(X.data()), X.rows(), 2 * X.cols(), 2 * X.ld()};
}
template <ComplexScalar T, class Space>
BlockView<RealOf<T>, Space> real_view(const BlockView<T, Space>& X) noexcept {
  return {reinterpret_cast<RealOf<T>*>(X.data()), X.rows(), 2 * X.cols(), 2 * X.ld()};
}

/// Blocks and small matrices of numbers T in the memory of a context.
template <class Ctx, class T>
using ConstBlockIn = ConstBlockView<T, typename Ctx::Space>;
template <class Ctx, class T>
using BlockIn = BlockView<T, typename Ctx::Space>;
template <class Ctx, class T>
using ConstSmallIn = ConstSmallView<T, typename Ctx::Space>;
template <class Ctx, class T>
using SmallIn = SmallView<T, typename Ctx::Space>;

/// X = 0.
template <ComplexScalar T, class Ctx>
void set_zero(Ctx& context, BlockIn<Ctx, T> X);

/// X ← rows first_row, first_row + 1, … of the first columns of an identity matrix.
template <ComplexScalar T>
void set_identity(HostContext& context, BlockView<T, HostSpace> X, Index first_row = 0);

/// Y = X.
template <ComplexScalar T, class Ctx>
void copy(Ctx& context, ConstBlockIn<Ctx, T> X, BlockIn<Ctx, T> Y);

/// Real and imaginary parts are uniform in (−1, 1).
template <ComplexScalar T, class Ctx>
void fill_random(Ctx& context, std::uint64_t seed, std::uint64_t stream, BlockIn<Ctx, T> X,
                 Index first_row = 0);

/// G = XᴴY. G is Hermitian to the bit when X and Y are the same block.
template <ComplexScalar T, class Ctx>
void gram(Ctx& context, ConstBlockIn<Ctx, T> X, ConstBlockIn<Ctx, T> Y, SmallIn<Ctx, Wide<T>> G);

/// G = Xᴴ Y and H = Xᴴ Z.
template <ComplexScalar T, class Ctx>
void gram(Ctx& context, ConstBlockIn<Ctx, T> X, ConstBlockIn<Ctx, T> Y, SmallIn<Ctx, Wide<T>> G,
          ConstBlockIn<Ctx, T> Z, SmallIn<Ctx, Wide<T>> H);

/// Y = α X C + β W.
template <ComplexScalar T, class Ctx>
void multiply(Ctx& context, double alpha, ConstBlockIn<Ctx, T> X, ConstSmallIn<Ctx, Wide<T>> C,
              double beta, ConstBlockIn<Ctx, T> W, BlockIn<Ctx, T> Y);

/// Y = α X C + β Y.
template <ComplexScalar T, class Ctx>
void multiply(Ctx& context, double alpha, ConstBlockIn<Ctx, T> X, ConstSmallIn<Ctx, Wide<T>> C,
              double beta, BlockIn<Ctx, T> Y) {
  multiply<T>(context, alpha, X, C, beta, ConstBlockIn<Ctx, T>(Y), Y);
}

/// Y = α X C + β Y and norms(j, 0) = ‖y_j‖₂.
template <ComplexScalar T, class Ctx>
void multiply(Ctx& context, double alpha, ConstBlockIn<Ctx, T> X, ConstSmallIn<Ctx, Wide<T>> C,
              double beta, BlockIn<Ctx, T> Y, SmallIn<Ctx, double> norms);

/// Y = X C and Z = Y.
template <ComplexScalar T, class Ctx>
void multiply_and_copy(Ctx& context, ConstBlockIn<Ctx, T> X, ConstSmallIn<Ctx, Wide<T>> C,
                       BlockIn<Ctx, T> Y, BlockIn<Ctx, T> Z) {
  multiply<T>(context, 1, X, C, 0, Y);
  copy<T>(context, Y, Z);
}

/// Y = α X C + β W, and then G = ZᴴY. Z may be or contain Y.
template <ComplexScalar T, class Ctx>
void multiply_gram(Ctx& context, double alpha, ConstBlockIn<Ctx, T> X, ConstSmallIn<Ctx, Wide<T>> C,
                   double beta, ConstBlockIn<Ctx, T> W, BlockIn<Ctx, T> Y, ConstBlockIn<Ctx, T> Z,
                   SmallIn<Ctx, Wide<T>> G) {
  multiply<T>(context, alpha, X, C, beta, W, Y);
  gram<T>(context, Z, Y, G);
}

/// Y = α X + β Y.
template <ComplexScalar T, class Ctx>
void axpby(Ctx& context, double alpha, ConstBlockIn<Ctx, T> X, double beta, BlockIn<Ctx, T> Y);

/// norms(j, 0) = ‖x_j‖₂.
template <ComplexScalar T, class Ctx>
void column_norms(Ctx& context, ConstBlockIn<Ctx, T> X, SmallIn<Ctx, double> norms);

/// dots(j, 0) = Re x_jᴴy_j, which is x_jᴴy_j where Y = M X with a Hermitian M.
template <ComplexScalar T, class Ctx>
void column_dots(Ctx& context, ConstBlockIn<Ctx, T> X, ConstBlockIn<Ctx, T> Y,
                 SmallIn<Ctx, double> dots);

/// sums(j, 0) = Σ_i Re(w_i) |X(i, j)|².
template <ComplexScalar T, class Ctx>
void weighted_squares(Ctx& context, ConstBlockIn<Ctx, T> weights, ConstBlockIn<Ctx, T> X,
                      SmallIn<Ctx, double> sums);

/// x_j ← factors(j, 0)·x_j.
template <ComplexScalar T, class Ctx>
void scale_columns(Ctx& context, ConstSmallIn<Ctx, double> factors, BlockIn<Ctx, T> X);

/// Y = diag(factors) X.
template <ComplexScalar T>
void scale_rows(HostContext& context, ConstBlockView<T, HostSpace> factors,
                ConstBlockView<T, HostSpace> X, BlockView<T, HostSpace> Y);

/// Y(i, j) = 1/X(i, j).
template <ComplexScalar T>
void reciprocals(HostContext& context, ConstBlockView<T, HostSpace> X, BlockView<T, HostSpace> Y);

/// R = AX − BX·diag(θ) and norms(j, 0) = ‖r_j‖₂.
template <ComplexScalar T, class Ctx>
void residual(Ctx& context, ConstBlockIn<Ctx, T> AX, ConstBlockIn<Ctx, T> BX,
              ConstSmallIn<Ctx, double> theta, BlockIn<Ctx, T> R, SmallIn<Ctx, double> norms);

}  // namespace heddle
