#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <Eigen/SVD>
#include <heddle/linalg/error.hpp>
#include <heddle/linalg/small_dense.hpp>

namespace heddle {
namespace {

using Stride = Eigen::OuterStride<>;

Eigen::Map<Eigen::MatrixXd, 0, Stride> map(SmallView<HostSpace> M) {
  return {M.data, M.rows, M.cols, Stride(M.ld)};
}

/// Eigenvectors of RᵀR, the largest eigenvalue first: R times them has nearly orthogonal columns,
/// which takes most rotations off Jacobi's method. Empty if they were not found.
Eigen::MatrixXd nearly_right_vectors(const Eigen::MatrixXd& R) {
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> squares(R.transpose() * R);
  if (squares.info() != Eigen::Success) return {};
  return squares.eigenvectors().rowwise().reverse();
}

}  // namespace

bool singular_value_decomposition(ConstSmallView<HostSpace> R, SmallView<HostSpace> U,
                                  SmallView<HostSpace> sigma, SmallView<HostSpace> V) {
  const Index m = R.rows;
  const Index n = R.cols;
  const auto is = [](ConstSmallView<HostSpace> M, Index rows, Index cols) {
    return M.rows == rows && M.cols == cols;
  };
  if (m < n || !is(U, m, n) || !is(V, n, n) || !is(sigma, n, 1)) {
    throw InvalidArgument(fmt::format(
        "singular_value_decomposition: R = U diag(sigma) V' with R {}x{}, U {}x{}, sigma {}x{}, "
        "V {}x{}",
        R.rows, R.cols, U.rows, U.cols, sigma.rows, sigma.cols, V.rows, V.cols));
  }
  if (n == 0) return true;
  Eigen::MatrixXd scaled = Eigen::Map<const Eigen::MatrixXd, 0, Stride>(R.data, m, n, Stride(R.ld));
  if (!scaled.allFinite()) return false;
  const double largest = scaled.cwiseAbs().maxCoeff();
  if (largest > 0) scaled /= largest;  // squares then neither overflow nor vanish all
  const Eigen::MatrixXd start = nearly_right_vectors(scaled);
  if (start.size() == 0) return false;
  const Eigen::HouseholderQR<Eigen::MatrixXd> factors(scaled * start);
  const Eigen::MatrixXd triangle = factors.matrixQR().topRows(n).triangularView<Eigen::Upper>();
  // Eigen's divide and conquer loses the orthogonality of vectors of zero singular values.
  const Eigen::JacobiSVD<Eigen::MatrixXd> svd(triangle, Eigen::ComputeFullU | Eigen::ComputeFullV);
  if (svd.info() != Eigen::Success) return false;
  Eigen::MatrixXd left = Eigen::MatrixXd::Zero(m, n);
  left.topRows(n) = svd.matrixU();
  left.applyOnTheLeft(factors.householderQ());
  map(U) = left;
  map(sigma) = svd.singularValues() * largest;
  map(V) = start * svd.matrixV();
  return true;
}

}  // namespace heddle
