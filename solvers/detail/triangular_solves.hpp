#pragma once

#include <heddle/linalg/multivector.hpp>
#include <heddle/spmm/spmm.hpp>
#include <vector>

namespace heddle {

/// Y = L⁻ᵀ L⁻¹ X for a sparse lower triangular L whose diagonal ends each row, on the host. Rows
/// that wait for the same number of others are a level and are solved side by side; runs of levels
/// that are too small for that are solved by one thread. Every row is a sum in the order of its
/// columns: the same bits for every number of threads.
/// Source: Anderson & Saad, Int. J. High Speed Computing 1 (1989) 73 (level scheduling).
template <Scalar T>
class LevelScheduledSolves {
 public:
  LevelScheduledSolves(HostContext& context, HostCsrMatrix<T> L);

  /// X and Y n×b; Y may be X.
  void solve(HostContext& context, ConstBlockView<T, HostSpace> X, BlockView<T, HostSpace> Y);

  Index levels() const noexcept { return levels_; }

 private:
  /// Rows that may be solved once all before them are: those of one level side by side, or those of
  /// several small levels one after the other.
  struct Stage {
    Index begin;  // into `rows` of its triangle
    Index end;
    bool parallel;
  };

  /// One of the two triangles: off-diagonal entries by rows.
  struct Triangle {
    HostCsrMatrix<T> entries;
    std::vector<Index> rows;  // in the order of their levels
    std::vector<Stage> stages;
  };

  static Index schedule(Triangle& triangle, bool lower);
  void substitute(HostContext& context, const Triangle& triangle, BlockView<T, HostSpace> Y) const;

  Buffer<T, HostSpace> inverse_diagonal_;
  Triangle lower_;
  Triangle upper_;
  Index levels_ = 0;
};

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
