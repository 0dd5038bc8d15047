#pragma once

#include <heddle/solvers/operators/preconditioner.hpp>
#include <heddle/solvers/problem/monitor.hpp>
#include <heddle/solvers/problem/options.hpp>
#include <heddle/solvers/problem/result.hpp>
#include <memory>

namespace heddle {

/// The linear systems A X = B for all columns of B at once, with A symmetric positive definite. The
/// struct owns none of its operators and blocks. They must outlive the solve.
template <Scalar T, class Ctx>
struct LinearSystem {
  using Space = typename Ctx::Space;

  LinearOperator<T, Ctx>* A = nullptr;               ///< n×n
  Preconditioner<T, Ctx>* preconditioner = nullptr;  ///< M⁻¹ ≈ A⁻¹, SPD. Null: identity
  ConstBlockView<T, Space> B{};                      ///< n×b, b ≥ 1
  ConstBlockView<T, Space> initial_guess{};          ///< n×b, or empty: zero
};

/// The variants of block CG.
enum class CgAlgorithm {
  breakdown_free,  ///< one block Krylov space, shared by all columns
  pseudo_block,  ///< CG on each column separately. Only the products with A and M⁻¹ are done for
                 ///< all columns at once
};

/// The options of block CG, in addition to those of all solvers of linear systems.
struct BlockCgOptions : LinearOptions {
  CgAlgorithm algorithm = CgAlgorithm::breakdown_free;  ///< how columns share a Krylov space
  Index refresh_interval = 50;  ///< iterations between recomputations of R as B − A X
};

/// Estimated bytes of the context's memory that a solve for b columns of length n holds at most,
/// its result included, A and B not. Without a copy of M⁻¹R, breakdown_free holds n·b numbers less.
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

  /// The memory of the last solve, null before the first. `block_cg` allocates it.
  std::unique_ptr<Storage>& storage() noexcept { return storage_; }

 private:
  std::unique_ptr<Storage> storage_;
};

/// Block conjugate gradients for A X = B, A n×n symmetric positive definite, B and X n×b.
///
/// Each right-hand side is scaled to a norm in [1, 2). A column with b = 0 has the solution x = 0.
/// In the breakdown-free variant, the search directions are an orthonormal basis of the span of all
/// columns' directions. Therefore right-hand sides may be linearly dependent, and there may be more
/// of them than rows. Converged columns are removed from the block once the other columns fit into
/// a narrower one (16, 8, 4 … columns), unless these have nearly converged, too. R is recomputed as
/// B − A X every `refresh_interval` iterations and when all columns seem to have converged. The
/// status is `converged` only if recomputed residuals meet the criterion. The energy norm of each
/// column's error never increases.
///
/// Numerical trouble is a status in the result:
/// - `indefinite`: A or the preconditioner is not positive definite. The reason names which.
/// - `stagnated`: rounding keeps the residuals above the tolerance.
/// - `breakdown`: no search direction p with pᵀAp > 0 is left, as for a singular A, or numbers are
///   not finite.
/// - `verification_failed`: recomputed residuals do not meet the criterion.
///
/// After numerical trouble, a column whose residual is larger than that of its initial guess is
/// replaced by that guess. A solve that was stopped by a limit or the monitor gives its last
/// iterate, which has the smallest energy norm of the error. Misuse (wrong shapes, a tolerance
/// outside (0, 1), or an absolute tolerance that is not positive) throws `InvalidArgument`, which
/// names both sides.
///
/// The result is stored in the workspace until the next solve with it. A and the preconditioner
/// must be symmetric. A probe with random vectors rejects a preconditioner that is clearly not
/// symmetric positive definite. A is not checked. Sources: O'Leary, Linear Algebra Appl. 29 (1980)
/// 293; Ji & Li, BIT 57 (2017) 379 (breakdown-free form); van der Vorst & Ye, SISC 22 (2000) 835
/// (residual replacement).
template <Scalar T, class Ctx>
LinearResult<T, typename Ctx::Space>& block_cg(Ctx& context, const LinearSystem<T, Ctx>& system,
                                               const BlockCgOptions& options,
                                               BlockCgWorkspace<T, Ctx>& workspace,
                                               const Monitor& monitor = {});

/// The same with a workspace that exists only during the call.
template <Scalar T, class Ctx>
LinearResult<T, typename Ctx::Space> block_cg(Ctx& context, const LinearSystem<T, Ctx>& system,
                                              const BlockCgOptions& options,
                                              const Monitor& monitor = {});

}  // namespace heddle
