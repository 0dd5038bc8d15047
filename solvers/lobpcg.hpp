#pragma once

#include <heddle/solvers/linear_operator.hpp>
#include <heddle/solvers/monitor.hpp>
#include <heddle/solvers/options.hpp>
#include <heddle/solvers/result.hpp>
#include <memory>

namespace heddle {

/// The problem A x = λ B x, A symmetric, B symmetric positive definite. Nothing is owned.
template <Scalar T, class Ctx>
struct EigenProblem {
  using Space = typename Ctx::Space;

  LinearOperator<T, Ctx>* A = nullptr;
  LinearOperator<T, Ctx>* B = nullptr;               ///< null: B = I
  Preconditioner<T, Ctx>* preconditioner = nullptr;  ///< null: identity
  ConstBlockView<T, Space> constraints{};    ///< n×c: eigenvectors are sought B-orthogonal to it
  ConstBlockView<T, Space> initial_guess{};  ///< n×g, g any; missing columns are random
};

/// LOBPCG's own options beside those of every eigensolver.
struct LobpcgOptions : EigenOptions {
  Index refresh_interval = 50;  ///< iterations between fresh products A X
};

/// The block that `lobpcg` iterates for `options` on a matrix of order n: `block_size` if given,
/// else nev plus guards (max(2, nev/8)), or for large nev a modest block that locks converged
/// pairs.
Index lobpcg_block_size(const EigenOptions& options, Index n);

/// Bytes of context memory that a solve will hold beside the operators.
double lobpcg_memory_bytes(const EigenOptions& options, Index n, Index constraints, bool pencil,
                           std::size_t scalar_size);

/// All memory of a solve, its result included; a second solve of the same shape allocates nothing.
template <Scalar T, class Ctx>
class LobpcgWorkspace {
 public:
  using Space = typename Ctx::Space;
  LobpcgWorkspace();
  ~LobpcgWorkspace();
  LobpcgWorkspace(LobpcgWorkspace&&) noexcept;
  LobpcgWorkspace& operator=(LobpcgWorkspace&&) noexcept;

  /// The result of the last solve.
  EigenResult<T, Space>& result() noexcept;

 private:
  struct Storage;
  std::unique_ptr<Storage> storage_;
};

/// Locally optimal block preconditioned conjugate gradients for the `nev` smallest or largest pairs
/// of A x = λ B x. Numerical trouble is a status in the result; misuse (shapes, nev, tolerance)
/// throws `InvalidArgument` naming both sides. Sources: Knyazev, SISC 23 (2001) 517; Hetmaniuk &
/// Lehoucq, JCP 218 (2006) 324; Duersch, Shao, Yang, Gu, SISC 40 (2018) C655.
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
