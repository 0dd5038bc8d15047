#pragma once

#include <heddle/solvers/iteration/orthonormal_block.hpp>
#include <heddle/solvers/lobpcg/workspace.hpp>

namespace heddle::detail {

/// The search of a LOBPCG solve for pairs that its iteration has missed.
///
/// The iteration cannot see an eigenvector x with a small eigenvalue whose entries lie in rows
/// where A is large: a stiff part of a structure that is held weakly. Random start vectors mix x
/// with the other vectors of that part, whose eigenvalues are huge, and the Rayleigh–Ritz step
/// drops the mixture. A preconditioner with small entries in these rows, as the inverse of the
/// diagonal, then removes x from all search directions.
///
/// The search expands the space of X by a block Krylov space of D⁻¹(A − σB) over random vectors,
/// with D the scale of the rows of A and σ the last of the wanted values. D > 0 preserves signs:
/// eigenvectors with an eigenvalue below σ lie at one end of the spectrum of this operator, all
/// others at the other side of 0. Therefore few steps separate them. In the rows of a stiff part,
/// the operator acts as if the part were of the same stiffness as all others. D^{1/2} weights one
/// of the random vectors, so that it consists mostly of entries in such rows. The preconditioner is
/// not used.
template <Scalar T, class Ctx>
class MissedPairs {
 public:
  using Space = typename Ctx::Space;
  using Block = BlockView<T, Space>;
  using Storage = typename LobpcgWorkspace<T, Ctx>::Storage;

  /// Random streams that a search uses.
  static constexpr std::uint64_t kStreams = 2;

  /// Everything is kept by reference and must outlive this object.
  MissedPairs(Ctx& context, const EigenProblem<T, Ctx>& problem, Storage& storage)
      : context_(context), problem_(problem), s_(storage) {}

  /// P ← an orthonormal basis of the Krylov space, orthogonal to [Y X], and A P, B P.
  /// `shift`: σ. `seed`, `stream`: determine the random vectors. Returns the outcome of the last
  /// orthonormalisation.
  OrthonormalBlock fill_P(double shift, std::uint64_t seed, std::uint64_t stream);

 private:
  void draw_W(Index cols, std::uint64_t seed, std::uint64_t stream);
  void scale_of_rows(Index probes, std::uint64_t seed, std::uint64_t stream);
  void next_W(Index cols, double shift);

  Ctx& context_;
  const EigenProblem<T, Ctx>& problem_;
  Storage& s_;
};

}  // namespace heddle::detail
