#pragma once

#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/context/owned_host_context.hpp>
#include <heddle/linalg/orthogonal/ortho_counts.hpp>
#include <heddle/linalg/orthogonal/ortho_ladder.hpp>
#include <initializer_list>

/// Orthonormalisation of blocks in the inner product ⟨x, y⟩ = xᵀBy, shared by all solvers.
///
/// Convention: if B = I, a block is its own B-image. The functions recognise this by equal data
/// pointers and then transform the block only once.
namespace heddle {

/// A block with B-orthonormal columns, QᵀBQ = I, and its B-image BQ = B·Q.
template <class T, class Space>
struct Basis {
  ConstBlockView<T, Space> Q;
  ConstBlockView<T, Space> BQ;
};

/// The result of orthonormalising a block.
struct OrthoReport {
  Index rank = 0;  ///< columns 0 … rank−1 are orthonormal, the others are zero
  OrthoMethod method = OrthoMethod::cholqr;
  bool indefinite = false;  ///< xᵀBx < 0 beyond rounding occurred, so B is not positive
                            ///< definite. The rank is 0, and the block keeps its span
  bool finite = true;  ///< false if the block or its image holds NaN or Inf. The rank is then 0,
                       ///< and the block is unchanged
};

/// Block Gram-Schmidt and orthonormalisation by Cholesky QR with fallbacks (`OrthoLadder`). It owns
/// working memory for blocks of up to `max_cols` columns and bases of up to `max_basis` columns
/// altogether. Blocks stay in the context's memory. Their Gram matrices are copied to the host and
/// factored there, with one round trip per round.
template <Scalar T, class Ctx>
class Orthogonalizer {
 public:
  using Space = typename Ctx::Space;

  /// Throws `OutOfMemory`.
  Orthogonalizer(Ctx& context, Index max_cols, Index max_basis);

  /// X ← X − Q (BQ)ᵀX and BX ← BX − BQ (BQ)ᵀX, one block Gram-Schmidt projection (X n×b, Q n×c). BX
  /// may be empty, in which case only X is projected. Returns min_j ‖x_j after‖₂/‖x_j before‖₂ for
  /// the Daniel test: above 1/√2, a second projection would change nothing. Returns 0 if a norm is
  /// not finite, infinity if X = 0. With `drop`, columns that fail this test become 0 and do not
  /// count: of a column that was projected twice before, only rounding errors are left. Throws
  /// `InvalidArgument` if shapes do not fit or exceed the working memory. Source: Daniel, Gragg,
  /// Kaufman, Stewart, Math. Comp. 30 (1976) 772.
  double project(Ctx& context, const Basis<T, Space>& basis, BlockView<T, Space> X,
                 BlockView<T, Space> BX, bool drop = false);
  static constexpr double kUnchanged = 0.70710678118654752;  ///< 1/√2

  /// X ← X − Q (BQ)ᵀX, queued without waiting (X n×b, Q n×c). A B-image of X is not updated. Throws
  /// `InvalidArgument` as `project` does.
  void subtract(Ctx& context, const Basis<T, Space>& basis, BlockView<T, Space> X);

  /// X ← the part of X that is orthogonal to `bases`, made B-orthonormal by one round of block
  /// Gram–Schmidt with Cholesky QR. The bases must be B-orthonormal and orthogonal to each other.
  /// The call is queued without waiting for its numbers, and `status` receives the outcome (see
  /// `cholesky_qr_coefficients`, also for the sources). BX is the B-image of X (X itself if B = I).
  /// Otherwise BX stays unchanged, and is not the image of the new X. A basis that lies directly
  /// before X in one block is read together with X. Throws `InvalidArgument` as `project`
  /// does.
  void gram_schmidt(Ctx& context, std::initializer_list<Basis<T, Space>> bases,
                    BlockView<T, Space> X, ConstBlockView<T, Space> BX,
                    SmallView<double, Space> status);

  /// W ← W − X C, and Y ← the part of W that is orthogonal to Q, made orthonormal for B = I by two
  /// rounds: one of Cholesky QR, one of block Gram–Schmidt with Cholesky QR. Q, n×c with
  /// orthonormal columns, lies directly before Y in one block. W and Y (n×b) share no memory, and Y
  /// is copied to W in the end. A call reads X once and Q twice. It is queued without waiting, and
  /// `status` receives the outcomes of both rounds, a column each, as of `gram_schmidt`. Throws
  /// `InvalidArgument` as `project` does.
  void subtract_and_orthonormalize(Ctx& context, ConstBlockView<T, Space> X,
                                   ConstSmallView<Wide<T>, Space> C, ConstBlockView<T, Space> Q,
                                   BlockView<T, Space> W, BlockView<T, Space> Y,
                                   SmallView<double, Space> status);

  /// Y ← X M, made B-orthonormal by one round of Cholesky QR. It is `gram_schmidt` without bases
  /// from one block to another (X, BX and Y n×b). Y may be X, and otherwise shares no memory with X
  /// or BX. Throws `InvalidArgument` as `project` does.
  void cholesky_qr(Ctx& context, ConstBlockView<T, Space> X, ConstBlockView<T, Space> BX,
                   BlockView<T, Space> Y, SmallView<double, Space> status);

  /// X ← X M and BX ← BX M with M such that XᵀBX = I, by the rounds that `OrthoLadder` describes (X
  /// n×b, BX its B-image, which is X itself if B = I). max |XᵀBX − I| is then a small multiple of
  /// b·ε for the given BX.
  ///
  /// Linearly dependent columns are dropped: the rank is that of X with its columns scaled to norm
  /// 1, at a tolerance of a few b·ε. A block may contain columns of norms from 1e−300 to 1e300
  /// (1e±37 in float). BX is updated by the coefficients, not by a product with B. If `method`
  /// shows that X was ill-conditioned, BX differs from B X by about the condition number times ε,
  /// and the caller should compute a new product and call again.
  ///
  /// Throws `InvalidArgument` if shapes do not fit or exceed the working memory. Sources: Yamamoto,
  /// Nakatsukasa, Yanagisawa, Fukaya, ETNA 44 (2015) 306 (CholQR2); Fukaya, Kannan, Nakatsukasa,
  /// Yamamoto, Yanagisawa, SISC 42 (2020) A477 (shifted CholQR3, the shift); Stathopoulos & Wu,
  /// SISC 23 (2002) 2165 (SVQB, algorithm 4.1).
  OrthoReport orthonormalize(Ctx& context, BlockView<T, Space> X, BlockView<T, Space> BX);

 private:
  using Block = BlockView<T, Space>;
  using ConstBlock = ConstBlockView<T, Space>;

  OrthoReport climb(Ctx& context, Block X, Block BX);
  bool read_gram(Ctx& context, Block X, Block BX);
  bool gram_in_range();
  SmallView<double, HostSpace> read_norms(Ctx& context, Block X, Block BX);
  bool normalize_columns(Ctx& context, Block X, Block BX);
  bool clear_small_squares(Ctx& context, Block X, Block BX);
  double image_rounding(Ctx& context, Block X, Block BX);
  void transform(Ctx& context, Block X, Block BX);

  OrthoLadder<Wide<T>> ladder_;
  detail::OwnedHostContext host_;
  SmallMatrix<double, HostSpace> host_norms_;  // of the columns of X and of BX
  SmallMatrix<double, Space> norms_;           // the same in the context's memory
  SmallMatrix<Wide<T>, Space> small_;          // a Gram matrix or coefficients
  SmallMatrix<Wide<T>, Space> products_;       // [C; G] of a round of Gram–Schmidt
  SmallMatrix<Wide<T>, Space> coefficients_;   // its coefficients
  Index max_cols_;
  Index max_basis_;
};

}  // namespace heddle
