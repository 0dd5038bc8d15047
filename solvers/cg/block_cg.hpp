#pragma once

#include <heddle/solvers/problem/linear_system.hpp>
#include <heddle/solvers/problem/monitor.hpp>
#include <heddle/solvers/problem/options.hpp>
#include <heddle/solvers/problem/result.hpp>
#include <memory>

namespace heddle {

/// How block CG uses its columns.
enum class CgAlgorithm {
  breakdown_free,  ///< one Krylov space, shared by all columns
  pseudo_block,    ///< a space for each column: CG on all columns at once, sharing products only
};

/// Block CG's own options beside those of every solver of linear systems.
struct BlockCgOptions : LinearOptions {
  CgAlgorithm algorithm = CgAlgorithm::breakdown_free;
  Index refresh_interval = 50;  ///< iterations between residuals made afresh, R = B − A X
};

/// Bytes of the context's memory that a solve for b columns holds beside the operators and B, its
/// result included. `scalar_size`: bytes of a scalar of the blocks.
double block_cg_memory_bytes(Index n, Index b, std::size_t scalar_size);

/// All memory of a solve, its result included. A second solve of the same shape (n, b) on the same
/// context allocates nothing.
template <Scalar T, class Ctx>
class BlockCgWorkspace {
 public:
  using Space = typename Ctx::Space;
  struct Storage;

  BlockCgWorkspace();
  ~BlockCgWorkspace();
  BlockCgWorkspace(BlockCgWorkspace&&) noexcept;
  BlockCgWorkspace& operator=(BlockCgWorkspace&&) noexcept;

  /// The memory of the last solve, null before the first; `block_cg` lays it out.
  std::unique_ptr<Storage>& storage() noexcept { return storage_; }

 private:
  std::unique_ptr<Storage> storage_;
};

/// Breakdown-free block conjugate gradients for A X = B.
///
/// Right-hand sides are scaled to norm about 1; where b = 0, x = 0. The search directions are an
/// orthonormal basis of what the columns span together, so right-hand sides may depend on each
/// other and there may be more of them than rows. Columns that have converged leave the block when
/// those that have not fit a narrower one (16, 8, 4 … columns), unless they are nearly there, too.
/// Every `refresh_interval` iterations, and where all columns seem to have converged, R = B − A X
/// is made afresh; `converged` is granted for fresh residuals only. The energy norm of each
/// column's error never grows.
///
/// Numerical trouble is a status in the result: `indefinite` (A, or the preconditioner: the reason
/// says which), `stagnated` (the residuals are as small as rounding allows, not as the tolerance
/// asks), `breakdown` (no direction of positive energy is left, as for a singular A, or numbers
/// that are not finite), `verification_failed`. After it a column whose residual is larger than
/// that of its initial guess is given back as that guess. A solve that was stopped, by a limit or
/// the monitor, gives its last iterate, which has the least energy norm of the error. Misuse
/// (shapes, a tolerance that is not in (0, 1), or not positive if absolute) throws
/// `InvalidArgument` naming both sides.
///
/// The result lives in the workspace until its next solve. A and the preconditioner must be
/// symmetric; a probe with random vectors rejects a preconditioner that plainly is not (or not
/// positive definite), nothing checks A.
/// Sources: O'Leary, Linear Algebra Appl. 29 (1980) 293; Ji & Li, BIT 57 (2017) 379 (breakdown-free
/// form); van der Vorst & Ye, SISC 22 (2000) 835 (residual replacement).
template <Scalar T, class Ctx>
LinearResult<T, typename Ctx::Space>& block_cg(Ctx& context, const LinearSystem<T, Ctx>& system,
                                               const BlockCgOptions& options,
                                               BlockCgWorkspace<T, Ctx>& workspace,
                                               const Monitor& monitor = {});

/// The same with a workspace of its own.
template <Scalar T, class Ctx>
LinearResult<T, typename Ctx::Space> block_cg(Ctx& context, const LinearSystem<T, Ctx>& system,
                                              const BlockCgOptions& options,
                                              const Monitor& monitor = {});

}  // namespace heddle
