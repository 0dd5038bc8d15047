#include <algorithm>
#include <cmath>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/small/dense_eigen.hpp>

namespace heddle {
namespace {

bool all_finite(ConstSmallView<double, HostSpace> H) {
  for (Index j = 0; j < H.cols; ++j) {
    if (!std::all_of(&H(0, j), &H(0, j) + H.rows, [](double x) { return std::isfinite(x); })) {
      return false;
    }
  }
  return true;
}

}  // namespace

DenseEigensolver::DenseEigensolver(Index max_order)
    : context_(1), work_(*context_, max_order, max_order) {}

DenseFailure DenseEigensolver::solve(ConstSmallView<double, HostSpace> H,
                                     SmallView<double, HostSpace> theta,
                                     SmallView<double, HostSpace> Z) {
  if (device_ != nullptr && H.rows >= detail::DeviceEigensolver::kLeastOrder) {
    if (!all_finite(H)) return DenseFailure::not_finite;
    if (device_->compute(H, theta, Z)) return DenseFailure::none;
  }
  return eigensolver_.compute(*context_, H, theta, Z) ? DenseFailure::none
                                                      : DenseFailure::not_finite;
}

DenseFailure DenseEigensolver::solve(SmallView<double, HostSpace> H, SmallView<double, HostSpace> G,
                                     SmallView<double, HostSpace> theta,
                                     SmallView<double, HostSpace> Z) {
  if (!cholesky(*context_, G).positive_definite) return DenseFailure::indefinite;  // G = RᵀR
  invert_upper(*context_, G);                                                      // R⁻¹
  const SmallView<double, HostSpace> HR = work_.view(H.rows, H.cols);
  small_multiply(*context_, 1, H, false, G, false, 0, HR);  // H R⁻¹
  small_multiply(*context_, 1, G, true, HR, false, 0, H);   // R⁻ᵀ H R⁻¹
  const DenseFailure failure = solve(H, theta, Z);          // standard form: Z' orthogonal
  if (failure != DenseFailure::none) return failure;
  fetch(*context_, Z, HR);
  small_multiply(*context_, 1, G, false, HR, false, 0, Z);  // Z = R⁻¹ Z'
  return DenseFailure::none;
}

}  // namespace heddle
