#pragma once

#include <heddle/solvers/operators/shifted_inverse.hpp>
#include <heddle/solvers/problem/eigen_problem.hpp>
#include <heddle/solvers/problem/options.hpp>
#include <memory>

namespace heddle::detail {

/// The rows and columns S of A − σB, factored, for the search for missed pairs.
///
/// A Cholesky factor of A_SS − σB_SS proves that no vector which is 0 outside of S has a Rayleigh
/// quotient below σ (Sylvester's law of inertia). If there is none, the inverse for a smaller σ
/// finds these vectors.
template <Scalar T, class Ctx>
class StiffFactor {
 public:
  using Space = typename Ctx::Space;

  /// S are the rows in which `chosen` (n×1) is at least half of `all`, which is positive there.
  /// Null if A or B is not stored, if several processes hold the rows, or if the factor would cost
  /// more than some thousand products with A or take more than 256 MiB.
  static std::unique_ptr<StiffFactor> make(Ctx& context, const EigenProblem<T, Ctx>& problem,
                                           ConstBlockView<T, Space> all,
                                           ConstBlockView<T, Space> chosen);

  /// The same for all rows, so that S is everything. At the largest end, −A takes the place of A.
  /// Null also if the matrix is not small, or the factor and solves for `columns` columns take more
  /// than some milliseconds.
  static std::unique_ptr<StiffFactor> of_all_rows(Ctx& context, const EigenProblem<T, Ctx>& problem,
                                                  Which which, double columns);

  /// Factors A_SS − σB_SS. False if it is not positive definite.
  bool factor(Ctx& context, double sigma) { return inverse_.factor(context, sigma); }

  /// Y ← (A_SS − σB_SS)⁻¹ X in the rows S of the last successful `factor`. X is 0 in all others,
  /// and so is Y.
  void apply(Ctx& context, ConstBlockView<T, Space> X, BlockView<T, Space> Y) {
    inverse_.apply(context, X, Y);
  }

 private:
  StiffFactor(CsrMatrix<T, Space> A, CsrMatrix<T, Space> B)
      : A_(std::move(A)), B_(std::move(B)), inverse_(A_.view(), B_.view(), kMostBytes) {}

  /// For a B that outlives this object, and an A that does if `own` is empty.
  StiffFactor(CsrMatrix<T, Space> own, const CsrView<T, Space>& A, const CsrView<T, Space>& B)
      : A_(std::move(own)), inverse_(A_.rows() > 0 ? A_.view() : A, B, kMostBytes) {}

  static constexpr double kMostBytes = 256.0 * 1024 * 1024;

  CsrMatrix<T, Space> A_, B_;  // with a diagonal outside of S; B_ is empty where S is everything
  ShiftedInverse<T, Ctx> inverse_;
};

}  // namespace heddle::detail
