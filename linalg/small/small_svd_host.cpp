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

template <WideScalar W>
using Dense = Eigen::Matrix<W, Eigen::Dynamic, Eigen::Dynamic>;

template <WideScalar W>
Eigen::Map<Dense<W>, 0, Stride> map(SmallView<W, HostSpace> M) {
  return {M.data, M.rows, M.cols, Stride(M.ld)};
}

/// Singular values below this fraction of the largest one in a block are recomputed from a Gram
/// matrix of their own, because that of the whole block determines them to few digits only.
constexpr double kGraded = 1e-4;

/// The eigenvectors of RᴴR, the largest eigenvalue first. Empty if the eigensolver failed.
template <WideScalar W>
Dense<W> nearly_right_vectors(const Dense<W>& R) {
  const Eigen::SelfAdjointEigenSolver<Dense<W>> squares(R.adjoint() * R);
  if (squares.info() != Eigen::Success) return {};
  return squares.eigenvectors().rowwise().reverse();
}

/// R = U T Vᴴ with unitary U and V and a triangular T that is nearly diagonal with descending
/// diagonal. Starting from T saves Jacobi's method most of its rotations.
template <WideScalar W>
struct NearlyDiagonal {
  Dense<W> U, T, V;
};

/// Makes trailing blocks of T nearly diagonal, one after the other. Each block starts where the
/// entries of the previous one have become small. It stops when the rest of T is rounding only.
/// Returns false if an eigensolver failed.
template <WideScalar W>
bool make_nearly_diagonal(NearlyDiagonal<W>& f) {
  const Index n = f.T.rows();
  const double rounding = static_cast<double>(n) * std::numeric_limits<double>::epsilon();
  Index first = 0;
  while (first < n) {
    const Index k = n - first;
    const Dense<W> block = f.T.bottomRightCorner(k, k);
    const double largest = block.cwiseAbs().maxCoeff();
    if (first > 0 && largest <= rounding * f.T.cwiseAbs().maxCoeff()) return true;
    // Scaled to a largest entry of 1, the squares do not overflow and do not all underflow.
    const Dense<W> Z = nearly_right_vectors<W>(largest > 0 ? block / largest : block);
    if (Z.size() == 0) return false;
    const Eigen::HouseholderQR<Dense<W>> factors(block * Z);
    f.T.topRightCorner(first, k) *= Z;
    f.T.bottomRightCorner(k, k) = factors.matrixQR().template triangularView<Eigen::Upper>();
    f.V.rightCols(k) *= Z;
    f.U.rightCols(k) *= factors.householderQ();
    const auto sizes = f.T.diagonal().cwiseAbs();
    const double small = kGraded * sizes[first];
    do ++first;
    while (first < n && sizes[first] > small);
  }
  return true;
}

template <WideScalar W>
bool decompose(ConstSmallView<W, HostSpace> R, SmallView<W, HostSpace> U,
               SmallView<double, HostSpace> sigma, SmallView<W, HostSpace> V) {
  const Index m = R.rows;
  const Index n = R.cols;
  const auto is = [](const auto& M, Index rows, Index cols) {
    return M.rows == rows && M.cols == cols;
  };
  if (m < n || !is(U, m, n) || !is(V, n, n) || !is(sigma, n, 1)) {
    throw InvalidArgument(fmt::format(
        "singular_value_decomposition: R = U diag(sigma) V' with R {}x{}, U {}x{}, sigma {}x{}, "
        "V {}x{}",
        R.rows, R.cols, U.rows, U.cols, sigma.rows, sigma.cols, V.rows, V.cols));
  }
  if (n == 0) return true;
  const Eigen::Map<const Dense<W>, 0, Stride> given(R.data, m, n, Stride(R.ld));
  if (!given.allFinite()) return false;
  Dense<W> scaled = given;
  const double largest = scaled.cwiseAbs().maxCoeff();
  if (largest > 0) scaled /= largest;
  const Eigen::HouseholderQR<Eigen::Ref<Dense<W>>> tall(scaled);  // in its memory
  NearlyDiagonal<W> f{Dense<W>::Identity(n, n),
                      scaled.topRows(n).template triangularView<Eigen::Upper>(),
                      Dense<W>::Identity(n, n)};
  if (!make_nearly_diagonal(f)) return false;
  // Eigen's divide and conquer loses the orthogonality of singular vectors that belong to zero
  // singular values.
  const Eigen::JacobiSVD<Dense<W>, Eigen::NoQRPreconditioner> svd(  // T is square
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

}  // namespace

bool singular_value_decomposition(ConstSmallView<double, HostSpace> R,
                                  SmallView<double, HostSpace> U,
                                  SmallView<double, HostSpace> sigma,
                                  SmallView<double, HostSpace> V) {
  return decompose(R, U, sigma, V);
}

bool singular_value_decomposition(ConstSmallView<std::complex<double>, HostSpace> R,
                                  SmallView<std::complex<double>, HostSpace> U,
                                  SmallView<double, HostSpace> sigma,
                                  SmallView<std::complex<double>, HostSpace> V) {
  return decompose(R, U, sigma, V);
}

}  // namespace heddle
