#pragma once

#include <heddle/linalg/data/multivector.hpp>
#include <heddle/spmm/spmm.hpp>

namespace heddle {

/// Y = KᵀK X with K ≈ L⁻¹ by Jacobi sweeps, y ← D⁻¹(x − N y) with L = D + N from y = D⁻¹x, on any
/// backend: products with N and Nᵀ instead of waits for rows. Positive definite for every number of
/// sweeps, as K is triangular with diagonal D⁻¹. The corrections (−D⁻¹N)ᵏD⁻¹x end at some k, but
/// may grow until then: there are as many sweeps as shrink those of random vectors, up to
/// `kMaxSweeps`. Source: Anzt, Chow, Dongarra, Euro-Par 2015, 650 (iterative sparse triangular
/// solves).
template <Scalar T, class Ctx>
class IteratedSolves {
 public:
  using Space = typename Ctx::Space;

  static constexpr int kMaxSweeps = 4;

  /// L and `host` are not needed afterwards.
  IteratedSolves(Ctx& context, HostContext& host, HostCsrMatrix<T> L);

  /// X and Y n×b; they may not overlap.
  void solve(Ctx& context, ConstBlockView<T, Space> X, BlockView<T, Space> Y);

  int sweeps() const noexcept { return sweeps_; }

 private:
  IteratedSolves(Ctx& context, Buffer<T, HostSpace> d, HostCsrMatrix<T> N, HostContext& host);
  int shrinking_sweeps(Ctx& context, const SpmmPlan<T, Ctx>& plan);
  void iterate(Ctx& context, const SpmmPlan<T, Ctx>& plan, ConstBlockView<T, Space> X,
               BlockView<T, Space> Y);

  CsrMatrix<T, Space> upper_;  // D⁻¹Nᵀ
  CsrMatrix<T, Space> lower_;  // D⁻¹N
  Buffer<T, Space> inverse_diagonal_;
  SpmmPlan<T, Ctx> lower_plan_;
  SpmmPlan<T, Ctx> upper_plan_;
  MultiVector<T, Space> scaled_, next_;
  int sweeps_;
};

}  // namespace heddle
