#pragma once

#include <heddle/linalg/block_ops.hpp>
#include <heddle/linalg/small_dense.hpp>
#include <span>

/// Orthonormalisation of blocks in the inner product ⟨x, y⟩ = xᵀBy, shared by all solvers.
///
/// Convention: where B = I, a block's B-image is the block itself. The functions see that from the
/// data pointers and then transform it once only.
namespace heddle {

/// A block with B-orthonormal columns, QᵀBQ = I, and its image BQ = B·Q.
template <class T, class Space>
struct Basis {
  ConstBlockView<T, Space> Q;
  ConstBlockView<T, Space> BQ;
};

/// The rung of the ladder that gave the result, in order of cost.
enum class OrthoMethod { cholqr, cholqr2, shifted_cholqr3, svqb };

/// What orthonormalising a block gave.
struct OrthoReport {
  Index rank = 0;  ///< columns 0 … rank−1 are orthonormal, the others are zero
  OrthoMethod method = OrthoMethod::cholqr;
  bool indefinite = false;  ///< xᵀBx < 0 beyond rounding was met: B is not positive definite
  bool finite = true;       ///< false: the block holds NaN or Inf; it is then left as it was
};

/// How often each rung was used over a solve; stands in the result.
struct OrthoCounts {
  Index cholqr = 0;
  Index cholqr2 = 0;
  Index shifted = 0;
  Index svqb = 0;
  Index dropped = 0;  ///< columns lost to rank deficiency

  void add(const OrthoReport& report, Index columns) noexcept;
};

/// Working memory for blocks of up to `max_cols` columns against bases of up to `max_basis`.
template <Scalar T, class Ctx>
class Orthogonalizer {
 public:
  using Space = typename Ctx::Space;

  Orthogonalizer(Ctx& context, Index max_cols, Index max_basis);

  /// X ← X − Q (BQ)ᵀX and BX ← BX − BQ (BQ)ᵀX: one block Gram-Schmidt projection.
  /// Pass an empty BX if it is not wanted. Returns max_j ‖X_j after‖/‖X_j before‖'s minimum over
  /// columns as the Daniel test needs it: a value above 1/√2 says that a second projection changes
  /// nothing (Daniel, Gragg, Kaufman, Stewart 1976).
  double project(Ctx& context, const Basis<T, Space>& basis, BlockView<T, Space> X,
                 BlockView<T, Space> BX);

  /// X ← X M and BX ← BX M with M such that XᵀBX = I: the ladder of column scaling, CholQR,
  /// CholQR2, shifted CholQR3, SVQB. Columns beyond the rank become zero. X n×b, BX its B-image (X
  /// itself if B = I). Sources: Yamamoto et al., ETNA 44 (2015) 306 (CholQR2); Fukaya et al., SISC
  /// 42 (2020) A477 (shifted CholQR3, the shift); Stathopoulos & Wu, SISC 23 (2002) 2165 (SVQB,
  /// algorithm 4.1).
  OrthoReport orthonormalize(Ctx& context, BlockView<T, Space> X, BlockView<T, Space> BX);

 private:
  // to be laid out with the implementation
};

}  // namespace heddle
