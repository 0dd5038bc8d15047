#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <Eigen/SVD>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/small/small_dense.hpp>
#include <limits>

namespace heddle {
namespace {

using Stride = Eigen::OuterStride<>;

Eigen::Map<Eigen::MatrixXd, 0, Stride> map(SmallView<double, HostSpace> M) {
  return {M.data, M.rows, M.cols, Stride(M.ld)};
}

/// Singular values below this fraction of the largest one in a block are recomputed from a Gram
/// matrix of their own, because that of the whole block determines them to few digits only.
constexpr double kGraded = 1e-4;

/// The eigenvectors of RᵀR, the largest eigenvalue first. Empty if the eigensolver failed.
Eigen::MatrixXd nearly_right_vectors(const Eigen::MatrixXd& R) {
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> squares(R.transpose() * R);
  if (squares.info() != Eigen::Success) return {};
  return squares.eigenvectors().rowwise().reverse();
}

/// R = U T Vᵀ with orthogonal U and V and a triangular T that is nearly diagonal with descending
/// diagonal. Starting from T saves Jacobi's method most of its rotations.
struct NearlyDiagonal {
  Eigen::MatrixXd U, T, V;
};

/// Makes trailing blocks of T nearly diagonal, one after the other. Each block starts where the
/// entries of the previous one have become small. It stops when the rest of T is rounding only.
/// Returns false if an eigensolver failed.
bool make_nearly_diagonal(NearlyDiagonal& f) {
  const Index n = f.T.rows();
  const double rounding = static_cast<double>(n) * std::numeric_limits<double>::epsilon();
  Index first = 0;
  while (first < n) {
    const Index k = n - first;
    const Eigen::MatrixXd block = f.T.bottomRightCorner(k, k);
    const double largest = block.cwiseAbs().maxCoeff();
    if (first > 0 && largest <= rounding * f.T.cwiseAbs().maxCoeff()) return true;
    // Scaled to a largest entry of 1, the squares do not overflow and do not all underflow.
    const Eigen::MatrixXd Z = nearly_right_vectors(largest > 0 ? block / largest : block);
    if (Z.size() == 0) return false;
    const Eigen::HouseholderQR<Eigen::MatrixXd> factors(block * Z);
    f.T.topRightCorner(first, k) *= Z;
    f.T.bottomRightCorner(k, k) = factors.matrixQR().triangularView<Eigen::Upper>();
    f.V.rightCols(k) *= Z;
    f.U.rightCols(k) *= factors.householderQ();
    const auto sizes = f.T.diagonal().cwiseAbs();
    const double small = kGraded * sizes[first];
    do ++first;
    while (first < n && sizes[first] > small);
  }
  return true;
}

}  // namespace

bool singular_value_decomposition(ConstSmallView<double, HostSpace> R,
                                  SmallView<double, HostSpace> U,
                                  SmallView<double, HostSpace> sigma,
                                  SmallView<double, HostSpace> V) {
  const Index m = R.rows;
  const Index n = R.cols;
  const auto is = [](ConstSmallView<double, HostSpace> M, Index rows, Index cols) {
    return M.rows == rows && M.cols == cols;
  };
  if (m < n || !is(U, m, n) || !is(V, n, n) || !is(sigma, n, 1)) {
    throw InvalidArgument(fmt::format(
        "singular_value_decomposition: R = U diag(sigma) V' with R {}x{}, U {}x{}, sigma {}x{}, "
        "V {}x{}",
        R.rows, R.cols, U.rows, U.cols, sigma.rows, sigma.cols, V.rows, V.cols));
  }
  if (n == 0) return true;
  const Eigen::Map<const Eigen::MatrixXd, 0, Stride> given(R.data, m, n, Stride(R.ld));
  if (!given.allFinite()) return false;
  Eigen::MatrixXd scaled = given;
  const double largest = scaled.cwiseAbs().maxCoeff();
  if (largest > 0) scaled /= largest;
  const Eigen::HouseholderQR<Eigen::Ref<Eigen::MatrixXd>> tall(scaled);  // in its memory
  NearlyDiagonal f{Eigen::MatrixXd::Identity(n, n),
                   scaled.topRows(n).triangularView<Eigen::Upper>(),
                   Eigen::MatrixXd::Identity(n, n)};
  if (!make_nearly_diagonal(f)) return false;
  // Eigen's divide and conquer loses the orthogonality of singular vectors that belong to zero
  // singular values.
  const Eigen::JacobiSVD<Eigen::MatrixXd, Eigen::NoQRPreconditioner> svd(  // T is square
      f.T, Eigen::ComputeFullU | Eigen::ComputeFullV);
  if (svd.info() != Eigen::Success) return false;
  auto left = map(U);
  left.setZero();
  left.topRows(n).noalias() = f.U * svd.matrixU();
  left.applyOnTheLeft(tall.householderQ());
  map(sigma) = svd.singularValues() * largest;
  map(V).noalias() = f.V * svd.matrixV();
  return true;
}

}  // namespace heddle
