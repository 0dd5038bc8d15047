#pragma once

#include <heddle/solvers/problem/eigen_problem.hpp>
#include <heddle/solvers/problem/monitor.hpp>
#include <heddle/solvers/problem/options.hpp>
#include <heddle/solvers/problem/result.hpp>
#include <memory>

namespace heddle {

/// The vectors with which LOBPCG begins where there is no initial guess.
enum class StartVectors {
  automatic,  ///< `nested` where the levels cost less than they save
  /// Approximations from the coarser levels of a multigrid preconditioner, with a random part, for
  /// the smallest end and tolerances up to 1e-7. Random ones where there are no such levels or B is
  /// not stored.
  nested,
  random,
};

/// The options of LOBPCG, in addition to those of all eigensolvers.
struct LobpcgOptions : EigenOptions {
  Index refresh_interval = 50;  ///< iterations between recomputations of A X and A P
  StartVectors start = StartVectors::automatic;  ///< without an initial guess
};

/// The number b of columns of the block X that `lobpcg` iterates for a matrix of order n with c
/// constraints. It is `block_size` if given, else nev plus some guard vectors. For large nev the
/// default block is narrower than nev. Pairs are then found in several groups, and converged pairs
/// are locked. If n − c is small, or the block would fill most of the space, b = n − c. The first
/// Rayleigh–Ritz step then solves the whole problem as a dense one.
Index lobpcg_block_size(const EigenOptions& options, Index n, Index constraints = 0);

/// Estimated bytes of the context's memory that a solve allocates, with its result and without the
/// operators. `scalar_size`: bytes per scalar of the blocks.
double lobpcg_memory_bytes(const EigenOptions& options, Index n, Index constraints, bool pencil,
                           std::size_t scalar_size);

/// All memory of a solve, its result included. A second solve of the same shape (n, nev, block
/// size, number of constraints, with or without B) on the same context allocates nothing, but for
/// the coarse levels of a nested start.
template <Scalar T, class Ctx>
class LobpcgWorkspace {
 public:
  using Space = typename Ctx::Space;
  struct Storage;

  LobpcgWorkspace();
  ~LobpcgWorkspace();
  LobpcgWorkspace(LobpcgWorkspace&&) noexcept;
  LobpcgWorkspace& operator=(LobpcgWorkspace&&) noexcept;

  /// The memory of the last solve, null before the first. `lobpcg` allocates it.
  std::unique_ptr<Storage>& storage() noexcept { return storage_; }

 private:
  std::unique_ptr<Storage> storage_;
};

/// Locally optimal block preconditioned conjugate gradients for the `nev` smallest or largest pairs
/// of A x = λ B x.
///
/// The method uses ordered soft locking, guard vectors, and hard locking of pairs whose residuals
/// are at most a tenth of what the tolerance allows. S = [X P W] is kept B-orthonormal, so each
/// step is a standard dense eigenproblem of order ≤ 3b. The status is `converged` only after a
/// Rayleigh–Ritz step and residuals from fresh products have confirmed it. Numerical trouble is a
/// status in the result. Misuse (shapes, nev ≥ n − c, a tolerance outside (0, 1)) throws
/// `InvalidArgument`, which names both sides.
///
/// The result is stored in the workspace until the next solve with it. `problem.A`, `B` and
/// `preconditioner` must be symmetric. This is not checked.
/// Sources: Knyazev, SISC 23 (2001) 517; Hetmaniuk & Lehoucq, JCP 218 (2006) 324; Duersch, Shao,
/// Yang, Gu, SISC 40 (2018) C655.
template <Scalar T, class Ctx>
EigenResult<T, typename Ctx::Space>& lobpcg(Ctx& context, const EigenProblem<T, Ctx>& problem,
                                            const LobpcgOptions& options,
                                            LobpcgWorkspace<T, Ctx>& workspace,
                                            const Monitor& monitor = {});

/// The same with a workspace that exists only during the call.
template <Scalar T, class Ctx>
EigenResult<T, typename Ctx::Space> lobpcg(Ctx& context, const EigenProblem<T, Ctx>& problem,
                                           const LobpcgOptions& options,
                                           const Monitor& monitor = {});

}  // namespace heddle
