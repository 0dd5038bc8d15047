#pragma once

#include <cassert>
#include <cstdint>
#include <heddle/linalg/data/multivector.hpp>
#include <heddle/linalg/data/packet.hpp>
#include <heddle/solvers/iteration/archive.hpp>
#include <heddle/solvers/krylov/block_orthonormalizer.hpp>
#include <heddle/solvers/krylov/projected_matrix.hpp>
#include <heddle/solvers/operators/linear_operator.hpp>
#include <span>
#include <vector>

namespace heddle::detail {

/// A block Krylov decomposition of an operator F that is symmetric in ⟨x, y⟩ = xᵀBy:
///
///     F V = V T + V₊ Sᵀ,   [V V₊]ᵀB[V V₊] = I,   T = VᵀBFV,   S = VᵀBFV₊,
///
/// V is n×k, and the front V₊ is n×b. A step appends the front to V. T is block tridiagonal except
/// for the arrow that a restart leaves:
///
///     T = [θ₁          s₁ᵀ        ]
///         [    ⋱       ⋮          ]
///         [       θ_l  s_lᵀ       ]
///         [s₁ … s_l    T₁   βᵀ    ]
///         [            β    T₂  ⋱ ]
///
/// S couples the front to the last block of V, or, in the first step after a restart, to all of V.
/// S is always computed from a product with F. Therefore random columns that replaced dependent
/// ones need no special treatment. Locked vectors are stored before V and are used only in the
/// orthogonalisation.
///
/// A step computes U − V T₊, where T₊ has nonzero rows only for the columns coupled to the front,
/// makes this block orthonormal, and then projects it once against all of V. After the subtraction,
/// only rounding errors remain to be projected out. Therefore V is read twice per step and stays
/// orthogonal to working precision. A step copies one packet to the host, or two if S is needed on
/// the host before `expand`, as at the end of a cycle. Sources: Wu & Simon, SIAM J. Matrix Anal.
/// Appl. 22 (2000) 602 (thick restart); Zhou & Saad, Numer. Algorithms 47 (2008) 341 (blocks).
template <Scalar T, class Ctx>
class KrylovBasis {
 public:
  using Space = typename Ctx::Space;
  using Block = BlockView<T, Space>;
  using ConstBlock = ConstBlockView<T, Space>;

  /// Memory for locked vectors and V of up to `max_basis` columns together, and for fronts of
  /// b = `block` columns. `rows`: the rows of the vectors, with rows.global ≥ max_basis + b. Throws
  /// `OutOfMemory`.
  KrylovBasis(Ctx& context, const RowRange& rows, Index max_basis, Index block, bool pencil);

  /// Empties the basis for a new solve. `B` (null: the identity) is kept by pointer. `seed`
  /// determines all random columns.
  void reset(LinearOperator<T, Ctx>* B, std::uint64_t seed) noexcept;

  /// Deletes V and all locked vectors but the first `kept`. `draw_front` must follow.
  void clear(Index kept = 0) noexcept;

  /// V₊ ← an orthonormal block orthogonal to the locked vectors. It is made from the first columns
  /// of `guess` (n×g), if there are any, and random columns. V must be empty. S is not defined
  /// before `multiply`.
  FrontStatus draw_front(Ctx& context, ConstBlock guess = {});

  /// V₊ ← an orthonormal basis of span(V C), completed by random columns, with C k×b in host
  /// memory. Then V ← [].
  FrontStatus combine_front(Ctx& context, ConstSmallView<Wide<T>, HostSpace> C);

  /// Queues U ← F V₊ and its part of T, that is, S and V₊ᵀBU. `fetch_column` or `expand` copies
  /// these to the host.
  void multiply(Ctx& context, LinearOperator<T, Ctx>& F);

  /// Declares the product of `multiply` unfinished. It must be called again before anything else.
  void abandon_product() noexcept { multiplied_ = false; }

  /// Copies S and V₊ᵀBU to the host, into `projected`, unless this was done.
  void fetch_column(Ctx& context);

  /// V ← [V V₊], V₊ ← an orthonormal basis of U − V T₊ where T₊ is the part of T that `multiply`
  /// made. Random columns complete it where U lies in the span of V. Waits for the context once. If
  /// blocks are nearly dependent, F V₊ is computed again, and more rounds of orthonormalisation
  /// follow.
  FrontStatus expand(Ctx& context, LinearOperator<T, Ctx>& F);

  /// max ‖M v‖₂/‖v‖₂ over the columns of V₊, an estimate of ‖M‖₂. Only for B ≠ I. U is kept.
  double estimate_norm(Ctx& context, LinearOperator<T, Ctx>& M);

  /// V ← V Z, T ← ZᵀTZ = diag(θ), S ← ZᵀS, with Z k×l, ZᵀZ = I and theta l×1.
  void restart(Ctx& context, ConstSmallView<Wide<T>, HostSpace> Z,
               ConstSmallView<double, HostSpace> theta);

  /// Makes the first j columns of V locked vectors. Only after `restart`.
  void lock(Ctx& context, Index j);

  /// Makes the columns of X, orthonormal and orthogonal to the locked vectors, locked vectors. V
  /// must be empty.
  void lock(Ctx& context, ConstBlock X);

  /// V ← X, n×k with XᵀBX = I and k ≤ max_basis, T ← `whole`, k×k, and S ← 0, for a span of X that
  /// F maps to itself. There is no front, so that only `V` and `projected` may follow before a
  /// reset.
  void set_whole(Ctx& context, ConstBlock X, ConstSmallView<Wide<T>, HostSpace> whole);

  /// Keeps only the locked vectors in `order`, in that order. V must be empty.
  void keep_locked(Ctx& context, std::span<const Index> order);

  /// Saves or loads everything except the long blocks. The state must be saved just after
  /// `fetch_column`, or when `multiply` is the next call.
  void archive(Ctx& context, Archive& archive);

  /// Calls visit(block) for the long blocks that are in use when the state may be saved.
  template <class Visit>
  void for_each(const Visit& visit) {
    visit(V_.columns(0, locked_ + order() + block_));
    visit(front_.view());
    visit(work_.view());
  }

  Index order() const noexcept { return projected_.order(); }  ///< k, the columns of V
  Index locked() const noexcept { return locked_; }            ///< locked vectors
  bool full() const noexcept { return locked_ + order() + block_ > max_basis_; }
  bool multiplied() const noexcept {
    return multiplied_;
  }  ///< whether U and S belong to the current V₊

  ConstBlock locked_vectors() const noexcept { return V_.columns(0, locked_); }
  ConstBlock V() const noexcept { return V_.columns(locked_, order()); }
  ConstBlock front() const noexcept { return front_.view(); }

  /// T and S. S is valid between `fetch_column` and the next `multiply`.
  ProjectedMatrix<Wide<T>>& projected() noexcept { return projected_; }

  /// n×b of memory that is free between steps. Empty where B = I.
  Block scratch() noexcept { return orthonormalizer_.scratch(); }

  const OrthoCounts& counts() const noexcept { return orthonormalizer_.counts(); }

 private:
  ConstBlock coupled() const noexcept;
  FrontStatus orthonormalize(Ctx& context);
  void set_front(Ctx& context);
  void send_column(Ctx& context);

  MultiVector<T, Space> V_;      // [locked V V₊], n×(max_basis + b)
  MultiVector<T, Space> front_;  // a copy of V₊ with contiguous rows for products with F
  MultiVector<T, Space> work_;   // U, which is turned into the next front
  BlockOrthonormalizer<T, Ctx> orthonormalizer_;
  ProjectedMatrix<Wide<T>> projected_;
  SmallMatrix<Wide<T>, Space> column_;           // S and V₊ᵀBU after a restart
  ConstSmallView<Wide<T>, Space> coefficients_;  // T₊ for the next U − V T₊
  Packet<Ctx> packet_;                           // results of a step that are copied to the host
  typename Packet<Ctx>::template PartOf<Wide<T>>
      packed_column_;                  // S and V₊ᵀBU in the packet, only their nonzero rows
  SmallMatrix<Wide<T>, Space> small_;  // coefficients sent from the host
  SmallMatrix<double, Space> norms_;   // of a front and of a product with it
  std::vector<double> numbers_;        // norms of a front on the host
  Index max_basis_;
  Index block_;
  Index locked_ = 0;
  bool multiplied_ = false;
  bool fetched_ = false;  // whether the results of `multiply` are on the host
};

}  // namespace heddle::detail
