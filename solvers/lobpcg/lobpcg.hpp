#pragma once

#include <heddle/solvers/problem/eigen_problem.hpp>
#include <heddle/solvers/problem/monitor.hpp>
#include <heddle/solvers/problem/options.hpp>
#include <heddle/solvers/problem/result.hpp>
#include <memory>

namespace heddle {

/// LOBPCG's own options beside those of every eigensolver.
struct LobpcgOptions : EigenOptions {
  Index refresh_interval = 50;  ///< iterations between fresh products A X, A P
};

/// The block that `lobpcg` iterates on a matrix of order n with c constraints: `block_size` if
/// given, else nev and some guards, or for large nev a modest block that locks converged pairs. All
/// of n − c where n is so small that the block spans the space: the first Rayleigh–Ritz step is
/// then the dense solve.
Index lobpcg_block_size(const EigenOptions& options, Index n, Index constraints = 0);

/// Bytes of the context's memory that a solve holds beside the operators, its result included.
/// `scalar_size`: bytes of a scalar of the blocks.
double lobpcg_memory_bytes(const EigenOptions& options, Index n, Index constraints, bool pencil,
                           std::size_t scalar_size);

/// All memory of a solve, its result included. A second solve of the same shape (n, nev, block
/// size, constraints, pencil or not) on the same context allocates nothing.
template <Scalar T, class Ctx>
class LobpcgWorkspace {
 public:
  using Space = typename Ctx::Space;
  struct Storage;

  LobpcgWorkspace();
  ~LobpcgWorkspace();
  LobpcgWorkspace(LobpcgWorkspace&&) noexcept;
  LobpcgWorkspace& operator=(LobpcgWorkspace&&) noexcept;

  /// The memory of the last solve, null before the first; `lobpcg` lays it out.
  std::unique_ptr<Storage>& storage() noexcept { return storage_; }

 private:
  std::unique_ptr<Storage> storage_;
};

/// Locally optimal block preconditioned conjugate gradients for the `nev` smallest or largest pairs
/// of A x = λ B x.
///
/// Ordered soft locking, hard locking of pairs a tenth below the tolerance, guard vectors; S = [X P
/// W] is kept B-orthonormal, so each step is a standard dense problem of order ≤ 3b. `converged` is
/// granted after a Rayleigh–Ritz step and residuals from fresh products only. Numerical trouble is
/// a status in the result; misuse (shapes, nev ≥ n − c, a tolerance that is not in (0, 1)) throws
/// `InvalidArgument` naming both sides.
///
/// The result lives in the workspace until its next solve. `problem.A`, `B` and `preconditioner`
/// must be symmetric; nothing checks that here.
/// Sources: Knyazev, SISC 23 (2001) 517; Hetmaniuk & Lehoucq, JCP 218 (2006) 324; Duersch, Shao,
/// Yang, Gu, SISC 40 (2018) C655.
template <Scalar T, class Ctx>
EigenResult<T, typename Ctx::Space>& lobpcg(Ctx& context, const EigenProblem<T, Ctx>& problem,
                                            const LobpcgOptions& options,
                                            LobpcgWorkspace<T, Ctx>& workspace,
                                            const Monitor& monitor = {});

/// The same with a workspace of its own.
template <Scalar T, class Ctx>
EigenResult<T, typename Ctx::Space> lobpcg(Ctx& context, const EigenProblem<T, Ctx>& problem,
                                           const LobpcgOptions& options,
                                           const Monitor& monitor = {});

}  // namespace heddle
