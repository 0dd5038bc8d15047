#pragma once

#include <cassert>
#include <cstdint>
#include <heddle/linalg/data/multivector.hpp>
#include <heddle/linalg/data/packet.hpp>
#include <heddle/solvers/iteration/archive.hpp>
#include <heddle/solvers/lanczos/block_orthonormalizer.hpp>
#include <heddle/solvers/lanczos/projected_matrix.hpp>
#include <heddle/solvers/operators/linear_operator.hpp>
#include <span>
#include <vector>

namespace heddle::detail {

/// A block Krylov decomposition of an operator F that is symmetric in ⟨x, y⟩ = xᵀBy:
///
///     F V = V T + V₊ Sᵀ,   [V V₊]ᵀB[V V₊] = I,   T = VᵀBFV,   S = VᵀBFV₊,
///
/// V n×k, the front V₊ n×b. A step makes the front part of V. T is block tridiagonal but for the
/// arrow that a restart leaves:
///
///     T = [θ₁          s₁ᵀ        ]
///         [    ⋱       ⋮          ]
///         [       θ_l  s_lᵀ       ]
///         [s₁ … s_l    T₁   βᵀ    ]
///         [            β    T₂  ⋱ ]
///
/// S couples the front to the last block of V, or, in the first step after a restart, to all of V.
/// S is always taken from a product with F, so columns that were replaced at random need no care.
/// Locked vectors lie before V and take part in the orthogonalisation only.
///
/// A step subtracts what is coupled, makes the block orthonormal, and then projects it against all
/// of V once. The first subtraction leaves only rounding to be projected away there, so V is read
/// twice per step and stays orthogonal to working precision. A step copies one packet to the host.
/// It copies two where S is needed on the host before `expand`, as at the end of a cycle. Sources:
/// Wu & Simon, SIAM J. Matrix Anal. Appl. 22 (2000) 602 (thick restart); Zhou & Saad, Numer.
/// Algorithms 47 (2008) 341 (blocks).
template <Scalar T, class Ctx>
class KrylovBasis {
 public:
  using Space = typename Ctx::Space;
  using Block = BlockView<T, Space>;
  using ConstBlock = ConstBlockView<T, Space>;

  /// Room for locked vectors and V of up to `max_basis` columns together, blocks of b = `block`.
  /// `rows`: those of the vectors, rows.global ≥ max_basis + b. Throws `OutOfMemory`.
  KrylovBasis(Ctx& context, const RowRange& rows, Index max_basis, Index block, bool pencil);

  /// Empties the basis for a new solve. `B` (null: the identity) is kept by pointer. `seed` is that
  /// of all random columns.
  void reset(LinearOperator<T, Ctx>* B, std::uint64_t seed) noexcept;

  /// Deletes V and the locked vectors. `draw_front` must follow.
  void clear() noexcept;

  /// V₊ ← a random block orthogonal to the locked vectors, the first columns of `guess` (n×g) in it
  /// where there are any. V must be empty. S is unknown until `multiply`.
  FrontStatus draw_front(Ctx& context, ConstBlock guess = {});

  /// V₊ ← an orthonormal basis of span(V C), C k×b in host memory, filled up at random; V ← [].
  FrontStatus combine_front(Ctx& context, ConstSmallView<double, HostSpace> C);

  /// U ← F V₊ and its part of T: S and V₊ᵀBU. Queued, for `fetch_column` or `expand` to fetch.
  void multiply(Ctx& context, LinearOperator<T, Ctx>& F);

  /// Brings S and V₊ᵀBU to the host, into `projected`, if they are not there.
  void fetch_column(Ctx& context);

  /// V ← [V V₊], V₊ ← an orthonormal basis of U − V T₊ where T₊ is the part of T that `multiply`
  /// made. It is filled up at random where U adds nothing new. Waits for the context once. Where
  /// blocks are nearly dependent, F V₊ is made again and more rounds follow.
  FrontStatus expand(Ctx& context, LinearOperator<T, Ctx>& F);

  /// max ‖M v‖₂/‖v‖₂ over the columns of V₊, an estimate of ‖M‖₂. Only for a pencil. U is kept.
  double estimate_norm(Ctx& context, LinearOperator<T, Ctx>& M);

  /// V ← V Z, T ← ZᵀTZ = diag(θ), S ← ZᵀS; Z k×l with ZᵀZ = I, theta l×1.
  void restart(Ctx& context, ConstSmallView<double, HostSpace> Z,
               ConstSmallView<double, HostSpace> theta);

  /// The first j columns of V become locked vectors. Only after `restart`.
  void lock(Ctx& context, Index j);

  /// x, an n-vector orthonormal to the locked vectors, becomes one of them. V must be empty.
  void lock(Ctx& context, ConstBlock x);

  /// Only the locked vectors in `order` remain, in that order. V must be empty.
  void keep_locked(Ctx& context, std::span<const Index> order);

  /// Saves or loads all but the long blocks. To be saved just after `fetch_column`.
  void archive(Ctx& context, Archive& archive);

  /// Calls visit(block) for the long blocks that are then in use.
  template <class Visit>
  void for_each(const Visit& visit) {
    visit(V_.columns(0, locked_ + order() + block_));
    visit(front_.view());
    visit(work_.view());
  }

  Index order() const noexcept { return projected_.order(); }  ///< k, the columns of V
  Index locked() const noexcept { return locked_; }            ///< locked vectors
  bool full() const noexcept { return locked_ + order() + block_ > max_basis_; }
  bool multiplied() const noexcept { return multiplied_; }  ///< U and S are those of V₊

  ConstBlock locked_vectors() const noexcept { return V_.columns(0, locked_); }
  ConstBlock V() const noexcept { return V_.columns(locked_, order()); }
  ConstBlock front() const noexcept { return front_.view(); }

  /// T and S. S is valid between `fetch_column` and the next `multiply`.
  ProjectedMatrix& projected() noexcept { return projected_; }

  /// n×b of memory that is free between steps. Empty where B = I.
  Block scratch() noexcept { return orthonormalizer_.scratch(); }

  const OrthoCounts& counts() const noexcept { return orthonormalizer_.counts(); }

 private:
  ConstBlock coupled() const noexcept;
  void subtract_coupled(Ctx& context, ConstBlock coupled);
  FrontStatus orthonormalize(Ctx& context);
  void set_front(Ctx& context);
  void send_column(Ctx& context);

  MultiVector<T, Space> V_;      // [locked V V₊], n×(max_basis + b)
  MultiVector<T, Space> front_;  // V₊ again, its rows side by side for products with F
  MultiVector<T, Space> work_;   // U, and what becomes the next front
  BlockOrthonormalizer<T, Ctx> orthonormalizer_;
  ProjectedMatrix projected_;
  SmallMatrix<double, Space> column_;           // S and V₊ᵀBU after a restart
  ConstSmallView<double, Space> coefficients_;  // those of the next subtraction
  Packet<Ctx> packet_;                          // what a step brings to the host
  typename Packet<Ctx>::Part packed_column_;    // S and V₊ᵀBU in it, only rows that count
  SmallMatrix<double, Space> small_;            // coefficients sent from the host
  std::vector<double> numbers_;                 // norms of a front on the host
  Index max_basis_;
  Index block_;
  Index locked_ = 0;
  bool multiplied_ = false;
  bool fetched_ = false;  // the host has what `multiply` made
};

}  // namespace heddle::detail
