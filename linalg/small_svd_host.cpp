#include <fmt/format.h>

#include <Eigen/SVD>
#include <heddle/linalg/error.hpp>
#include <heddle/linalg/small_dense.hpp>

namespace heddle {
namespace {

using Stride = Eigen::OuterStride<>;

Eigen::Map<Eigen::MatrixXd, 0, Stride> map(SmallView<HostSpace> M) {
  return {M.data, M.rows, M.cols, Stride(M.ld)};
}

}  // namespace

bool singular_value_decomposition(ConstSmallView<HostSpace> R, SmallView<HostSpace> U,
                                  SmallView<HostSpace> sigma, SmallView<HostSpace> V) {
  const Index m = R.rows;
  const auto square = [m](ConstSmallView<HostSpace> M) { return M.rows == m && M.cols == m; };
  if (!square(R) || !square(U) || !square(V) || sigma.rows != m || sigma.cols != 1) {
    throw InvalidArgument(fmt::format(
        "singular_value_decomposition: R = U diag(sigma) V' with R {}x{}, U {}x{}, sigma {}x{}, "
        "V {}x{}",
        R.rows, R.cols, U.rows, U.cols, sigma.rows, sigma.cols, V.rows, V.cols));
  }
  if (m == 0) return true;
  const Eigen::Map<const Eigen::MatrixXd, 0, Stride> matrix(R.data, m, m, Stride(R.ld));
  if (!matrix.allFinite()) return false;
  // Eigen's divide and conquer loses the orthogonality of vectors of zero singular values.
  const Eigen::JacobiSVD<Eigen::MatrixXd> svd(matrix, Eigen::ComputeFullU | Eigen::ComputeFullV);
  if (svd.info() != Eigen::Success) return false;
  map(U) = svd.matrixU();
  map(sigma) = svd.singularValues();
  map(V) = svd.matrixV();
  return true;
}

}  // namespace heddle
