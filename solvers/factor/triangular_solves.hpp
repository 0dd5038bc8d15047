#pragma once

#include <heddle/linalg/data/csr_matrix.hpp>
#include <heddle/spmm/triangular.hpp>

namespace heddle::detail {

/// Y = L⁻ᴴL⁻¹X for a sparse lower triangular L, by substitution level by level (see
/// `TriangularPlan`), not by iteration. The bits are the same every time, on the host for every
/// number of threads.
template <Scalar T, class Ctx>
class TriangularSolves {
 public:
  using Space = typename Ctx::Space;

  /// L is in host memory or in the context's memory (`From`), where it is transposed and its levels
  /// are found. Its diagonal is at the end of each row. L is not needed afterwards. Keeps L and Lᴴ
  /// in the context's memory. Throws `InvalidArgument` if L is no such matrix.
  template <class From>
  TriangularSolves(Ctx& context, CsrView<T, From> L);

  /// The same for an L of which the caller has Lᴴ.
  TriangularSolves(Ctx& context, CsrView<T, HostSpace> L, CsrView<T, HostSpace> adjoint_of_L);

  /// X and Y are n×b, row-major, with any ld. Y may be X. Otherwise they must not overlap. Never
  /// allocates.
  void solve(Ctx& context, ConstBlockView<T, Space> X, BlockView<T, Space> Y) const;

  /// Y = L⁻¹X, and Y = L⁻ᴴX, under the same conditions.
  void solve_lower(Ctx& context, ConstBlockView<T, Space> X, BlockView<T, Space> Y) const {
    lower_.solve(context, X, Y);
  }
  void solve_upper(Ctx& context, ConstBlockView<T, Space> X, BlockView<T, Space> Y) const {
    upper_.solve(context, X, Y);
  }

  Index levels() const noexcept { return lower_.levels(); }  ///< of L, as many as of Lᴴ

 private:
  TriangularPlan<T, Ctx> lower_;
  TriangularPlan<T, Ctx> upper_;
};

}  // namespace heddle::detail
