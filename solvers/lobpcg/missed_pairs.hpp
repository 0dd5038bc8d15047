#pragma once

#include <heddle/solvers/iteration/orthonormal_block.hpp>
#include <heddle/solvers/lobpcg/soft_motions.hpp>
#include <heddle/solvers/lobpcg/workspace.hpp>

namespace heddle::detail {

/// The search of a LOBPCG solve for pairs that its iteration has missed.
///
/// The iteration hardly sees an eigenvector with a small eigenvalue whose entries lie in rows where
/// A is large, such as a rigid motion of a stiff part that is held weakly. Random start vectors mix
/// this vector with the other ones of the part, whose eigenvalues are huge, and the Rayleigh–Ritz
/// step drops the mixture. A preconditioner that is small in these rows, such as the inverse of the
/// diagonal, then removes the vector from the search directions.
///
/// The search therefore scales the rows instead of preconditioning. Let σ be the last of the wanted
/// values, and D the size of the rows of [A σB]. Without σB, rows in which A is small would spread
/// the spectrum of the operator over σ/D, and no few steps would resolve it near 0. The search
/// expands the span of X by a block Krylov space of D⁻¹(A − σB) over random vectors. As D > 0,
/// eigenvectors with eigenvalues below and above σ lie on different sides of 0 in the spectrum of
/// this operator. One random vector is weighted by D^{1/4}, and so consists mostly of entries in
/// rows where A is large.
///
/// If some rows are much larger than those of the pairs in X, the soft motions of these rows take
/// the place of the random vectors, see `SoftMotions`.
///
/// Constraints are met by a projection that is orthogonal in D, see `ScaledConstraints`.
template <Scalar T, class Ctx>
class MissedPairs {
 public:
  using Space = typename Ctx::Space;
  using Block = BlockView<T, Space>;
  using Storage = typename LobpcgWorkspace<T, Ctx>::Storage;

  /// Random streams that a search uses.
  static constexpr std::uint64_t kStreams = 3 + SoftMotions<T, Ctx>::kStreams;

  /// Everything is kept by reference and must outlive this object.
  MissedPairs(Ctx& context, const EigenProblem<T, Ctx>& problem, const EigenOptions& options,
              Storage& storage)
      : context_(context),
        problem_(problem),
        options_(options),
        s_(storage),
        motions_(context, problem, options, storage) {}

  /// Forgets earlier searches, because X begins again, or is locked and others are to come.
  void reset() noexcept { due_ = done_ = false; }

  /// Whether the solve must search before it may end, because no search has left the wanted values
  /// where they were. The search is then due.
  bool needed() noexcept {
    due_ = !done_ && !s_.spans_space();
    return due_;
  }
  bool due() const noexcept { return due_; }

  /// Begins a search. The first `constraints` columns of Y are constraints: P ← an orthonormal
  /// basis of the Krylov space, orthogonal to [Y X], and A P, B P. `stream`: the first of the
  /// random streams to use. Returns the outcome of the last orthonormalisation.
  OrthonormalBlock fill_P(std::uint64_t stream, Index constraints);

  /// Ends a search, after the Rayleigh–Ritz step over [X P]. True if no wanted value has changed.
  /// If not, another search is needed once the pairs have converged.
  bool conclude();

  /// The evidence that no pair is missing: the method of the search that has found nothing.
  CompletenessMethod method() const noexcept { return done_ ? method_ : CompletenessMethod::none; }

  /// Saves or loads the state between iterations.
  void archive(Archive& archive) { archive.values(done_, method_); }

 private:
  void list_wanted(std::vector<double>& values) const;
  void measure_rows(Index probes, double shift, std::uint64_t stream);
  void draw_weighted_W(Index cols, std::uint64_t stream);
  void draw_W(Index cols, std::uint64_t stream);
  void next_W(Index cols, double shift);

  Ctx& context_;
  const EigenProblem<T, Ctx>& problem_;
  const EigenOptions& options_;
  Storage& s_;
  SoftMotions<T, Ctx> motions_;
  bool due_ = false;
  bool done_ = false;                                     // whether a search has found nothing
  CompletenessMethod method_ = CompletenessMethod::none;  // of the last search
};

}  // namespace heddle::detail
