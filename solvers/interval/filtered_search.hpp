#pragma once

#include <functional>
#include <heddle/solvers/interval/band_pass_filter.hpp>
#include <heddle/solvers/interval/candidates.hpp>
#include <heddle/solvers/krylov/krylov_basis.hpp>
#include <heddle/solvers/krylov/lanczos_ritz.hpp>
#include <utility>
#include <vector>

namespace heddle::detail {

/// Block Lanczos on a band-pass filter F, in rounds. A round starts from a random block. A search
/// ends when all candidates have converged. These are then locked, and a check looks for others.
template <Scalar T, class Ctx>
class FilteredSearch {
 public:
  using Space = typename Ctx::Space;

  /// Memory for a basis of up to `columns` columns, locked ones included, that grows by `block`
  /// columns per step, and for `pairs` candidates. A is kept by pointer. `stop`: see
  /// `BandPassFilter`. `seed` determines all random columns. Throws `OutOfMemory`.
  FilteredSearch(Ctx& context, LinearOperator<T, Ctx>& A, Index columns, Index block, Index pairs,
                 std::function<bool()> stop, std::uint64_t seed);

  /// Chooses F, see there. A search from nothing must follow.
  void set_filter(const ChebyshevInterval& spectrum, const AngleRange& range, Index degree) {
    F_.set(spectrum, range, degree);
  }

  Index size() const noexcept { return size_; }  ///< the most columns
  Index block() const noexcept { return block_; }
  Index degree() const noexcept { return F_.degree(); }
  bool stopped() const noexcept { return F_.stopped(); }  ///< whether a product is unfinished

  /// Whether there is room for another round.
  bool has_room() const noexcept;

  /// U ← F V₊ and S ← VᵀU. False if the product was stopped. The basis is then as before.
  bool multiply(Ctx& context);

  /// V ← [V V₊], V₊ ← an orthonormal basis of U − V T₊.
  FrontStatus expand(Ctx& context) { return V_.expand(context, F_); }

  /// Whether `expand` may follow, and not `multiply`.
  bool multiplied() const noexcept { return V_.multiplied(); }

  bool empty() const noexcept { return V_.order() == 0; }
  bool full() const noexcept { return V_.full(); }

  /// Whether the basis has enough columns to test it again.
  bool test_is_due() const noexcept;

  /// Takes the Ritz pairs of F. False if they are not finite.
  bool take_ritz_pairs(Ctx& context);

  const Candidates& candidates() const noexcept { return candidates_; }

  /// X ← the candidates that are locked and those of the basis, as many as X has columns. Returns
  /// the number of all candidates.
  Index collect(Ctx& context, BlockView<T, Space> X);

  /// Locks the candidates and starts a check. As far as half of the columns stay free, other
  /// leading Ritz vectors are locked, too, because the Krylov space of a random block then grows
  /// fastest towards missed eigenvectors. Another search starts instead where a search that
  /// followed a check has found as many candidates as a block has columns: there are likely more.
  FrontStatus lock_candidates(Ctx& context);

  /// Unlocks all but the candidates found by earlier searches and starts another search.
  FrontStatus search_on(Ctx& context);

  /// Starts a search from nothing. The basis is first tested at `first_test` columns.
  FrontStatus start(Ctx& context, Index first_test);

  /// Keeps the candidates and the leading half of the other Ritz vectors. False if the candidates
  /// leave no room.
  bool thick_restart(Ctx& context);

  /// Starts a search for a sharper F from the candidates.
  FrontStatus sharpen(Ctx& context, const ChebyshevInterval& spectrum, const AngleRange& range,
                      Index degree);

  const OrthoCounts& counts() const noexcept { return V_.counts(); }

 private:
  FrontStatus draw(Ctx& context, Index first_test);

  Index size_;
  Index block_;
  BandPassFilter<T, Ctx> F_;
  KrylovBasis<T, Ctx> V_;
  LanczosRitzOf<Wide<T>> ritz_;
  SmallMatrix<Wide<T>, Space> coefficients_;  // of the leading Ritz vectors
  Candidates candidates_;
  std::vector<std::pair<Index, Index>> found_;  // locked candidates: first column, number
  Index kept_ = 0;                              // columns that the last restart kept
  Index next_test_ = 0;                         // columns of the basis at the next test
};

}  // namespace heddle::detail
