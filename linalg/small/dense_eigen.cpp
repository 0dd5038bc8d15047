#include <algorithm>
#include <cmath>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/small/dense_eigen_state.hpp>

namespace heddle {
namespace {

template <WideScalar W>
bool all_finite(ConstSmallView<W, HostSpace> H) {
  for (Index j = 0; j < H.cols; ++j) {
    if (!std::all_of(&H(0, j), &H(0, j) + H.rows, is_finite<W>)) return false;
  }
  return true;
}

}  // namespace

template <WideScalar W>
DenseSolverOf<W>::DenseSolverOf() noexcept = default;
template <WideScalar W>
DenseSolverOf<W>::DenseSolverOf(Index max_order) : state_(std::make_unique<State>(max_order)) {}
template <WideScalar W>
DenseSolverOf<W>::~DenseSolverOf() = default;
template <WideScalar W>
DenseSolverOf<W>::DenseSolverOf(DenseSolverOf&&) noexcept = default;
template <WideScalar W>
DenseSolverOf<W>& DenseSolverOf<W>::operator=(DenseSolverOf&&) noexcept = default;

template <WideScalar W>
DenseFailure DenseSolverOf<W>::solve(ConstSmallView<W, HostSpace> H,
                                     SmallView<double, HostSpace> theta,
                                     SmallView<W, HostSpace> Z) {
  HostContext& context = state_->context;
  if (state_->device != nullptr && H.rows >= detail::DeviceEigensolver<W>::kLeastOrder) {
    if (!all_finite(H)) return DenseFailure::not_finite;
    if (state_->device->compute(H, theta, Z)) return DenseFailure::none;
  }
  return state_->eigensolver.compute(context, H, theta, Z) ? DenseFailure::none
                                                           : DenseFailure::not_finite;
}

template <WideScalar W>
DenseFailure DenseSolverOf<W>::solve(SmallView<W, HostSpace> H, SmallView<W, HostSpace> G,
                                     SmallView<double, HostSpace> theta,
                                     SmallView<W, HostSpace> Z) {
  HostContext& context = state_->context;
  if (!cholesky(context, G).positive_definite) return DenseFailure::indefinite;  // G = RᴴR
  invert_upper(context, G);                                                      // R⁻¹
  const SmallView<W, HostSpace> HR = state_->work.view(H.rows, H.cols);
  small_multiply(context, 1, H, false, G, false, 0, HR);  // H R⁻¹
  small_multiply(context, 1, G, true, HR, false, 0, H);   // R⁻ᴴ H R⁻¹
  const DenseFailure failure = solve(H, theta, Z);        // standard form: Z' unitary
  if (failure != DenseFailure::none) return failure;
  fetch(context, Z, HR);
  small_multiply(context, 1, G, false, HR, false, 0, Z);  // Z = R⁻¹ Z'
  return DenseFailure::none;
}

template class DenseSolverOf<double>;
template class DenseSolverOf<std::complex<double>>;

}  // namespace heddle
