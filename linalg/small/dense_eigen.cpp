#include <algorithm>
#include <cmath>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/small/dense_eigen_state.hpp>

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

DenseEigensolver::DenseEigensolver() noexcept = default;
DenseEigensolver::DenseEigensolver(Index max_order) : state_(std::make_unique<State>(max_order)) {}
DenseEigensolver::~DenseEigensolver() = default;
DenseEigensolver::DenseEigensolver(DenseEigensolver&&) noexcept = default;
DenseEigensolver& DenseEigensolver::operator=(DenseEigensolver&&) noexcept = default;

DenseFailure DenseEigensolver::solve(ConstSmallView<double, HostSpace> H,
                                     SmallView<double, HostSpace> theta,
                                     SmallView<double, HostSpace> Z) {
  HostContext& context = state_->context;
  if (state_->device != nullptr && H.rows >= detail::DeviceEigensolver::kLeastOrder) {
    if (!all_finite(H)) return DenseFailure::not_finite;
    if (state_->device->compute(H, theta, Z)) return DenseFailure::none;
  }
  return state_->eigensolver.compute(context, H, theta, Z) ? DenseFailure::none
                                                           : DenseFailure::not_finite;
}

DenseFailure DenseEigensolver::solve(SmallView<double, HostSpace> H, SmallView<double, HostSpace> G,
                                     SmallView<double, HostSpace> theta,
                                     SmallView<double, HostSpace> Z) {
  HostContext& context = state_->context;
  if (!cholesky(context, G).positive_definite) return DenseFailure::indefinite;  // G = RᵀR
  invert_upper(context, G);                                                      // R⁻¹
  const SmallView<double, HostSpace> HR = state_->work.view(H.rows, H.cols);
  small_multiply(context, 1, H, false, G, false, 0, HR);  // H R⁻¹
  small_multiply(context, 1, G, true, HR, false, 0, H);   // R⁻ᵀ H R⁻¹
  const DenseFailure failure = solve(H, theta, Z);        // standard form: Z' orthogonal
  if (failure != DenseFailure::none) return failure;
  fetch(context, Z, HR);
  small_multiply(context, 1, G, false, HR, false, 0, Z);  // Z = R⁻¹ Z'
  return DenseFailure::none;
}

}  // namespace heddle
