#pragma once

#include <cstdint>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/data/multivector.hpp>
#include <heddle/linalg/data/packet.hpp>
#include <heddle/linalg/orthogonal/orthogonalize.hpp>
#include <heddle/solvers/iteration/archive.hpp>
#include <heddle/solvers/operators/linear_operator.hpp>
#include <memory>
#include <span>

namespace heddle {

using namespace detail;

/// Whether a block could be made orthonormal.
struct FrontStatus {
  bool indefinite = false;  ///< xᵀBx < 0 was met: B is not positive definite
  bool finite = true;
};

/// A block Krylov decomposition of an operator F that is symmetric in ⟨x, y⟩ = xᵀBy:
///
///     F V = V T + V₊ Sᵀ,   [V V₊]ᵀB[V V₊] = I,   T = VᵀBFV,   S = VᵀBFV₊,
///
/// V n×k, the front V₊ n×b. A step makes the front part of V. T is block tridiagonal but for the
/// arrow that a restart leaves: S couples the front to the last block of V, or, in the first step
/// after a restart, to all of V; it is always what a product with F says, so columns that were
/// refilled at random need no care. Locked vectors lie before V and take part in the
/// orthogonalisation only.
///
/// A step subtracts what is coupled, makes the block orthonormal, and then projects it against all
/// of V once: after the first subtraction only rounding is left to take away there, so V is read
/// twice in a step and orthogonal to working precision. A step copies one packet to the host; the
/// step that ends a cycle two, as T must be complete before a restart can begin, and likewise one
/// whose T is looked at earlier. Sources: Wu & Simon, SIAM J. Matrix Anal.
/// Appl. 22 (2000) 602 (thick restart); Zhou & Saad, Numer. Algorithms 47 (2008) 341 (blocks).
template <Scalar T, class Ctx>
class KrylovBasis {
 public:
  using Space = typename Ctx::Space;
  using Block = BlockView<T, Space>;
  using ConstBlock = ConstBlockView<T, Space>;

  KrylovBasis() = default;

  /// Room for locked vectors and V of up to `max_basis` columns together, blocks of b = `block`;
  /// n ≥ max_basis + b. Throws `OutOfMemory`.
  KrylovBasis(Ctx& context, Index n, Index max_basis, Index block, bool pencil);

  /// Empties the basis. `B` (null: the identity) is kept by pointer; `seed` is that of all random
  /// columns.
  void reset(LinearOperator<T, Ctx>* B, std::uint64_t seed) noexcept;

  /// Forgets V and the locked vectors; `draw_front` goes on.
  void clear() noexcept { locked_ = order_ = 0; }

  /// V₊ ← a random block orthogonal to the locked vectors and V, the first columns of `guess` (n×g)
  /// in it where there are any. S is then unknown until `multiply`.
  FrontStatus draw_front(Ctx& context, ConstBlock guess = {});

  /// V₊ ← an orthonormal basis of span(V C), C k×b in host memory, filled up at random; V ← [].
  FrontStatus combine_front(Ctx& context, ConstSmallView<double, HostSpace> C);

  /// U ← F V₊ and its part of T: S and V₊ᵀBU. Queued, for `look` or `expand` to fetch.
  void multiply(Ctx& context, LinearOperator<T, Ctx>& F);

  /// Fetches S where that has not been done.
  void look(Ctx& context);

  /// V ← [V V₊], V₊ ← an orthonormal basis of U − V T₊ where T₊ is the part of T that `multiply`
  /// made, filled up at random where U adds nothing new. Waits for the context once; where blocks
  /// are nearly dependent, F V₊ is made again and more rounds follow.
  FrontStatus expand(Ctx& context, LinearOperator<T, Ctx>& F);

  /// max ‖M v‖₂/‖v‖₂ over the columns of V₊, an estimate of ‖M‖₂; only of a pencil. U is kept.
  double front_image_norm(Ctx& context, LinearOperator<T, Ctx>& M);

  /// V ← V Z, T ← ZᵀTZ = diag(θ), S ← ZᵀS; Z k×l with ZᵀZ = I, theta l×1.
  void restart(Ctx& context, ConstSmallView<double, HostSpace> Z,
               ConstSmallView<double, HostSpace> theta);

  /// The first j columns of V join the locked vectors; only after `restart`.
  void lock(Ctx& context, Index j);

  /// x, an n-vector orthonormal to the locked vectors, joins them; V must be empty.
  void lock(Ctx& context, ConstBlock x);

  /// Of the locked vectors those in `order` remain, in that order; V must be empty.
  void keep_locked(Ctx& context, std::span<const Index> order);

  /// Saves or loads, just after `look`, all but the long blocks.
  void archive(Ctx& context, Archive& archive);

  /// Calls visit(block) for the long blocks that then are in use.
  template <class Visit>
  void for_each(const Visit& visit) {
    visit(V_.columns(0, locked_ + order_ + block_));
    visit(front_.view());
    visit(work_.view());
  }

  Index block() const noexcept { return block_; }
  Index order() const noexcept { return order_; }    ///< k, the columns of V
  Index locked() const noexcept { return locked_; }  ///< locked vectors
  Index max_basis() const noexcept { return max_basis_; }
  bool full() const noexcept { return locked_ + order_ + block_ > max_basis_; }
  bool multiplied() const noexcept { return multiplied_; }  ///< U and S are those of V₊

  ConstBlock locked_vectors() const noexcept { return V_.columns(0, locked_); }
  ConstBlock V() const noexcept { return V_.columns(locked_, order_); }
  ConstBlock front() const noexcept { return front_.view(); }

  /// T, k×k; both triangles.
  ConstSmallView<double, HostSpace> T_matrix() noexcept {
    return T_.view(max_basis_, max_basis_).block(0, 0, order_, order_);
  }

  /// S, k×b. Valid between `look` and the next `multiply`.
  ConstSmallView<double, HostSpace> coupling() noexcept {
    return column().block(0, 0, order_, block_);
  }

  /// n×b of memory that is free between steps; empty where B = I.
  Block scratch() noexcept { return image_.view(); }

  const OrthoCounts& counts() const noexcept { return counts_; }

 private:
  /// [S; V₊ᵀBFV₊], (k + b)×b.
  SmallView<double, HostSpace> column() noexcept {
    return column_.view(max_basis_ + block_, block_).block(0, 0, order_ + block_, block_);
  }
  /// The columns of [V V₊] that U is coupled to.
  ConstBlock coupled() const noexcept {
    return V_.columns(locked_ + coupled_from_, order_ - coupled_from_ + block_);
  }
  ConstBlock image(Ctx& context, ConstBlock X);
  void unpack_column();
  void subtract_coupled(Ctx& context, ConstBlock coupled);
  bool queue_front(Ctx& context);
  void append_column();
  void take_front(Ctx& context);
  void send_column(Ctx& context);
  FrontStatus adopt_front(Ctx& context);
  double project(Ctx& context);

  MultiVector<T, Space> V_;      // [locked V V₊], n×(max_basis + b)
  MultiVector<T, Space> front_;  // V₊ again, its rows side by side for products with F
  MultiVector<T, Space> work_;   // U, and what becomes the next front
  MultiVector<T, Space> image_;  // B times a block; empty where B = I
  Orthogonalizer<T, Ctx> orthogonalizer_;
  std::unique_ptr<HostContext> host_;  // its address must stay when this object moves
  SmallMatrix<double, HostSpace> T_, column_, small_host_;
  SmallMatrix<double, Space> coefficients_;         // S and V₊ᵀBU after a restart
  ConstSmallView<double, Space> coefficients_now_;  // those of the next subtraction
  Packet<Ctx> packet_;                              // what a step brings to the host
  typename Packet<Ctx>::Part packed_column_;  // S and V₊ᵀBU in it, from the first coupled row on
  SmallMatrix<double, Space> small_;
  LinearOperator<T, Ctx>* B_ = nullptr;
  OrthoCounts counts_;
  std::uint64_t seed_ = 0;
  std::uint64_t streams_ = 0;  // random blocks drawn
  Index max_basis_ = 0;
  Index block_ = 0;
  Index locked_ = 0;
  Index order_ = 0;
  Index coupled_from_ = 0;  // rows of S before this one are zero
  bool multiplied_ = false;
  bool looked_ = false;  // the host has what `multiply` made
};

}  // namespace heddle
