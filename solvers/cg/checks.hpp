#pragma once

#include <heddle/solvers/cg/block_cg.hpp>
#include <heddle/solvers/iteration/require.hpp>

namespace heddle::detail {

/// Throws `InvalidArgument`, naming both sides, where the system and the options do not fit
/// together.
template <Scalar T, class Ctx>
void check_block_cg(const LinearSystem<T, Ctx>& system, const BlockCgOptions& options) {
  const Require require{"block_cg"};
  require(system.A != nullptr, "the system has no A");
  const RowRange& rows = system.A->row_range();
  const RowRange& columns = system.A->column_range();
  require(columns.global == rows.global, "A must be square, it is {}x{}", rows.global,
          columns.global);
  require(columns == rows, "A must keep rows {} to {} of X in this process, it keeps {} to {}",
          rows.first, rows.first + rows.local, columns.first, columns.first + columns.local);
  const Index n = rows.local;
  const LinearOperator<T, Ctx>* M = system.preconditioner;
  require(M == nullptr || (M->rows() == n && M->cols() == n),
          "the preconditioner must be {}x{} like A, it is {}x{}", n, n, M ? M->rows() : 0,
          M ? M->cols() : 0);
  const auto& B = system.B;
  const auto& X = system.initial_guess;
  require(B.rows() == n && B.cols() >= 1,
          "B must have A's {} rows and at least one column, it is {}x{}", n, B.rows(), B.cols());
  require(X.cols() == 0 || (X.rows() == n && X.cols() == B.cols()),
          "the initial guess must be {}x{} like B, it is {}x{}", n, B.cols(), X.rows(), X.cols());
  require_linear_options(require, options);
  require(options.refresh_interval >= 1, "refresh_interval must be at least 1, it is {}",
          options.refresh_interval);
}

}  // namespace heddle::detail
