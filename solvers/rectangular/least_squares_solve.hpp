#pragma once

#include <heddle/linalg/data/multivector.hpp>
#include <heddle/linalg/data/small_matrix.hpp>
#include <heddle/solvers/iteration/stop_control.hpp>
#include <heddle/solvers/rectangular/least_squares.hpp>
#include <vector>

namespace heddle::detail {

/// One solve of min ‖b − A x‖₂: corrections of X by block CG on AᵀA D = Aᵀ(B − A X), until
/// Aᵀ(B − A X), formed from B − A X, is as small as the criterion asks.
template <Scalar T, class Ctx>
class LeastSquaresSolve {
 public:
  using Space = typename Ctx::Space;

  /// Everything is kept by reference and must outlive the solve. `options` has a tolerance.
  LeastSquaresSolve(Ctx& context, const LeastSquaresProblem<T, Ctx>& problem,
                    const BlockCgOptions& options, const Monitor& monitor);

  /// Solves the problem, once.
  LeastSquaresResult<T, Space> run();

 private:
  Index applied() const;
  void start();
  void correct(NormalEquationsOperator<T, Ctx>& F, double tolerance);
  void add(ConstBlockView<T, Space> D);
  void measure();
  std::vector<double> column_norms_of(ConstBlockView<T, Space> X);
  double excess(std::size_t j) const;
  double worst_excess() const;
  void write_result();

  Ctx& context_;
  const LeastSquaresProblem<T, Ctx>& problem_;
  const BlockCgOptions& options_;
  const Monitor& monitor_;
  Index applied_before_;
  CgAlgorithm algorithm_;  // of the next correction
  StopControl control_;
  MultiVector<T, Space> R_, S_;   // B − A X, Aᵀ(B − A X)
  MultiVector<T, Space> before_;  // X before a correction
  SmallMatrix<double, Space> norms_;
  BlockCgWorkspace<T, Ctx> workspace_;
  LeastSquaresResult<T, Space> result_;
  std::vector<double> scales_;     // ‖Aᵀb‖
  std::vector<double> gradients_;  // ‖Aᵀ(b − A x)‖
};

}  // namespace heddle::detail
