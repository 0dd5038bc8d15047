#include <fmt/format.h>

#include <Eigen/Dense>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/small/small_dense.hpp>

namespace heddle {
namespace {

template <class W>
using Matrix = Eigen::Map<Eigen::Matrix<W, Eigen::Dynamic, Eigen::Dynamic>>;
template <class W>
using Vector = Eigen::Map<Eigen::Matrix<W, Eigen::Dynamic, 1>>;

/// The largest |entry| of the lower triangle. NaN or Inf if it contains one.
template <WideScalar W>
double largest_entry(ConstSmallView<W, HostSpace> H) {
  double largest = 0;
  for (Index j = 0; j < H.cols; ++j) {
    for (Index i = j; i < H.rows; ++i) {
      const double size = std::abs(H(i, j));
      if (!(size <= largest)) largest = size;
      if (!std::isfinite(size)) return size;
    }
  }
  return largest;
}

/// Overwrites the lower triangle of Q by the unitary Q of H = Q T Qᴴ with real tridiagonal T.
template <WideScalar W>
void tridiagonalize(Matrix<W>& Q, Vector<double>& diagonal, Vector<double>& subdiagonal,
                    Vector<W>& coefficients, Vector<W>& work) {
  Eigen::internal::tridiagonalization_inplace(Q, coefficients);
  diagonal = Q.diagonal().real();
  subdiagonal = Q.template diagonal<-1>().real();
  Eigen::householderSequence(Q, coefficients.conjugate())
      .setLength(Q.rows() - 1)
      .setShift(1)
      .evalTo(Q, work);
}

}  // namespace

// The steps of Eigen::SelfAdjointEigenSolver with preallocated memory. Eigen's class allocates
// whenever the order changes and once more in each call.
template <WideScalar W>
bool HostEigensolver<W>::compute(HostContext& context, ConstSmallView<W, HostSpace> H,
                                 SmallView<double, HostSpace> theta, SmallView<W, HostSpace> Z) {
  const Index m = H.rows;
  if (H.cols != m || theta.rows != m || theta.cols != 1 || Z.rows != m || Z.cols != m) {
    throw InvalidArgument(fmt::format("SymmetricEigensolver: H {}x{}, theta {}x{}, Z {}x{}", H.rows,
                                      H.cols, theta.rows, theta.cols, Z.rows, Z.cols));
  }
  if (m == 0) return true;
  const double size = largest_entry(H);
  if (!std::isfinite(size)) return false;
  const double scale = size > 0 ? size : 1;

  const std::size_t needed = static_cast<std::size_t>(m * (m + 3));
  if (work_.size() < needed) work_ = Buffer<W, HostSpace>(context, needed);
  Matrix<W> Q(work_.data(), m, m);
  Vector<double> subdiagonal(reinterpret_cast<double*>(work_.data() + m * m), m - 1);
  Vector<W> coefficients(work_.data() + m * (m + 1), m - 1);
  Vector<W> work(work_.data() + m * (m + 2), m);
  Vector<double> values(theta.data, m);
  for (Index j = 0; j < m; ++j) {
    for (Index i = j; i < m; ++i) Q(i, j) = H(i, j) / scale;
  }
  tridiagonalize<W>(Q, values, subdiagonal, coefficients, work);
  constexpr Index kMaxIterationsPerValue = 30;
  const Eigen::ComputationInfo info = Eigen::internal::computeFromTridiagonal_impl(
      values, subdiagonal, kMaxIterationsPerValue, true, Q);
  values *= scale;
  for (Index j = 0; j < m; ++j) std::copy_n(&Q(0, j), m, &Z(0, j));
  return info == Eigen::Success;
}

template class HostEigensolver<double>;
template class HostEigensolver<std::complex<double>>;

}  // namespace heddle
