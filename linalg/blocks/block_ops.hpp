#pragma once

#include <heddle/linalg/blocks/complex_ops.hpp>
#include <heddle/linalg/data/small_matrix.hpp>
#include <heddle/linalg/data/views.hpp>

/// Operations on tall blocks (n×b, row-major, n large, b up to a few hundred).
///
/// Common to all of them: Shapes that do not fit throw an `InvalidArgument` that names both shapes.
/// An empty block is a no-op, and sums over its rows are 0. No operation allocates after its first
/// call at a size. The result has the same bits for every number of threads, because rows are
/// summed in chunks that depend on the shapes alone. Of blocks whose rows are distributed over the
/// processes of the context, these are the rows of this process, and sums over rows are those over
/// all rows of all processes. Traffic and arithmetic are added to the
/// context's profile. A NaN in a block propagates to every result that depends on it.
namespace heddle {

/// X = 0.
template <RealScalar T>
void set_zero(HostContext& context, BlockView<T, HostSpace> X);

/// X ← rows first_row, first_row + 1, … of the first b columns of an identity matrix: X(i, j) = 1
/// where first_row + i = j, else 0. `first_row` is the global index of X's row 0.
template <RealScalar T>
void set_identity(HostContext& context, BlockView<T, HostSpace> X, Index first_row = 0);

/// Y = X.
template <RealScalar T>
void copy(HostContext& context, ConstBlockView<T, HostSpace> X, BlockView<T, HostSpace> Y);

/// X(i, j) ← a random number uniform in (−1, 1) that depends on (seed, stream, first_row + i, j)
/// alone. It is therefore the same on every backend, for every ld, and for every distribution of
/// the rows of a tall block. Where the context has `row_numbers`, which are then as many as X has
/// rows, row_numbers[i] takes the place of first_row + i. Source: Salmon et al., Parallel random
/// numbers: as easy as 1, 2, 3, SC 2011 (Philox4x32-10).
template <RealScalar T>
void fill_random(HostContext& context, std::uint64_t seed, std::uint64_t stream,
                 BlockView<T, HostSpace> X, Index first_row = 0);

/// G = XᵀY (X n×a, Y n×b, G a×b), multiplied and summed in double. G is symmetric to the bit when X
/// and Y are the same block.
template <RealScalar T>
void gram(HostContext& context, ConstBlockView<T, HostSpace> X, ConstBlockView<T, HostSpace> Y,
          SmallView<double, HostSpace> G);

/// G = XᵀY and H = XᵀZ in one pass over X, each multiplied and summed as by the function above (X
/// n×a, Y n×b, Z n×c, G a×b, H a×c).
template <RealScalar T>
void gram(HostContext& context, ConstBlockView<T, HostSpace> X, ConstBlockView<T, HostSpace> Y,
          SmallView<double, HostSpace> G, ConstBlockView<T, HostSpace> Z,
          SmallView<double, HostSpace> H);

/// Y = α X C + β W (X n×a, C a×b, W and Y n×b). Row i of Y depends on row i of X and W alone, so Y
/// may share memory with X, and Y may be W. With β = 0, W is not used and may be uninitialised.
template <RealScalar T>
void multiply(HostContext& context, double alpha, ConstBlockView<T, HostSpace> X,
              ConstSmallView<double, HostSpace> C, double beta, ConstBlockView<T, HostSpace> W,
              BlockView<T, HostSpace> Y);

/// Y = α X C + β Y.
template <RealScalar T>
void multiply(HostContext& context, double alpha, ConstBlockView<T, HostSpace> X,
              ConstSmallView<double, HostSpace> C, double beta, BlockView<T, HostSpace> Y) {
  multiply<T>(context, alpha, X, C, beta, Y, Y);
}

/// Y = X C as above, and Z = Y.
template <RealScalar T>
void multiply_and_copy(HostContext& context, ConstBlockView<T, HostSpace> X,
                       ConstSmallView<double, HostSpace> C, BlockView<T, HostSpace> Y,
                       BlockView<T, HostSpace> Z);

/// Y = α X C + β W as above, and then G = ZᵀY (Z n×c, G c×b), in one pass over the rows. Z may be
/// or contain Y. Both have the bits of `multiply` and `gram`.
template <RealScalar T>
void multiply_gram(HostContext& context, double alpha, ConstBlockView<T, HostSpace> X,
                   ConstSmallView<double, HostSpace> C, double beta, ConstBlockView<T, HostSpace> W,
                   BlockView<T, HostSpace> Y, ConstBlockView<T, HostSpace> Z,
                   SmallView<double, HostSpace> G);

/// Y = α X + β Y (both n×b). With β = 0, Y is overwritten and may be uninitialised.
template <RealScalar T>
void axpby(HostContext& context, double alpha, ConstBlockView<T, HostSpace> X, double beta,
           BlockView<T, HostSpace> Y);

/// norms(j, 0) = ‖x_j‖₂ (norms b×1), safe where the squares overflow or underflow.
template <RealScalar T>
void column_norms(HostContext& context, ConstBlockView<T, HostSpace> X,
                  SmallView<double, HostSpace> norms);

/// Y = α X C + β Y and norms(j, 0) = ‖y_j‖₂ (norms b×1): `multiply` and `column_norms`, on the host
/// in one pass over Y.
template <RealScalar T>
void multiply(HostContext& context, double alpha, ConstBlockView<T, HostSpace> X,
              ConstSmallView<double, HostSpace> C, double beta, BlockView<T, HostSpace> Y,
              SmallView<double, HostSpace> norms);

/// dots(j, 0) = x_jᵀy_j (dots b×1), multiplied and summed in double.
template <RealScalar T>
void column_dots(HostContext& context, ConstBlockView<T, HostSpace> X,
                 ConstBlockView<T, HostSpace> Y, SmallView<double, HostSpace> dots);

/// sums(j, 0) = Σ_i w_i X(i, j)² (weights w n×1, sums b×1), multiplied and summed in double.
template <RealScalar T>
void weighted_squares(HostContext& context, ConstBlockView<T, HostSpace> weights,
                      ConstBlockView<T, HostSpace> X, SmallView<double, HostSpace> sums);

/// x_j ← factors(j, 0)·x_j (factors b×1).
template <RealScalar T>
void scale_columns(HostContext& context, ConstSmallView<double, HostSpace> factors,
                   BlockView<T, HostSpace> X);

/// Y = diag(factors) X (factors n×1). Y may be X.
template <RealScalar T>
void scale_rows(HostContext& context, ConstBlockView<T, HostSpace> factors,
                ConstBlockView<T, HostSpace> X, BlockView<T, HostSpace> Y);

/// Y(i, j) = 1/X(i, j). Y may be X.
template <RealScalar T>
void reciprocals(HostContext& context, ConstBlockView<T, HostSpace> X, BlockView<T, HostSpace> Y);

/// R = AX − BX·diag(θ) and norms(j, 0) = ‖r_j‖₂ in one pass (AX, BX and R n×b, θ and norms b×1). R
/// may share memory with AX.
template <RealScalar T>
void residual(HostContext& context, ConstBlockView<T, HostSpace> AX,
              ConstBlockView<T, HostSpace> BX, ConstSmallView<double, HostSpace> theta,
              BlockView<T, HostSpace> R, SmallView<double, HostSpace> norms);

class CudaContext;

// The same operations on blocks in device memory. A call queues its work on the context's stream.

template <RealScalar T>
void set_zero(CudaContext& context, BlockView<T, DeviceSpace> X);

template <Scalar T>
void set_identity(CudaContext& context, BlockView<T, DeviceSpace> X, Index first_row = 0);

template <RealScalar T>
void copy(CudaContext& context, ConstBlockView<T, DeviceSpace> X, BlockView<T, DeviceSpace> Y);

template <RealScalar T>
void fill_random(CudaContext& context, std::uint64_t seed, std::uint64_t stream,
                 BlockView<T, DeviceSpace> X, Index first_row = 0);

template <RealScalar T>
void gram(CudaContext& context, ConstBlockView<T, DeviceSpace> X, ConstBlockView<T, DeviceSpace> Y,
          SmallView<double, DeviceSpace> G);

template <RealScalar T>
void gram(CudaContext& context, ConstBlockView<T, DeviceSpace> X, ConstBlockView<T, DeviceSpace> Y,
          SmallView<double, DeviceSpace> G, ConstBlockView<T, DeviceSpace> Z,
          SmallView<double, DeviceSpace> H);

template <RealScalar T>
void multiply(CudaContext& context, double alpha, ConstBlockView<T, DeviceSpace> X,
              ConstSmallView<double, DeviceSpace> C, double beta, ConstBlockView<T, DeviceSpace> W,
              BlockView<T, DeviceSpace> Y);

template <RealScalar T>
void multiply(CudaContext& context, double alpha, ConstBlockView<T, DeviceSpace> X,
              ConstSmallView<double, DeviceSpace> C, double beta, BlockView<T, DeviceSpace> Y) {
  multiply<T>(context, alpha, X, C, beta, Y, Y);
}

template <RealScalar T>
void multiply_and_copy(CudaContext& context, ConstBlockView<T, DeviceSpace> X,
                       ConstSmallView<double, DeviceSpace> C, BlockView<T, DeviceSpace> Y,
                       BlockView<T, DeviceSpace> Z) {
  multiply<T>(context, 1, X, C, 0, Y);
  copy<T>(context, Y, Z);
}

template <RealScalar T>
void multiply_gram(CudaContext& context, double alpha, ConstBlockView<T, DeviceSpace> X,
                   ConstSmallView<double, DeviceSpace> C, double beta,
                   ConstBlockView<T, DeviceSpace> W, BlockView<T, DeviceSpace> Y,
                   ConstBlockView<T, DeviceSpace> Z, SmallView<double, DeviceSpace> G) {
  multiply<T>(context, alpha, X, C, beta, W, Y);
  gram<T>(context, Z, Y, G);
}

template <RealScalar T>
void axpby(CudaContext& context, double alpha, ConstBlockView<T, DeviceSpace> X, double beta,
           BlockView<T, DeviceSpace> Y);

template <RealScalar T>
void column_norms(CudaContext& context, ConstBlockView<T, DeviceSpace> X,
                  SmallView<double, DeviceSpace> norms);

template <RealScalar T>
void multiply(CudaContext& context, double alpha, ConstBlockView<T, DeviceSpace> X,
              ConstSmallView<double, DeviceSpace> C, double beta, BlockView<T, DeviceSpace> Y,
              SmallView<double, DeviceSpace> norms) {
  multiply<T>(context, alpha, X, C, beta, Y);
  column_norms<T>(context, Y, norms);
}

template <RealScalar T>
void column_dots(CudaContext& context, ConstBlockView<T, DeviceSpace> X,
                 ConstBlockView<T, DeviceSpace> Y, SmallView<double, DeviceSpace> dots);

template <RealScalar T>
void weighted_squares(CudaContext& context, ConstBlockView<T, DeviceSpace> weights,
                      ConstBlockView<T, DeviceSpace> X, SmallView<double, DeviceSpace> sums);

template <RealScalar T>
void scale_columns(CudaContext& context, ConstSmallView<double, DeviceSpace> factors,
                   BlockView<T, DeviceSpace> X);

template <Scalar T>
void scale_rows(CudaContext& context, ConstBlockView<T, DeviceSpace> factors,
                ConstBlockView<T, DeviceSpace> X, BlockView<T, DeviceSpace> Y);

template <Scalar T>
void reciprocals(CudaContext& context, ConstBlockView<T, DeviceSpace> X,
                 BlockView<T, DeviceSpace> Y);

template <RealScalar T>
void residual(CudaContext& context, ConstBlockView<T, DeviceSpace> AX,
              ConstBlockView<T, DeviceSpace> BX, ConstSmallView<double, DeviceSpace> theta,
              BlockView<T, DeviceSpace> R, SmallView<double, DeviceSpace> norms);

}  // namespace heddle
