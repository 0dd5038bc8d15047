#pragma once

#include <heddle/linalg/data/small_matrix.hpp>
#include <heddle/linalg/data/views.hpp>

/// The operations of block_ops.hpp for complex blocks in host memory. Transposes are adjoints. An
/// n×b block of complex numbers is an n×2b block of real ones, and most operations are those of the
/// real block:
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

template <ComplexScalar T>
void set_zero(HostContext& context, BlockView<T, HostSpace> X);

template <ComplexScalar T>
void set_identity(HostContext& context, BlockView<T, HostSpace> X, Index first_row = 0);

template <ComplexScalar T>
void copy(HostContext& context, ConstBlockView<T, HostSpace> X, BlockView<T, HostSpace> Y);

/// Real and imaginary parts are uniform in (−1, 1).
template <ComplexScalar T>
void fill_random(HostContext& context, std::uint64_t seed, std::uint64_t stream,
                 BlockView<T, HostSpace> X, Index first_row = 0);

/// G = XᴴY. G is Hermitian to the bit when X and Y are the same block.
template <ComplexScalar T>
void gram(HostContext& context, ConstBlockView<T, HostSpace> X, ConstBlockView<T, HostSpace> Y,
          SmallView<Wide<T>, HostSpace> G);

/// G = Xᴴ Y and H = Xᴴ Z.
template <ComplexScalar T>
void gram(HostContext& context, ConstBlockView<T, HostSpace> X, ConstBlockView<T, HostSpace> Y,
          SmallView<Wide<T>, HostSpace> G, ConstBlockView<T, HostSpace> Z,
          SmallView<Wide<T>, HostSpace> H);

/// Y = α X C + β W.
template <ComplexScalar T>
void multiply(HostContext& context, double alpha, ConstBlockView<T, HostSpace> X,
              ConstSmallView<Wide<T>, HostSpace> C, double beta, ConstBlockView<T, HostSpace> W,
              BlockView<T, HostSpace> Y);

/// Y = α X C + β Y.
template <ComplexScalar T>
void multiply(HostContext& context, double alpha, ConstBlockView<T, HostSpace> X,
              ConstSmallView<Wide<T>, HostSpace> C, double beta, BlockView<T, HostSpace> Y) {
  multiply<T>(context, alpha, X, C, beta, Y, Y);
}

/// Y = α X C + β Y and norms(j, 0) = ‖y_j‖₂.
template <ComplexScalar T>
void multiply(HostContext& context, double alpha, ConstBlockView<T, HostSpace> X,
              ConstSmallView<Wide<T>, HostSpace> C, double beta, BlockView<T, HostSpace> Y,
              SmallView<double, HostSpace> norms);

/// Y = X C and Z = Y.
template <ComplexScalar T>
void multiply_and_copy(HostContext& context, ConstBlockView<T, HostSpace> X,
                       ConstSmallView<Wide<T>, HostSpace> C, BlockView<T, HostSpace> Y,
                       BlockView<T, HostSpace> Z) {
  multiply<T>(context, 1, X, C, 0, Y);
  copy<T>(context, Y, Z);
}

/// Y = α X C + β W, and then G = ZᴴY. Z may be or contain Y.
template <ComplexScalar T>
void multiply_gram(HostContext& context, double alpha, ConstBlockView<T, HostSpace> X,
                   ConstSmallView<Wide<T>, HostSpace> C, double beta,
                   ConstBlockView<T, HostSpace> W, BlockView<T, HostSpace> Y,
                   ConstBlockView<T, HostSpace> Z, SmallView<Wide<T>, HostSpace> G) {
  multiply<T>(context, alpha, X, C, beta, W, Y);
  gram<T>(context, Z, Y, G);
}

template <ComplexScalar T>
void axpby(HostContext& context, double alpha, ConstBlockView<T, HostSpace> X, double beta,
           BlockView<T, HostSpace> Y);

template <ComplexScalar T>
void column_norms(HostContext& context, ConstBlockView<T, HostSpace> X,
                  SmallView<double, HostSpace> norms);

/// dots(j, 0) = Re x_jᴴy_j, which is x_jᴴy_j where Y = M X with a Hermitian M.
template <ComplexScalar T>
void column_dots(HostContext& context, ConstBlockView<T, HostSpace> X,
                 ConstBlockView<T, HostSpace> Y, SmallView<double, HostSpace> dots);

/// sums(j, 0) = Σ_i Re(w_i) |X(i, j)|².
template <ComplexScalar T>
void weighted_squares(HostContext& context, ConstBlockView<T, HostSpace> weights,
                      ConstBlockView<T, HostSpace> X, SmallView<double, HostSpace> sums);

template <ComplexScalar T>
void scale_columns(HostContext& context, ConstSmallView<double, HostSpace> factors,
                   BlockView<T, HostSpace> X);

template <ComplexScalar T>
void scale_rows(HostContext& context, ConstBlockView<T, HostSpace> factors,
                ConstBlockView<T, HostSpace> X, BlockView<T, HostSpace> Y);

template <ComplexScalar T>
void reciprocals(HostContext& context, ConstBlockView<T, HostSpace> X, BlockView<T, HostSpace> Y);

template <ComplexScalar T>
void residual(HostContext& context, ConstBlockView<T, HostSpace> AX,
              ConstBlockView<T, HostSpace> BX, ConstSmallView<double, HostSpace> theta,
              BlockView<T, HostSpace> R, SmallView<double, HostSpace> norms);

}  // namespace heddle
