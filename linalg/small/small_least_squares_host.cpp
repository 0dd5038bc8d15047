#include <fmt/format.h>

#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/small/small_dense.hpp>

namespace heddle {
namespace {

using Stride = Eigen::OuterStride<>;
using Eigen::VectorXd;
template <WideScalar W>
using Dense = Eigen::Matrix<W, Eigen::Dynamic, Eigen::Dynamic>;

/// Divides the columns of A by their norms, which it returns, 1 for a column of zeros.
template <class Matrix>
VectorXd scale_columns(Matrix& A) {
  VectorXd norms(A.cols());
  for (Index j = 0; j < A.cols(); ++j) {
    const double norm = A.col(j).stableNorm();
    norms[j] = norm > 0 ? norm : 1;
    A.col(j) /= norms[j];
  }
  return norms;
}

/// The factors of the scaled A: R P = Q' [R₁₁ R₁₂; 0 0], where A = Q R if it has more rows than
/// columns, else R = A.
template <WideScalar W>
struct Factors {
  Eigen::ColPivHouseholderQR<Dense<W>> pivoted;
  Dense<W> rotated;  // Q'ᴴQᴴB
  VectorXd beyond;   // of each column of B: the norm of its part outside of the range of Q
};

template <WideScalar W, class Matrix>
Factors<W> factor(Matrix& A, const Dense<W>& B, double epsilon) {
  const Index m = A.rows();
  const Index n = A.cols();
  Factors<W> f;
  f.beyond = VectorXd::Zero(B.cols());
  f.rotated = B;
  if (m > n) {
    const Eigen::HouseholderQR<Eigen::Ref<Dense<W>, 0, Stride>> tall(A);  // in the memory of A
    f.rotated.applyOnTheLeft(tall.householderQ().adjoint());
    f.beyond = f.rotated.bottomRows(m - n).colwise().norm().transpose();
    f.rotated.conservativeResize(n, Eigen::NoChange);
    f.pivoted.compute(Dense<W>(A.topRows(n).template triangularView<Eigen::Upper>()));
  } else {
    f.pivoted.compute(Dense<W>(A));
  }
  f.pivoted.setThreshold(static_cast<double>(std::max(m, n)) * epsilon);
  f.rotated.applyOnTheLeft(f.pivoted.householderQ().adjoint());
  return f;
}

/// X ← X + M⁺(C − M X) for M = [R₁₁ R₁₂] Pᵀ diag(norms), whose rows are independent.
template <WideScalar W, class Matrix>
void take_nearest(const Factors<W>& f, const VectorXd& norms, Matrix& X) {
  const Index rank = f.pivoted.rank();
  const Index n = norms.size();
  if (rank == 0) return;
  const auto R = f.pivoted.matrixQR().topRows(rank);
  if (rank == n) {
    const Dense<W> Y =
        R.leftCols(n).template triangularView<Eigen::Upper>().solve(f.rotated.topRows(n));
    X = norms.cwiseInverse().asDiagonal() * (f.pivoted.colsPermutation() * Y);
    return;
  }
  Dense<W> M = R.template triangularView<Eigen::Upper>();
  M = M * f.pivoted.colsPermutation().transpose() * norms.asDiagonal();
  const Dense<W> D = f.rotated.topRows(rank) - M * X;
  const Eigen::HouseholderQR<Dense<W>> rows(M.adjoint());  // Mᴴ = Q R
  Dense<W> step = Dense<W>::Zero(n, X.cols());
  step.topRows(rank) =
      rows.matrixQR().topRows(rank).template triangularView<Eigen::Upper>().adjoint().solve(D);
  step.applyOnTheLeft(rows.householderQ());
  X += step;
}

template <WideScalar W>
std::optional<LeastSquaresFit> solution(SmallView<W, HostSpace> A, ConstSmallView<W, HostSpace> B,
                                        SmallView<W, HostSpace> X, double epsilon) {
  if (B.rows != A.rows || X.rows != A.cols || X.cols != B.cols) {
    throw InvalidArgument(
        fmt::format("least_squares_solution: A X = B with A {}x{}, X {}x{}, B {}x{}", A.rows,
                    A.cols, X.rows, X.cols, B.rows, B.cols));
  }
  Eigen::Map<Dense<W>, 0, Stride> matrix(A.data, A.rows, A.cols, Stride(A.ld));
  const Dense<W> right =
      Eigen::Map<const Dense<W>, 0, Stride>(B.data, B.rows, B.cols, Stride(B.ld));
  Eigen::Map<Dense<W>, 0, Stride> solved(X.data, X.rows, X.cols, Stride(X.ld));
  if (!matrix.allFinite() || !right.allFinite()) return std::nullopt;
  const VectorXd norms = scale_columns(matrix);
  const Factors<W> f = factor<W>(matrix, right, epsilon);
  take_nearest(f, norms, solved);
  LeastSquaresFit fit{f.pivoted.rank()};
  const auto pivots = f.pivoted.matrixQR().diagonal().cwiseAbs();
  const Index rank = fit.rank;
  const double condition = rank > 0 ? pivots[0] / pivots[rank - 1] : 1;
  for (Index j = 0; j < right.cols(); ++j) {
    const double inside = f.rotated.col(j).tail(f.rotated.rows() - rank).norm();
    const double residual = std::hypot(f.beyond[j], inside);
    const double size =
        rank > 0 ? pivots[0] * (norms.asDiagonal() * solved.col(j)).stableNorm() : 0;
    const double growth = size > 0 ? condition * residual / size : 0;
    fit.errors.push_back(epsilon * condition * (1 + growth));
  }
  return fit;
}

}  // namespace

std::optional<LeastSquaresFit> least_squares_solution(SmallView<double, HostSpace> A,
                                                      ConstSmallView<double, HostSpace> B,
                                                      SmallView<double, HostSpace> X,
                                                      double epsilon) {
  return solution(A, B, X, epsilon);
}

std::optional<LeastSquaresFit> least_squares_solution(
    SmallView<std::complex<double>, HostSpace> A, ConstSmallView<std::complex<double>, HostSpace> B,
    SmallView<std::complex<double>, HostSpace> X, double epsilon) {
  return solution(A, B, X, epsilon);
}

}  // namespace heddle
