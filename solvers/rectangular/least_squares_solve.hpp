#pragma once

#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/data/multivector.hpp>
#include <heddle/linalg/data/small_matrix.hpp>
#include <heddle/solvers/iteration/stop_control.hpp>
#include <heddle/solvers/rectangular/least_squares.hpp>
#include <vector>

namespace heddle::detail {

/// Y = diag(weights) X, as a preconditioner: CG on the normal equations of A with scaled columns.
template <Scalar T, class Ctx>
class ColumnScaling final : public Preconditioner<T, Ctx> {
 public:
  using Space = typename Ctx::Space;

  /// The weights (n×1) must outlive this operator.
  ColumnScaling(const RowRange& rows, ConstBlockView<T, Space> weights)
      : Preconditioner<T, Ctx>(rows, rows), weights_(weights) {}

 protected:
  void apply_block(Ctx& context, ConstBlockView<T, Space> X, BlockView<T, Space> Y) override {
    scale_rows<T>(context, weights_, X, Y);
  }

 private:
  ConstBlockView<T, Space> weights_;
};

/// One solve of min ‖b − A x‖₂² + δ²‖x‖₂²: by a dense factorisation, or by corrections of X by
/// block CG on (AᴴA + δ²I) D = S, until S = Aᴴ(B − A X) − δ²X, formed from B − A X, is as small as
/// the criterion asks.
template <Scalar T, class Ctx>
class LeastSquaresSolve {
 public:
  using Space = typename Ctx::Space;

  /// Everything is kept by reference and must outlive the solve. `options` has a tolerance.
  LeastSquaresSolve(Ctx& context, const LeastSquaresProblem<T, Ctx>& problem,
                    const LeastSquaresOptions& options, const Monitor& monitor);

  /// Solves the problem, once.
  LeastSquaresResult<T, Space> run();

 private:
  void iterate();
  void factor();
  void find_roundings();
  bool factors_at_once() const;
  bool factoring_may_help() const;

  Index applied() const;
  void start();
  void find_scaling();
  void correct(NormalEquationsOperator<T, Ctx>& F, double tolerance);
  void add(ConstBlockView<T, Space> D);
  void measure();
  std::vector<double> column_norms_of(ConstBlockView<T, Space> X);
  std::vector<double> scaled_norms();
  double excess(std::size_t j) const;
  double worst_excess() const;
  void write_result();

  Ctx& context_;
  const LeastSquaresProblem<T, Ctx>& problem_;
  const LeastSquaresOptions& options_;
  const Monitor& monitor_;
  Index applied_before_;
  CgAlgorithm algorithm_;  // of the next correction
  StopControl control_;
  MultiVector<T, Space> R_, S_;              // B − A X, Aᴴ(B − A X)
  MultiVector<T, Space> before_;             // X before a correction
  MultiVector<T, Space> weights_, squares_;  // 1/c and 1/c² for the column sums c of |A|
  MultiVector<T, Space> scaled_;             // diag(weights) S
  SmallMatrix<double, Space> norms_;
  BlockCgWorkspace<T, Ctx> workspace_;
  LeastSquaresResult<T, Space> result_;
  std::vector<double> scales_;         // ‖Aᴴb‖
  std::vector<double> gradients_;      // ‖s‖
  std::vector<double> objectives_;     // √(‖b − A x‖² + δ²‖x‖²)
  std::vector<double> scaled_scales_;  // ‖diag(weights) Aᴴb‖. Empty: columns are not scaled
  std::vector<double> scaled_gradients_;  // ‖diag(weights) s‖
  std::vector<double> roundings_;         // of ‖s‖, after a factorisation. Empty: not known
};

}  // namespace heddle::detail
