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
  /// A Chebyshev polynomial as soon as the Ritz values tell what to damp, unless its degree would
  /// be so low that it saves nothing. At the smallest end `problem.shifted_inverse`, if there is
  /// one, as soon as the polynomials cost more than a factorisation and its solves would.
  automatic,
  none,       ///< C itself. For products with C that are expensive
  chebyshev,  ///< a polynomial, or C itself where a polynomial saves nothing
  inverse,    ///< `problem.shifted_inverse`, after a first cycle on C. For the smallest end only
};

/// The options of block Lanczos: those of every eigensolver and its own.
struct BlockLanczosOptions : EigenOptions {
  /// Columns of the basis at which it is restarted, rounded up to whole blocks. At least nev + 2
  /// blocks. 0: chosen from nev and the block size.
  Index max_basis = 0;
  LanczosFilter filter = LanczosFilter::automatic;
  /// The most columns that may be multiplied by A in a solve. A cycle under a polynomial that would
  /// exceed it is not begun. The solve then ends as `max_iterations`. For callers that can fall
  /// back on another method.
  double max_applications = std::numeric_limits<double>::infinity();
};

/// The numbers from which the sizes of all memory of a block Lanczos solve follow.
struct BlockLanczosShape {
  Index n = 0;  ///< order of the problem, over all processes
  Index nev = 0;
  Index block = 0;      ///< b, columns per step
  Index max_basis = 0;  ///< m, columns of the basis before a restart. 0: the problem is so small
                        ///< that it is solved as a dense one
  bool pencil = false;

  /// Pairs in the Rayleigh–Ritz step at the end: nev, or all n in a dense solve.
  Index pairs() const noexcept { return max_basis == 0 ? n : nev; }

  bool operator==(const BlockLanczosShape&) const = default;
};

/// The shape that `block_lanczos` chooses for a problem of order n.
BlockLanczosShape block_lanczos_shape(const BlockLanczosOptions& options, Index n, bool pencil);

/// Bytes of the context's memory that a solve holds, its result included but not the operators.
/// `scalar_size`: bytes per scalar of the blocks.
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
/// The first Krylov spaces are those of C = B⁻¹A, which is self-adjoint in ⟨x, y⟩ = xᵀBy. The next
/// ones are those of a Chebyshev polynomial in C, which damps all but the wanted end. Its interval
/// and degree come from the Ritz values and are improved with them. A polynomial replaces dense
/// work by products with A. Where the smallest end is so badly separated that a factorisation costs
/// less than the polynomials, and `problem.shifted_inverse` is there, Krylov spaces of (A − σB)⁻¹B
/// take over. The factorisation proves that σ lies below the spectrum.
///
/// A pencil needs `problem.B_inverse`, the more exact the better: a `JacobiPreconditioner` of B
/// where B is diagonal, else a solver for B as an operator, such as `InverseOperator`. At the
/// smallest end a shifted inverse alone is enough. The first space is then its own.
///
/// An iteration is a cycle that fills the basis up to a restart. The basis is fully
/// reorthogonalised. Pairs that are exact to rounding are locked. Once all wanted pairs have
/// converged, a further cycle starts from a random block orthogonal to them and looks for pairs
/// that were missed, such as copies of a multiple eigenvalue. Where as many copies of an eigenvalue
/// were found as the block has columns, the check continues until the block has come to rest beyond
/// them. `converged` is granted after a Rayleigh–Ritz step and residuals from fresh products with A
/// and B only. Numerical trouble is a status in the result; misuse throws `InvalidArgument` naming
/// both sides. Constraints are not taken.
///
/// The result lives in the workspace until its next solve. A and B must be symmetric, which is not
/// checked. Sources: Wu & Simon, SIAM J. Matrix Anal. Appl. 22 (2000) 602; Zhou & Saad,
/// Numer. Algorithms 47 (2008) 341; Grimes, Lewis, Simon, SIAM J. Matrix Anal. Appl. 15 (1994) 228.
template <Scalar T, class Ctx>
EigenResult<T, typename Ctx::Space>& block_lanczos(Ctx& context,
                                                   const EigenProblem<T, Ctx>& problem,
                                                   const BlockLanczosOptions& options,
                                                   BlockLanczosWorkspace<T, Ctx>& workspace,
                                                   const Monitor& monitor = {});

/// The same with a workspace that lives for this call only.
template <Scalar T, class Ctx>
EigenResult<T, typename Ctx::Space> block_lanczos(Ctx& context, const EigenProblem<T, Ctx>& problem,
                                                  const BlockLanczosOptions& options,
                                                  const Monitor& monitor = {});

}  // namespace heddle
