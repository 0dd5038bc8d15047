#pragma once

#include <heddle/solvers/problem/eigen_problem.hpp>
#include <heddle/solvers/problem/monitor.hpp>
#include <heddle/solvers/problem/options.hpp>
#include <heddle/solvers/problem/result.hpp>
#include <limits>
#include <memory>

namespace heddle {

/// What block Lanczos iterates on beside C = B⁻¹A. The wanted end of a polynomial in C or of
/// (A − σB)⁻¹B stands apart where that of C does not.
enum class LanczosFilter {
  /// A Chebyshev polynomial, once the Ritz values tell what to damp, if that takes a degree worth
  /// it; at the smallest end `problem.shifted_inverse`, if there is one, once the polynomials cost
  /// more than a factorisation and its solves would.
  automatic,
  none,       ///< Krylov spaces of C itself. For products with C that are dear
  chebyshev,  ///< a polynomial or, where that is not worth it, none
  inverse,    ///< `problem.shifted_inverse`, after a first cycle on C; for the smallest end
};

/// Block Lanczos' own options beside those of every eigensolver.
struct BlockLanczosOptions : EigenOptions {
  /// Columns of the basis at which it is restarted, rounded up to whole blocks; 0: chosen from nev
  /// and the block size. At least nev + 2 blocks.
  Index max_basis = 0;
  LanczosFilter filter = LanczosFilter::automatic;
  /// Columns multiplied by A in a solve; a cycle under a polynomial that would need more is not
  /// begun, and the solve ends as `max_iterations`. For callers who know what to do instead.
  double max_applications = std::numeric_limits<double>::infinity();
};

/// What fixes the sizes of all memory of a block Lanczos solve.
struct BlockLanczosShape {
  Index n = 0;
  Index nev = 0;
  Index block = 0;      ///< b, columns of a step
  Index max_basis = 0;  ///< m, columns of the basis before a restart; 0: the problem is so small
                        ///< that it is solved as a dense one
  bool pencil = false;

  /// Pairs of a Rayleigh–Ritz step at the end: all of them in a dense solve.
  Index pairs() const noexcept { return max_basis == 0 ? n : nev; }

  bool operator==(const BlockLanczosShape&) const = default;
};

/// The shape that `block_lanczos` gives a solve of order n.
BlockLanczosShape block_lanczos_shape(const BlockLanczosOptions& options, Index n, bool pencil);

/// Bytes of the context's memory that a solve holds beside the operators, its result included.
/// `scalar_size`: bytes of a scalar of the blocks.
double block_lanczos_memory_bytes(const BlockLanczosOptions& options, Index n, bool pencil,
                                  std::size_t scalar_size);

/// All memory of a solve, its result included. A second solve of the same shape on the same context
/// allocates nothing.
template <Scalar T, class Ctx>
class BlockLanczosWorkspace {
 public:
  using Space = typename Ctx::Space;
  struct Storage;

  BlockLanczosWorkspace();
  ~BlockLanczosWorkspace();
  BlockLanczosWorkspace(BlockLanczosWorkspace&&) noexcept;
  BlockLanczosWorkspace& operator=(BlockLanczosWorkspace&&) noexcept;

  /// The memory of the last solve, null before the first; `block_lanczos` lays it out.
  std::unique_ptr<Storage>& storage() noexcept { return storage_; }

 private:
  std::unique_ptr<Storage> storage_;
};

/// Block Lanczos with thick restart for the `nev` smallest or largest pairs of A x = λ B x.
///
/// The first Krylov spaces are those of C = B⁻¹A, self-adjoint in ⟨x, y⟩ = xᵀBy. Then those of a
/// Chebyshev polynomial in C follow, which damps all but the wanted end: its interval and degree
/// come from the Ritz values, and change as they say more. It buys dense work with products. Where
/// the smallest end is so stiff that a factorisation costs less, those of (A − σB)⁻¹B take over, if
/// `problem.shifted_inverse` is there; σ is proved to lie below the spectrum.
///
/// A pencil needs `problem.B_inverse`, the more exact the better: a `JacobiPreconditioner` of B
/// where B is diagonal, else a solver for B as an operator, such as `InverseOperator`. At the
/// smallest end a shifted inverse alone will do; the first space is then its own.
///
/// An iteration is a cycle that fills the basis up to a restart. Full reorthogonalisation, locking
/// of pairs exact to rounding. Once all pairs have converged, a further cycle from a random block
/// orthogonal to them looks for pairs that were missed, such as copies of a multiple eigenvalue;
/// where as many copies of one were found as the block has columns, it goes on until it has come to
/// rest beyond them.
/// `converged` is granted after a Rayleigh–Ritz step and residuals from fresh products with A and B
/// only. Numerical trouble is a status in the result; misuse throws `InvalidArgument` naming both
/// sides. Constraints are not taken.
///
/// The result lives in the workspace until its next solve. A and B must be symmetric; nothing
/// checks that here. Sources: Wu & Simon, SIAM J. Matrix Anal. Appl. 22 (2000) 602; Zhou & Saad,
/// Numer. Algorithms 47 (2008) 341; Grimes, Lewis, Simon, SIAM J. Matrix Anal. Appl. 15 (1994) 228.
template <Scalar T, class Ctx>
EigenResult<T, typename Ctx::Space>& block_lanczos(Ctx& context,
                                                   const EigenProblem<T, Ctx>& problem,
                                                   const BlockLanczosOptions& options,
                                                   BlockLanczosWorkspace<T, Ctx>& workspace,
                                                   const Monitor& monitor = {});

/// The same with a workspace of its own.
template <Scalar T, class Ctx>
EigenResult<T, typename Ctx::Space> block_lanczos(Ctx& context, const EigenProblem<T, Ctx>& problem,
                                                  const BlockLanczosOptions& options,
                                                  const Monitor& monitor = {});

}  // namespace heddle
