#pragma once

#include <heddle/solvers/problem/eigen_problem.hpp>
#include <heddle/solvers/problem/monitor.hpp>
#include <heddle/solvers/problem/options.hpp>
#include <heddle/solvers/problem/result.hpp>
#include <limits>
#include <memory>

namespace heddle {

/// Which operators block Lanczos may iterate on instead of C = B⁻¹A. The wanted eigenvalues of a
/// polynomial in C or of (A − σB)⁻¹B are well separated where those of C are not.
enum class LanczosFilter {
  /// A Chebyshev polynomial in C as soon as the Ritz values determine the interval to damp, unless
  /// its degree would be so low that it saves nothing. If the smallest eigenvalues are wanted and
  /// there is a `problem.shifted_inverse`, the solve changes to (A − σB)⁻¹B once the polynomials
  /// cost more than a factorisation and its solves.
  automatic,
  none,       ///< C itself, for products with C that are expensive
  chebyshev,  ///< a polynomial in C, or C itself where a polynomial saves nothing
  inverse,  ///< `problem.shifted_inverse`, after a first cycle on C. Only for smallest eigenvalues
};

/// The options of block Lanczos, in addition to those of all eigensolvers.
struct BlockLanczosOptions : EigenOptions {
  /// The number of basis columns at which the iteration restarts, rounded up to a multiple of the
  /// block size b, at least nev + 2b. 0: chosen from nev and b.
  Index max_basis = 0;
  LanczosFilter filter = LanczosFilter::automatic;  ///< the filter, or `automatic` for the cheapest
  /// The most columns that a solve may multiply by A. A cycle with a polynomial filter that would
  /// exceed this number is not begun. The solve then ends as `max_iterations`. For callers that can
  /// use another method instead: where it is finite, no dense solve follows a costly iteration.
  double max_applications = std::numeric_limits<double>::infinity();
};

/// The numbers from which the sizes of all memory of a block Lanczos solve follow.
struct BlockLanczosShape {
  Index n = 0;          ///< order of the problem, over all processes
  Index nev = 0;        ///< pairs wanted
  Index block = 0;      ///< b, columns per step
  Index max_basis = 0;  ///< m, columns of the basis before a restart. 0: the problem is so small
                        ///< that it is solved as a dense one
  bool pencil = false;  ///< whether there is a B ≠ I

  /// Pairs in the Rayleigh–Ritz step at the end: nev, or all n in a dense solve.
  Index pairs() const noexcept { return max_basis == 0 ? n : nev; }

  bool operator==(const BlockLanczosShape&) const = default;
};

/// The shape that `block_lanczos` chooses for a problem of order n.
BlockLanczosShape block_lanczos_shape(const BlockLanczosOptions& options, Index n, bool pencil);

/// Estimated bytes of the context's memory that a solve holds, with its result and without the
/// operators. A dense solve that replaces a costly iteration is not included, see
/// `EigenOptions::dense_bytes`, nor is a basis that grows. `scalar_size`: bytes per scalar of the
/// blocks.
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

  /// The memory of the last solve, null before the first. `block_lanczos` allocates it.
  std::unique_ptr<Storage>& storage() noexcept { return storage_; }

 private:
  std::unique_ptr<Storage> storage_;
};

/// Block Lanczos with thick restart for the `nev` smallest or largest pairs of A x = λ B x.
///
/// The first Krylov spaces are those of C = B⁻¹A, which is self-adjoint in ⟨x, y⟩ = xᵀBy. Later
/// ones are those of a Chebyshev polynomial in C, which damps all eigenvalues except the wanted end
/// of the spectrum. Its interval and degree are computed from the Ritz values and are improved as
/// these become more accurate. A polynomial replaces orthogonalisation by products with A. If the
/// smallest eigenvalues are wanted, there is a `problem.shifted_inverse`, and a factorisation costs
/// less than the polynomials, the method changes to Krylov spaces of (A − σB)⁻¹B. The factorisation
/// proves that σ lies below the spectrum.
///
/// A problem with B ≠ I needs `problem.B_inverse`, which should be as exact as possible: a
/// `JacobiPreconditioner` of B if B is diagonal, else an operator that solves with B, such as
/// `InverseOperator`. For smallest eigenvalues a shifted inverse alone is enough. The first Krylov
/// space is then that of (A − σB)⁻¹B.
///
/// An iteration is a cycle, that is, all steps from one restart to the next. The basis is fully
/// reorthogonalised. Pairs that are exact to rounding are locked. Once all wanted pairs have
/// converged, a further cycle starts from a random block orthogonal to them and searches for missed
/// pairs, such as copies of a multiple eigenvalue, unless the first block was random and fewer
/// copies of each eigenvalue were found than it has columns. If as many were found, the search
/// continues until Ritz values beyond the wanted ones have converged. The status is `converged`
/// only after a Rayleigh–Ritz step and residuals from fresh products with A and B have confirmed
/// the pairs. Numerical trouble is a status in the result. Misuse throws `InvalidArgument`, which
/// names both sides. Constraints are not supported.
///
/// Where residuals have stopped falling above the level of rounding for 20 cycles, or a search for
/// missed pairs has not ended after 40, more eigenvalues lie next to the wanted ones than the basis
/// holds. The solve then begins anew with twice as many columns, up to three quarters of the rows
/// and to `dense_bytes`, or as a dense one, up to 1024 rows. The basis does not grow if `max_basis`
/// is given, or with a checkpoint. If no larger basis reaches more, the result is the best of all.
///
/// The result is stored in the workspace until the next solve with it. A and B must be symmetric.
/// This is not checked. Sources: Wu & Simon, SIAM J. Matrix Anal. Appl. 22 (2000) 602; Zhou & Saad,
/// Numer. Algorithms 47 (2008) 341; Grimes, Lewis, Simon, SIAM J. Matrix Anal. Appl. 15 (1994) 228.
template <Scalar T, class Ctx>
EigenResult<T, typename Ctx::Space>& block_lanczos(Ctx& context,
                                                   const EigenProblem<T, Ctx>& problem,
                                                   const BlockLanczosOptions& options,
                                                   BlockLanczosWorkspace<T, Ctx>& workspace,
                                                   const Monitor& monitor = {});

/// The same with a workspace that exists only during the call.
template <Scalar T, class Ctx>
EigenResult<T, typename Ctx::Space> block_lanczos(Ctx& context, const EigenProblem<T, Ctx>& problem,
                                                  const BlockLanczosOptions& options,
                                                  const Monitor& monitor = {});

}  // namespace heddle
